"""`dynamic_rnn` as a call: scopes, static shapes, what a user's cell may do in it, and what is refused."""

import numpy as np
import pytest

import dynrnn.tf1 as tf

C = tf.nn.rnn_cell
X = np.random.default_rng(0).normal(size=[3, 5, 2]).astype(np.float32)


def run(fetches, feeds=None):
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return session.run(fetches, feeds)


def names():
    return [variable.op.name for variable in tf.global_variables()]


class Stepping(C.RNNCell):
    """Counts steps in a scalar of its own making, beside a state with rows."""

    state_size, output_size = (tf.TensorShape([]), 2), 2

    def zero_state(self, batch_size, dtype):
        return tf.constant(0, tf.int32), tf.zeros([batch_size, 2], dtype)

    def call(self, inputs, state):
        count, total = state
        return inputs, (count + 1, total + inputs)


def test_a_scalar_state_moves_on_while_any_row_runs():
    outputs, (count, total) = tf.nn.dynamic_rnn(Stepping(), X, sequence_length=[4, 0, 2], dtype=tf.float32)
    assert count.get_shape().as_list() == []
    found, steps, sums = run([outputs, count, total])
    assert steps == 4
    np.testing.assert_allclose(sums, [X[0, :4].sum(0), [0, 0], X[2, :2].sum(0)], rtol=1e-6)
    np.testing.assert_array_equal(found[2], np.concatenate([X[2, :2], np.zeros([3, 2])]))


class Recording(C.RNNCell):
    """Writes every input to an array that is part of its state."""

    state_size, output_size = (1, ()), 2

    def zero_state(self, batch_size, dtype):
        return tf.zeros([batch_size, 1], dtype), tf.TensorArray(dtype, size=0, dynamic_size=True)

    def call(self, inputs, state):
        count, array = state
        return inputs, (count + 1, array.write(array.size(), inputs))


@pytest.mark.parametrize("loop", ["dynamic_rnn", "static_rnn"])
@pytest.mark.parametrize("lengths", [None, [5, 2, 3]], ids=["no_lengths", "lengths"])
def test_an_array_of_tensors_may_be_part_of_the_state(loop, lengths):
    inputs = tf.constant(X)
    steps = inputs if loop == "dynamic_rnn" else tf.unstack(inputs, axis=1)
    _, (count, array) = getattr(tf.nn, loop)(Recording(), steps, sequence_length=lengths, dtype=tf.float32)
    assert isinstance(array, tf.TensorArray)
    written = array.stack()
    found, grad, steps = run([written, tf.gradients(written, inputs)[0], count])
    assert steps[:, 0].tolist() == (lengths or [5] * 3)
    for row, length in enumerate(lengths or [5] * 3):
        np.testing.assert_array_equal(found[:length, row], X[row, :length])
        assert grad[row, :length].all() and not grad[row, length:].any()


def test_an_array_in_the_state_of_a_loop_of_no_steps_is_as_it_was():
    inputs = tf.placeholder(tf.float32, [3, None, 2])
    _, (_, array) = tf.nn.dynamic_rnn(Recording(), inputs, dtype=tf.float32)
    size = array.size()
    assert run(size, {inputs: X[:, :0]}) == 0
    assert run(size, {inputs: X}) == 5


def test_outputs_may_be_a_nest_of_unlike_shapes():
    class Spread(C.RNNCell):
        state_size, output_size = 2, (tf.TensorShape([2, 2]), {"wide": 4, "narrow": 1})

        def call(self, inputs, state):
            square = tf.stack([inputs, state], 1)
            return (square, {"wide": tf.concat([inputs, state], 1), "narrow": inputs[:, :1]}), state + inputs

    (square, parts), _ = tf.nn.dynamic_rnn(Spread(), X, sequence_length=[5, 1, 0], dtype=tf.float32)
    assert square.get_shape().as_list() == [3, 5, 2, 2]
    assert {key: part.get_shape().as_list() for key, part in parts.items()} == {"narrow": [3, 5, 1], "wide": [3, 5, 4]}
    found, narrow = run([square, parts["narrow"]])
    np.testing.assert_array_equal(found[0, :, 0], X[0])
    np.testing.assert_allclose(found[0, 4, 1], X[0, :4].sum(0), rtol=1e-5)
    assert not narrow[1, 1:].any() and not found[2].any()


