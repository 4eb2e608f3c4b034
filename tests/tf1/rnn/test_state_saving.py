"""`tf.nn.static_state_saving_rnn`: where the state comes from, what the saver is given, and when it is saved."""

from typing import Any

import numpy as np
import pytest

import dynrnn.tf1 as tf

CELLS = tf.nn.rnn_cell
X = np.random.RandomState(5).uniform(-1, 1, (3, 2, 4)).astype(np.float32)  # time, batch, width
RANDOM = tf.random_uniform_initializer(-0.5, 0.5, seed=1)


class Saver:
    """Holds each state in a variable, which `save_state` assigns, as a program that keeps its state would."""

    def __init__(self, sizes: dict[str, int], batch: int = 2):
        self.variables = {
            name: tf.get_variable(f"saved_{name}", [batch, size], initializer=tf.zeros_initializer(), trainable=False)
            for name, size in sizes.items()
        }
        self.given: dict[str, Any] = {}

    def state(self, name: str) -> Any:
        return tf.identity(self.variables[name])

    def save_state(self, name: str, value: Any) -> Any:
        self.given[name] = value
        return tf.assign(self.variables[name], value, name=f"save_{name}").op


def steps(x: np.ndarray = X) -> list[Any]:
    return [tf.constant(step) for step in x]


def run(cell: Any, saver: Saver, names: Any, **options: Any) -> tuple[list[Any], Any]:
    with tf.variable_scope("model", initializer=RANDOM):
        return tf.nn.static_state_saving_rnn(cell, steps(), saver, names, **options)


def started() -> tf.Session:
    session = tf.Session()
    session.run(tf.global_variables_initializer())
    return session


def test_one_name():
    saver = Saver({"h": 3})
    outputs, state = run(CELLS.GRUCell(3), saver, "h")
    with started() as session:
        found, saved, last = session.run([state, saver.given["h"], outputs[-1]])
    np.testing.assert_array_equal(found, saved)
    np.testing.assert_array_equal(found, last)
    assert state.get_shape().as_list() == [2, 3]


@pytest.mark.parametrize("names", [("c", "h"), ["c", "h"]], ids=["tuple", "list"])
def test_a_pair_of_names(names):
    saver = Saver({"c": 3, "h": 3})
    _, state = run(CELLS.LSTMCell(3), saver, names)
    assert isinstance(state, CELLS.LSTMStateTuple)
    with started() as session:
        found, saved = session.run([state, saver.given])
    np.testing.assert_array_equal(found.c, saved["c"])
    np.testing.assert_array_equal(found.h, saved["h"])


def test_nested_names_for_layers_of_unlike_widths():
    widths = {f"{part}{layer}": width for layer, width in enumerate((5, 2, 7, 3)) for part in "ch"}
    saver = Saver(widths)
    cell = CELLS.MultiRNNCell([CELLS.LSTMCell(width) for width in (5, 2, 7, 3)])
    _, state = run(cell, saver, tuple((f"c{layer}", f"h{layer}") for layer in range(4)))
    assert isinstance(state, tuple)
    with started() as session:
        found, saved = session.run([state, saver.given])
    for layer, part in enumerate(found):
        np.testing.assert_array_equal(part.c, saved[f"c{layer}"])
        np.testing.assert_array_equal(part.h, saved[f"h{layer}"])
        assert part.c.shape == (2, (5, 2, 7, 3)[layer])


def test_a_flat_tuple_of_names_goes_with_layers_of_one_state():
    saver = Saver({"one": 3, "two": 2})
    _, state = run(CELLS.MultiRNNCell([CELLS.GRUCell(3), CELLS.GRUCell(2)]), saver, ("one", "two"))
    assert [part.get_shape().as_list() for part in state] == [[2, 3], [2, 2]]


def test_a_state_in_one_piece():
    saver = Saver({"state": 6})
    outputs, state = run(CELLS.LSTMCell(3, state_is_tuple=False), saver, "state")
    assert state.get_shape().as_list() == [2, 6]
    assert outputs[0].get_shape().as_list() == [2, 3]


def test_outputs_are_those_of_static_rnn_from_the_saved_state():
    saver = Saver({"c": 3, "h": 3})
    outputs, state = run(CELLS.LSTMCell(3), saver, ("c", "h"), sequence_length=[3, 1])
    start = CELLS.LSTMStateTuple(saver.variables["c"] + 0.0, saver.variables["h"] + 0.0)
    with tf.variable_scope("model", reuse=True):
        plain = tf.nn.static_rnn(CELLS.LSTMCell(3), steps(), initial_state=start, sequence_length=[3, 1])
    variables = tf.trainable_variables()
    losses = [tf.add_n([tf.reduce_sum(part) for part in (*out, *final)]) for out, final in ((outputs, state), plain)]
    gradients = [tf.gradients(loss, variables) for loss in losses]
    with started() as session:
        session.run([variable.assign(np.full([2, 3], 0.3)) for variable in saver.variables.values()])
        # the plain loop first: the other one changes the state that both start from
        expected, expected_gradients = session.run([plain, gradients[1]])
        found, found_gradients = session.run([(outputs, state), gradients[0]])
    for one, other in zip(
        [*found[0], *found[1], *found_gradients], [*expected[0], *expected[1], *expected_gradients], strict=True
    ):
        np.testing.assert_array_equal(one, other)
    assert not found[0][2][1].any()


