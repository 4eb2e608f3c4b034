"""Keywords that TensorFlow 1 itself kept beside their new names: no warning, the same meaning."""

import numpy as np
import pytest

import dynrnn.tf1 as tf

X = np.array([[0.5, 2.0, -1.0], [3.0, 0.0, 1.5]])
POSITIVE = X > 0


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default():
        yield


PAIRS = {
    "argmax": (lambda: tf.argmax(X, dimension=1), lambda: tf.argmax(X, axis=1)),
    "argmin": (lambda: tf.argmin(X, dimension=1), lambda: tf.argmin(X, axis=1)),
    "arg_max": (lambda: tf.arg_max(X, dimension=1), lambda: tf.argmax(X, 1)),
    "expand_dims": (lambda: tf.expand_dims(X, dim=1), lambda: tf.expand_dims(X, axis=1)),
    "squeeze": (lambda: tf.squeeze(X[None], squeeze_dims=[0]), lambda: tf.squeeze(X[None], axis=[0])),
    "softmax": (lambda: tf.nn.softmax(X, dim=0), lambda: tf.nn.softmax(X, axis=0)),
    "log_softmax": (lambda: tf.nn.log_softmax(X, dim=0), lambda: tf.nn.log_softmax(X, axis=0)),
    "l2_normalize": (lambda: tf.nn.l2_normalize(X, dim=0), lambda: tf.nn.l2_normalize(X, axis=0)),
    "norm": (lambda: tf.norm(X, axis=1, keep_dims=True), lambda: tf.norm(X, axis=1, keepdims=True)),
    "count_nonzero": (
        lambda: tf.count_nonzero(X, reduction_indices=[1], keep_dims=True),
        lambda: tf.count_nonzero(X, axis=1, keepdims=True),
    ),
    "reverse_sequence": (
        lambda: tf.reverse_sequence(X, [1, 2], seq_dim=1, batch_dim=0),
        lambda: tf.reverse_sequence(X, [1, 2], seq_axis=1, batch_axis=0),
    ),
    "cross_entropy": (
        lambda: tf.nn.softmax_cross_entropy_with_logits(labels=POSITIVE * 1.0, logits=X, dim=-1),
        lambda: tf.nn.softmax_cross_entropy_with_logits(labels=POSITIVE * 1.0, logits=X),
    ),
    "moments": (
        lambda: tf.nn.moments(X, axes=[0], shift=None, keep_dims=True),
        lambda: tf.nn.moments(X, [0], keepdims=True),
    ),
}


def reduction(name):
    values = POSITIVE if name in ("all", "any") else X
    function = getattr(tf, f"reduce_{name}")
    return (
        lambda: function(values, reduction_indices=[1], keep_dims=True),
        lambda: function(values, axis=1, keepdims=True),
    )


PAIRS |= {name: reduction(name) for name in ("sum", "mean", "max", "min", "prod", "all", "any", "logsumexp")}


@pytest.mark.parametrize("name", PAIRS)
def test_an_old_keyword_means_what_the_new_one_does(name):
    old, new = (tf.Session().run(make()) for make in PAIRS[name])
    np.testing.assert_array_equal(old, new)


def test_cross_entropy_by_position_is_refused_as_in_tensorflow_1():
    with pytest.raises(ValueError, match="with named arguments"):
        tf.nn.softmax_cross_entropy_with_logits(X, X)