@pytest.mark.parametrize("time_major", [False, True])
@pytest.mark.parametrize("unknown", ["batch", "time", "both"])
def test_what_is_unknown_of_the_inputs_stays_unknown(unknown, time_major):
    batch, time = None if unknown != "time" else 3, None if unknown != "batch" else 5
    layout = [time, batch] if time_major else [batch, time]
    holder = tf.placeholder(tf.float32, [*layout, 2])
    outputs, state = tf.nn.dynamic_rnn(C.LSTMCell(4), holder, dtype=tf.float32, time_major=time_major)
    assert outputs.get_shape().as_list() == [*layout, 4]
    assert [part.get_shape().as_list() for part in state] == [[batch, 4]] * 2
    found = run(outputs, {holder: X.swapaxes(0, 1) if time_major else X})
    assert found.shape == ((5, 3, 4) if time_major else (3, 5, 4))


@pytest.mark.parametrize("word", [0, 1, None, np.bool_(True)])
def test_time_major_is_whatever_is_true_or_false(word):
    cell, inputs = C.LSTMCell(4), tf.constant(X)
    found = [tf.nn.dynamic_rnn(cell, inputs, dtype=tf.float32, time_major=value)[0] for value in (word, bool(word))]
    one, other = run(found)
    np.testing.assert_array_equal(one, other)


def test_a_time_major_loop_takes_lengths_as_an_array():
    holder = tf.placeholder(tf.float32, [None, None, 2])
    lengths = np.array([5, 2, 0])
    _, state = tf.nn.dynamic_rnn(C.GRUCell(4), holder, lengths, dtype=tf.float32, time_major=True)
    assert not run(state, {holder: X.swapaxes(0, 1).astype(np.float64)})[2].any()


@pytest.mark.parametrize("form", ["default", "string", "object"])
def test_variables_stand_under_the_scope(form):
    with tf.variable_scope("outer"):
        with tf.variable_scope("given") as given:
            pass
        scope = {"default": None, "string": "given", "object": given}[form]
        tf.nn.dynamic_rnn(C.BasicRNNCell(2), X, dtype=tf.float32, scope=scope)
    prefix = "outer/rnn" if form == "default" else "outer/given"
    assert names() == [f"{prefix}/basic_rnn_cell/kernel", f"{prefix}/basic_rnn_cell/bias"]


def test_two_calls_in_one_scope_share_through_reuse_and_name_scopes_change_nothing():
    results = []
    for name_scope in ("one", "two"):
        with tf.name_scope(name_scope), tf.variable_scope("net", reuse=tf.AUTO_REUSE):
            results.append(tf.nn.dynamic_rnn(C.LSTMCell(4), X, dtype=tf.float32)[0])
    assert names() == ["net/rnn/lstm_cell/kernel", "net/rnn/lstm_cell/bias"]
    np.testing.assert_array_equal(*run(results))


def test_float64_stays_float64_through_wrappers_shards_and_stacks():
    cell = C.MultiRNNCell(
        [
            C.DropoutWrapper(C.LSTMCell(4, num_unit_shards=2, num_proj=3, num_proj_shards=3), 0.5, 0.5, 0.5),
            C.ResidualWrapper(C.LSTMCell(3, use_peepholes=True)),
        ]
    )
    lengths = tf.placeholder(tf.int64, [None])
    outputs, state = tf.nn.dynamic_rnn(cell, X.astype(np.float64), sequence_length=lengths, dtype=tf.float64)
    assert {variable.dtype.base_dtype for variable in tf.global_variables()} == {tf.float64}
    found, (first, second) = run([outputs, state], {lengths: [5, 2, 0]})
    assert {value.dtype.name for value in (found, *first, *second)} == {"float64"}


@pytest.mark.parametrize("loop", ["dynamic_rnn", "bidirectional_dynamic_rnn"])
def test_an_array_is_taken_as_inputs_only_with_the_batch_first(loop):
    cells = [C.GRUCell(2) for _ in range(1 + loop.startswith("bi"))]
    getattr(tf.nn, loop)(*cells, X, dtype=tf.float32)
    with pytest.raises(TypeError, match="inputs must be tensors with time_major=True, got ndarray"):
        getattr(tf.nn, loop)(*cells, X, dtype=tf.float32, time_major=True, scope="other")


