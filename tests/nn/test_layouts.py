"""Padded batches and single sequences in the one form that is run, and back."""

import torch

from dynrnn.nn.layouts import Padded, Unbatched


def test_a_batch_first_batch_is_turned_to_time_first_and_back():
    inputs = torch.arange(24.0).reshape(2, 3, 4)
    layout = Padded(inputs, None, batch_first=True)
    assert layout.inputs.shape == (3, 2, 4) and layout.state_batch == (2,)
    assert torch.equal(layout.outputs(layout.inputs, 0.0), inputs)


def test_without_lengths_there_is_no_padding_to_fill():
    inputs = torch.ones(3, 2, 4)
    assert torch.equal(Padded(inputs, None, batch_first=False).outputs(inputs, 9.0), inputs)


def test_padding_value_keeps_the_dtype():
    inputs = torch.ones(3, 1, 2, dtype=torch.bfloat16)
    filled = Padded(inputs, torch.tensor([1]), batch_first=False).outputs(inputs, float("-inf"))
    assert filled.dtype == torch.bfloat16 and filled[1:].isneginf().all() and (filled[0] == 1).all()


def test_one_sequence_is_a_batch_of_one_whose_states_have_no_batch():
    layout = Unbatched(torch.ones(3, 4), None)
    state = torch.ones(2, 5)
    assert layout.inputs.shape == (3, 1, 4) and layout.state_batch == ()
    assert layout.state_in(state).shape == (2, 1, 5)
    assert torch.equal(layout.state_out(layout.state_in(state)), state)
    assert layout.outputs(torch.ones(3, 1, 7), 0.0).shape == (3, 7)
