"""Elementwise arithmetic: names, types, sums of lists, extremes of the tables."""

import numpy as np
import pytest

import dynrnn.tf1 as tf


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def value(fetches):
    return tf.Session().run(fetches)


def test_functions_are_named_after_their_type_and_take_a_name():
    x = tf.constant([1.0])
    assert [tf.add(x, 1.0).op.name, tf.multiply(x, x).op.name, tf.tanh(x, name="t").op.name] == ["Add", "Mul", "t"]
    assert tf.nn.sigmoid is tf.sigmoid is tf.math.sigmoid


def test_plain_numbers_take_the_tensors_type():
    assert tf.maximum(tf.constant([1.0], tf.float64), 0).dtype == tf.float64
    assert tf.add(2, tf.constant([1], tf.int64)).dtype == tf.int64


def test_a_fraction_beside_integers_is_refused():
    with pytest.raises(TypeError, match=r"Expected int32, got 1.5 of type 'float' instead"):
        tf.add(tf.constant([1]), 1.5)


def test_integers_have_no_square_root():
    with pytest.raises(
        TypeError, match="Value passed to parameter 'x' has DataType int32 not in list of allowed values"
    ):
        tf.sqrt(tf.constant([4]))


def test_shapes_that_cannot_broadcast_are_refused():
    with pytest.raises(ValueError, match="Dimensions must be equal"):
        tf.add(tf.zeros([3]), tf.zeros([4]))


def test_rounding_goes_to_even_and_leaves_integers_alone():
    x = tf.constant([1, 2])
    assert tf.round(x) is x
    assert value(tf.round([0.5, 1.5, 2.5, -0.5, -2.5])).tolist() == [0, 2, 2, 0, -2]


@pytest.mark.parametrize("function", [tf.floor, tf.ceil, tf.round, tf.rint])
def test_steps_have_no_gradient(function):
    x = tf.constant([0.5])
    assert tf.gradients(function(x), [x]) == [None]


def test_the_sign_has_the_gradient_zero():
    x = tf.constant([0.5, -2.0])
    assert value(tf.gradients(tf.sign(x), [x])[0]).tolist() == [0, 0]


def test_the_root_of_zero_has_an_infinite_gradient():
    x = tf.constant([0.0, 4.0])
    assert value(tf.gradients(tf.sqrt(x), [x])[0]).tolist() == [np.inf, 0.25]


def test_lists_are_added_up():
    x, y = tf.constant([1.0, 2.0]), tf.constant([3.0, 4.0])
    assert value(tf.add_n([x, y, x])).tolist() == [5, 8]
    assert value(tf.accumulate_n([x, y], shape=[2], tensor_dtype=tf.float32)).tolist() == [4, 6]
    assert tf.add_n([x]) is x
    assert tf.add_n([x], name="sum").op.name == "sum"


def test_sums_of_nothing_or_of_different_shapes_are_refused():
    with pytest.raises(ValueError, match="at least one Tensor"):
        tf.add_n([])
    with pytest.raises(ValueError, match="Shapes must be equal"):
        tf.add_n([tf.zeros([2]), tf.zeros([3])])
    with pytest.raises(TypeError, match="types that don't all match"):
        tf.add_n([tf.zeros([2]), tf.zeros([2], tf.int32)])


def test_scalars_multiply_tensors_and_slices():
    slices = tf.IndexedSlices(tf.constant([[1.0, 2.0]]), tf.constant([3]), tf.constant([4, 2]))
    product = tf.scalar_mul(2, slices)
    assert value(product.values).tolist() == [[2, 4]]
    assert product.indices is slices.indices
    with pytest.raises(ValueError, match="Only scalar multiply works"):
        tf.scalar_mul([1.0, 2.0], tf.zeros([2]))
