"""Lengths cut up, and truncated backpropagation through time."""

import pytest
import torch
from nn.cell_kinds import assert_same_bits, inputs_of, loss_of, make, state_of

import dynrnn as dr

LENGTHS = [6, 2, 0, 5]


def test_truncated_gradients_stop_at_the_pieces():
    cell, inputs = make("lstm"), inputs_of(4, 6)
    for chunk in dr.truncated_bptt(cell, inputs, 2, sequence_length=LENGTHS, initial_state=state_of(cell, 4)):
        grads = torch.autograd.grad(loss_of(chunk.outputs), inputs)[0]
        outside = torch.ones(6, dtype=torch.bool)
        outside[chunk.start : chunk.start + 2] = False
        assert not grads[:, outside].any() and grads[:, ~outside].any() == bool(chunk.lengths.any())


def test_lengths_are_cut_as_inputs_are_split():
    assert [part.tolist() for part in dr.chunk_lengths([6, 2], 4)] == [[4, 2], [2, 0]]
    assert [part.tolist() for part in dr.chunk_lengths([3, 0], 4, max_time=9)] == [[3, 0], [0, 0], [0, 0]]
    assert [part.tolist() for part in dr.chunk_lengths([0, 0], 4)] == [[0, 0]]
    assert len(dr.chunk_lengths([0, 0], 4, max_time=0)) == len(torch.zeros(2, 0).split(4, 1))
    with pytest.raises(ValueError, match="size must be at least 1"):
        dr.chunk_lengths([3], 0)
    with pytest.raises(ValueError, match=r"lengths\[0\]=-1 is negative"):
        dr.chunk_lengths([-1, 4], 2)
    with pytest.raises(TypeError, match="size must be an int"):
        dr.truncated_bptt(make("gru"), inputs_of(2, 3), 1.5)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((3, 2), ValueError, r"chunk_lengths: lengths must have shape \[batch\], got \[\]"),
        (([[3], [1]], 2), ValueError, r"chunk_lengths: lengths must have shape \[batch\], got \[2, 1\]"),
        (([3.5], 2), TypeError, r"chunk_lengths: lengths\[0\]=3\.5 is not a whole number"),
        (([float("nan"), 2], 2), TypeError, r"chunk_lengths: lengths\[0\]=nan is not a whole number"),
        (([True], 2), TypeError, "chunk_lengths: lengths must hold integers, got bool"),
        (("ab", 2), TypeError, "chunk_lengths: lengths must be a list, an array or a tensor of integers, got 'ab'"),
    ],
)
def test_lengths_that_cannot_be_cut_are_refused(arguments, error, message):
    with pytest.raises(error, match=message):
        dr.chunk_lengths(*arguments)


@pytest.mark.parametrize(("max_time", "error"), [(-1, ValueError), (True, TypeError), (2.0, TypeError)])
def test_max_time_is_a_count_of_steps(max_time, error):
    with pytest.raises(error, match="chunk_lengths: max_time must be"):
        dr.chunk_lengths([0], 2, max_time=max_time)


@pytest.mark.parametrize("lengths", [None, [0, 0]])
@pytest.mark.parametrize("time_major", [False, True])
@pytest.mark.parametrize("name", ["lstm", "nested"])
def test_inputs_of_no_time_are_one_chunk_whose_state_is_the_initial_one(name, lengths, time_major):
    cell, state, shape = make(name), state_of(make(name), 2), (0, 2, 3) if time_major else (2, 0, 3)
    inputs = torch.zeros(shape, dtype=torch.float64)
    how = {"sequence_length": lengths, "initial_state": state, "time_major": time_major}
    (chunk,) = dr.truncated_bptt(cell, inputs, 4, **how)
    wanted = dr.dynamic_rnn(cell, inputs, **how)
    assert_same_bits((chunk.outputs, chunk.state), wanted)
    assert chunk.start == 0 and (chunk.lengths is None if lengths is None else chunk.lengths.tolist() == [0, 0])


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"initial_state": torch.zeros(3, 4).double()}, ValueError, r"initial_state has shape \[3, 4\]"),
        ({"initial_state": torch.zeros(2, 4)}, TypeError, "initial_state is float32, expected float64"),
        ({"sequence_length": [9, 1]}, ValueError, r"sequence_length\[0\]=9 exceeds max_time=3"),
        ({"time_major": 1}, TypeError, "time_major must be a bool, got 1"),
    ],
)
def test_what_dynamic_rnn_refuses_is_refused_at_once(arguments, error, message):
    with pytest.raises(error, match=f"truncated_bptt: {message}"):
        dr.truncated_bptt(make("gru"), inputs_of(2, 3), 2, **arguments)
