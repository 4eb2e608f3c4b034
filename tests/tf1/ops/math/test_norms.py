"""Norms: orders, zero vectors, refusals, names. Numbers are TensorFlow's."""

import numpy as np
import pytest

import dynrnn.tf1 as tf


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def value(fetches):
    return tf.Session().run(fetches)


def test_the_euclidean_norm_of_zero_has_no_gradient():
    x = tf.constant([[0.0, 0.0], [3.0, 4.0]], tf.float64)
    y = tf.norm(x, axis=1)
    assert y.op.name == "norm/Squeeze"
    assert value(y).tolist() == [0, 5]
    np.testing.assert_allclose(value(tf.gradients(y, [x])[0]), [[np.nan, np.nan], [0.6, 0.8]], rtol=1e-15)


@pytest.mark.parametrize(
    ("ord", "expected", "gradient"),
    [
        (np.inf, [1.0, 4.0], [[0.5, -0.5], [0.0, 1.0]]),
        (1, [2.0, 7.0], [[1.0, -1.0], [1.0, 1.0]]),
        (3, [1.2599210498948732, 4.497941445275415], [[0.62996052, -0.62996052], [0.44485135, 0.79084685]]),
    ],
)
def test_norms_of_vectors(ord, expected, gradient):
    x = tf.constant([[1.0, -1.0], [3.0, 4.0]], tf.float64)
    y = tf.norm(x, ord, axis=1)
    np.testing.assert_allclose(value(y), expected, rtol=1e-14)
    np.testing.assert_allclose(value(tf.gradients(y, [x])[0]), gradient, rtol=1e-7)


@pytest.mark.parametrize(("ord", "axis"), [("nuc", None), (-1, 0), (3, [0, 1]), ("euclidean", [0, 1, 2])])
def test_norms_that_are_not_there_are_refused(ord, axis):
    with pytest.raises(ValueError, match=r"'ord' must be a supported|'axis' must be"):
        tf.norm(tf.ones([2, 2, 2]), ord, axis)


def test_short_vectors_are_not_blown_up_by_normalizing():
    x = tf.constant([[0.0, 0.0], [3.0, 4.0]], tf.float64)
    for y in (tf.nn.l2_normalize(x, 1), tf.nn.l2_normalize(x, dim=1), tf.math.l2_normalize(x, [1])):
        np.testing.assert_allclose(value(y), [[0, 0], [0.6, 0.8]], rtol=1e-15)
    np.testing.assert_allclose(
        value(tf.gradients(tf.nn.l2_normalize(x, 1), [x])[0]), [[1e6, 1e6], [0.032, -0.024]], rtol=1e-12
    )
