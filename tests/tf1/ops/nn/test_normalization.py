"""Moments and batch normalization: gradients, arguments and errors."""

import numpy as np
import pytest

import dynrnn.tf1 as tf


def test_the_variance_has_tensorflows_first_and_second_derivative():
    x = tf.constant([1.0, 2.0, 4.0])
    mean, variance = tf.nn.moments(x, [0])
    first = tf.gradients(variance, x)[0]
    second = tf.gradients(first[0], x)[0]
    with tf.Session() as sess:
        values = sess.run([mean, variance, first, second])
    # Values of TensorFlow 2.21, which takes the mean as a constant.
    expected = [2.3333333, 1.5555557, [-0.88888884, -0.22222218, 1.1111112], [0.6666667, 0, 0]]
    for value, wanted in zip(values, expected, strict=True):
        np.testing.assert_allclose(value, wanted, rtol=1e-6)


@pytest.mark.parametrize("axes", [[0, 1], (0, 1), np.array([0, 1]), [-1, 0]], ids=str)
def test_axes_go_or_stay(axes: object):
    x = tf.placeholder(tf.float32, [None, 3, 4])
    assert [t.shape.as_list() for t in tf.nn.moments(x, [0])] == [[3, 4]] * 2
    assert tf.nn.moments(x, axes, keep_dims=True)[0].shape.as_list()[0] == 1
    assert len(tf.nn.moments(x, axes)[1].shape) == 1
    assert tf.nn.moments(x, 1, keepdims=True)[1].shape.as_list() == [None, 1, 4]


def test_moments_of_halves_are_taken_in_float32():
    x = tf.constant(np.full([4096], 100.0), tf.float16)
    with tf.Session() as sess:
        assert [float(value) for value in sess.run(tf.nn.moments(x, [0]))] == [100.0, 0.0]


def test_both_names_of_keepdims_are_refused():
    with pytest.raises(ValueError, match="keepdims"):
        tf.nn.moments(tf.zeros([2]), [0], keep_dims=True, keepdims=True)


def test_axes_must_be_known_and_in_range():
    with pytest.raises(ValueError, match="known"):
        tf.nn.moments(tf.zeros([2]), tf.placeholder(tf.int32, [1]))
    with pytest.raises(ValueError, match="axis"):
        tf.nn.moments(tf.zeros([2]), [1])


def test_batch_normalization_takes_any_of_offset_and_scale():
    x = np.array([[1.0, 2.0], [3.0, 6.0]])
    mean, variance, offset, scale = x.mean(0), x.var(0), np.array([1.0, -1.0]), np.array([2.0, 3.0])
    plain = (x - mean) / np.sqrt(variance + 0.5)
    with tf.Session() as sess:
        for o in (None, offset):
            for s in (None, scale):
                value = sess.run(tf.nn.batch_normalization(x, mean, variance, o, s, 0.5))
                wanted = plain * (1 if s is None else s) + (0 if o is None else o)
                np.testing.assert_allclose(value, wanted, rtol=1e-12)
        a, b = sess.run(
            [
                tf.nn.batch_norm_with_global_normalization(x, mean, variance, offset, scale, 0.5, False),
                tf.nn.batch_normalization(x, mean, variance, offset, None, 0.5),
            ]
        )
        np.testing.assert_array_equal(a, b)


def test_the_share_of_zeros_is_a_float():
    y = tf.nn.zero_fraction(tf.constant([0, 1, 0, 3]))
    assert (y.dtype, y.name) == (tf.float32, "zero_fraction/fraction:0")
    with tf.Session() as sess:
        assert sess.run(y) == 0.5


@pytest.mark.parametrize("keep", [True, False])
def test_moments_over_no_axes_are_those_of_each_element(keep: bool):
    x = np.float32([[1, 2], [3, 5]])
    with tf.Session() as sess:
        mean, variance = sess.run(tf.nn.moments(tf.constant(x), [], keep_dims=keep))
    assert mean.tolist() == x.tolist() and variance.tolist() == [[0, 0], [0, 0]]
