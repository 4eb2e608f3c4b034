"""Padded batches and single sequences in the one form that is run, and back."""

import torch

from dynrnn.nn.layouts import Padded, Unbatched


def test_a_padded_batch_stays_as_it_is_and_knows_its_batch_axis():
    inputs = torch.arange(24.0).reshape(2, 3, 4)
    for time_major, batch in ((False, 2), (True, 3)):
        layout = Padded(inputs, None, time_major)
        assert layout.inputs is inputs and layout.state_batch == (batch,)
        assert layout.outputs(inputs, 0.0) is inputs


def test_padding_is_filled_in_either_layout():
    inputs, lengths = torch.ones(2, 3, 4), torch.tensor([1, 3])
    filled = Padded(inputs, lengths, False).outputs(inputs, 9.0)
    assert (filled[0, 1:] == 9).all() and (filled[0, 0] == 1).all() and (filled[1] == 1).all()
    assert torch.equal(
        Padded(inputs.transpose(0, 1), lengths).outputs(inputs.transpose(0, 1), 9.0), filled.transpose(0, 1)
    )


def test_without_lengths_there_is_no_padding_to_fill():
    inputs = torch.ones(3, 2, 4)
    assert torch.equal(Padded(inputs, None).outputs(inputs, 9.0), inputs)


def test_padding_value_keeps_the_dtype():
    inputs = torch.ones(3, 1, 2, dtype=torch.bfloat16)
    filled = Padded(inputs, torch.tensor([1])).outputs(inputs, float("-inf"))
    assert filled.dtype == torch.bfloat16 and filled[1:].isneginf().all() and (filled[0] == 1).all()


def test_one_sequence_is_a_batch_of_one_whose_states_have_no_batch():
    layout = Unbatched(torch.ones(3, 4), None)
    state = torch.ones(2, 5)
    assert layout.inputs.shape == (3, 1, 4) and layout.state_batch == ()
    assert layout.state_in(state).shape == (2, 1, 5)
    assert torch.equal(layout.state_out(layout.state_in(state)), state)
    assert layout.outputs(torch.ones(3, 1, 7), 0.0).shape == (3, 7)
