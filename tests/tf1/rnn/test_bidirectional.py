"""Both directions: mirrors of each other under equal weights, with every combination of options; stacked forms."""

import itertools

import numpy as np
import pytest

import dynrnn.tf1 as tf

C = tf.nn.rnn_cell
X = np.random.default_rng(0).normal(size=[3, 5, 2]).astype(np.float32)
LENGTHS = [5, 0, 2]
SAME = tf.random_uniform_initializer(-0.7, 0.7, seed=1)


def run(fetches, feeds=None):
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return session.run(fetches, feeds)


def mirrored(values, lengths):
    turned = values.copy()
    for row, length in enumerate(lengths):
        turned[row, :length] = values[row, :length][::-1]
    return turned


@pytest.mark.parametrize(
    ("static_shape", "tuple_state", "time_major", "with_lengths"), list(itertools.product([False, True], repeat=4))
)
def test_directions_of_a_dynamic_loop_mirror_each_other(static_shape, tuple_state, time_major, with_lengths):
    lengths = LENGTHS if with_lengths else [5] * 3
    inputs = X.swapaxes(0, 1) if time_major else X
    holder = tf.placeholder(tf.float32, inputs.shape if static_shape else [None, None, 2])
    cells = [C.LSTMCell(4, initializer=SAME, state_is_tuple=tuple_state) for _ in range(2)]
    outputs, states = tf.nn.bidirectional_dynamic_rnn(
        *cells, holder, sequence_length=lengths if with_lengths else None, dtype=tf.float32, time_major=time_major
    )
    # the lengths themselves may tell the batch
    known = [5, 3, 4] if time_major else [3, 5, 4]
    for output in outputs:
        shape = output.get_shape().as_list()
        assert shape == known if static_shape else shape[2] == 4 and set(shape[:2]) <= {None, 3}
    turned = mirrored(X, lengths)
    feeds = [{holder: value.swapaxes(0, 1) if time_major else value} for value in (X, turned)]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        (fw, bw), (state_fw, state_bw) = session.run([outputs, states], feeds[0])
        (other_fw, other_bw), (other_state_fw, other_state_bw) = session.run([outputs, states], feeds[1])
    if time_major:
        fw, bw, other_fw, other_bw = (value.swapaxes(0, 1) for value in (fw, bw, other_fw, other_bw))
    np.testing.assert_array_equal(bw, mirrored(other_fw, lengths))
    np.testing.assert_array_equal(fw, mirrored(other_bw, lengths))
    np.testing.assert_array_equal(state_bw, other_state_fw)
    np.testing.assert_array_equal(state_fw, other_state_bw)


@pytest.mark.parametrize("lengths", [None, LENGTHS], ids=["no_lengths", "lengths"])
@pytest.mark.parametrize("batch", [None, 3])
def test_directions_of_a_static_loop_mirror_each_other(lengths, batch):
    steps = [tf.placeholder(tf.float32, [batch, 2]) for _ in range(5)]
    cells = [C.GRUCell(4, kernel_initializer=SAME) for _ in range(2)]
    outputs, state_fw, state_bw = tf.nn.static_bidirectional_rnn(
        *cells, steps, dtype=tf.float32, sequence_length=lengths
    )
    assert len(outputs) == 5
    assert [output.get_shape().as_list()[1] for output in outputs] == [8] * 5
    if batch:
        assert outputs[0].get_shape().as_list() == [3, 8]
    turned = mirrored(X, lengths or [5] * 3)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        found = session.run([outputs, state_fw, state_bw], dict(zip(steps, X.swapaxes(0, 1), strict=True)))
        other = session.run([outputs, state_fw, state_bw], dict(zip(steps, turned.swapaxes(0, 1), strict=True)))
    joined, other_joined = np.stack(found[0], 1), np.stack(other[0], 1)
    swapped = np.concatenate([other_joined[..., 4:], other_joined[..., :4]], 2)
    np.testing.assert_array_equal(joined, mirrored(swapped, lengths or [5] * 3))
    np.testing.assert_array_equal(found[1], other[2])
    np.testing.assert_array_equal(found[2], other[1])


LOOPS = ("bidirectional_dynamic_rnn", "static_bidirectional_rnn")


def build(loop, scope, time_major=False):
    if loop.startswith("static"):
        return tf.nn.static_bidirectional_rnn(
            C.GRUCell(2), C.GRUCell(2), tf.unstack(tf.constant(X), axis=1), dtype=tf.float32, scope=scope
        )
    return tf.nn.bidirectional_dynamic_rnn(
        C.GRUCell(2), C.GRUCell(2), tf.constant(X), dtype=tf.float32, scope=scope, time_major=time_major
    )


@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize("form", ["default", "string", "object"])
def test_variables_stand_under_the_scope_with_fw_and_bw(loop, form):
    if form == "object":
        with tf.variable_scope("given") as scope:
            pass
        build(loop, scope)
    else:
        build(loop, "given" if form == "string" else None)
    prefix = "bidirectional_rnn" if form == "default" else "given"
    found = {"/".join(variable.op.name.split("/")[:2]) for variable in tf.global_variables()}
    assert found == {f"{prefix}/fw", f"{prefix}/bw"}


def test_lengths_must_be_of_an_index_type():
    with pytest.raises(TypeError, match="float32 not in list of allowed values: int32, int64"):
        tf.nn.bidirectional_dynamic_rnn(
            C.GRUCell(2), C.GRUCell(2), tf.constant(X), sequence_length=[2.0, 1.0, 0.0], dtype=tf.float32
        )


