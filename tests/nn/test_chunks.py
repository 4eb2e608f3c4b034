"""Lengths cut up, and truncated backpropagation through time."""

import pytest
import torch
from nn.cell_kinds import inputs_of, loss_of, make, state_of

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
    assert dr.chunk_lengths([0, 0], 4) == []
    with pytest.raises(ValueError, match="size must be at least 1"):
        dr.chunk_lengths([3], 0)
    with pytest.raises(ValueError, match=r"lengths\[0\]=-1 is negative"):
        dr.chunk_lengths([-1, 4], 2)
    with pytest.raises(TypeError, match="size must be an int"):
        dr.truncated_bptt(make("gru"), inputs_of(2, 3), 1.5)
