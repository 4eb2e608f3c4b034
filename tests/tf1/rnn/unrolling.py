"""Running a cell through any of the loops, on arrays: what the tests of the loops' laws are written with.

Arrays are batch-major here whatever the loop takes; variables get values that depend on their names alone.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from tf1.rnn.described_cells import (
    CounterCell,
    DictStateCell,
    NestedStateCell,
    TrioStateCell,
    WideOutputCell,
)

import dynrnn.tf1 as tf
from dynrnn import _nest

LOOPS = ("dynamic_rnn", "static_rnn", "bidirectional_dynamic_rnn", "static_bidirectional_rnn")
C = tf.nn.rnn_cell
WIDTH = 2  # of the inputs


class NormalizingLSTM(C.BasicLSTMCell):
    """A user's change of one of our cells: `call` is its own, the variables are the parent's."""

    def call(self, inputs, state):
        output, new_state = super().call(inputs, state)
        return output / (1.0 + tf.reduce_sum(tf.abs(output), 1, keepdims=True)), new_state


class OldStyleCell(C.RNNCell):
    """`__call__` with a scope of its own, as cells were written before `call` was there."""

    state_size = output_size = 3

    def __call__(self, inputs, state, scope=None):
        with tf.variable_scope(scope or "old_style"):
            weight = tf.get_variable("weight", [WIDTH + 3, 3], dtype=inputs.dtype)
            new = tf.tanh(tf.matmul(tf.concat([inputs, state], 1), weight))
            return new, new


OURS: dict[str, Callable[[], Any]] = {
    "basic_rnn": lambda: C.BasicRNNCell(3),
    "gru": lambda: C.GRUCell(3),
    "gru-softsign": lambda: C.GRUCell(3, activation=tf.nn.softsign),
    "lstm": lambda: C.LSTMCell(3),
    "lstm-everything": lambda: C.LSTMCell(4, True, cell_clip=0.4, num_proj=3, proj_clip=0.3, forget_bias=0.5),
    "lstm-one_state": lambda: C.BasicLSTMCell(3, state_is_tuple=False),
    "stack": lambda: C.MultiRNNCell([C.LSTMCell(3), C.GRUCell(2), C.BasicRNNCell(3)]),
    "residual": lambda: C.ResidualWrapper(C.GRUCell(WIDTH)),
    "residual_in_stack": lambda: C.MultiRNNCell([C.LSTMCell(3), C.ResidualWrapper(C.LSTMCell(3))]),
    "device": lambda: C.DeviceWrapper(C.LSTMCell(3), "/cpu:0"),
}
DRAWING: dict[str, Callable[[], Any]] = {
    "dropout": lambda: C.DropoutWrapper(C.GRUCell(3), 0.7, 0.6, seed=3),
    "state_dropout": lambda: C.DropoutWrapper(C.LSTMCell(3), 0.7, 0.6, 0.8, seed=4),
    "variational_dropout": lambda: C.DropoutWrapper(
        C.GRUCell(3), 0.7, 0.6, variational_recurrent=True, input_size=tf.TensorShape([WIDTH]), dtype=tf.float64, seed=5
    ),
}
USERS: dict[str, Callable[[], Any]] = {
    "wide_output": lambda: WideOutputCell(3, 4),
    "nested_state": lambda: NestedStateCell(3, 2, 2),
    "counter": lambda: CounterCell(3),
    "dict_state": lambda: DictStateCell(3, 2),
    "namedtuple_state": lambda: TrioStateCell(3),
    "user_in_stack": lambda: C.MultiRNNCell([WideOutputCell(3, 4), C.GRUCell(3)]),
    "changed_lstm": lambda: NormalizingLSTM(3),
    "residual_function": lambda: C.ResidualWrapper(C.GRUCell(WIDTH), lambda inputs, outputs: inputs * outputs),
    "activation_function": lambda: C.LSTMCell(3, activation=lambda value: tf.tanh(value) * 0.5),
    "old_style": OldStyleCell,
}


class Run(NamedTuple):
    """What a loop gave: nests of arrays, and gradients of a loss over all of them, by what they belong to."""

    outputs: Any
    state: Any
    gradients: dict[str, np.ndarray]

    def arrays(self) -> dict[str, np.ndarray]:
        named = {f"output {i}": value for i, value in enumerate(_nest.flatten(self.outputs))}
        named |= {f"state {i}": value for i, value in enumerate(_nest.flatten(self.state))}
        return named | self.gradients


def draw(shape: Any, name: str = "inputs", dtype: Any = np.float64) -> np.ndarray:
    """Normal numbers that depend on `name` alone."""
    random = np.random.default_rng(zlib.crc32(name.encode()))
    return random.normal(size=shape).astype(dtype)


def draw_state(cell: Any, batch: int, dtype: Any, name: str = "state") -> Any:
    """A random state in the structure of the cell's state size; whole numbers where the cell counts."""

    def make(place: int, size: Any) -> np.ndarray:
        shape = [batch, *tf.TensorShape(size if isinstance(size, tf.TensorShape) else [size]).as_list()]
        value = draw(shape, f"{name} {place}", dtype)
        return np.abs(value * 3).astype(np.int32) if isinstance(cell, CounterCell) and place else value

    sizes = _nest.flatten(cell.state_size)
    return _nest.pack_sequence_as(cell.state_size, [make(place, size) for place, size in enumerate(sizes)])


