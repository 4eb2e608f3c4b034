"""Activations and softmax where they differ from torch's, their names, and what they refuse."""

import numpy as np
import pytest

import dynrnn.tf1 as tf

INF, NAN = np.inf, np.nan
EDGES = np.array([-2, -0.0, 0, 1, 6, 7, INF, -INF], np.float32)

# Values, first and second derivatives of TensorFlow 2.21 at EDGES.
DERIVATIVES = {
    "relu": ([0, 0, 0, 1, 6, 7, INF, 0], [0, 0, 0, 1, 1, 1, 1, 0], [0] * 8),
    "relu6": ([0, 0, 0, 1, 6, 6, 6, 0], [0, 0, 0, 1, 0, 0, 0, 0], [0] * 8),
    "elu": (
        [-0.86466473, 0, 0, 1, 6, 7, INF, -1],
        [0.13533527, 1, 1, 1, 1, 1, 1, 0],
        [0.13533527, 0, 0, 0, 0, 0, 0, 0],
    ),
    "selu": (
        [-1.5201665, 0, 0, 1.050701, 6.304206, 7.354907, INF, -1.7580993],
        [0.2379328, 1.050701, 1.050701, 1.050701, 1.050701, 1.050701, 1.050701, 0],
        [0.2379328, 0, 0, 0, 0, 0, 0, 0],
    ),
    "leaky_relu": ([-0.4, 0, 0, 1, 6, 7, INF, -INF], [0.2, 0.2, 0.2, 1, 1, 1, 1, 0.2], [0] * 8),
    "softplus": (
        [0.126928, 0.6931472, 0.6931472, 1.3132616, 6.0024757, 7.0009117, INF, 0],
        [0.11920294, 0.5, 0.5, 0.73105854, 0.99752736, 0.99908894, 1, 0],
        [0.1049936, 0.25, 0.25, 0.19661196, 0.00246653, 0.00091023, 0, 0],
    ),
}


@pytest.mark.parametrize("name", DERIVATIVES)
def test_values_and_derivatives_at_the_edges_are_tensorflows(name: str):
    x = tf.constant(EDGES)
    y = getattr(tf.nn, name)(x)
    first = tf.gradients(y, x)[0]
    second = tf.gradients(first, x)[0]
    with tf.Session() as sess:
        got = sess.run([y, first, second])
    for value, expected in zip(got, DERIVATIVES[name], strict=True):
        # The table has eight digits; softplus's second derivative, s (1 - s), loses an ulp of 1 where s is near 1.
        np.testing.assert_allclose(value, np.float32(expected), rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("name", ["elu", "selu"])
def test_a_large_input_does_not_overflow_the_other_side(name: str):
    x = tf.constant([1e30])
    with tf.Session() as sess:
        assert np.isfinite(sess.run(tf.gradients(getattr(tf.nn, name)(x), x)[0])).all()


def test_softplus_is_exact_in_float64_where_torch_switches_to_a_line():
    x = np.array([19.0, 21.0, 30.0, 39.0, 41.0, 800.0])
    with tf.Session() as sess:
        np.testing.assert_array_equal(sess.run(tf.nn.softplus(x)), np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x))))


def test_activations_of_integers():
    x = tf.constant([-1, 8])
    with tf.Session() as sess:
        assert sess.run(tf.nn.relu(x)).tolist() == [0, 8] and sess.run(tf.nn.relu6(x)).tolist() == [0, 6]
        leaky = sess.run(tf.nn.leaky_relu(x))
    assert leaky.dtype == np.float32 and leaky.tolist() == [np.float32(-0.2), 8]
    with pytest.raises(TypeError, match="int32"):
        tf.nn.elu(x)


def test_softmax_runs_along_any_axis_of_any_rank():
    x = np.random.RandomState(0).normal(size=(2, 3, 4))
    with tf.Session() as sess:
        for axis in (None, 0, 1, -2, tf.constant(1)):
            y = sess.run(tf.nn.softmax(x, axis=axis))
            np.testing.assert_allclose(
                y.sum({None: -1}.get(axis, 1 if isinstance(axis, tf.Tensor) else axis)), 1, rtol=1e-12
            )
        np.testing.assert_array_equal(*sess.run([tf.nn.softmax(x, dim=1), tf.nn.softmax(x, 1)]))
        np.testing.assert_allclose(*sess.run([tf.log(tf.nn.softmax(x)), tf.nn.log_softmax(x)]), rtol=1e-12)


def test_softmax_of_a_row_of_which_one_is_minus_infinity_is_zero_there():
    with tf.Session() as sess:
        assert sess.run(tf.nn.softmax([[-INF, 0.0, 0.0]])).tolist() == [[0.0, 0.5, 0.5]]


def test_softmax_keeps_what_is_known_of_a_shape():
    assert tf.nn.softmax(tf.placeholder(tf.float32, [None, 3])).shape.as_list() == [None, 3]
    assert tf.nn.softmax(tf.placeholder(tf.float32), axis=5).shape.ndims is None


def test_crelu_doubles_an_axis():
    x = tf.placeholder(tf.float32, [None, 3])
    assert tf.nn.crelu(x).shape.as_list() == [None, 6]
    assert tf.nn.crelu(x, axis=0).shape.as_list() == [None, 3]


def test_tanh_and_sigmoid_stand_in_nn_too():
    assert tf.nn.tanh is tf.tanh and tf.nn.sigmoid is tf.sigmoid


def test_names_are_those_of_tensorflow():
    x = tf.constant([[1.0]])
    names = {
        name: getattr(tf.nn, name)(x).name
        for name in ("relu", "relu6", "elu", "selu", "softplus", "leaky_relu", "softmax", "log_softmax")
    }
    assert names == {
        "relu": "Relu:0",
        "relu6": "Relu6:0",
        "elu": "Elu:0",
        "selu": "Selu:0",
        "softplus": "Softplus:0",
        "leaky_relu": "LeakyRelu:0",
        "softmax": "Softmax:0",
        "log_softmax": "LogSoftmax:0",
    }
    assert tf.nn.crelu(x).name == "CRelu/Relu:0"
    assert tf.nn.softmax(x, name="probs").name == "probs:0"


ERRORS = {
    "scalar": (lambda: tf.nn.softmax(tf.constant(1.0)), ValueError, "at least rank 1 but is rank 0"),
    "axis": (lambda: tf.nn.softmax(tf.zeros([2, 3]), axis=2), ValueError, r"not in \[-2, 2\)"),
    "both": (lambda: tf.nn.softmax(tf.zeros([2, 3]), axis=1, dim=1), ValueError, "'axis' and 'dim'"),
    "ints": (lambda: tf.nn.softmax([1, 2]), TypeError, "int32"),
    "unknown axis": (lambda: tf.nn.softmax(tf.zeros([2, 3]), tf.placeholder(tf.int32, [])), ValueError, "known"),
}


@pytest.mark.parametrize(("call", "error", "words"), ERRORS.values(), ids=ERRORS)
def test_bad_arguments_are_refused(call: object, error: type[Exception], words: str):
    with pytest.raises(error, match=words):
        call()  # type: ignore[operator]
