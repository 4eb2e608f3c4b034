"""Small calls whose numbers are TensorFlow's: all entries of kernels are 0.5, biases as they start."""

import numpy as np
import pytest

import dynrnn.tf1 as tf

C = tf.nn.rnn_cell
X = (np.arange(12).reshape(2, 3, 2) / 10).astype("f4")


def run(build, feeds=None):
    """Build under constant kernels, initialize and fetch."""
    with tf.variable_scope("net", initializer=tf.constant_initializer(0.5)):
        fetches = build()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return session.run(fetches, feeds)


def close(found, expected):
    np.testing.assert_allclose(found, expected, rtol=0, atol=2e-6)


def full(width=1):
    return tf.fill([2, width], 0.7)


def test_a_row_of_length_zero_keeps_its_initial_state():
    outputs, state = run(lambda: tf.nn.dynamic_rnn(C.BasicRNNCell(2), X, sequence_length=[0, 2], initial_state=full(2)))
    np.testing.assert_array_equal(state[0], np.float32([0.7, 0.7]))
    close(state[1], [0.938349, 0.938349])
    close(outputs[1, :, 0], [0.874053, 0.938349, 0])
    assert not outputs[0].any()


def test_a_row_of_length_zero_keeps_its_initial_state_in_an_lstm():
    start = C.LSTMStateTuple(tf.fill([2, 2], 0.3), full(2))
    _, (c, h) = run(lambda: tf.nn.dynamic_rnn(C.LSTMCell(2), X, sequence_length=[0, 2], initial_state=start))
    close(c, [[0.3, 0.3], [1.614337, 1.614337]])
    close(h, [[0.7, 0.7], [0.747401, 0.747401]])


def test_a_row_of_length_zero_keeps_its_initial_state_in_a_gru():
    _, state = run(lambda: tf.nn.dynamic_rnn(C.GRUCell(2), X, sequence_length=[0, 2], initial_state=full(2)))
    close(state, [[0.7, 0.7], [0.727676, 0.727676]])


def test_lengths_over_the_time_axis_act_as_it():
    _, state = run(lambda: tf.nn.dynamic_rnn(C.BasicRNNCell(1), X, sequence_length=[9, 1], dtype=tf.float32))
    close(state, [[0.525658], [0.57167]])


def test_the_final_state_of_an_lstm_is_c_and_h_after_the_last_valid_step():
    outputs, state = run(lambda: tf.nn.dynamic_rnn(C.LSTMCell(2), X, sequence_length=[3, 1], dtype=tf.float32))
    assert isinstance(state, C.LSTMStateTuple)
    close(state.c, [[0.449311] * 2, [0.375593] * 2])
    close(state.h, [[0.266464] * 2, [0.235784] * 2])
    np.testing.assert_array_equal(state.h, [outputs[0, 2], outputs[1, 0]])


def test_the_backward_direction_starts_at_each_rows_last_valid_step():
    (forward, backward), (state_fw, state_bw) = run(
        lambda: tf.nn.bidirectional_dynamic_rnn(
            C.BasicRNNCell(1), C.BasicRNNCell(1), X, sequence_length=[3, 1], dtype=tf.float32
        )
    )
    close(forward[..., 0], [[0.049958, 0.268252, 0.525658], [0.57167, 0, 0]])
    close(backward[..., 0], [[0.259366, 0.430858, 0.421899], [0.57167, 0, 0]])
    close(state_fw, [[0.525658], [0.57167]])
    close(state_bw, [[0.259366], [0.57167]])
    np.testing.assert_array_equal(state_bw, backward[:, 0])


def test_the_backward_direction_leaves_an_empty_row_alone():
    (_, backward), (_, state) = run(
        lambda: tf.nn.bidirectional_dynamic_rnn(
            C.BasicRNNCell(1), C.BasicRNNCell(1), X, sequence_length=[0, 2], dtype=tf.float32
        )
    )
    close(backward[..., 0], [[0, 0, 0], [0.759712, 0.691069, 0]])
    close(state, [[0], [0.759712]])


