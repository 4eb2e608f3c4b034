"""Biases: layouts, static shapes, names and errors."""

import numpy as np
import pytest

import dynrnn.tf1 as tf


def test_a_bias_is_added_to_the_channels_wherever_they_are():
    x, b = np.zeros([2, 3, 4, 5]), np.arange(5.0)
    c = np.arange(3.0)
    with tf.Session() as sess:
        np.testing.assert_array_equal(sess.run(tf.nn.bias_add(x, b)), np.broadcast_to(b, x.shape))
        np.testing.assert_array_equal(sess.run(tf.nn.bias_add(x, b, "NHWC")), np.broadcast_to(b, x.shape))
        np.testing.assert_array_equal(
            sess.run(tf.nn.bias_add(x, c, data_format="NCHW")), np.broadcast_to(c[:, None, None], x.shape)
        )


def test_the_bias_tells_a_size_that_the_value_does_not_know():
    x = tf.placeholder(tf.float32, [None, None])
    assert tf.nn.bias_add(x, tf.zeros([4])).shape.as_list() == [None, 4]
    assert tf.nn.xw_plus_b(x, tf.placeholder(tf.float32), tf.zeros([4])).shape.as_list() == [None, 4]


def test_layers_have_their_values_and_names():
    x, w, b = [[1.0, 2.0]], [[1.0, -1.0], [2.0, -2.0]], [0.5, 0.25]
    y, z = tf.nn.xw_plus_b(x, w, b, name="scores"), tf.nn.relu_layer(x, w, b)
    assert (y.name, z.name, tf.nn.xw_plus_b(x, w, b).name) == ("scores:0", "relu_layer:0", "xw_plus_b:0")
    assert tf.nn.bias_add(x, b).name == "BiasAdd:0"
    with tf.Session() as sess:
        assert sess.run(y).tolist() == [[5.5, -4.75]] and sess.run(z).tolist() == [[5.5, 0.0]]


def test_layers_take_batches_of_matrices():
    x, w = np.arange(12.0, dtype=np.float32).reshape(2, 3, 2), np.float32([[1.0, -1.0], [2.0, -2.0]])
    y, z = tf.nn.xw_plus_b(x, w, [0.5, 0.25]), tf.nn.relu_layer(x, w, [0.5, 0.25])
    assert y.shape.as_list() == z.shape.as_list() == [2, 3, 2]
    with tf.Session() as sess:
        np.testing.assert_array_equal(sess.run(y), x @ w + np.float32([0.5, 0.25]))
        np.testing.assert_array_equal(sess.run(z), np.maximum(x @ w + np.float32([0.5, 0.25]), 0))


ERRORS = {
    "vector value": (lambda: tf.nn.bias_add(tf.zeros([3]), tf.zeros([3])), "at least rank 2 but is rank 1"),
    "size": (lambda: tf.nn.bias_add(tf.zeros([2, 3]), tf.zeros([4])), "Dimensions must be equal, but are 3 and 4"),
    "matrix bias": (lambda: tf.nn.bias_add(tf.zeros([2, 3]), tf.zeros([1, 3])), "rank 1 but is rank 2"),
    "layout": (lambda: tf.nn.bias_add(tf.zeros([2, 3]), tf.zeros([3]), "CHW"), "data_format"),
    "weights": (
        lambda: tf.nn.xw_plus_b(tf.zeros([2, 3]), tf.zeros([4, 3]), tf.zeros([3])),
        "Dimensions must be equal, but are 3 and 4",
    ),
    "layer bias": (
        lambda: tf.nn.xw_plus_b(tf.zeros([2, 3]), tf.zeros([3, 4]), tf.zeros([3])),
        "Dimensions must be equal",
    ),
    "layer rank": (lambda: tf.nn.xw_plus_b(tf.zeros([3]), tf.zeros([3, 4]), tf.zeros([4])), "must be rank 2"),
}


@pytest.mark.parametrize(("call", "words"), ERRORS.values(), ids=ERRORS)
def test_what_does_not_fit_is_refused_while_building(call: object, words: str):
    with pytest.raises(ValueError, match=words):
        call()  # type: ignore[operator]


def test_what_does_not_fit_is_refused_in_a_run():
    x, b = tf.placeholder(tf.float32), tf.placeholder(tf.float32)
    y, z = tf.nn.bias_add(x, b), tf.nn.xw_plus_b(x, tf.ones([2, 3]), b)
    with tf.Session() as sess:
        for result, bias in ((y, [1.0]), (y, [[1.0, 2.0]]), (z, [1.0])):
            with pytest.raises(tf.errors.InvalidArgumentError, match="bias"):
                sess.run(result, {x: [[1.0, 2.0]], b: bias})
        with pytest.raises(tf.errors.InvalidArgumentError, match="2D"):
            sess.run(y, {x: [1.0], b: [1.0]})