def unroll(
    make: Callable[[], Any],
    inputs: Any,
    lengths: Any = None,
    *,
    loop: str = "dynamic_rnn",
    state: Any = "drawn",
    time_major: bool = False,
    **options: Any,
) -> Run:
    """Run the cell that `make` gives in a graph of its own.

    state: "drawn", None for the zero state, or a state (for a bidirectional loop a pair).
    """
    with tf.Graph().as_default(), tf.Session() as session:
        feeds: dict[Any, np.ndarray] = {}

        def feed(array: np.ndarray) -> Any:
            tensor = tf.placeholder(array.dtype, array.shape)
            feeds[tensor] = array
            return tensor

        cells = [make() for _ in range(1 + ("bidirectional" in loop))]
        first = _nest.flatten(inputs)[0]
        if isinstance(state, str):
            states = [draw_state(cell, len(first), first.dtype, f"state {i}") for i, cell in enumerate(cells)]
        else:
            states = [None] * len(cells) if state is None else [state] if len(cells) == 1 else list(state)
        xs = _nest.map_structure(lambda array: feed(array.swapaxes(0, 1) if time_major else array), inputs)
        fed = [None if part is None else _nest.map_structure(feed, part) for part in states]
        if lengths is not None:
            options["sequence_length"] = feed(lengths) if isinstance(lengths, np.ndarray) else lengths
        if time_major:
            options["time_major"] = True
        with tf.variable_scope(tf.get_variable_scope(), dtype=first.dtype):  # of variables that cells make themselves
            outputs, final = _call(loop, cells, xs, fed, first.dtype, options)
        sources = [(f"gradient of input {i}", tensor) for i, tensor in enumerate(_nest.flatten(xs))]
        given = [tensor for part in fed if part is not None for tensor in _nest.flatten(part)]
        sources += [(f"gradient of state {i}", tensor) for i, tensor in enumerate(given)]
        sources += [(f"gradient of {variable.op.name}", variable) for variable in tf.global_variables()]
        found = tf.gradients(_loss(outputs, final), [tensor for _, tensor in sources])
        gradients = {name: grad for (name, _), grad in zip(sources, found, strict=True) if grad is not None}
        for variable in tf.global_variables():
            shape, dtype = variable.get_shape().as_list(), variable.dtype.base_dtype.as_numpy_dtype
            variable.load(draw(shape, variable.op.name, dtype) * 0.6, session)
        outputs, final, gradients = session.run([outputs, final, gradients], feeds)
    if time_major:
        outputs = _nest.map_structure(lambda array: array.swapaxes(0, 1), outputs)
        gradients = {name: g.swapaxes(0, 1) if "input" in name else g for name, g in gradients.items()}
    return Run(outputs, final, gradients)


def _call(loop: str, cells: list[Any], xs: Any, states: list[Any], dtype: Any, options: dict[str, Any]) -> Any:
    steps = _steps(xs) if loop.startswith("static") else xs
    function = getattr(tf.nn, loop)
    if len(cells) == 1:
        outputs, final = function(cells[0], steps, initial_state=states[0], dtype=dtype, **options)
    else:
        found = function(*cells, steps, initial_state_fw=states[0], initial_state_bw=states[1], dtype=dtype, **options)
        outputs, final = found if len(found) == 2 else (found[0], found[1:])
    if loop.startswith("static"):
        outputs = _nest.map_structure(lambda *values: tf.stack(values, 1), *outputs)
    return outputs, final


def _steps(xs: Any) -> list[Any]:
    columns = [tf.unstack(tensor, axis=1) for tensor in _nest.flatten(xs)]
    return [_nest.pack_sequence_as(xs, list(step)) for step in zip(*columns, strict=True)]


def _loss(outputs: Any, state: Any) -> Any:
    """Its gradient is 2 output + 1 (so not 0 in padding) and, exactly, the state."""
    terms = [tensor * tensor + tensor for tensor in _nest.flatten(outputs)]
    terms += [0.5 * tensor * tensor for tensor in _nest.flatten(state) if tensor.dtype.is_floating]
    return tf.add_n([tf.reduce_sum(term) for term in terms])


def assert_same_bits(found: Run, expected: Run) -> None:
    ours, theirs = found.arrays(), expected.arrays()
    assert ours.keys() == theirs.keys()
    for name, value in theirs.items():
        np.testing.assert_array_equal(ours[name], value, name)


def assert_close(found: Any, expected: Any, tolerance: float) -> None:
    for one, other in zip(_nest.flatten(found), _nest.flatten(expected), strict=True):
        np.testing.assert_allclose(one, other, 0, tolerance)


def spoil(inputs: np.ndarray, lengths: Any) -> np.ndarray:
    """A copy of `inputs` with NaN, infinities and huge numbers past each row's length."""
    junk = np.resize([np.nan, np.inf, -np.inf, 1e30], inputs.shape).astype(inputs.dtype)
    steps = np.arange(inputs.shape[1]).reshape(1, -1, *[1] * (inputs.ndim - 2))
    return np.where(steps < np.reshape(lengths, [-1, *[1] * (inputs.ndim - 1)]), inputs, junk)
