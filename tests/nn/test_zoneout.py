"""Zoneout: the expectation in evaluation, entries of the state before in training."""

import pytest
import torch
from nn.cell_kinds import assert_close

import dynrnn as dr

INPUTS = torch.randn(4, 6, 3, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
LENGTHS = [3, 0, 6, 1]
DOUBLE = {"dtype": torch.float64}


def test_zoneout_in_evaluation_is_the_expectation():
    cell = dr.ZoneoutWrapper(dr.LSTMCell(4, 3, **DOUBLE), zoneout=0.25, cell_zoneout=0.5).eval()
    outputs, state = dr.dynamic_rnn(cell, INPUTS[:1])
    c, h = torch.zeros(1, 4, **DOUBLE), torch.zeros(1, 4, **DOUBLE)
    for t in range(6):
        _, new = cell.cell(INPUTS[:1, t], (c, h))
        c, h = 0.5 * c + 0.5 * new.c, 0.25 * h + 0.75 * new.h
        torch.testing.assert_close(outputs[:, t], h, rtol=0, atol=1e-12)
    assert_close(state, dr.LSTMState(c, h))


def test_zoneout_in_training_keeps_entries_of_the_state_before():
    cell = dr.ZoneoutWrapper(dr.LSTMCell(64, 3, **DOUBLE), zoneout=0.5, cell_zoneout=0.25)
    torch.manual_seed(0)
    outputs, state, states = dr.dynamic_rnn(cell, INPUTS, sequence_length=LENGTHS, return_states=True)
    kept = (states.h[2, 1:] == states.h[2, :-1]).double().mean()
    kept_c = (states.c[2, 1:] == states.c[2, :-1]).double().mean()
    assert 0.4 < kept < 0.6 and 0.15 < kept_c < 0.35
    assert torch.equal(state.h[0], outputs[0, 2]) and not outputs[1].any()
    assert cell(INPUTS[:, 0])[0].shape == (4, 64)


@pytest.mark.parametrize("wrapper", [dr.ZoneoutWrapper, lambda cell: dr.DropoutWrapper(cell, state_dropout=0.1)])
def test_a_hook_on_the_inner_cell_sees_every_step(wrapper):
    cell, steps = dr.GRUCell(4, 3, **DOUBLE), []
    cell.register_forward_hook(lambda module, args, result: steps.append(result[0]))
    dr.dynamic_rnn(wrapper(cell), INPUTS, sequence_length=LENGTHS)
    assert len(steps) == 6