def test_a_residual_sum_is_exactly_zero_past_the_end():
    outputs, state = run(
        lambda: tf.nn.dynamic_rnn(C.ResidualWrapper(C.BasicRNNCell(2)), X, sequence_length=[3, 1], dtype=tf.float32)
    )
    close(outputs[0], [[0.049958, 0.149958], [0.491274, 0.591274], [1.029914, 1.129915]])
    close(outputs[1, 0], [1.17167, 1.27167])
    assert not outputs[1, 1:].any()
    close(state[1], [0.57167, 0.57167])


def test_a_fetched_state_can_be_fed_back_in_its_structure():
    cell = C.MultiRNNCell([C.LSTMCell(2), C.LSTMCell(2)])
    zero = cell.zero_state(1, tf.float32)
    with tf.variable_scope("net", initializer=tf.constant_initializer(0.5)):
        _, final = tf.nn.dynamic_rnn(cell, tf.ones([1, 1, 2]), initial_state=zero)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        state = session.run(zero)
        for _ in range(3):
            state = session.run(final, {zero: state})
    assert type(state) is tuple and all(type(part) is C.LSTMStateTuple for part in state)
    close([state[0].c[0, 0], state[0].h[0, 0]], [1.914382, 0.805388])
    close([state[1].c[0, 0], state[1].h[0, 0]], [1.204682, 0.640259])


def test_one_graph_serves_every_batch_and_every_time():
    x = tf.placeholder(tf.float32, [None, None, 2])
    lengths = tf.placeholder(tf.int32, [None])
    outputs, state = tf.nn.dynamic_rnn(C.GRUCell(3), x, sequence_length=lengths, dtype=tf.float32)
    assert outputs.get_shape().as_list() == [None, None, 3]
    assert state.get_shape().as_list() == [None, 3]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for batch, time in ((2, 5), (7, 1), (0, 3), (1, 0)):
            feeds = {x: np.ones([batch, time, 2]), lengths: np.full(batch, time)}
            found = session.run([outputs, state], feeds)
            assert [value.shape for value in found] == [(batch, time, 3), (batch, 3)]


def test_a_zero_state_may_have_the_batch_size_of_a_run():
    x = tf.placeholder(tf.float32, [None, 4, 2])
    cell = C.LSTMCell(3)
    _, state = tf.nn.dynamic_rnn(cell, x, initial_state=cell.zero_state(tf.shape(x)[0], tf.float32))
    assert state.c.get_shape().as_list() == [None, 3]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run(state, {x: np.ones([5, 4, 2])}).h.shape == (5, 3)


def test_a_state_given_as_arrays_is_taken_and_one_of_another_dtype_is_not():
    start = np.full([2, 1], 0.7, np.float32)
    outputs, _ = run(lambda: tf.nn.dynamic_rnn(C.BasicRNNCell(1), X, initial_state=start))
    assert outputs.dtype == np.float32
    with pytest.raises(TypeError, match=r"float32.*float64"):
        tf.nn.dynamic_rnn(C.BasicRNNCell(1), X, initial_state=start.astype(np.float64), scope="other")


def test_a_float64_feed_is_cast():
    x = tf.placeholder(tf.float32, [None, 3, 2])
    outputs, _ = run(lambda: tf.nn.dynamic_rnn(C.GRUCell(2), x, dtype=tf.float32), {x: X.astype(np.float64)})
    assert outputs.dtype == np.float32


@pytest.mark.parametrize("shape", [[None, None, None], [2, 3, None]])
def test_an_unknown_depth_is_refused(shape):
    with pytest.raises(ValueError, match="must be accessible via shape inference, but saw value None"):
        tf.nn.dynamic_rnn(C.GRUCell(2), tf.placeholder(tf.float32, shape), dtype=tf.float32)
