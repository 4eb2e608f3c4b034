"""Gradients through the loops: against numeric differences, of gradients, of single steps, and where there are none."""

import numpy as np
import pytest
from tf1.rnn.described_cells import CounterCell
from tf1.rnn.unrolling import OURS, USERS, WIDTH, draw, draw_state

import dynrnn.tf1 as tf
from dynrnn import _nest

CELLS = {name: make for name, make in {**OURS, **USERS}.items() if name != "counter"}
LENGTHS = [3, 0, 2]
INPUTS = draw([3, 4, WIDTH])
STEP = 1e-6


class Smooth:
    """A scalar made of a loop's results, as a function of all that it depends on."""

    def __init__(self, make, loop):
        with tf.variable_scope("net", dtype=tf.float64):
            cells = [make() for _ in range(1 + ("bidirectional" in loop))]
            self.xs = [tf.placeholder(tf.float64, INPUTS.shape)]
            self.values = [INPUTS]
            states = []
            for number, cell in enumerate(cells):
                state = draw_state(cell, 3, np.float64, f"smooth {number}")
                states.append(_nest.map_structure(lambda v: tf.placeholder(tf.float64, v.shape), state))
                self.xs += _nest.flatten(states[-1])
                self.values += _nest.flatten(state)
            states = [*states, None][:2]
            inputs, options = self.xs[0], {"sequence_length": LENGTHS}
            if loop == "static_rnn":
                inputs = tf.unstack(inputs, axis=1)
            keys = ("initial_state_fw", "initial_state_bw") if len(cells) == 2 else ("initial_state",)
            options |= dict(zip(keys, states, strict=False))
            results = _nest.flatten(getattr(tf.nn, loop)(*cells, inputs, **options))
        self.sum = tf.add_n([tf.reduce_sum(tensor * tensor * (1.0 + tensor)) for tensor in results])
        variables = tf.global_variables()
        self.session = tf.Session()
        for variable in variables:
            variable.load(draw(variable.get_shape().as_list(), variable.op.name) * 0.6, self.session)
        self.xs += [tf.convert_to_tensor(variable) for variable in variables]
        self.values += self.session.run(variables)

    def along(self, tensor, directions):
        """`tensor`'s change along `directions`, one for every x, by a central difference."""
        ends = []
        for sign in (1, -1):
            moved = [value + sign * STEP * way for value, way in zip(self.values, directions, strict=True)]
            ends.append(self.session.run(tensor, dict(zip(self.xs, moved, strict=True))))
        return (ends[0] - ends[1]) / (2 * STEP)

    def run(self, fetches):
        return self.session.run(fetches, dict(zip(self.xs, self.values, strict=True)))


def ways(values, name):
    return [draw(value.shape, f"{name} {i}") for i, value in enumerate(values)]


EACH = pytest.mark.parametrize("cell", CELLS)
EACH_LOOP = pytest.mark.parametrize("loop", ["dynamic_rnn", "static_rnn", "bidirectional_dynamic_rnn"])


@EACH_LOOP
@EACH
def test_gradients_are_those_of_a_numeric_difference(cell, loop):
    smooth = Smooth(CELLS[cell], loop)
    grads = smooth.run(tf.gradients(smooth.sum, smooth.xs))
    for seed in range(3):
        way = ways(smooth.values, f"way {seed}")
        expected = sum((grad * part).sum() for grad, part in zip(grads, way, strict=True))
        assert smooth.along(smooth.sum, way) == pytest.approx(expected, rel=1e-6, abs=1e-7)


@EACH_LOOP
@EACH
def test_law_11_gradients_of_gradients_are_those_of_a_numeric_difference(cell, loop):
    smooth = Smooth(CELLS[cell], loop)
    way, other = ways(smooth.values, "way"), ways(smooth.values, "other")
    grads = tf.gradients(smooth.sum, smooth.xs)
    slope = tf.add_n([tf.reduce_sum(grad * part) for grad, part in zip(grads, way, strict=True)])
    curvature = smooth.run(tf.gradients(slope, smooth.xs))
    expected = sum((grad * part).sum() for grad, part in zip(curvature, other, strict=True))
    assert smooth.along(slope, other) == pytest.approx(expected, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("loop", ["dynamic_rnn", "static_rnn"])
@pytest.mark.parametrize("cell", ["lstm", "gru", "wide_output"])
def test_gradients_of_single_steps_add_up_to_that_of_all_steps(cell, loop, fresh_graph):
    inputs = tf.placeholder(tf.float32, INPUTS.shape)
    steps = tf.unstack(inputs, axis=1) if loop == "static_rnn" else inputs
    outputs, _ = getattr(tf.nn, loop)(CELLS[cell](), steps, sequence_length=LENGTHS, dtype=tf.float32)
    outputs = outputs if loop == "static_rnn" else tf.unstack(outputs, axis=1)
    xs = [inputs, *tf.trainable_variables()]
    single = [tf.gradients(output, xs) for output in outputs]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        whole, parts = session.run([tf.gradients(outputs, xs), single], {inputs: INPUTS})
    for grad, pieces in zip(whole, zip(*parts, strict=True), strict=True):
        np.testing.assert_allclose(sum(pieces), grad, 1e-5, 1e-6)
    assert not parts[0][0][:, 1:].any()  # a step knows nothing of later inputs


def test_gradients_of_whole_numbers_are_none(fresh_graph):
    cell = CounterCell(3)
    start = tf.placeholder(tf.float32, [2, 3]), tf.placeholder(tf.int32, [2, 1])
    outputs, (_, count) = tf.nn.dynamic_rnn(cell, tf.zeros([2, 4, WIDTH]), initial_state=start)
    assert tf.gradients(outputs, start[1]) == [None]
    assert tf.gradients(count, start[0]) == [None]
    assert tf.gradients(outputs, start[0])[0] is not None


@pytest.mark.parametrize("cell", ["lstm", "wide_output"])
def test_gradients_given_from_above_are_taken(cell, fresh_graph):
    inputs = tf.placeholder(tf.float32, INPUTS.shape)
    outputs, _ = tf.nn.dynamic_rnn(CELLS[cell](), inputs, sequence_length=LENGTHS, dtype=tf.float32)
    weight = draw(outputs.get_shape().as_list(), "weight", np.float32)
    given = tf.gradients(outputs, inputs, grad_ys=weight)[0]
    product = tf.gradients(tf.reduce_sum(outputs * weight), inputs)[0]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        found, expected = session.run([given, product], {inputs: INPUTS})
    np.testing.assert_array_equal(found, expected)


def test_a_variable_that_a_cell_reads_from_outside_gets_its_gradient(fresh_graph):
    scale = tf.get_variable("scale", [3], initializer=tf.ones_initializer())

    class Scaled(tf.nn.rnn_cell.RNNCell):
        state_size = output_size = 3

        def call(self, inputs, state):
            new = state * 0.5 + inputs * scale
            return new, new

    _, state = tf.nn.dynamic_rnn(Scaled(), tf.ones([2, 3, 3]), sequence_length=[3, 1], dtype=tf.float32)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        np.testing.assert_allclose(session.run(tf.gradients(state, scale)[0]), [1.75 + 1] * 3)
