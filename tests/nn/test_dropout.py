"""Dropout: what is dropped, when, by which masks."""

import pytest
import torch
from nn.cell_kinds import assert_close, assert_same_bits

import dynrnn as dr

INPUTS = torch.randn(4, 6, 3, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
LENGTHS = [3, 0, 6, 1]
DOUBLE = {"dtype": torch.float64}


def rates(**given):
    return dr.DropoutWrapper(dr.GRUCell(64, 3, **DOUBLE), **given)


def test_dropout_does_nothing_in_evaluation():
    cell = rates(input_dropout=0.5, output_dropout=0.5, state_dropout=0.5, variational=True).eval()
    assert_same_bits(dr.dynamic_rnn(cell, INPUTS), dr.dynamic_rnn(cell.cell, INPUTS))
    assert_same_bits(cell(INPUTS[:, 0]), cell.cell(INPUTS[:, 0]))


@pytest.mark.parametrize("variational", [False, True])
def test_output_dropout_drops_and_scales_per_step_or_per_sequence(variational):
    cell = rates(output_dropout=0.25, variational=variational)
    torch.manual_seed(1)
    outputs, state = dr.dynamic_rnn(cell, INPUTS, sequence_length=LENGTHS)
    plain, wanted = dr.dynamic_rnn(cell.cell, INPUTS, sequence_length=LENGTHS)
    assert torch.equal(state, wanted)
    kept = outputs[2] != 0
    torch.testing.assert_close(outputs[2][kept], plain[2][kept] / 0.75, rtol=0, atol=1e-12)
    assert 0.6 < kept.double().mean() < 0.9
    assert torch.equal(kept, kept[:1].expand(6, -1)) == variational
    assert not torch.equal(outputs[0, 0] != 0, kept[0])


@pytest.mark.parametrize("variational", [False, True])
@pytest.mark.parametrize("time_major", [False, True])
def test_input_dropout_draws_one_mask_a_step_or_a_sequence(variational, time_major):
    wide = torch.ones(2, 5, 64, **DOUBLE)
    seen = []

    def cell(inputs, state):
        seen.append(inputs)
        return inputs, state

    wrapped = dr.DropoutWrapper(cell, input_dropout=0.5, variational=variational)
    given = wide.transpose(0, 1) if time_major else wide
    dr.dynamic_rnn(wrapped, given, initial_state=torch.zeros(2, 1), time_major=time_major)
    assert len(seen) == 5 and set(seen[0].unique().tolist()) == {0.0, 2.0}
    assert all(torch.equal(one, seen[0]) for one in seen) == variational
    assert not torch.equal(seen[0][0], seen[0][1])


@pytest.mark.parametrize("variational", [False, True])
def test_state_dropout_drops_h_and_never_an_lstms_c(variational):
    cell = dr.DropoutWrapper(dr.LSTMCell(64, 3, **DOUBLE), state_dropout=0.5, variational=variational)
    torch.manual_seed(0)
    _, state, states = dr.dynamic_rnn(cell, INPUTS, sequence_length=LENGTHS, return_states=True)
    assert 0.3 < (state.h[2] == 0).double().mean() < 0.7 and (state.c[2] != 0).all()
    masks = states.h[2] != 0
    assert torch.equal(masks, masks[:1].expand(6, -1)) == variational
    with pytest.raises(ValueError, match="keeps no gates"):
        dr.dynamic_rnn(cell, INPUTS, return_gates=True)


def test_a_single_step_cannot_draw_a_variational_mask():
    cell = rates(output_dropout=0.5, variational=True)
    with pytest.raises(RuntimeError, match="a single step cannot draw; let dynamic_rnn run the wrapper"):
        cell(INPUTS[:, 0])
    assert rates(output_dropout=0.5)(INPUTS[:, 0])[0].shape == (4, 64)


@pytest.mark.parametrize("name", ["input_dropout", "output_dropout", "state_dropout"])
@pytest.mark.parametrize(("rate", "error"), [(-0.1, ValueError), (1.5, ValueError), ("half", TypeError)])
def test_rates_are_shares(name, rate, error):
    with pytest.raises(error, match=f"DropoutWrapper: {name}"):
        rates(**{name: rate})


def test_masks_do_not_depend_on_the_number_of_threads():
    cell, threads = rates(input_dropout=0.5, output_dropout=0.5), torch.get_num_threads()
    runs = []
    for count in (1, 2):
        torch.set_num_threads(count)
        torch.manual_seed(3)
        runs.append(dr.dynamic_rnn(cell, INPUTS)[0])
    torch.set_num_threads(threads)
    assert torch.equal(runs[0] == 0, runs[1] == 0)


OVER = {
    "zoneout": lambda cell: dr.ZoneoutWrapper(cell, zoneout=0.1),
    "state dropout": lambda cell: dr.DropoutWrapper(cell, state_dropout=0.1),
    "zoneout over residual": lambda cell: dr.ZoneoutWrapper(dr.ResidualWrapper(cell, residual_fn=lambda i, o: o)),
    "zoneout over layers": lambda cell: dr.ZoneoutWrapper(dr.MultiRNNCell([dr.GRUCell(3, 3, **DOUBLE), cell])),
}


@pytest.mark.parametrize("every", [None, 2])
@pytest.mark.parametrize("over", OVER)
def test_variational_masks_are_drawn_once_also_under_wrappers_that_step(over, every):
    inner = dr.DropoutWrapper(dr.GRUCell(64, 3, **DOUBLE), input_dropout=0.3, output_dropout=0.5, variational=True)
    cell, inputs = OVER[over](inner), INPUTS.clone().requires_grad_()
    torch.manual_seed(0)
    outputs, _ = dr.dynamic_rnn(cell, inputs, sequence_length=LENGTHS, checkpoint_every=every)
    for row, length in enumerate(LENGTHS):
        kept = outputs[row, :length] != 0
        assert torch.equal(kept, kept[:1].expand(length, -1)) and not outputs[row, length:].any()
        assert not length or 0.3 < kept.double().mean() < 0.7
    assert not torch.equal(outputs[0, 0] != 0, outputs[2, 0] != 0)
    (grad,) = torch.autograd.grad(outputs.sum(), inputs)
    if "layers" not in over:  # inputs that are dropped are dropped at every step
        gone = grad[2] == 0
        assert torch.equal(gone, gone[:1].expand(6, -1))
    torch.manual_seed(0)
    assert torch.equal(dr.dynamic_rnn(cell, INPUTS, sequence_length=LENGTHS, checkpoint_every=every)[0], outputs)


def test_variational_state_dropout_under_zoneout_keeps_its_mask():
    inner = dr.DropoutWrapper(dr.LSTMCell(64, 3, **DOUBLE), state_dropout=0.5, variational=True)
    cell = dr.ZoneoutWrapper(inner, zoneout=0.0)
    states = dr.dynamic_rnn(cell, INPUTS, sequence_length=LENGTHS, return_states=True)[2]
    masks = states.h[2] != 0
    assert torch.equal(masks, masks[:1].expand(6, -1)) and 0.3 < masks.double().mean() < 0.7
    assert states.c[2].all()


def test_where_no_mask_can_be_drawn_beforehand_the_message_says_what_to_do():
    def cell(inputs, state):
        return inputs, state

    inner = dr.DropoutWrapper(cell, output_dropout=0.5, variational=True)
    with pytest.raises(RuntimeError, match="cell's outputs beforehand; put DropoutWrapper around that wrapper"):
        dr.dynamic_rnn(dr.ZoneoutWrapper(inner), INPUTS, initial_state=torch.zeros(4, 3))
    around = dr.DropoutWrapper(dr.ZoneoutWrapper(cell), output_dropout=0.5, variational=True)
    outputs, _ = dr.dynamic_rnn(around, torch.ones(2, 5, 64), initial_state=torch.zeros(2, 3))
    assert torch.equal(outputs, outputs[:, :1].expand(-1, 5, -1)) and (outputs == 0).any()


@pytest.mark.parametrize("training", [True, False])
def test_single_masks_under_zoneout_are_drawn_as_by_calls(training):
    inner = dr.DropoutWrapper(dr.GRUCell(8, 3, **DOUBLE), input_dropout=0.3, output_dropout=0.4, state_dropout=0.2)
    cell, runs = dr.ZoneoutWrapper(inner, zoneout=0.3).train(training), []
    for one in (cell, lambda inputs, state: cell(inputs, state)):
        torch.manual_seed(5)
        runs.append(dr.dynamic_rnn(one, INPUTS, sequence_length=LENGTHS, initial_state=cell.zero_state(4)))
    assert_close(*runs)