@pytest.mark.parametrize("lengths", [np.array([2.7, 1.0, 0.0]), np.array([2, 1, 0], np.uint8)], ids=["float", "uint8"])
@pytest.mark.parametrize("loop", ["dynamic", "static"])
def test_lengths_in_an_array_may_be_of_any_type(loop, lengths):
    cells = [C.GRUCell(2, kernel_initializer=SAME) for _ in range(4)]
    x = tf.constant(X) if loop == "dynamic" else tf.unstack(tf.constant(X), axis=1)
    run = tf.nn.bidirectional_dynamic_rnn if loop == "dynamic" else tf.nn.static_bidirectional_rnn
    given = run(*cells[:2], x, sequence_length=lengths, dtype=tf.float32, scope="a")
    wanted = run(*cells[2:], x, sequence_length=[2, 1, 0], dtype=tf.float32, scope="b")
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for one, other in zip(*(tf.nest.flatten(sess.run(result)) for result in (given, wanted)), strict=True):
            np.testing.assert_array_equal(one, other)


# Stacks (tf.contrib.rnn)


def stack(loop, inputs, states=(None, None), widths=(2, 3), scope=None, lengths=None):
    """Returns (outputs `[batch, time, width]`, states_fw, states_bw)."""
    cells = [[C.LSTMCell(width, initializer=SAME) for width in widths] for _ in range(2)]
    options = {"dtype": tf.float32, "scope": scope, "sequence_length": lengths}
    if loop == "dynamic":
        return tf.contrib.rnn.stack_bidirectional_dynamic_rnn(*cells, inputs, *states, **options)
    outputs, *found = tf.contrib.rnn.stack_bidirectional_rnn(*cells, tf.unstack(inputs, axis=1), *states, **options)
    return tf.stack(outputs, 1), *found


EACH_STACK = pytest.mark.parametrize("kind", ["dynamic", "static"])


@EACH_STACK
@pytest.mark.parametrize("batch", [None, 3])
@pytest.mark.parametrize("lengths", [None, LENGTHS], ids=["no_lengths", "lengths"])
def test_a_stack_joins_both_directions_of_each_layer(kind, batch, lengths):
    holder = tf.placeholder(tf.float32, [batch, 5, 2])
    outputs, states_fw, states_bw = stack(kind, holder, lengths=lengths)
    assert type(states_fw) is type(states_bw) is tuple
    assert [type(state) for state in states_fw] == [C.LSTMStateTuple] * 2
    assert outputs.get_shape().as_list()[2] == 6
    found, (first_fw, last_fw), (first_bw, last_bw) = run([outputs, states_fw, states_bw], {holder: X})
    for row, length in enumerate(lengths or [5] * 3):
        assert not found[row, length:].any()
        if length:
            np.testing.assert_array_equal(found[row, length - 1, :3], last_fw.h[row])
            np.testing.assert_array_equal(found[row, 0, 3:], last_bw.h[row])
    assert first_fw.h.shape == first_bw.h.shape == (3, 2)


@EACH_STACK
def test_states_of_a_piece_go_into_the_next_one(kind):
    """Only the forward direction of the first layer sees nothing of the later piece."""
    inputs = tf.constant(X)
    with tf.variable_scope("net", reuse=tf.AUTO_REUSE):
        _, whole, _ = stack(kind, inputs)
        _, first_fw, first_bw = stack(kind, inputs[:, :3])
        _, second, _ = stack(kind, inputs[:, 3:], (list(first_fw), list(first_bw)))
    found, expected = run([second[0], whole[0]])
    np.testing.assert_allclose(found, expected, 0, 1e-6)


@EACH_STACK
@pytest.mark.parametrize("scope", [None, "given"])
def test_variables_of_a_stack_stand_under_its_scope(kind, scope):
    stack(kind, tf.constant(X), scope=scope)
    names = [variable.op.name for variable in tf.global_variables()]
    between = "/bidirectional_rnn" if kind == "dynamic" else ""  # only the dynamic form opens a scope in each layer's
    assert names == [
        f"{scope or 'stack_bidirectional_rnn'}/cell_{layer}{between}/{way}/lstm_cell/{name}"
        for layer in (0, 1)
        for way in ("fw", "bw")
        for name in ("kernel", "bias")
    ]


def test_static_and_dynamic_stacks_give_the_same_bits():
    with tf.variable_scope("net", reuse=tf.AUTO_REUSE):
        found = run([stack(kind, tf.constant(X), lengths=LENGTHS) for kind in ("dynamic", "static")])
    np.testing.assert_array_equal(found[0][0], found[1][0])
    for one, other in zip(found[0][1:], found[1][1:], strict=True):
        for state, expected in zip(one, other, strict=True):
            np.testing.assert_array_equal(state, expected)


@pytest.mark.parametrize("function", ["stack_bidirectional_dynamic_rnn", "stack_bidirectional_rnn"])
def test_stacks_of_unlike_depth_and_states_that_do_not_fit_are_refused(function):
    call, inputs = getattr(tf.contrib.rnn, function), [tf.ones([2, 3])] * 2
    cell = C.GRUCell(2)
    for arguments, says in (
        (([], [cell], inputs), "cells_fw must be a list"),
        (([cell], cell, inputs), "cells_bw must be a list"),
        (([cell], [cell, cell], inputs), "must have the same depth, got 1 and 2"),
        (([cell], [cell], inputs, [None, None]), "initial_states_fw must be a list of state tensors"),
        (([cell], [cell], inputs, None, tf.zeros([2, 2])), "initial_states_bw must be a list of state tensors"),
    ):
        with pytest.raises(ValueError, match=says):
            call(*arguments, dtype=tf.float32)
