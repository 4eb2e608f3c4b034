"""The laws of the loops about lengths and padding, each a test, through the TF1 face, for every kind of cell."""

import functools

import numpy as np
import pytest
from tf1.rnn.unrolling import (
    DRAWING,
    LOOPS,
    OURS,
    USERS,
    WIDTH,
    assert_close,
    assert_same_bits,
    draw,
    draw_state,
    spoil,
    unroll,
)

import dynrnn.tf1 as tf
from dynrnn import _nest

CELLS = {**OURS, **DRAWING, **USERS}
LENGTHS = [3, 0, 5, 1]
TIME = 6
INPUTS = draw([4, TIME, WIDTH])
EACH_CELL = pytest.mark.parametrize("cell", CELLS)
EACH_LOOP = pytest.mark.parametrize("loop", LOOPS)
ACROSS_ROWS = {"variational_dropout"}  # the only drawn masks that all rows share
ROWWISE = [name for name in CELLS if name not in DRAWING or name in ACROSS_ROWS]
TOLERANCE = 1e-12  # the design's for float64
OF_STATE = "gradient of state "


@functools.cache
def ragged(cell, loop="dynamic_rnn"):
    """The run that most laws hold another one against."""
    return unroll(CELLS[cell], INPUTS, LENGTHS, loop=loop)


def directions(run, loop):
    """(outputs, state, whether backward) of each direction."""
    if loop == "bidirectional_dynamic_rnn":
        return [(run.outputs[0], run.state[0], False), (run.outputs[1], run.state[1], True)]
    if loop == "static_bidirectional_rnn":  # both directions stand side by side in the outputs
        half = [
            _nest.map_structure(lambda value, part=part: np.split(value, 2, 2)[part], run.outputs) for part in (0, 1)
        ]
        return [(half[0], run.state[0], False), (half[1], run.state[1], True)]
    return [(run.outputs, run.state, False)]


@EACH_LOOP
@EACH_CELL
def test_law_1_outputs_end_in_zeros_and_an_empty_row_keeps_its_initial_state(cell, loop):
    run = ragged(cell, loop)
    for direction, (outputs, state, _) in enumerate(directions(run, loop)):
        for output in _nest.flatten(outputs):
            for row, length in enumerate(LENGTHS):
                assert output[row, :length].any() == bool(length)
                assert not output[row, length:].any()
        with tf.Graph().as_default():
            initial = draw_state(CELLS[cell](), 4, np.float64, f"state {direction}")
        for found, given in zip(_nest.flatten(state), _nest.flatten(initial), strict=True):
            np.testing.assert_array_equal(found[1], given[1])


@EACH_LOOP
@pytest.mark.parametrize("cell", ["basic_rnn", "gru", "lstm", "device"])
def test_law_1_the_state_is_the_last_output_bit_for_bit(cell, loop):
    run = ragged(cell, loop)
    for outputs, state, backward in directions(run, loop):
        for row, length in enumerate(LENGTHS):
            if length:
                last = outputs[row, 0 if backward else length - 1]
                np.testing.assert_array_equal(_nest.flatten(state)[-1][row], last)


@EACH_LOOP
@EACH_CELL
def test_law_1_the_gradient_passes_an_empty_row_unchanged(cell, loop):
    run = ragged(cell, loop)
    floats = [value for value in _nest.flatten(run.state) if value.dtype.kind == "f"]
    passed = [value for name, value in run.gradients.items() if name.startswith(OF_STATE)]
    for value, gradient in zip(floats, passed, strict=True):
        np.testing.assert_array_equal(gradient[1], value[1])


@EACH_LOOP
@EACH_CELL
def test_law_2_padding_is_never_read(cell, loop):
    clean = ragged(cell, loop)
    assert all(np.isfinite(value).all() for value in clean.arrays().values())
    for row, length in enumerate(LENGTHS):
        assert not clean.gradients["gradient of input 0"][row, length:].any()
    assert_same_bits(unroll(CELLS[cell], spoil(INPUTS, LENGTHS), LENGTHS, loop=loop), clean)


@EACH_LOOP
@pytest.mark.parametrize("cell", ROWWISE)
def test_law_3_a_row_depends_on_no_neighbour_no_padding_and_no_order(cell, loop):
    whole = unroll(CELLS[cell], INPUTS, LENGTHS, loop=loop, state=None)
    results = [whole.outputs, whole.state, whole.gradients["gradient of input 0"]]
    order = [2, 0, 3, 1]
    shuffled = unroll(CELLS[cell], INPUTS[order], [LENGTHS[row] for row in order], loop=loop, state=None)
    expected = _nest.map_structure(lambda value: value[order], results)
    assert_close([shuffled.outputs, shuffled.state, shuffled.gradients["gradient of input 0"]], expected, TOLERANCE)
    wider = unroll(CELLS[cell], np.concatenate([INPUTS, INPUTS], 1), LENGTHS, loop=loop, state=None)
    assert_close(wider.state, whole.state, TOLERANCE)
    assert_close(_nest.map_structure(lambda value: value[:, :TIME], wider.outputs), whole.outputs, TOLERANCE)
    assert not any(value[:, TIME:].any() for value in _nest.flatten(wider.outputs))
    for row, length in ((0, 3), (3, 1)):
        alone = unroll(CELLS[cell], INPUTS[row : row + 1, :length], loop=loop, state=None)
        assert_close(alone.state, _nest.map_structure(lambda v, row=row: v[row : row + 1], whole.state), TOLERANCE)
        part = _nest.map_structure(lambda v, row=row, n=length: v[row : row + 1, :n], whole.outputs)
        assert_close(alone.outputs, part, TOLERANCE)


