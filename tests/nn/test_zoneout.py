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


@pytest.mark.parametrize(
    "nest",
    [
        lambda cell: dr.MultiRNNCell([cell]),
        lambda cell: dr.MultiRNNCell([dr.GRUCell(3, 3, **DOUBLE), dr.MultiRNNCell([dr.DropoutWrapper(cell)])]),
        lambda cell: dr.ResidualWrapper(cell, residual_fn=lambda inputs, outputs: outputs),
    ],
)
@pytest.mark.parametrize("training", [True, False])
def test_an_lstm_inside_a_nest_keeps_its_c(nest, training):
    cell = dr.ZoneoutWrapper(nest(dr.LSTMCell(4, 3, **DOUBLE)), zoneout=0.0, cell_zoneout=1.0).train(training)
    _, state = dr.dynamic_rnn(cell, INPUTS, sequence_length=LENGTHS)
    for found in (state, cell(INPUTS[:, 0])[1]):
        while not isinstance(found, dr.LSTMState):
            found = found[-1]
        assert not found.c.any() and found.h[0].any()


def test_a_c_of_a_users_cell_is_found_in_any_nest():
    lstm = dr.LSTMCell(4, 3, **DOUBLE)

    def cell(inputs, state):
        output, new = lstm(inputs, state["a"][1])
        return output, {"b": state["b"] + 1, "a": (state["a"][0] + 1, new)}

    state = {"b": torch.zeros(4, 1, **DOUBLE), "a": (torch.zeros(4, dtype=torch.int64), lstm.zero_state(4))}
    wrapped = dr.ZoneoutWrapper(cell, zoneout=0.0, cell_zoneout=1.0)
    final = dr.dynamic_rnn(wrapped, INPUTS, sequence_length=LENGTHS, initial_state=state)[1]
    assert not final["a"][1].c.any() and final["a"][1].h[0].any()
    assert final["a"][0].tolist() == final["b"].flatten().tolist() == LENGTHS


def test_a_cell_zoneout_that_could_do_nothing_is_refused():
    message = r"cell_zoneout=0\.5 has no effect, because the state of .* holds no LSTMState"
    for cell in (dr.GRUCell(3), dr.MultiRNNCell([dr.GRUCell(3), dr.DropoutWrapper(dr.BasicRNNCell(3))])):
        with pytest.raises(ValueError, match=message):
            dr.ZoneoutWrapper(cell, cell_zoneout=0.5)
    wrapped = dr.ZoneoutWrapper(lambda inputs, state: (inputs, state), cell_zoneout=0.5)
    with pytest.raises(ValueError, match=message):
        dr.dynamic_rnn(wrapped, INPUTS, initial_state=torch.zeros(4, 3))


def test_a_state_that_is_nested_otherwise_is_told():
    wrapped = dr.ZoneoutWrapper(lambda inputs, state: (inputs, (state, state)))
    with pytest.raises(ValueError, match=r"must return a state nested as before: state is a tuple of 2, expected one"):
        wrapped(INPUTS[:, 0], torch.zeros(4, 3))


@pytest.mark.parametrize("every", [None, 2])
def test_layers_inside_are_stepped_as_they_are_called(every):
    layers = [dr.LSTMCell(3, **DOUBLE), dr.ResidualWrapper(dr.GRUCell(3, **DOUBLE)), dr.BasicRNNCell(2, **DOUBLE)]
    layers[2] = dr.ZoneoutWrapper(layers[2])
    cell = dr.ZoneoutWrapper(dr.MultiRNNCell(layers), zoneout=0.25).eval()
    inputs = INPUTS.clone().requires_grad_()
    found = dr.dynamic_rnn(cell, inputs, sequence_length=LENGTHS, checkpoint_every=every)
    by_calls = lambda inputs, state: cell(inputs, state)  # noqa: E731
    wanted = dr.dynamic_rnn(by_calls, inputs, sequence_length=LENGTHS, initial_state=cell.zero_state(4))
    assert_close(found, wanted)
    leaves = [inputs, *cell.parameters()]
    grads, wanted_grads = (torch.autograd.grad(run[0].square().sum(), leaves) for run in (found, wanted))
    assert_close(grads, wanted_grads)
