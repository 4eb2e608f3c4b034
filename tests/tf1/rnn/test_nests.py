"""Random users' cells: nests of inputs, outputs and states, of any rank and dtype, with any lengths, in every loop."""

from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dynrnn.tf1 as tf
from dynrnn import _nest


class Pair(NamedTuple):
    first: object
    second: object


class Leaf(NamedTuple):
    shape: tuple[int, ...]
    dtype: str


class Sums(tf.nn.rnn_cell.RNNCell):
    """Adds the sum of a row's inputs to every part of its state; outputs are the old state, as floats and negated."""

    def __init__(self, state, output):
        super().__init__()
        self.state, self.output = state, output

    @property
    def state_size(self):
        return self.state

    @property
    def output_size(self):
        return self.output

    def call(self, inputs, state):
        total = 0.0
        for tensor in _nest.flatten(inputs):
            axes = list(range(1, len(tensor.get_shape())))
            total += tf.reduce_sum(tf.cast(tensor, tf.float64), axes) if axes else tf.cast(tensor, tf.float64)

        def grown(part):
            rank = len(part.get_shape())
            return part + tf.cast(tf.reshape(total, [-1, *[1] * (rank - 1)]), part.dtype)

        flat = _nest.flatten(state)
        outputs = [-tf.cast(part, tf.float32) for part in flat]
        return _nest.pack_sequence_as(self.output, outputs), _nest.pack_sequence_as(
            state, [grown(part) for part in flat]
        )


def leaves(least_rank):
    shapes = st.lists(st.integers(1, 3), min_size=least_rank, max_size=2).map(tuple)
    return st.builds(Leaf, shapes, st.sampled_from(["float32", "float64", "int32", "int64"]))


def nests(parts):
    def wider(inner):
        return st.one_of(
            st.lists(inner, min_size=1, max_size=2).map(tuple),
            st.builds(Pair, inner, inner),
            st.dictionaries(st.sampled_from("abc"), inner, min_size=1, max_size=2),
        )

    return st.recursive(parts, wider, max_leaves=4)


def is_leaf(value):
    return isinstance(value, Leaf)


def map_leaves(function, nest):
    if is_leaf(nest):
        return function(nest)
    if isinstance(nest, Pair):
        return Pair(map_leaves(function, nest.first), map_leaves(function, nest.second))
    if isinstance(nest, dict):
        return {key: map_leaves(function, value) for key, value in nest.items()}
    return tuple(map_leaves(function, value) for value in nest)


def leaves_of(nest):
    found = []
    map_leaves(found.append, map_leaves(lambda leaf: leaf, _sorted(nest)))
    return found


def _sorted(nest):
    if is_leaf(nest):
        return nest
    if isinstance(nest, dict):
        return {key: _sorted(nest[key]) for key in sorted(nest)}
    return Pair(*map(_sorted, nest)) if isinstance(nest, Pair) else tuple(map(_sorted, nest))


@st.composite
def problems(draw):
    batch, time = draw(st.integers(0, 3)), draw(st.integers(1, 4))
    lengths = draw(st.none() | st.lists(st.integers(-1, time + 2), min_size=batch, max_size=batch))
    return draw(nests(leaves(1))), draw(nests(leaves(0))), batch, time, lengths


def expected_of(values, start, lengths, time):
    """What `Sums` gives: per part (outputs, final state)."""
    batch = len(start[0])
    steps = np.zeros([batch, time + 1])
    for value in values:
        steps[:, 1:] += value.astype(np.float64).sum(tuple(range(2, value.ndim)))
    ends = np.full(batch, time) if lengths is None else np.clip(lengths, 0, time).astype(int)
    results = []
    for part in start:
        sums = np.cumsum(steps, 1).reshape(batch, time + 1, *[1] * (part.ndim - 1))
        states = part[:, None] + sums
        valid = (np.arange(time) < ends[:, None]).reshape(batch, time, *[1] * (part.ndim - 1))
        final = np.stack([states[row, end] for row, end in enumerate(ends)]) if batch else states[:, 0]
        results.append((np.where(valid, -states[:, :-1], 0), final))
    return results


