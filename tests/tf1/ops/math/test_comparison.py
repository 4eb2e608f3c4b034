"""Comparisons, logic and bits: strings, types, names, gradients that end."""

import numpy as np
import pytest

import dynrnn.tf1 as tf


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def value(fetches):
    return tf.Session().run(fetches)


def test_strings_compare_for_equality():
    x = tf.constant(["a", "b"])
    assert value([tf.equal(x, "b"), tf.not_equal(x, "b")])[0].tolist() == [False, True]
    with pytest.raises(TypeError, match="string not in list of allowed values"):
        tf.less(x, "b")


def test_nan_equals_nothing():
    x = tf.constant([np.nan, 1.0])
    assert value(tf.equal(x, x)).tolist() == [False, True]
    assert value(tf.not_equal(x, x)).tolist() == [True, False]


def test_no_gradient_passes():
    x = tf.constant([1.0, 2.0])
    assert tf.gradients(tf.cast(tf.greater(x, 1.5), tf.float32), [x]) == [None]


def test_logic_takes_bools_only():
    assert value(tf.logical_xor([True, False], True)).tolist() == [False, True]
    with pytest.raises(TypeError, match="expected type of bool"):
        tf.logical_and(tf.constant([1]), tf.constant([1]))


def test_nearly_equal_is_below_the_tolerance():
    assert value(tf.math.approximate_equal([1.0, 2.0], [1.000001, 2.1])).tolist() == [True, False]


def test_nodes_are_named_after_their_type():
    x = tf.constant([1.0])
    assert [tf.less(x, x).op.name, tf.is_nan(x).op.name] == ["Less", "IsNan"]
