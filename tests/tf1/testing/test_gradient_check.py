import numpy as np
import pytest

import dynrnn.tf1 as tf


def test_jacobians_agree():
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    with tf.Session():
        by_gradients, by_differences = tf.test.compute_gradient(x, [2, 2], x * x, [2, 2], x_init_value=np.ones((2, 2)))
        assert tf.test.compute_gradient_error(x, [2, 2], x * x, [2, 2]) < 1e-4  # float32, differences of 2e-3
    np.testing.assert_array_equal(by_gradients, 2 * np.eye(4))
    np.testing.assert_allclose(by_differences, by_gradients, atol=1e-4)
    assert by_gradients.dtype == by_differences.dtype == np.float32


def test_jacobians_are_x_by_y():
    x, w = tf.constant([[1.0, 2.0]], tf.float64), tf.constant([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], tf.float64)
    with tf.Session():
        by_gradients, by_differences = tf.test.compute_gradient(x, (1, 2), tf.matmul(x, w), (1, 3))
    assert by_gradients.tolist() == [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]
    np.testing.assert_allclose(by_differences, by_gradients, atol=1e-10)


def test_list_of_xs_gives_a_list_of_pairs():
    a, b, c = tf.constant([1.0, 2.0]), tf.constant([3.0, 4.0]), tf.placeholder("float")
    with tf.Session():
        pairs = tf.test.compute_gradient(
            [a, b],
            [[2], [2]],
            a * b * c,
            [2],
            x_init_value=[[5.0, 5.0], [7.0, 7.0]],
            delta=0.5,
            extra_feed_dict={c: 2.0},
        )
    # One x at a time is moved; the other keeps its own value.
    assert [pair[0].tolist() for pair in pairs] == [[[6.0, 0.0], [0.0, 8.0]], [[2.0, 0.0], [0.0, 4.0]]]
    for by_gradients, by_differences in pairs:
        np.testing.assert_allclose(by_differences, by_gradients, atol=1e-4)


def test_variables_are_initialized_first():
    v = tf.Variable([1.0, 2.0])
    scale = tf.Variable(3.0)
    with tf.Session():
        error = tf.test.compute_gradient_error(
            v, [2], v * scale, [2], init_targets=[v.initializer, scale.initializer], x_init_value=[1.0, 2.0]
        )
    assert error < 1e-3


def test_gradient_of_a_gather():
    x = tf.constant([[1.0], [2.0], [3.0]])
    with tf.Session():
        by_gradients, _ = tf.test.compute_gradient(x, [3, 1], tf.gather(x, [1, 1]), [2, 1])
    assert by_gradients.tolist() == [[0.0, 0.0], [1.0, 1.0], [0.0, 0.0]]


def test_wrong_gradient_shows():
    wrong = tf.custom_gradient(lambda x: (x * x, lambda dy: dy))
    x = tf.constant([2.0])
    with tf.Session():
        assert abs(tf.test.compute_gradient_error(x, [1], wrong(x), [1], x_init_value=[2.0]) - 3.0) < 1e-3


def test_empty_jacobian_has_no_error():
    x = tf.zeros([0])
    with tf.Session():
        assert tf.test.compute_gradient_error(x, [0], x * 2.0, [0]) == 0.0


def test_what_cannot_be_checked_is_an_error():
    x = tf.constant([1.0, 2.0])
    with pytest.raises(ValueError, match="needs a default session"):
        tf.test.compute_gradient(x, [2], x, [2])
    with tf.Session():
        with pytest.raises(ValueError, match="no gradient path from Const_1:0 to Const:0"):
            tf.test.compute_gradient(x, [2], tf.constant([1.0]), [1])
        with pytest.raises(ValueError, match=r"x_shape is \[2\], but x_init_value has \[3\]"):
            tf.test.compute_gradient(x, [2], x, [2], x_init_value=[1.0, 2.0, 3.0])
        with pytest.raises(ValueError, match="shape"):
            tf.test.compute_gradient(x, [2], x, [3])
        with pytest.raises(TypeError, match="x must be a float tensor, but Const_2:0 is int32"):
            tf.test.compute_gradient(tf.constant([1]), [1], x, [2])
