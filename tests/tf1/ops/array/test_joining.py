import numpy as np
import pytest

import dynrnn.tf1 as tf


def hole(*dims):
    return tf.placeholder(tf.float32, dims)


def test_concat_infers_the_static_shape():
    joined = tf.concat([hole(1, None, 3), hole(2, 5, 3)], 0)
    assert (joined.shape.as_list(), joined.name) == ([3, 5, 3], "concat:0")
    assert tf.concat([hole(2, 3), hole(None, 4)], -1).shape.as_list() == [2, 7]
    assert tf.concat([hole(2, 3), [[1, 2, 3]]], tf.constant(0)).shape.as_list() == [3, 3]
    assert tf.concat([tf.placeholder(tf.float32), hole(2, 4)], 1).shape.as_list() == [2, None]


def test_concat_of_one_tensor_is_that_tensor():
    for values in (hole(1, 2), [hole(1, 2)]):
        joined = tf.concat(values, 1)
        assert (joined.op.type, joined.shape.as_list()) == ("Identity", [1, 2])
    assert joined.name == "concat_1/concat:0"


@pytest.mark.parametrize(
    ("first", "second", "axis", "words"),
    [
        ((1, 3), (2, 4), 0, "must be equal"),
        ((1, 3), (2,), 0, "Shape must be rank 2 but is rank 1"),
        ((), (), 0, "Can't concatenate scalars"),
        ((1,), (1,), 2, "axis = 2 is not in"),
    ],
)
def test_concat_refuses_shapes_that_never_fit(first, second, axis, words):
    with pytest.raises(ValueError, match=words):
        tf.concat([hole(*first), hole(*second)], axis)


def test_concat_refuses_several_dtypes():
    with pytest.raises(TypeError, match="types that don't all match: float32 and int32"):
        tf.concat([tf.constant([1.0]), tf.constant([1])], 0)


def test_concat_in_a_run_names_the_shapes():
    x = tf.placeholder(tf.float32)
    words = "ConcatOp : Dimensions of inputs should match"
    with pytest.raises(tf.errors.InvalidArgumentError, match=words), tf.Session() as sess:
        sess.run(tf.concat([x, [[2.0]]], 0), {x: np.zeros((3, 2))})


def test_stack_infers_the_static_shape():
    stacked = tf.stack([hole(None, 4), hole(2, 4)], axis=1)
    assert (stacked.shape.as_list(), stacked.name, stacked.op.type) == ([2, 2, 4], "stack:0", "Pack")
    assert tf.stack([tf.constant(1.0), 2.0]).shape.as_list() == [2]
    assert tf.stack([hole(3), hole(3)], axis=-1).shape.as_list() == [3, 2]


def test_stack_of_numbers_is_a_constant():
    assert (tf.stack([1, 2]).op.type, tf.stack([]).shape.as_list()) == ("Const", [0])


def test_stack_refuses_what_is_no_list_and_shapes_that_differ():
    with pytest.raises(TypeError, match="Expected list for 'values' argument to 'pack' Op"):
        tf.stack(hole(2, 4), axis=1)
    with pytest.raises(ValueError, match="must be equal"):
        tf.stack([hole(None, 3), hole(2, 4)])
    with pytest.raises(ValueError, match=r"axis = 4 is not in \[-3, 3\)"):
        tf.stack([hole(2, 4), hole(2, 4)], axis=4)


def test_tile_infers_the_static_shape():
    x = hole(None, 2)
    assert (tf.tile(x, [2, 3]).shape.as_list(), tf.tile(x, [0, 3]).shape.as_list()) == ([None, 6], [0, 6])
    assert tf.tile(hole(5, 2), [tf.shape(x)[0], 3]).shape.as_list() == [None, 6]
    assert tf.tile(tf.placeholder(tf.float32), [2, 3]).shape.as_list() == [None, None]
    with pytest.raises(ValueError, match="Shape must be rank 2 but is rank 1"):
        tf.tile(x, [2])
