import numpy as np
import pytest

import dynrnn.tf1 as tf


def test_a_placeholder_takes_a_dtype_by_name_and_is_named_after_itself():
    x = tf.placeholder("float", [None, 3])
    assert (x.name, x.dtype, x.shape.as_list(), x.op.type) == ("Placeholder:0", tf.float32, [None, 3], "Placeholder")
    assert tf.placeholder(tf.int32).shape.ndims is None
    assert tf.placeholder(tf.int32, 3).shape.as_list() == [3]


def test_a_placeholder_without_a_feed_says_what_to_feed():
    x = tf.placeholder(tf.float32, [None, 2], name="x")
    with pytest.raises(tf.errors.InvalidArgumentError) as caught, tf.Session() as sess:
        sess.run(x + 1.0)
    words = "You must feed a value for placeholder tensor 'x' with dtype float32 and shape [?,2]"
    assert words in str(caught.value)


def test_a_placeholder_refuses_what_is_no_dtype():
    with pytest.raises(TypeError, match="Expected DataType for argument 'dtype' not 'foo'"):
        tf.placeholder("foo")


def test_a_default_holds_until_something_is_fed():
    x = tf.placeholder_with_default([1.0, 2.0], [None])
    assert (x.name, x.shape.as_list()) == ("PlaceholderWithDefault:0", [None])
    with tf.Session() as sess:
        assert sess.run(x).tolist() == [1, 2]
        assert sess.run(x, {x: [5]}).tolist() == [5]


def test_a_default_must_fit_the_shape():
    with pytest.raises(ValueError, match="not compatible"):
        tf.placeholder_with_default([[1.0]], [None, 2])


def test_identity_is_a_tensor_of_its_own():
    x = tf.constant(1.0)
    y = tf.identity(x)
    assert (y.name, y is x) == ("Identity:0", False)
    with tf.Session() as sess:
        assert sess.run(y, {y: 3.0}) == 3
        assert sess.run([x, y], {x: 2.0}) == [2, 2]


def test_stop_gradient_is_a_constant_to_gradients_also_beside_another_path():
    x = tf.placeholder(tf.float32, [])
    assert tf.gradients(tf.stop_gradient(x) * 2.0, x) == [None]
    grad = tf.gradients(x * tf.stop_gradient(x), x)[0]
    with tf.Session() as sess:
        assert sess.run(grad, {x: 3.0}) == np.float32(3)