@pytest.mark.parametrize("loop", ["dynamic", "time_major", "static"])
@settings(max_examples=40, deadline=None)
@given(problem=problems())
def test_any_nest_of_any_dtypes_and_ranks_keeps_its_structure_and_the_laws(loop, problem):
    inputs, state, batch, time, lengths = problem
    random = np.random.default_rng(0)

    def array(lead, leaf):
        return random.integers(-3, 4, [*lead, *leaf.shape]).astype(leaf.dtype)

    with tf.Graph().as_default(), tf.Session() as session:
        fed = map_leaves(lambda leaf: array([batch, time], leaf), inputs)
        start = map_leaves(lambda leaf: array([batch], leaf), state)
        sizes = map_leaves(lambda leaf: tf.TensorShape(leaf.shape), state)
        cell = Sums(sizes, sizes)
        xs, initial = (_nest.map_structure(tf.constant, nest) for nest in (fed, start))
        options = {"initial_state": initial, "sequence_length": lengths}
        if loop == "static":
            columns = zip(*[tf.unstack(x, axis=1) for x in _nest.flatten(xs)], strict=True)
            outputs, final = tf.nn.static_rnn(cell, [_nest.pack_sequence_as(xs, list(s)) for s in columns], **options)
            outputs = _nest.map_structure(lambda *values: tf.stack(values, 1), *outputs)
        elif loop == "time_major":
            turned = _nest.map_structure(lambda x: tf.transpose(x, [1, 0, *range(2, len(x.get_shape()))]), xs)
            outputs, final = tf.nn.dynamic_rnn(cell, turned, time_major=True, **options)
        else:
            outputs, final = tf.nn.dynamic_rnn(cell, xs, **options)
        found, found_state = session.run([outputs, final])
        if loop == "time_major":
            found = _nest.map_structure(lambda value: value.swapaxes(0, 1), found)
    _nest.assert_same_structure(found, start)
    _nest.assert_same_structure(found_state, start)
    expected = expected_of(_nest.flatten(fed), _nest.flatten(start), lengths, time)
    parts = zip(_nest.flatten(found), _nest.flatten(found_state), leaves_of(state), expected, strict=True)
    for output, end, leaf, (outputs_expected, end_expected) in parts:
        assert (output.dtype, end.dtype) == ("float32", leaf.dtype)
        np.testing.assert_array_equal(output, outputs_expected)
        np.testing.assert_array_equal(end, end_expected)


CELLS = st.sampled_from(["basic_rnn", "gru", "lstm", "projected", "stack", "residual"])


@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_every_layout_of_every_cell_gives_the_rows_that_single_runs_give(data):
    c = tf.nn.rnn_cell
    make = {
        "basic_rnn": lambda: c.BasicRNNCell(3),
        "gru": lambda: c.GRUCell(2),
        "lstm": lambda: c.LSTMCell(3, use_peepholes=True),
        "projected": lambda: c.LSTMCell(4, num_proj=2),
        "stack": lambda: c.MultiRNNCell([c.GRUCell(2), c.LSTMCell(3)]),
        "residual": lambda: c.ResidualWrapper(c.GRUCell(2)),
    }[data.draw(CELLS, label="cell")]
    dtype = data.draw(st.sampled_from(["float32", "float64"]), label="dtype")
    batch, time = data.draw(st.integers(1, 4), label="batch"), data.draw(st.integers(1, 6), label="time")
    lengths = data.draw(st.lists(st.integers(0, time), min_size=batch, max_size=batch), label="lengths")
    values = np.random.default_rng(batch * 10 + time).normal(size=[batch, time, 2]).astype(dtype)
    with tf.Graph().as_default(), tf.Session() as session:
        cell, x, n = make(), tf.placeholder(dtype, [None, None, 2]), tf.placeholder(tf.int32, [None])
        both = tf.nn.dynamic_rnn(cell, x, sequence_length=n, dtype=dtype)
        turned = tf.nn.dynamic_rnn(
            cell, tf.transpose(x, [1, 0, 2]), sequence_length=n, dtype=dtype, time_major=True, parallel_iterations=2
        )
        session.run(tf.global_variables_initializer())
        outputs, state = session.run(both, {x: values, n: lengths})
        other, other_state = session.run(turned, {x: values, n: lengths})
        tolerance = 1e-6 if dtype == "float32" else 1e-12
        np.testing.assert_allclose(other.swapaxes(0, 1), outputs, 0, tolerance)
        for one, expected in zip(_nest.flatten(other_state), _nest.flatten(state), strict=True):
            np.testing.assert_allclose(one, expected, 0, tolerance)
        for row, length in enumerate(lengths):
            alone, end = session.run(both, {x: values[row : row + 1, :length], n: [length]})
            np.testing.assert_allclose(outputs[row, :length], alone[0], 0, tolerance)
            assert not outputs[row, length:].any()
            for one, expected in zip(_nest.flatten(state), _nest.flatten(end), strict=True):
                np.testing.assert_allclose(one[row], expected[0], 0, tolerance)