@pytest.mark.parametrize(("value", "error"), [(1.5, AssertionError), (-1, TypeError), ("two", AssertionError)])
def test_parallel_iterations_must_be_a_positive_integer(value, error):
    with pytest.raises(error, match=f"parallel_iterations must be a positive integer, got {value!r}"):
        tf.nn.dynamic_rnn(C.GRUCell(2), X, dtype=tf.float32, parallel_iterations=value)
    tf.nn.dynamic_rnn(C.GRUCell(2), X, dtype=tf.float32, parallel_iterations=0)


@pytest.mark.parametrize("cell", [lambda: C.LSTMCell(2), lambda: Stepping()], ids=["ours", "users"])
def test_a_fed_state_of_another_batch_is_refused_in_run(cell):
    cell = cell()
    holder = tf.placeholder(tf.float32, [None, 5, 2])
    state = cell.zero_state(tf.placeholder_with_default(4, []), tf.float32)
    outputs, _ = tf.nn.dynamic_rnn(cell, holder, initial_state=state)
    with pytest.raises(tf.errors.InvalidArgumentError, match="initial state has 4 rows, the inputs have 3"):
        run(outputs, {holder: X})


def test_what_a_cell_makes_inside_the_loop_cannot_be_fetched_or_fed():
    kept = []

    class Keeping(C.RNNCell):
        state_size = output_size = 2

        def call(self, inputs, state):
            kept.append(inputs * 2.0)
            return kept[0], state

    outputs, _ = tf.nn.dynamic_rnn(Keeping(), X, dtype=tf.float32)
    with tf.Session() as session:
        np.testing.assert_array_equal(session.run(outputs), 2 * X)
        with pytest.raises(ValueError, match=r"marked as not fetchable.*an output, a state"):
            session.run(kept[0])
        with pytest.raises(ValueError, match="may not be fed"):
            session.run(outputs, {kept[0]: X[:, 0]})


def test_one_call_of_a_users_cell_is_traced_however_many_steps_there_are():
    calls = []

    class Noting(C.RNNCell):
        state_size = output_size = 2

        def call(self, inputs, state):
            calls.append(inputs)
            return inputs, state

    tf.nn.dynamic_rnn(Noting(), X, dtype=tf.float32)
    assert len(calls) == 1
    assert calls[0].get_shape().as_list() == [3, 2]


def test_control_dependencies_around_a_loop_do_not_reach_into_it():
    counter = tf.get_variable("counter", initializer=0.0)
    with tf.control_dependencies([tf.assign_add(counter, 1.0)]):
        outputs, _ = tf.nn.dynamic_rnn(Stepping(), X, dtype=tf.float32)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(outputs)
        assert session.run(counter) == 1


def test_a_method_of_a_users_cell_may_be_called_sequence():
    class Sum(tf.nn.rnn_cell.RNNCell):
        state_size = output_size = 3

        def call(self, inputs, state):
            return inputs + state, state + 1

        def sequence(self, names):
            raise AssertionError("must not be called")

    with tf.Graph().as_default(), tf.Session() as session:
        _, state = tf.nn.dynamic_rnn(Sum(), tf.ones([2, 4, 3]), sequence_length=[4, 1], dtype=tf.float32)
        assert session.run(state)[:, 0].tolist() == [4, 1]


@pytest.mark.parametrize("wrap", ["none", "MultiRNNCell", "DropoutWrapper", "ResidualWrapper", "static_rnn"])
def test_a_call_replaced_on_the_cell_itself_is_what_runs(wrap):
    cell = tf.nn.rnn_cell.BasicRNNCell(3)
    original = cell.call
    cell.call = lambda inputs, state: (original(inputs, state)[0], state + 1)
    outer = cell
    if wrap == "MultiRNNCell":
        outer = tf.nn.rnn_cell.MultiRNNCell([cell])
    elif wrap in ("DropoutWrapper", "ResidualWrapper"):
        outer = getattr(tf.nn.rnn_cell, wrap)(cell)
    inputs = tf.ones([2, 4, 3])
    if wrap == "static_rnn":
        _, state = tf.nn.static_rnn(outer, tf.unstack(inputs, axis=1), dtype=tf.float32)
    else:
        _, state = tf.nn.dynamic_rnn(outer, inputs, dtype=tf.float32)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert np.all(np.asarray(session.run(state)) == 4)
