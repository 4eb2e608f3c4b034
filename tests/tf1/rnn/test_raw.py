"""`tf.nn.raw_rnn`: what the loop function decides, what is emitted and carried, and its agreement with dynamic_rnn."""

from typing import Any

import numpy as np
import pytest

import dynrnn.tf1 as tf

RANDOM = np.random.RandomState(7)
X = RANDOM.uniform(-1, 1, (4, 3, 5)).astype(np.float32)  # time, batch, width
LENGTHS = [4, 2, 1]


def reading(cell: Any, x: Any, lengths: Any, change: Any = None) -> Any:
    """A loop function that feeds `x` `[time, batch, width]` from a TensorArray for each row's length.

    change: alters the dict of what is returned, given it and the arguments.
    """
    array = tf.TensorArray(tf.float32, size=tf.shape(x)[0]).unstack(x)
    batch, width = X.shape[1:]

    def loop_fn(time, output, state, loop_state):
        finished = time >= lengths
        result = {
            "finished": finished,
            "input": tf.cond(tf.reduce_all(finished), lambda: tf.zeros([batch, width]), lambda: array.read(time)),
            "state": cell.zero_state(batch, tf.float32) if output is None else state,
            "emit": output,
            "loop_state": None,
        }
        if change is not None:
            change(result, time, output, loop_state)
        return tuple(result.values())

    return loop_fn


def run_raw(change: Any = None, lengths: Any = tuple(LENGTHS), cell: Any = None, **options: Any) -> Any:
    cell = cell or tf.nn.rnn_cell.GRUCell(2)
    return tf.nn.raw_rnn(cell, reading(cell, tf.constant(X), lengths, change), **options)


def evaluate(*fetches: Any) -> Any:
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        values = session.run(list(fetches))
    return values if len(values) > 1 else values[0]


# Agreement with dynamic_rnn


def against_dynamic(lengths: list[int]) -> Any:
    """Outputs, states and gradients of raw_rnn and of dynamic_rnn on shared weights, at the raw loop's own length."""
    x = tf.constant(X)
    longest = max(lengths)
    kernel = tf.random_uniform_initializer(-0.6, 0.6, seed=3)
    with tf.variable_scope("shared", initializer=kernel) as scope:
        cell = tf.nn.rnn_cell.LSTMCell(3)
        array, raw_state, _ = tf.nn.raw_rnn(cell, reading(cell, x, lengths), scope=scope)
        scope.reuse_variables()
        cell = tf.nn.rnn_cell.LSTMCell(3)
        outputs, state = tf.nn.dynamic_rnn(cell, x, lengths, dtype=tf.float32, time_major=True, scope=scope)
    variables = tf.trainable_variables()
    assert [variable.op.name for variable in variables] == ["shared/lstm_cell/kernel", "shared/lstm_cell/bias"]
    found = []
    for output, final in ((array.stack(), raw_state), (outputs[:longest], state)):
        weight = tf.constant(RANDOM.__class__(1).uniform(size=(longest, 3, 3)), tf.float32)
        loss = tf.reduce_sum(output * weight) + tf.reduce_sum(tf.sin(final.c)) + tf.reduce_sum(final.h)
        found.append([output, final.c, final.h, *tf.gradients(loss, [x, *variables])])
    return evaluate(*found)


@pytest.mark.parametrize("lengths", [[4, 4, 4], [4, 2, 1], [3, 0, 2], [0, 0, 0]], ids=str)
def test_equals_dynamic_rnn_in_values_and_gradients_with_shared_weights(lengths):
    raw, dynamic = against_dynamic(lengths)
    for found, expected in zip(raw, dynamic, strict=True):
        # the whole-sequence path multiplies all inputs at once, which rounds differently
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


def test_zero_steps_give_empty_outputs_and_the_initial_state():
    array, state, _ = run_raw(lengths=[0, 0, 0])
    stacked, final, size = evaluate(array.stack(), state, array.size())
    assert stacked.shape == (0, 3, 2)
    assert size == 0
    np.testing.assert_array_equal(final, np.zeros([3, 2]))


def test_the_gradient_of_zero_steps_reaches_the_initial_state():
    start = tf.ones([3, 2])
    _, state, _ = run_raw(lambda r, time, output, _: r.update(state=start) if output is None else None, [0, 0, 0])
    np.testing.assert_array_equal(evaluate(tf.gradients(state * 3.0, start)[0]), np.full([3, 2], 3.0))


