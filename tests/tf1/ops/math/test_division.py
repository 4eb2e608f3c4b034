"""Division: the types of quotients, rounding, division by zero. Numbers are TensorFlow's."""

import numpy as np
import pytest

import dynrnn.tf1 as tf


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def value(tensor):
    return tf.Session().run(tensor)


@pytest.mark.parametrize(
    ("dtype", "quotient"),
    [("int8", "float32"), ("uint8", "float32"), ("int16", "float32"), ("int32", "float64"), ("int64", "float64")]
    + [(name, name) for name in ("float16", "float32", "float64")],
)
def test_true_quotients_have_tensorflows_types(dtype, quotient):
    x = tf.constant([1, 3], dtype)
    for result in (tf.truediv(x, x), tf.divide(x, 2), x / 2):
        assert result.dtype == quotient
    np.testing.assert_array_equal(value(tf.truediv(x, 2)), [0.5, 1.5])


def test_div_rounds_integers_down_and_floats_not():
    np.testing.assert_array_equal(value(tf.div(tf.constant([1, -3]), 2)), [0, -2])
    np.testing.assert_array_equal(value(tf.div(tf.constant([1.0, -3.0]), 2)), [0.5, -1.5])
    assert [tf.div(tf.constant(x), 2).op.type for x in (1, 1.0)] == ["FloorDiv", "RealDiv"]


def test_two_python_numbers_divide_in_python():
    assert tf.divide(3, 2) == 1.5


def test_different_types_are_refused():
    with pytest.raises(TypeError, match=r"x and y must have the same dtype, got tf.float64 != tf.int32"):
        tf.truediv(tf.constant([1.0], tf.float64), tf.constant([2]))


@pytest.mark.parametrize("function", [tf.floordiv, tf.mod, tf.truncatediv, tf.truncatemod])
def test_integers_divided_by_zero_fail_in_the_run(function):
    with pytest.raises(tf.errors.InvalidArgumentError, match="Integer division by zero"):
        value(function(tf.constant([7]), tf.constant([0])))


def test_floats_divided_by_zero_are_infinite_or_nan():
    np.testing.assert_array_equal(value(tf.realdiv([0.0, 1.0, -1.0], 0.0)), [np.nan, np.inf, -np.inf])


def test_names_are_those_of_the_public_functions():
    x = tf.constant([1.0])
    names = [
        function(x, x).op.name for function in (tf.div, tf.truediv, tf.floordiv, tf.floor_div, tf.mod, tf.div_no_nan)
    ]
    assert names == ["div", "truediv", "floordiv", "FloorDiv_1", "FloorMod", "div_no_nan"]


def test_no_gradient_passes_a_floor():
    x = tf.constant([1.0, 2.0])
    assert tf.gradients(tf.floordiv(x, 2.0), [x]) == [None]


def test_floats_are_rounded_towards_zero():
    assert value(tf.truncatediv(tf.constant([1.5, -1.5]), tf.constant([0.4, 0.4]))).tolist() == [3, -3]
