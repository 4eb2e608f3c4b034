"""`DropoutWrapper`: what it drops, when it draws, and how its probabilities may be given."""

import numpy as np
import pytest

import dynrnn.tf1 as tf

C = tf.nn.rnn_cell
X = np.random.default_rng(1).normal(size=[3, 6, 2]).astype(np.float32)
NEVER = 1e-10  # a probability to keep so small that nothing is kept
LOOPS = ["dynamic_rnn", "static_rnn"]
EACH_LOOP = pytest.mark.parametrize("loop", LOOPS)


def unroll(cell, inputs=X, loop="dynamic_rnn", scope=None, **options):
    """A loop with constant weights; returns (outputs `[batch, time, width]`, state)."""
    with tf.variable_scope(scope or "net", initializer=tf.constant_initializer(0.3), reuse=tf.AUTO_REUSE):
        if loop == "dynamic_rnn":
            return tf.nn.dynamic_rnn(cell, tf.constant(inputs), dtype=tf.float32, **options)
        outputs, state = tf.nn.static_rnn(cell, tf.unstack(tf.constant(inputs), axis=1), dtype=tf.float32, **options)
        return tf.stack(outputs, 1), state


def run(fetches, feeds=None):
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return session.run(fetches, feeds)


@EACH_LOOP
def test_dropped_inputs_are_zero_inputs(loop):
    dropped = unroll(C.DropoutWrapper(C.LSTMCell(3), input_keep_prob=NEVER), loop=loop)
    zeros = unroll(C.LSTMCell(3), np.zeros_like(X), loop=loop)
    plain = unroll(C.LSTMCell(3), loop=loop)
    (found, state), (expected, expected_state), (other, _) = run([dropped, zeros, plain])
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(state, expected_state)
    assert not np.allclose(found, other)


@EACH_LOOP
def test_dropped_outputs_leave_the_state_alone(loop):
    (found, state), (_, expected) = run(
        [unroll(C.DropoutWrapper(C.LSTMCell(3), output_keep_prob=NEVER), loop=loop), unroll(C.LSTMCell(3), loop=loop)]
    )
    assert not found.any()
    np.testing.assert_array_equal(state, expected)


@EACH_LOOP
def test_a_dropped_state_is_h_and_never_the_memory_of_an_lstm(loop):
    cell = C.DropoutWrapper(C.LSTMCell(3), state_keep_prob=NEVER)
    outputs, state = run(unroll(cell, loop=loop))
    assert not state.h.any()
    assert state.c.all() and outputs.all()
    _, state = run(unroll(C.DropoutWrapper(C.GRUCell(3), state_keep_prob=NEVER), scope="gru", loop=loop))
    assert not state.any()


def test_a_filter_says_which_parts_of_a_state_are_dropped():
    seen = []

    def only_memory(part):
        seen.append(type(part))
        return C.LSTMStateTuple(c=True, h=False) if isinstance(part, C.LSTMStateTuple) else True

    inner = C.MultiRNNCell([C.LSTMCell(3), C.GRUCell(3)])
    cell = C.DropoutWrapper(inner, state_keep_prob=NEVER, dropout_state_filter_visitor=only_memory)
    _, (lstm, gru) = run(unroll(cell))
    assert not lstm.c.any() and lstm.h.all() and not gru.any()
    assert seen[0] is tuple and C.LSTMStateTuple in seen
    cell = C.DropoutWrapper(inner, state_keep_prob=NEVER, dropout_state_filter_visitor=lambda part: False)
    _, (lstm, gru) = run(unroll(cell))
    assert lstm.c.all() and lstm.h.all() and gru.all()


@EACH_LOOP
def test_what_is_kept_is_scaled_by_the_probability(loop):
    (found, _), (plain, _) = run(
        [unroll(C.DropoutWrapper(C.GRUCell(40), output_keep_prob=0.5), loop=loop), unroll(C.GRUCell(40), loop=loop)]
    )
    kept = found != 0
    assert 0.35 < kept.mean() < 0.65
    np.testing.assert_allclose(found[kept], plain[kept] * 2, rtol=1e-6)
    assert (kept[:, 1:] != kept[:, :-1]).any()  # every step has a mask of its own


@EACH_LOOP
def test_equal_seeds_give_equal_masks_and_others_do_not(loop):
    def outputs(seed):
        return unroll(C.DropoutWrapper(C.GRUCell(9), 0.5, 0.5, 0.5, seed=seed), loop=loop)[0]

    one, same, other, fresh, fresher = run([outputs(3), outputs(3), outputs(4), outputs(None), outputs(None)])
    np.testing.assert_array_equal(one, same)
    assert not np.array_equal(one, other)
    assert not np.array_equal(fresh, fresher)


def test_a_session_goes_on_drawing_and_the_next_one_repeats_it():
    outputs, _ = unroll(C.DropoutWrapper(C.GRUCell(9), output_keep_prob=0.5, seed=3))
    sessions = []
    for _ in range(2):
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            sessions.append([session.run(outputs) for _ in range(2)])
    np.testing.assert_array_equal(*sessions)
    assert not np.array_equal(*sessions[0])


def test_under_a_graph_seed_alone_sessions_repeat():
    tf.set_random_seed(7)
    outputs, _ = unroll(C.DropoutWrapper(C.GRUCell(9), 0.5, 0.5, 0.5))
    np.testing.assert_array_equal(run(outputs), run(outputs))


KEEPS = {
    "number": lambda: 1.0,
    "integer": lambda: 1,
    "constant": lambda: tf.constant(1.0),
    "placeholder": lambda: tf.placeholder_with_default(1.0, []),
    "variable": lambda: tf.get_variable("keep", initializer=1.0, trainable=False),
}