def test_rows_that_are_done_emit_zeros_and_keep_their_state():
    states = []

    def change(result, time, output, _):
        if output is not None:
            result["emit"] = output, result["state"]
            states.append(result["state"])
        else:
            result["emit"] = tf.zeros([2]), tf.zeros([2])

    (outputs, seen), state, _ = run_raw(change)
    outputs, seen, final = evaluate(outputs.stack(), seen.stack(), state)
    for row, length in enumerate(LENGTHS):
        assert np.all(outputs[:length, row] != 0)
        assert np.all(outputs[length:, row] == 0)
        np.testing.assert_array_equal(final[row], seen[length - 1, row])


def test_lengths_may_be_fed():
    lengths = tf.placeholder(tf.int32, [3])
    array, _, _ = run_raw(lengths=lengths)
    stacked = array.stack()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for given in ([1, 1, 1], [4, 0, 2], [0, 0, 0], [2, 3, 1]):
            assert session.run(stacked, {lengths: given}).shape == (max(given), 3, 2)


def test_the_batch_size_may_be_unknown():
    x = tf.placeholder(tf.float32, [None, None, 5])
    cell = tf.nn.rnn_cell.GRUCell(2)
    array = tf.TensorArray(tf.float32, tf.shape(x)[0]).unstack(x)
    batch, steps = tf.shape(x)[1], tf.shape(x)[0]

    def loop_fn(time, output, state, _):
        finished = tf.fill([batch], time >= steps)
        following = tf.cond(time >= steps, lambda: tf.zeros([batch, 5]), lambda: array.read(time))
        following.set_shape([None, 5])
        return finished, following, cell.zero_state(batch, tf.float32) if output is None else state, output, None

    emitted, state, _ = tf.nn.raw_rnn(cell, loop_fn)
    stacked = emitted.stack()
    assert stacked.get_shape().as_list() == [None, None, 2]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for shape in ((4, 3, 5), (2, 1, 5), (0, 2, 5)):
            found = session.run([stacked, state], {x: np.ones(shape)})
            assert [value.shape for value in found] == [(*shape[:2], 2), (shape[1], 2)]


# What is emitted


def test_static_shapes_follow_the_cell():
    array, state, loop_state = run_raw()
    assert array.element_shape.as_list() == [3, 2]
    assert array.stack().get_shape().as_list() == [None, 3, 2]
    assert state.get_shape().as_list() == [3, 2]
    assert loop_state is None


def test_another_structure_shape_and_dtype_may_be_emitted():
    def change(result, time, output, _):
        first = output is None
        result["emit"] = {
            "b": tf.zeros([2, 2], tf.int32) if first else tf.fill([3, 2, 2], time),
            "a": (tf.zeros([], tf.bool) if first else tf.fill([3], True), tf.zeros([1]) if first else output[:, :1]),
        }

    arrays, _, _ = run_raw(change)
    assert (arrays["b"].dtype, arrays["a"][0].dtype, arrays["a"][1].dtype) == (tf.int32, tf.bool, tf.float32)
    number, flag, first = evaluate(arrays["b"].stack(), arrays["a"][0].stack(), arrays["a"][1].stack())
    np.testing.assert_array_equal(number[:, 0, 0, 0], [1, 2, 3, 4])
    np.testing.assert_array_equal(number[:, 2, 1, 1], [1, 0, 0, 0])
    np.testing.assert_array_equal(flag.sum(axis=0), LENGTHS)
    assert first.shape == (4, 3, 1)


@pytest.mark.parametrize("shape", [[2], None], ids=["rank known", "rank unknown"])
def test_the_emitted_shape_may_be_known_only_when_the_graph_runs(shape):
    sizes = tf.placeholder(tf.int32, shape)

    def change(result, time, output, _):
        one = tf.zeros(sizes, tf.int64)
        result["emit"] = one if output is None else tf.stack([one + 1] * 3)

    array, _, _ = run_raw(change)
    stacked = array.stack()
    assert stacked.get_shape().ndims == (None if shape is None else 4)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for given in ([2, 7], [1, 0]):
            found = session.run(stacked, {sizes: given})
            assert found.dtype == np.int64
            assert found.shape == (4, 3, *given)
            assert found.sum() == sum(LENGTHS) * given[0] * given[1]


