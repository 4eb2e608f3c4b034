import numpy as np
import pytest

import dynrnn.tf1 as tf


@pytest.mark.parametrize(
    ("dims", "shape", "expected"),
    [
        ([None, 2], [-1, 3], [None, 3]),
        ([4, 3], [-1, 2], [6, 2]),
        ([None, 4, 3], (-1,), [None]),
        ([0, 3], [-1, 3], [0, 3]),
        ([4, 3], tf.TensorShape([12]), [12]),
        ([4, 3], [tf.Dimension(6), 2], [6, 2]),
        (None, [], []),
        (None, [5, 2], [5, 2]),
    ],
)
def test_reshape_infers_the_static_shape(dims, shape, expected):
    y = tf.reshape(tf.placeholder(tf.float32, dims), shape)
    assert (y.shape.as_list(), y.name) == (expected, "Reshape:0")


def test_reshape_by_sizes_of_another_tensor():
    x = tf.placeholder(tf.float32, [None, 4, 3])
    assert tf.reshape(x, [tf.shape(x)[0], -1, 3]).shape.as_list() == [None, None, 3]
    assert tf.reshape(x, tf.stack([tf.shape(x)[0], 12])).shape.as_list() == [None, 12]
    assert tf.reshape(x, (tf.shape(x)[0] * 4, 3)).shape.as_list() == [None, 3]
    assert tf.reshape(x, tf.placeholder(tf.int32, [3])).shape.as_list() == [None] * 3
    assert tf.reshape(x, tf.placeholder(tf.int64)).shape.ndims is None


@pytest.mark.parametrize(
    ("shape", "words"),
    [
        ([5, 2], "Cannot reshape a tensor with 12 elements to shape"),
        ([-1, 5], "Dimension size must be evenly divisible by 5 but is 12"),
        ([-2, 6], "Invalid value in tensor used for shape: -2"),
        (12, "Shape must be rank 1 but is rank 0"),
    ],
)
def test_reshape_refuses_what_can_never_fit(shape, words):
    with pytest.raises(ValueError, match=words):
        tf.reshape(tf.placeholder(tf.float32, [4, 3]), shape)


@pytest.mark.parametrize(
    ("dims", "shape", "refused"),
    [
        ([2, None], [3, 3], True),
        ([0, None], [3, 3], True),
        ([0, None], [3, 0], False),
        ([4, None], [8, 4], False),
        ([None, 2, None], [3, 3], False),
        (None, [3, 3], False),
    ],
)
def test_reshape_holds_a_tensor_that_lacks_one_size_against_the_shape(dims, shape, refused):
    x = tf.placeholder(tf.float32, dims)
    if refused:
        with pytest.raises(ValueError, match="Dimension size must be evenly divisible"):
            tf.reshape(x, shape)
    else:
        assert tf.reshape(x, shape).shape.as_list() == shape


def test_reshape_refuses_float_sizes_but_in_an_array():
    with pytest.raises(TypeError, match=r"shape.*float32 not in list of allowed values"):
        tf.reshape([1.0, 2.0], [2.0])
    assert tf.reshape([1.0, 2.0], np.array([2.0, 1.0])).shape.as_list() == [2, 1]


@pytest.mark.parametrize(("shape", "words"), [([5, 2], "has 10"), ([-1, 5], "requires a multiple of 5")])
def test_reshape_in_a_run_says_how_many_elements_there_are(shape, words):
    x = tf.placeholder(tf.float32)
    with pytest.raises(tf.errors.InvalidArgumentError) as caught, tf.Session() as sess:
        sess.run(tf.reshape(x, shape), {x: np.zeros((3, 2))})
    assert "Input to reshape is a tensor with 6 values, but the requested shape " + words in str(caught.value)


def test_names_of_constants_belong_to_the_operation():
    tf.reshape([1.0], [1, 1])
    assert [op.name for op in tf.get_default_graph().get_operations()] == ["Reshape/shape", "Reshape/tensor", "Reshape"]
    assert tf.constant(1).name == "Const:0"


def test_expand_dims():
    x = tf.placeholder(tf.float32, [None, 2])
    assert tf.expand_dims(x, -1).shape.as_list() == [None, 2, 1]
    assert tf.expand_dims(x, dim=1).shape.as_list() == [None, 1, 2]
    assert tf.expand_dims(x, tf.constant(0)).shape.as_list() == [1, None, 2]
    with pytest.raises(ValueError, match=r"dim 5 not in the interval \[-3, 2\]"):
        tf.expand_dims(x, 5)
    with pytest.raises(ValueError, match="Must specify an axis argument"):
        tf.expand_dims(x)
    with pytest.raises(ValueError, match="Cannot specify both 'dim' and 'axis'"):
        tf.expand_dims(x, 1, dim=1)


def test_squeeze():
    x = tf.placeholder(tf.float32, [1, None, 1])
    assert tf.squeeze(x).shape.ndims is None
    assert tf.squeeze(x, [0, -1]).shape.as_list() == [None]
    assert tf.squeeze(x, squeeze_dims=0).shape.as_list() == [None, 1]
    with pytest.raises(ValueError, match=r"Can not squeeze dim\[1\], expected a dimension of 1, got 2"):
        tf.squeeze(tf.placeholder(tf.float32, [1, 2]), 1)
    with pytest.raises(ValueError, match=r"not in \[-3,3\)"):
        tf.squeeze(x, 5)


def test_squeeze_in_a_run_looks_at_the_size():
    x = tf.placeholder(tf.float32)
    with tf.Session() as sess:
        assert sess.run(tf.squeeze(x), {x: np.zeros((1, 3, 1))}).shape == (3,)
        with pytest.raises(tf.errors.InvalidArgumentError, match="Can not squeeze dim"):
            sess.run(tf.squeeze(x, 1), {x: np.zeros((3, 2))})


def test_broadcast_to():
    assert tf.broadcast_to([1, 2], tf.placeholder(tf.int32, [2])).shape.as_list() == [None, 2]
    with pytest.raises(ValueError, match="Dimensions must be equal, but are 2 and 3"):
        tf.broadcast_to([1, 2], [3, 3])
