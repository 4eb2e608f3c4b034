"""Cells whose state holds a TensorArray: it goes from step to step in every loop, written as often as steps run."""

from typing import Any

import numpy as np
import pytest

import dynrnn.tf1 as tf

X = np.arange(1, 13, dtype=np.float32).reshape(2, 3, 2)  # batch, time, width


class Recorder(tf.nn.rnn_cell.RNNCell):
    """Hands its inputs on and writes them to an array; the state is (count of steps, array)."""

    output_size = 2
    state_size = (tf.TensorShape([]), ())

    def zero_state(self, batch_size, dtype):
        return tf.zeros([], tf.int32), tf.TensorArray(dtype, size=0, dynamic_size=True)

    def call(self, inputs, state):
        count, array = state
        return inputs, (count + 1, array.write(count, inputs))


def evaluate(*fetches: Any) -> Any:
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return session.run(list(fetches))


def unroll(loop: str, x: Any, cell: Any = None, **options: Any) -> tuple[Any, Any]:
    """Outputs `[batch, time, width]` and the final state of dynamic_rnn or static_rnn."""
    cell = cell or Recorder()
    if "initial_state" not in options:
        options["dtype"] = tf.float32
    if loop == "dynamic_rnn":
        return tf.nn.dynamic_rnn(cell, x, **options)
    outputs, state = tf.nn.static_rnn(cell, tf.unstack(x, axis=1), **options)
    return tf.stack(outputs, axis=1), state


both = pytest.mark.parametrize("loop", ["dynamic_rnn", "static_rnn"])


@both
def test_every_step_writes_its_inputs(loop):
    x = tf.constant(X)
    outputs, (count, array) = unroll(loop, x)
    stacked = array.stack()
    assert isinstance(array, tf.TensorArray)
    assert stacked.get_shape().as_list() == [None, 2, 2]
    found = evaluate(outputs, count, stacked, *tf.gradients([stacked * 2.0, outputs], x))
    np.testing.assert_array_equal(found[0], X)
    assert found[1] == 3
    np.testing.assert_array_equal(found[2], X.swapaxes(0, 1))
    np.testing.assert_array_equal(found[3], np.full_like(X, 3))


@both
@pytest.mark.parametrize("lengths", [[2, 1], [3, 2], [0, 0], [0, 1]], ids=str)
def test_as_many_steps_are_written_as_the_longest_row_has(loop, lengths):
    outputs, (count, array) = unroll(loop, tf.constant(X), sequence_length=lengths)
    out, count, stacked = evaluate(outputs, count, array.stack())
    assert count == len(stacked) == max(lengths)
    for row, length in enumerate(lengths):
        np.testing.assert_array_equal(out[row, :length], X[row, :length])
        assert not out[row, length:].any()
        np.testing.assert_array_equal(stacked[:length, row], X[row, :length])


@both
def test_padding_is_never_written(loop):
    spoiled = X.copy()
    spoiled[0, 2] = np.nan
    _, (_, array) = unroll(loop, tf.constant(spoiled), sequence_length=[2, 3])
    (stacked,) = evaluate(array.stack())
    assert np.isfinite(stacked).all()


@both
def test_an_initial_state_may_be_given(loop):
    array = tf.TensorArray(tf.float32, 4).write(0, np.full([2, 2], 9.0))
    _, (count, final) = unroll(loop, tf.constant(X), initial_state=(1, array))
    count, stacked = evaluate(count, final.stack())
    assert count == 4
    np.testing.assert_array_equal(stacked, [np.full([2, 2], 9), *X.swapaxes(0, 1)])


@both
def test_layers_have_arrays_of_their_own(loop):
    _, state = unroll(loop, tf.constant(X), tf.nn.rnn_cell.MultiRNNCell([Recorder(), Recorder()]))
    for found in evaluate(*(array.stack() for _, array in state)):
        np.testing.assert_array_equal(found, X.swapaxes(0, 1))


@pytest.mark.parametrize("loop", ["bidirectional_dynamic_rnn", "static_bidirectional_rnn"])
@pytest.mark.parametrize("lengths", [None, [3, 2]], ids=str)
def test_both_directions_write_in_the_order_of_their_steps(loop, lengths):
    x = tf.constant(X)
    options = {"sequence_length": lengths, "dtype": tf.float32}
    if loop == "bidirectional_dynamic_rnn":
        _, (forward, backward) = tf.nn.bidirectional_dynamic_rnn(Recorder(), Recorder(), x, **options)
    else:
        _, forward, backward = tf.nn.static_bidirectional_rnn(Recorder(), Recorder(), tf.unstack(x, axis=1), **options)
    there, back = evaluate(forward[1].stack(), backward[1].stack())
    for row, length in enumerate(lengths or [3, 3]):
        np.testing.assert_array_equal(there[:length, row], X[row, :length])
        np.testing.assert_array_equal(back[:length, row], X[row, :length][::-1])


@both
def test_the_array_may_be_read_by_the_cell(loop):
    class Summing(Recorder):
        def call(self, inputs, state):
            count, array = state
            before = tf.cond(count > 0, lambda: array.read(count - 1), lambda: tf.zeros([2, 2]))
            return before + inputs, (count + 1, array.write(count, before + inputs))

        def zero_state(self, batch_size, dtype):
            return tf.zeros([], tf.int32), tf.TensorArray(dtype, size=3, clear_after_read=False)

    x = tf.constant(X)
    outputs, (_, array) = unroll(loop, x, Summing())
    found, stacked, gradient = evaluate(outputs, array.stack(), tf.gradients(outputs, x)[0])
    np.testing.assert_array_equal(found, X.cumsum(axis=1))
    np.testing.assert_array_equal(stacked, X.cumsum(axis=1).swapaxes(0, 1))
    np.testing.assert_array_equal(gradient[0, :, 0], [3, 2, 1])


def test_runs_do_not_share_their_arrays():
    x = tf.placeholder(tf.float32, [2, None, 2])
    _, (_, array) = tf.nn.dynamic_rnn(Recorder(), x, dtype=tf.float32)
    stacked = array.stack()
    with tf.Session() as session:
        for steps in (3, 1, 2):
            assert session.run(stacked, {x: X[:, :steps]}).shape == (steps, 2, 2)