def test_the_last_output_and_the_state_wait_for_the_saving():
    saver = Saver({"h": 3})
    outputs, state = run(CELLS.GRUCell(3), saver, "h")
    assert [node.name for node in outputs[-1].op.control_inputs] == ["model/save_h"]
    assert [node.name for node in state.op.control_inputs] == ["model/save_h"]
    for fetch in (outputs[-1], state):
        with started() as session:
            value = session.run(fetch)
            np.testing.assert_array_equal(session.run(saver.variables["h"]), value)


def test_earlier_outputs_save_nothing():
    saver = Saver({"h": 3})
    outputs, _ = run(CELLS.GRUCell(3), saver, "h")
    with started() as session:
        session.run(outputs[:-1])
        assert not session.run(saver.variables["h"]).any()


def test_runs_one_after_the_other_are_one_long_run():
    saver = Saver({"c": 3, "h": 3})
    x = [tf.placeholder(tf.float32, [2, 4]) for _ in range(3)]
    with tf.variable_scope("model", initializer=RANDOM):
        outputs, _ = tf.nn.static_state_saving_rnn(CELLS.LSTMCell(3), x, saver, ("c", "h"))
        tf.get_variable_scope().reuse_variables()
        twice = np.concatenate([X, X[::-1]])
        whole, _ = tf.nn.static_rnn(CELLS.LSTMCell(3), steps(twice), dtype=tf.float32)
    with started() as session:
        pieces = [session.run(outputs, dict(zip(x, part, strict=True))) for part in (X, X[::-1])]
        expected = session.run(whole)
    np.testing.assert_allclose(np.concatenate(pieces), expected, rtol=0, atol=1e-6)  # as pieces against the whole


@pytest.mark.parametrize(("scope", "prefix"), [(None, "model/rnn"), ("other", "model/other")])
def test_variables_stand_under_the_scope(scope, prefix):
    run(CELLS.BasicRNNCell(3), Saver({"h": 3}), "h", scope=scope)
    names = [variable.op.name for variable in tf.trainable_variables()]
    assert names == [f"{prefix}/basic_rnn_cell/kernel", f"{prefix}/basic_rnn_cell/bias"]


def test_a_saved_state_of_unknown_shape_takes_the_cells():
    class Vague(Saver):
        def state(self, name):
            return tf.placeholder_with_default(self.variables[name], None)

    _, state = run(CELLS.GRUCell(3), Vague({"h": 3}), "h")
    assert state.get_shape().as_list() == [2, 3]


@pytest.mark.parametrize(
    ("cell", "names", "words"),
    [
        ("lstm", "c", "same type as cell.state_size"),
        ("lstm", ("c",), "1 vs. 2"),
        ("lstm", ("c", "h", "m"), "3 vs. 2"),
        ("gru", ("c", "h"), "same type as cell.state_size"),
    ],
)
def test_names_must_have_the_structure_of_the_state(cell, names, words):
    made = CELLS.LSTMCell(3) if cell == "lstm" else CELLS.GRUCell(3)
    with pytest.raises(ValueError, match=words):
        run(made, Saver({"c": 3, "h": 3, "m": 3}), names)


def test_a_saved_state_of_another_width_is_refused():
    with pytest.raises(ValueError, match="not compatible"):
        run(CELLS.GRUCell(3), Saver({"h": 4}), "h")


def test_what_static_rnn_refuses_is_refused():
    saver = Saver({"h": 3})
    with pytest.raises(TypeError, match="not an RNNCell"):
        tf.nn.static_state_saving_rnn(3, steps(), saver, "h")
    with pytest.raises(ValueError, match="must not be empty"):
        tf.nn.static_state_saving_rnn(CELLS.GRUCell(3), [], saver, "h")
    with pytest.raises(TypeError, match="must be a sequence"):
        tf.nn.static_state_saving_rnn(CELLS.GRUCell(3), tf.constant(X), saver, "h")


def test_nested_inputs_of_a_users_cell():
    class Adding(CELLS.RNNCell):
        state_size = (tf.TensorShape([2, 2]), 1)
        output_size = (tf.TensorShape([2, 2]), 1)

        def call(self, inputs, state):
            (a, b), (c, d) = inputs, state
            return (a + c, b - d), (a + c, b + d)

    class Nested(Saver):
        def __init__(self):
            super().__init__({"d": 1})
            self.variables["c"] = tf.get_variable("saved_c", [2, 2, 2], initializer=tf.zeros_initializer())

    saver = Nested()
    given = [(tf.ones([2, 2, 2]) * (i + 1.0), tf.ones([2, 1])) for i in range(3)]
    outputs, state = tf.nn.static_state_saving_rnn(Adding(), given, saver, ("c", "d"), sequence_length=[3, 1])
    with started() as session:
        (total, count), saved, last = session.run([state, saver.given, outputs[-1]])
    np.testing.assert_array_equal(total[:, 0, 0], [6, 1])
    np.testing.assert_array_equal(count[:, 0], [3, 1])
    np.testing.assert_array_equal(saved["c"], total)
    np.testing.assert_array_equal(last[0][:, 1, 1], [6, 0])