def test_the_cell_output_is_emitted_in_the_dtype_of_the_states_first_part():
    class Counting(tf.nn.rnn_cell.RNNCell):
        state_size = (2, 1)
        output_size = 2

        def zero_state(self, batch_size, dtype):
            return tf.zeros([batch_size, 2], dtype), tf.zeros([batch_size, 1], tf.int32)

        def call(self, inputs, state):
            return state[0] + 1.0, (state[0] + 1.0, state[1] + 1)

    array, (_, count), _ = run_raw(cell=Counting())
    stacked, count = evaluate(array.stack(), count)
    assert stacked.dtype == np.float32
    np.testing.assert_array_equal(count[:, 0], LENGTHS)


def test_none_in_the_first_call_stands_for_the_cells_nested_output():
    class Pair(tf.nn.rnn_cell.RNNCell):
        state_size = 2
        output_size = (2, tf.TensorShape([1, 3]))

        def call(self, inputs, state):
            return (state, tf.ones([3, 1, 3])), state + 1.0

    (first, second), _, _ = run_raw(cell=Pair())
    first, second = evaluate(first.stack(), second.stack())
    assert (first.shape, second.shape) == ((4, 3, 2), (4, 3, 1, 3))
    np.testing.assert_array_equal(second[:, :, 0, 0].sum(axis=0), LENGTHS)


# The loop state


def test_a_tensor_is_threaded_through_all_steps():
    def change(result, time, output, loop_state):
        result["loop_state"] = tf.constant([5, 0]) if loop_state is None else tf.add(loop_state, [1, time])

    _, _, loop_state = run_raw(change)
    np.testing.assert_array_equal(evaluate(loop_state), [9, 10])


def test_a_nest_is_threaded_through_all_steps():
    def change(result, time, output, loop_state):
        before = {"n": 0, "all": [tf.zeros([3, 2])]} if loop_state is None else loop_state
        added = 0.0 if output is None else output
        result["loop_state"] = {"n": before["n"] + 1, "all": [before["all"][0] + added]}

    array, _, loop_state = run_raw(change)
    count, total, outputs = evaluate(loop_state["n"], loop_state["all"][0], array.stack())
    assert count == 5
    np.testing.assert_array_equal(total[0], outputs[:, 0].cumsum(axis=0)[-1])


def test_a_growing_tensor_array_is_read_and_written():
    def change(result, time, output, loop_state):
        if loop_state is None:
            array = tf.TensorArray(tf.int32, 0, dynamic_size=True, clear_after_read=False)
            result["loop_state"] = array.write(0, 1)
        else:
            result["loop_state"] = loop_state.write(time, loop_state.read(time - 1) + time)

    _, _, loop_state = run_raw(change)
    np.testing.assert_array_equal(evaluate(loop_state.stack()), [1, 2, 4, 7, 11])


def test_gradients_pass_through_the_loop_state():
    scale = tf.constant(2.0)

    def change(result, time, output, loop_state):
        result["loop_state"] = tf.constant(1.0) if loop_state is None else loop_state * scale

    _, _, loop_state = run_raw(change)
    (gradient,) = tf.gradients(loop_state, scale)
    value, found = evaluate(loop_state, gradient)
    assert (value, found) == (16.0, 32.0)


def test_a_later_none_keeps_the_loop_state():
    _, _, loop_state = run_raw(lambda r, time, output, _: r.update(loop_state=7 if output is None else None))
    assert evaluate(loop_state) == 7


def test_a_loop_state_that_was_none_at_first_is_not_returned():
    _, _, loop_state = run_raw(lambda r, time, output, _: r.update(loop_state=None if output is None else 1))
    assert loop_state is None


# Variables and names


@pytest.mark.parametrize(("scope", "prefix"), [(None, "rnn"), ("other", "other")])
def test_variables_stand_under_the_scope(scope, prefix):
    run_raw(scope=scope)
    names = [variable.op.name for variable in tf.global_variables()]
    kinds = ["gates/kernel", "gates/bias", "candidate/kernel", "candidate/bias"]
    assert names == [f"{prefix}/gru_cell/{kind}" for kind in kinds]