@EACH_LOOP
@pytest.mark.parametrize("keep", KEEPS)
def test_a_probability_of_one_changes_no_number_however_it_is_given(keep, loop):
    value = KEEPS[keep]()
    dropped = unroll(C.DropoutWrapper(C.LSTMCell(3), value, value, value), loop=loop)
    (found, state), (expected, expected_state) = run([dropped, unroll(C.LSTMCell(3), loop=loop)])
    np.testing.assert_allclose(found, expected, 0, 1e-6)
    np.testing.assert_allclose(state, expected_state, 0, 1e-6)


@EACH_LOOP
def test_a_fed_probability_can_differ_from_run_to_run(loop):
    keep = tf.placeholder(tf.float32, [])
    outputs, _ = unroll(C.DropoutWrapper(C.GRUCell(20), output_keep_prob=keep), loop=loop)
    assert run(outputs, {keep: 1.0}).all()
    assert 0.2 < (run(outputs, {keep: 0.5}) == 0).mean() < 0.8


@EACH_LOOP
@pytest.mark.parametrize("variational", [False, True])
def test_padding_changes_no_gradient_of_a_probability(variational, loop):
    keep = tf.get_variable("keep", initializer=0.5)
    options = {"variational_recurrent": True, "input_size": tf.TensorShape([2]), "dtype": tf.float32}
    cell = C.DropoutWrapper(C.GRUCell(3), keep, keep, seed=1, **(options if variational else {}))
    lengths, dirty = np.array([2, 0, 4]), X.copy()
    dirty[np.arange(6) >= lengths[:, None]] = np.nan
    inputs = tf.placeholder(tf.float32, X.shape)
    given = tf.unstack(inputs, axis=1) if loop == "static_rnn" else inputs
    with tf.variable_scope("net", initializer=tf.constant_initializer(0.3)):
        outputs, _ = getattr(tf.nn, loop)(cell, given, sequence_length=lengths, dtype=tf.float32)
    grads = tf.gradients(outputs, [keep, inputs, *tf.trainable_variables()])
    for clean, found in zip(run(grads, {inputs: X}), run(grads, {inputs: dirty}), strict=True):
        assert np.isfinite(clean).all()
        np.testing.assert_array_equal(found, clean)


# Variational: one mask for all steps and rows


def variational(cell, *keep, **options):
    defaults = {"variational_recurrent": True, "input_size": tf.TensorShape([2]), "dtype": tf.float32}
    return C.DropoutWrapper(cell, *keep, **{**defaults, **options})


@EACH_LOOP
def test_variational_masks_are_the_same_for_all_steps_and_rows(loop):
    outputs, state = run(unroll(variational(C.GRUCell(40), 1.0, 0.5), loop=loop))
    kept = outputs != 0
    assert (kept == kept[0, 0]).all() and 0 < kept.mean() < 1
    _, state = run(unroll(variational(C.GRUCell(40), 1.0, 1.0, 0.5), loop=loop))
    assert ((state != 0) == (state[0] != 0)).all() and 0 < (state != 0).mean() < 1


def test_variational_masks_of_inputs_drop_whole_columns():
    class Echo(C.RNNCell):
        state_size, output_size = 1, 40

        def call(self, inputs, state):
            return inputs + 0.0, state

    cell = variational(Echo(), 0.5, input_size=tf.TensorShape([40]), seed=2)
    outputs, _ = unroll(cell, np.ones([3, 6, 40], np.float32))
    first, second = run(outputs), run(outputs)
    assert set(np.unique(first)) == {0.0, 2.0}
    assert (first == first[0, 0]).all()
    np.testing.assert_array_equal(first, second)


def test_variational_dropout_needs_a_dtype_and_the_size_of_dropped_inputs():
    with pytest.raises(ValueError, match="variational_recurrent=True, dtype must be provided"):
        C.DropoutWrapper(C.GRUCell(3), output_keep_prob=0.5, variational_recurrent=True)
    with pytest.raises(ValueError, match="input_size must be provided"):
        C.DropoutWrapper(C.GRUCell(3), 0.5, variational_recurrent=True, dtype=tf.float32)
    C.DropoutWrapper(C.GRUCell(3), 1.0, 0.5, variational_recurrent=True, dtype=tf.float32)


# What is refused


@pytest.mark.parametrize("name", ["input_keep_prob", "output_keep_prob", "state_keep_prob"])
@pytest.mark.parametrize("value", [1.5, -0.1])
def test_a_probability_out_of_range_is_refused(name, value):
    for given in (value, tf.constant(value)):
        with pytest.raises(ValueError, match=f"{name} must be between 0 and 1: {value}"):
            C.DropoutWrapper(C.GRUCell(3), **{name: given})


@EACH_LOOP
@pytest.mark.parametrize("name", ["input_keep_prob", "output_keep_prob", "state_keep_prob"])
def test_a_probability_of_zero_is_refused_when_it_is_used(name, loop):
    with pytest.raises(ValueError, match=r"\[0, 1\), got 1"):
        unroll(C.DropoutWrapper(C.GRUCell(3), **{name: 0.0}), loop=loop)
    assert tf.global_variables() == []


def test_what_is_no_cell_or_no_filter_is_refused():
    with pytest.raises(TypeError, match=r"'cell'.*is not an RNNCell"):
        C.DropoutWrapper(3)
    with pytest.raises(TypeError, match="dropout_state_filter_visitor must be callable"):
        C.DropoutWrapper(C.GRUCell(3), dropout_state_filter_visitor=1)
