"""raw_rnn against TensorFlow's own results, with loop functions written after the description of the golden cases."""

from typing import Any

import numpy as np
import pytest
from tf1.rnn.golden_case import (
    GOLDEN,
    Graph,
    assert_close,
    assert_structure,
    flatten,
    leaves,
    make_cell,
    read_cases,
    run_graph,
)

import dynrnn.tf1 as tf

CASES = {name: case for name, case in read_cases("rnn").items() if case["api"] == "raw_rnn"}


class Steps:
    """What the loop functions share: the inputs, the lengths and the state at time 0."""

    def __init__(self, cell: Any, x: Any, lengths: Any, initial: Any):
        self.cell, self.x, self.lengths = cell, x, lengths
        self.batch = lengths.get_shape()[0].value
        self.initial = cell.zero_state(self.batch, x.dtype) if initial is None else initial

    def read(self, time: Any) -> Any:
        """The input at `time`, zeros when all rows are finished."""
        width = self.x.get_shape()[2].value
        over = tf.reduce_all(time >= self.lengths)
        return tf.cond(over, lambda: tf.zeros([self.batch, width], self.x.dtype), lambda: self.x[time])

    def copy(self, time, output, state, loop_state):
        state = self.initial if output is None else state
        return time >= self.lengths, self.read(time), state, output, None

    def emit(self, time, output, state, loop_state):
        finished, x = time >= self.lengths, self.read(time)
        if output is None:
            like = tf.zeros([self.cell.output_size]), tf.zeros([]), tf.zeros([], tf.int32)
            return finished, x, self.initial, like, (tf.constant(0), tf.zeros([self.batch]))
        calls, total = loop_state
        emit = 2.0 * output, tf.reduce_sum(output[:, :2], 1), tf.fill([self.batch], time)
        return finished, x, state, emit, (calls + 1, total + tf.reduce_sum(output, 1))

    def feedback(self, time, output, state, loop_state):
        finished = time >= self.lengths
        if output is None:
            self.weight = tf.get_variable("P", [self.cell.output_size, self.x.get_shape()[1].value])
            return finished, self.x, self.initial, None, tf.zeros([self.batch])
        total = loop_state + tf.reduce_max(output, 1)
        return finished, tf.tanh(tf.matmul(output, self.weight)), state, output, total


def build_raw(case: dict[str, Any], data: Any) -> tuple[Graph, Any]:
    """Build a case in the default graph; returns it and the structure of the final loop state."""
    feeds: dict[Any, np.ndarray] = {}

    def placeholder(key: str, dtype: str, shape: Any) -> Any:
        tensor = tf.placeholder(dtype, shape)
        feeds[tensor] = data[key]
        return tensor

    (leaf,) = leaves(case["inputs"])
    x = placeholder(leaf["key"], leaf["dtype"], leaf["static_shape"])
    initial = None
    if case["initial_state"] is not None:
        (leaf,) = leaves(case["initial_state"])
        initial = placeholder(leaf["key"], leaf["dtype"], leaf["static_shape"])
    length = case["call"]["sequence_length"]
    lengths = placeholder(length["key"], length["dtype"], data[length["key"]].shape)
    cell = make_cell(case["cell"])
    loop_fn = getattr(Steps(cell, x, lengths, initial), case["call"]["loop_fn"])
    arrays, state, loop_state = tf.nn.raw_rnn(cell, loop_fn, scope=case["call"]["scope"])
    outputs = tuple(array.stack() for array in arrays) if isinstance(arrays, tuple) else arrays.stack()
    found = {}
    for value, structure in ((outputs, case["outputs"]), (state, case["state"]), (loop_state, case["loop_state"])):
        if structure is not None:
            found |= dict(zip([leaf["key"] for leaf in leaves(structure)], flatten(value), strict=True))
    terms = [tf.reduce_sum(found[term["tensor"]] * data[term["weight"]]) for term in case["loss"]["terms"]]
    variables = tf.global_variables()
    keys = [key for kind in ("variables", "inputs", "initial_state") for key in case["gradients"][kind]]
    xs = [*variables, x, *([] if initial is None else [initial])]
    loss = tf.add_n(terms)
    gradients = dict(zip(keys, tf.gradients(loss, xs), strict=True))
    return Graph(outputs, state, {**found, "loss": loss}, gradients, feeds, variables), loop_state


@pytest.fixture(params=CASES)
def case(request):
    return CASES[request.param]


@pytest.fixture
def data(case):
    with np.load(GOLDEN / "rnn" / case["file"], allow_pickle=False) as arrays:
        return dict(arrays)


def test_values_and_gradients_are_tensorflows(case, data):
    graph, _ = build_raw(case, data)
    for key, value in run_graph(case, data, graph).items():
        kind = "outputs" + key.removeprefix("loop") if key.startswith("loop_") else key
        assert_close(kind, value, data[key], case["noise_vs_float64"])


def test_structures_dtypes_and_static_shapes_are_tensorflows(case, data):
    graph, loop_state = build_raw(case, data)
    for value, structure in ((graph.outputs, case["outputs"]), (graph.state, case["state"])):
        assert_structure(value, structure)
        for tensor, leaf in zip(flatten(value), leaves(structure), strict=True):
            assert tensor.dtype.name == leaf["dtype"]
            assert tensor.get_shape().as_list() == leaf["static_shape"]
    if case["loop_state"] is None:
        assert loop_state is None
    else:
        assert_structure(loop_state, case["loop_state"])


def test_variables_have_tensorflows_names_shapes_and_order(case, data):
    graph, _ = build_raw(case, data)
    found = [(variable.op.name, variable.get_shape().as_list()) for variable in graph.variables]
    assert found == [(meta["name"], meta["shape"]) for meta in case["variables"]]