def test_variables_made_in_later_calls_of_the_loop_function_train():
    def change(result, time, output, _):
        if output is not None:
            weight = tf.get_variable("back", [2, 5], initializer=tf.ones_initializer())
            result["input"] = tf.matmul(output, weight)

    _, state, _ = run_raw(change)
    variable = tf.global_variables()[-1]
    assert variable.op.name == "rnn/back"
    assert np.any(evaluate(tf.gradients(state, variable)[0]) != 0)


def test_a_variable_made_twice_is_refused():
    def change(result, time, output, _):
        tf.get_variable("twice", [1])

    with pytest.raises(ValueError, match="rnn/twice already exists"):
        run_raw(change)


def test_nodes_have_tensorflows_names():
    array, state, _ = run_raw()
    assert array.handle.name == "rnn/rnn_output_0:0"
    assert state.op.name.startswith("rnn/while/Exit")


# Errors


def returning(**values: Any) -> Any:
    """A change that puts `values` into what every call but the first returns."""
    return lambda result, time, output, _: result.update(values) if output is not None else None


def test_a_loop_function_that_cannot_be_called_is_refused():
    with pytest.raises(TypeError, match="loop_fn must be a callable"):
        tf.nn.raw_rnn(tf.nn.rnn_cell.GRUCell(2), 3)


def test_what_is_no_cell_is_refused():
    with pytest.raises(TypeError, match="not an RNNCell"):
        tf.nn.raw_rnn(3, lambda *arguments: arguments)


@pytest.mark.parametrize("part", ["input", "emit", "state"])
def test_another_structure_in_a_later_call_is_refused(part):
    def change(result, time, output, _):
        if output is not None:
            result[part] = (result[part], result[part])

    with pytest.raises(ValueError, match="structure"):
        run_raw(change)


def test_an_initial_state_of_another_structure_than_the_cells_is_refused():
    def change(result, time, output, _):
        result["state"] = (result["state"], result["state"])

    with pytest.raises(ValueError, match="structure"):
        run_raw(change)


def test_emitted_shapes_must_be_those_of_the_first_call():
    def change(result, time, output, _):
        result["emit"] = tf.zeros([4]) if output is None else output

    with pytest.raises(ValueError, match="equal"):
        run_raw(change)


def test_emitted_dtypes_must_be_those_of_the_first_call():
    def change(result, time, output, _):
        result["emit"] = tf.zeros([2], tf.int32) if output is None else output

    with pytest.raises(TypeError, match="int32"):
        run_raw(change)


def test_finished_must_have_one_entry_a_row():
    with pytest.raises(ValueError, match="Dimensions must be equal, but are 2 and 3"):
        run_raw(lengths=[1, 2])
    lengths = tf.placeholder(tf.int32, [None])
    array, _, _ = run_raw(lengths=lengths)
    stacked = array.stack()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        with pytest.raises(tf.errors.InvalidArgumentError, match="1 entries for a batch of 3"):
            session.run(stacked, {lengths: [2]})


def test_finished_must_be_bool():
    with pytest.raises(TypeError, match="int32"):
        run_raw(lambda result, *rest: result.update(finished=tf.constant([0, 0, 0])))


def test_inputs_must_have_a_batch_axis_of_one_size():
    with pytest.raises(ValueError, match="scalar"):
        run_raw(lambda result, *rest: result.update(input=tf.constant(1.0)))
    with pytest.raises(ValueError, match="one batch size, got 3 and 2"):
        run_raw(lambda result, *rest: result.update(input=(tf.zeros([3, 5]), tf.zeros([2, 5]))))


def test_parallel_iterations_must_be_positive():
    with pytest.raises(TypeError, match="positive integer"):
        run_raw(parallel_iterations=-1)


def test_a_failed_call_leaves_the_graph_as_it_was():
    run_raw()
    before = len(tf.get_default_graph().get_operations())
    with pytest.raises(ValueError, match="structure"):
        run_raw(returning(state=()), scope="again")
    graph = tf.get_default_graph()
    left = graph.get_operations()[before:]
    assert not [node.name for node in left if node.name.startswith("again")]


def test_a_tensor_inside_the_loop_cannot_be_fetched_and_the_error_says_what_to_do():
    inside = []
    run_raw(lambda result, time, output, _: inside.append(result["input"]))
    with tf.Session() as session, pytest.raises(ValueError, match=r"not fetchable.*Return it from there"):
        session.run(inside[1])
