"""`ResidualWrapper`, `DeviceWrapper` and what every wrapper hands on of the cell inside."""

import numpy as np
import pytest

import dynrnn.tf1 as tf

C = tf.nn.rnn_cell
WRAPPERS = {
    "residual": C.ResidualWrapper,
    "device": lambda cell: C.DeviceWrapper(cell, "/cpu:0"),
    "dropout": lambda cell: C.DropoutWrapper(cell, 0.5),
}
EACH_WRAPPER = pytest.mark.parametrize("wrap", WRAPPERS.values(), ids=WRAPPERS)


def run(fetches):
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return session.run(fetches)


@EACH_WRAPPER
def test_a_wrapper_hands_on_sizes_variables_and_the_cell(wrap):
    inner = C.LSTMCell(3, num_proj=2)
    cell = wrap(inner)
    assert (cell.state_size, cell.output_size) == (inner.state_size, 2)
    assert cell.wrapped_cell is inner
    tf.nn.dynamic_rnn(cell, tf.ones([2, 4, 2]), dtype=tf.float32)
    assert cell.trainable_variables == inner.trainable_variables == tf.global_variables()
    assert next(variable.op.name for variable in cell.variables) == "rnn/lstm_cell/kernel"


@EACH_WRAPPER
def test_a_wrapper_asks_the_cell_for_its_zero_state(wrap):
    class Own(C.GRUCell):
        def zero_state(self, batch_size, dtype):
            return "whatever it returns"

    assert wrap(Own(3)).zero_state(2, tf.float32) == "whatever it returns"


@EACH_WRAPPER
def test_a_wrapper_refuses_what_is_no_cell(wrap):
    with pytest.raises(TypeError, match=r"'cell'.*is not an RNNCell"):
        wrap("gru")


@EACH_WRAPPER
@pytest.mark.parametrize("form", [(["mine"], {}), ([], {"scope": "mine"})], ids=["positional", "keyword"])
def test_the_scope_argument_goes_to_the_cell(wrap, form):
    cell = wrap(C.GRUCell(3))
    state = cell.zero_state(2, tf.float32)
    for _ in range(2):
        _, state = cell(tf.ones([2, 3]), state, *form[0], **form[1])
    assert {variable.op.name.split("/")[0] for variable in tf.global_variables()} == {"mine"}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_residual_sum_gives_tensorflows_numbers(dtype):
    with tf.variable_scope("root", initializer=tf.constant_initializer(0.5)):
        cell = C.ResidualWrapper(C.GRUCell(2))
        output, state = run(cell(tf.constant([[1.0, 2.0]], dtype), tf.constant([[0.1, 0.3]], dtype)))
    np.testing.assert_allclose(output, [[1.152508, 2.339914]], 0, 2e-6)
    np.testing.assert_allclose(state, [[0.152508, 0.339914]], 0, 2e-6)
    assert output.dtype == dtype


@pytest.mark.parametrize("loop", ["dynamic_rnn", "static_rnn"])
def test_a_residual_function_takes_the_place_of_the_sum(loop):
    inputs = np.random.default_rng(0).normal(size=[2, 4, 3]).astype(np.float32)
    steps = tf.constant(inputs) if loop == "dynamic_rnn" else tf.unstack(tf.constant(inputs), axis=1)
    inner = C.GRUCell(3)
    plain, state = getattr(tf.nn, loop)(inner, steps, sequence_length=[4, 2], dtype=tf.float32)
    cell = C.ResidualWrapper(inner, residual_fn=lambda i, o: 2.0 * i - o)
    changed, same_state = getattr(tf.nn, loop)(cell, steps, sequence_length=[4, 2], dtype=tf.float32)
    if loop == "static_rnn":
        plain, changed = tf.stack(plain, 1), tf.stack(changed, 1)
    plain, changed, state, same_state = run([plain, changed, state, same_state])
    np.testing.assert_allclose(changed[0], 2 * inputs[0] - plain[0], rtol=1e-5)
    assert not changed[1, 2:].any()
    np.testing.assert_allclose(same_state, state, 0, 1e-6)


@pytest.mark.parametrize("loop", ["dynamic_rnn", "static_rnn", "by_hand"])
def test_a_residual_sum_of_unlike_widths_is_refused(loop):
    cell = C.ResidualWrapper(C.LSTMCell(4))
    with pytest.raises(ValueError, match=r"Shapes \(2, 2\) and \(2, 4\) are incompatible"):
        if loop == "by_hand":
            cell(tf.ones([2, 2]), cell.zero_state(2, tf.float32))
        elif loop == "static_rnn":
            tf.nn.static_rnn(cell, [tf.ones([2, 2])] * 3, dtype=tf.float32)
        else:
            tf.nn.dynamic_rnn(cell, tf.ones([2, 3, 2]), dtype=tf.float32)
    assert tf.global_variables() == []


def test_a_residual_sum_of_nests_adds_part_by_part():
    class Pair(C.RNNCell):
        state_size, output_size = 1, (2, 3)

        def call(self, inputs, state):
            return (inputs[0] * 2.0, inputs[1] * 3.0), state

    inputs = tf.ones([2, 4, 2]), tf.ones([2, 4, 3])
    first, second = run(tf.nn.dynamic_rnn(C.ResidualWrapper(Pair()), inputs, dtype=tf.float32)[0])
    assert (first == 3).all() and (second == 4).all()


def test_a_device_is_noted_on_the_cells_results(fresh_graph):
    cell = C.DeviceWrapper(C.GRUCell(3), "/cpu:14159")
    output, _ = cell(tf.ones([2, 3]), tf.zeros([2, 3]))
    assert "cpu:14159" in output.device.lower()
    assert "cpu:14159" in cell.zero_state(2, tf.float32).device.lower()


def test_a_device_is_noted_inside_a_loop(fresh_graph):
    def placed():
        return sum("cpu:14159" in node.device.lower() for node in fresh_graph.get_operations())

    cell, inputs = C.DeviceWrapper(C.GRUCell(3), "/cpu:14159"), tf.ones([2, 4, 3])
    state = C.GRUCell(3).zero_state(2, tf.float32)
    assert placed() == 0
    tf.nn.dynamic_rnn(cell, inputs, initial_state=state)
    assert placed() > 0


def test_wrappers_nest_in_any_order():
    inner = C.DeviceWrapper(C.GRUCell(3), "/cpu:0")
    for cell in (
        C.ResidualWrapper(C.DropoutWrapper(inner, 1.0, 1.0)),
        C.DropoutWrapper(C.ResidualWrapper(inner), 1.0, 1.0),
        C.DeviceWrapper(C.ResidualWrapper(inner), "/cpu:0"),
    ):
        outputs, _ = tf.nn.dynamic_rnn(cell, tf.ones([2, 4, 3]), dtype=tf.float32)
        plain, _ = tf.nn.dynamic_rnn(inner, tf.ones([2, 4, 3]), dtype=tf.float32)
        found, expected = run([outputs, plain])
        np.testing.assert_array_equal(found, expected + 1)
