"""Activations of cells: TensorFlow's functions, their names, and any function of a tensor."""

import numpy as np
import pytest
import torch

import dynrnn.tf1 as tf
from dynrnn.graph.dtype import float32
from dynrnn.tf1.rnn_cell.activation import as_activation

C = tf.nn.rnn_cell
X = np.random.default_rng(0).normal(size=[2, 4, 3]).astype(np.float32)
CELLS = {
    "basic_rnn": C.BasicRNNCell,
    "gru": C.GRUCell,
    "lstm": C.LSTMCell,
    "projected": lambda n, activation: C.LSTMCell(n, True, num_proj=2, activation=activation),
}
EACH_CELL = pytest.mark.parametrize("make", CELLS.values(), ids=CELLS)


def both(make, one, other):
    """Outputs and gradients of a cell with two activations and the same weights."""
    inputs, found = tf.constant(X), []
    for scope, activation in (("one", one), ("other", other)):
        with tf.variable_scope(scope, initializer=tf.random_uniform_initializer(-0.5, 0.5, seed=1)):
            outputs, _ = tf.nn.dynamic_rnn(make(3, activation=activation), inputs, [4, 2], dtype=tf.float32)
            weights = [variable for variable in tf.trainable_variables() if variable.op.name.startswith(scope + "/")]
            found.append([outputs, tf.gradients(outputs, [inputs, *weights])])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return session.run(found)


def assert_same(one, other, tolerance):
    np.testing.assert_allclose(one[0], other[0], 0, tolerance)
    for grad, expected in zip(one[1], other[1], strict=True):
        np.testing.assert_allclose(grad, expected, 1e-5, 10 * tolerance)


@EACH_CELL
@pytest.mark.parametrize(("name", "function"), [("tanh", tf.tanh), ("relu", tf.nn.relu), ("sigmoid", tf.nn.sigmoid)])
def test_a_name_stands_for_a_function_of_tf_nn(make, name, function):
    assert_same(*both(make, name, function), tolerance=0)


@EACH_CELL
def test_tanh_is_the_default(make):
    assert_same(*both(make, None, tf.tanh), tolerance=0)


@EACH_CELL
@pytest.mark.parametrize("function", [tf.tanh, tf.nn.relu, tf.nn.elu, tf.nn.softsign], ids=lambda f: f.__name__)
def test_any_function_of_a_tensor_gives_what_the_op_alone_does(make, function):
    assert_same(*both(make, lambda value: function(value), function), tolerance=1e-6)


@EACH_CELL
def test_a_function_may_be_the_identity(make):
    assert_same(*both(make, lambda value: value, tf.identity), tolerance=1e-6)


@EACH_CELL
@pytest.mark.parametrize("loop", ["dynamic_rnn", "static_rnn", "by_hand"])
def test_a_function_may_use_a_variable_and_passes_its_gradient(make, loop):
    slope = tf.get_variable("slope", initializer=0.5)
    tf.get_variable_scope().set_initializer(tf.random_uniform_initializer(-0.5, 0.5, seed=1))
    cell = make(3, activation=lambda value: tf.tanh(value) + slope * tf.sin(value))
    if loop == "dynamic_rnn":
        outputs, _ = tf.nn.dynamic_rnn(cell, tf.constant(X), dtype=tf.float32)
    elif loop == "static_rnn":
        outputs, _ = tf.nn.static_rnn(cell, tf.unstack(tf.constant(X), axis=1), dtype=tf.float32)
    else:
        outputs, _ = cell(tf.constant(X[:, 0]), cell.zero_state(2, tf.float32))
    total = tf.add_n([tf.reduce_sum(output) for output in (outputs if loop == "static_rnn" else [outputs])])
    grad = tf.gradients(total, slope)[0]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        ends = [session.run(total, {slope: 0.5 + step}) for step in (-1e-2, 1e-2)]
        assert session.run(grad) == pytest.approx((ends[1] - ends[0]) / 2e-2, rel=2e-2)


@EACH_CELL
def test_a_function_that_does_not_fit_is_refused(make):
    for activation, error, says in (
        ("nope", ValueError, "Unknown activation function: 'nope'"),
        (3, TypeError, "activation must be a function of a tensor, a name or None, got 3"),
        (lambda value: tf.reduce_sum(value, 1), ValueError, "activation must return the shape of its input"),
        (lambda value: tf.cast(value, tf.float64), TypeError, "activation must return float32"),
    ):
        with pytest.raises(error, match=says):
            tf.nn.dynamic_rnn(make(3, activation=activation), tf.constant(X), dtype=tf.float32)
    assert tf.global_variables() == []


@pytest.mark.parametrize(
    ("function", "torch_function"),
    [
        (None, torch.tanh),
        ("tanh", torch.tanh),
        (tf.tanh, torch.tanh),
        (tf.nn.tanh, torch.tanh),
        (tf.math.tanh, torch.tanh),
        (lambda x: tf.tanh(x, name="squash"), torch.tanh),
        (tf.sigmoid, torch.sigmoid),
        (tf.nn.sigmoid, torch.sigmoid),
        ("sigmoid", torch.sigmoid),
        (tf.nn.relu, torch.relu),
        ("relu", torch.relu),
        (lambda x: tf.nn.relu(x), torch.relu),
        (lambda x: tf.tanh(2 * x), None),
        (lambda x: x + tf.tanh(x), None),
        (lambda x: x, None),
    ],
)
def test_functions_that_are_torchs_are_known_as_such(function, torch_function, fresh_graph):
    assert as_activation(function, float32, 3).plain is torch_function
