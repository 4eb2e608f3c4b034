"""The initializers of `tf.contrib.layers`: their distributions, seeds and refusals."""

import math

import numpy as np
import pytest

import dynrnn.tf1 as tf


def run(fetches: object) -> object:
    with tf.Session() as sess:
        return sess.run(fetches)


def test_xavier_is_glorot_with_the_same_seed():
    tf.set_random_seed(1)
    ours = tf.contrib.layers.xavier_initializer(seed=2)([3, 3, 2, 4])
    np.testing.assert_array_equal(*run([ours, tf.glorot_uniform_initializer(seed=2)([3, 3, 2, 4])]))


@pytest.mark.parametrize(("mode", "n"), [("FAN_IN", 300), ("FAN_OUT", 100), ("FAN_AVG", 200)])
def test_the_spread_follows_from_the_mode(mode: str, n: int):
    shape = [300, 100]
    uniform = tf.contrib.layers.variance_scaling_initializer(1.5, mode, uniform=True)(shape, tf.float64)
    normal = tf.contrib.layers.variance_scaling_initializer(1.5, mode)(shape, tf.float64)
    with tf.Session() as sess:
        u, v = sess.run([uniform, normal])
    limit, stddev = math.sqrt(3 * 1.5 / n), math.sqrt(1.3 * 1.5 / n)
    assert 0.999 * limit < np.abs(u).max() <= limit
    # A normal distribution cut off at 2 has 0.8796 of its standard deviation; 30000 draws are within a few percent.
    assert 1.99 * stddev < np.abs(v).max() <= 2 * stddev and v.std() == pytest.approx(0.8796 * stddev, rel=0.03)


@pytest.mark.parametrize("shape", [[], [5], [2, 3]], ids=str)
def test_any_shape_will_do(shape: list[int]):
    assert run(tf.contrib.layers.xavier_initializer(uniform=False)(shape)).shape == tuple(shape)


def test_it_initializes_a_variable():
    v = tf.get_variable("v", [4, 4], initializer=tf.contrib.layers.xavier_initializer())
    with tf.Session() as sess:
        sess.run(v.initializer)
        assert np.abs(sess.run(v)).max() <= math.sqrt(6 / 8)


def test_bad_arguments_are_refused():
    with pytest.raises(TypeError, match="Unknown mode 'fan_in'"):
        tf.contrib.layers.variance_scaling_initializer(mode="fan_in")
    with pytest.raises(TypeError, match="non-floating point"):
        tf.contrib.layers.xavier_initializer(dtype=tf.int32)
    with pytest.raises(TypeError, match="non-floating point"):
        tf.contrib.layers.xavier_initializer()([2], tf.int32)