@EACH_LOOP
@EACH_CELL
def test_law_5_lengths_that_are_all_zero_change_nothing_and_pass_gradients(cell, loop):
    run = unroll(CELLS[cell], spoil(INPUTS, [0] * 4), [0] * 4, loop=loop)
    assert not any(value.any() for value in _nest.flatten(run.outputs))
    for direction, (_, state, _) in enumerate(directions(run, loop)):
        with tf.Graph().as_default():
            initial = draw_state(CELLS[cell](), 4, np.float64, f"state {direction}")
        for found, given in zip(_nest.flatten(state), _nest.flatten(initial), strict=True):
            np.testing.assert_array_equal(found, given)
    for name, gradient in run.gradients.items():
        assert name.startswith(OF_STATE) or not gradient.any()


@EACH_LOOP
@EACH_CELL
@pytest.mark.parametrize("lengths", [None, []], ids=["no_lengths", "lengths"])
def test_law_5_a_batch_of_no_rows_is_an_ordinary_batch(cell, loop, lengths):
    lengths = None if lengths is None else np.array(lengths, np.int32)
    run = unroll(CELLS[cell], INPUTS[:0], lengths, loop=loop)
    full = ragged(cell, loop)
    for name, value in run.arrays().items():
        if "rnn/" in name:  # of a variable
            assert not value.any()
        else:
            assert value.shape == (0, *full.arrays()[name].shape[1:])


@pytest.mark.parametrize("loop", [loop for loop in LOOPS if not loop.startswith("static")])
@EACH_CELL
@pytest.mark.parametrize("lengths", [None, [0, 0, 0, 0]], ids=["no_lengths", "lengths"])
def test_law_5_a_sequence_of_no_steps_is_an_ordinary_sequence(cell, loop, lengths):
    run = unroll(CELLS[cell], INPUTS[:, :0], lengths, loop=loop)
    full = ragged(cell, loop)
    for found, expected in zip(_nest.flatten(run.outputs), _nest.flatten(full.outputs), strict=True):
        assert found.shape == (4, 0, *expected.shape[2:])
        assert found.dtype == expected.dtype
    assert run.gradients.keys() == full.gradients.keys()
    for name, gradient in run.gradients.items():
        assert name.startswith(OF_STATE) or not gradient.any()


@pytest.mark.parametrize("loop", [loop for loop in LOOPS if not loop.startswith("static")])
@EACH_CELL
def test_law_8_time_major_changes_the_layout_and_no_bit(cell, loop):
    time_major = unroll(CELLS[cell], INPUTS, LENGTHS, loop=loop, time_major=True)
    assert_same_bits(time_major, ragged(cell, loop))


@pytest.mark.parametrize("cell", CELLS)
def test_law_8_parallel_iterations_are_numerically_neutral_and_swapping_memory_is_too(cell):
    run = ragged(cell)
    for count in (1, 4):
        other = unroll(CELLS[cell], INPUTS, LENGTHS, parallel_iterations=count)
        assert_close(list(other.arrays().values()), list(run.arrays().values()), TOLERANCE)
    assert_same_bits(unroll(CELLS[cell], INPUTS, LENGTHS, swap_memory=True), run)


@pytest.mark.parametrize("cell", [name for name in CELLS if name not in DRAWING or name in ACROSS_ROWS])
@pytest.mark.parametrize("cut", [1, 4])
def test_law_9_pieces_that_carry_the_state_are_the_whole(cell, cut):
    whole = ragged(cell)
    lengths = np.array(LENGTHS)
    first = unroll(CELLS[cell], INPUTS[:, :cut], np.minimum(lengths, cut))
    second = unroll(CELLS[cell], INPUTS[:, cut:], np.maximum(lengths - cut, 0), state=first.state)
    assert_close(second.state, whole.state, TOLERANCE)
    joined = _nest.map_structure(lambda *parts: np.concatenate(parts, 1), first.outputs, second.outputs)
    assert_close(joined, whole.outputs, TOLERANCE)


@pytest.mark.parametrize(
    ("lengths", "dtype"), [(None, np.float64), (LENGTHS, np.float32)], ids=["no_lengths", "lengths"]
)
@pytest.mark.parametrize("cell", OURS)
@pytest.mark.parametrize("loop", ["dynamic_rnn", "bidirectional_dynamic_rnn"])
def test_law_10_static_and_dynamic_loops_give_the_same_bits(cell, loop, lengths, dtype):
    inputs = INPUTS.astype(dtype)
    dynamic = unroll(CELLS[cell], inputs, lengths, loop=loop)
    if "bidirectional" in loop:
        dynamic = dynamic._replace(outputs=np.concatenate(dynamic.outputs, 2))
    static = unroll(CELLS[cell], inputs, lengths, loop="static_" + loop.replace("dynamic_", ""))
    assert_same_bits(static, dynamic)


@pytest.mark.parametrize("cell", [*USERS, *DRAWING])
def test_law_10_static_and_dynamic_loops_agree_for_users_cells(cell):
    dynamic, static = ragged(cell), ragged(cell, "static_rnn")
    if cell in ("dropout", "state_dropout"):  # every step of an unrolled loop has a random operation of its own
        assert not np.array_equal(dynamic.outputs, static.outputs)
    else:
        assert_close(static.outputs, dynamic.outputs, TOLERANCE)
        assert_close(static.state, dynamic.state, TOLERANCE)
        assert_close(list(static.gradients.values()), list(dynamic.gradients.values()), TOLERANCE)


@pytest.mark.parametrize("loop", ["dynamic_rnn", "static_bidirectional_rnn"])
@EACH_CELL
def test_law_10_a_repeat_gives_the_same_bits(cell, loop):
    assert_same_bits(unroll(CELLS[cell], INPUTS, LENGTHS, loop=loop), ragged(cell, loop))
