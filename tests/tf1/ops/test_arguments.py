import numpy as np
import pytest

import dynrnn.tf1 as tf
from dynrnn.tf1.ops.arguments import dtype_of, known_sizes, part_name, shape_tensor, static_int, static_ints


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (3, (3,)),
        ([2, tf.Dimension(3)], (2, 3)),
        (tf.TensorShape([2, 1]), (2, 1)),
        (np.array([4, 5]), (4, 5)),
        ([], ()),
        (tf.TensorShape([None]), None),
        ([2.0], None),
        (None, None),
    ],
    ids=str,
)
def test_known_sizes(value, expected):
    assert known_sizes(value) == expected


def test_a_shape_with_tensors_is_not_known():
    assert known_sizes(tf.constant([1])) is None
    assert known_sizes([1, tf.constant(1)]) is None


def test_shape_tensor_of_an_empty_shape_is_an_integer_vector():
    for value in ([], (), tf.TensorShape([])):
        assert (shape_tensor(value).dtype, shape_tensor(value).shape.as_list()) == (tf.int32, [0])


def test_numbers_in_arrays_are_cut_to_integers():
    assert static_int("f", "axis", np.float64(1.7)) == 1 and static_ints("f", "axis", np.array([1.0, -1.5])) == (1, -1)
    assert shape_tensor(np.array([2.0, 3.0])).dtype == tf.int64
    with pytest.raises(TypeError, match="Expected int for argument 'axis'"):
        static_int("f", "axis", 1.0)
    x = tf.ones([2, 3])
    assert tf.reduce_sum(x, np.array([1.0])).shape.as_list() == tf.argmax(x, np.float64(1)).shape.as_list() == [2]


def test_static_ints_come_from_fixed_tensors_too():
    assert static_int("f", "axis", tf.constant(2)) == static_int("f", "axis", np.int64(2)) == 2
    assert static_ints("f", "axis", [tf.constant(1), 2]) == static_ints("f", "axis", tf.constant([1, 2])) == (1, 2)


def test_static_ints_say_which_argument_is_wrong():
    with pytest.raises(ValueError, match="f: axis must be known while the graph is built"):
        static_int("f", "axis", tf.placeholder(tf.int32, []))
    with pytest.raises(TypeError, match=r"f: Expected int for argument 'axis', got 1\.5"):
        static_int("f", "axis", 1.5)
    with pytest.raises(ValueError, match="f: axis: Shape must be rank 1 but is rank 0"):
        static_ints("f", "axis", 1)


def test_dtype_of():
    assert [dtype_of(1), dtype_of(1.0), dtype_of(tf.constant(True))] == [tf.int32, tf.float32, tf.bool]
    assert (dtype_of(1, tf.float32), dtype_of(1.5, tf.int32)) == (tf.float32, tf.float32)


def test_part_name():
    assert [part_name("a", "Op", "x"), part_name(None, "Op", "x"), part_name("a/", "Op", "x")] == [
        "a/x",
        "Op/x",
        "Op/x",
    ]
