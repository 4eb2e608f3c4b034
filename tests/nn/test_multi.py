"""Layers of cells: what runs, in which order, what is shared, what is kept."""

import copy

import pytest
import torch
from nn.cell_kinds import assert_close, assert_same_bits, running_sum

import dynrnn as dr

INPUTS = torch.randn(4, 6, 3, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
LENGTHS = [3, 0, 6, 1]
DOUBLE = {"dtype": torch.float64}


def test_layers_run_one_after_the_other():
    first, second = dr.LSTMCell(4, 3, **DOUBLE), dr.GRUCell(2, 4, **DOUBLE)
    outputs, (lstm, gru) = dr.dynamic_rnn(dr.MultiRNNCell([first, second]), INPUTS, sequence_length=LENGTHS)
    inner, state = dr.dynamic_rnn(first, INPUTS, sequence_length=LENGTHS)
    wanted, last = dr.dynamic_rnn(second, inner, sequence_length=LENGTHS)
    assert_same_bits((outputs, lstm, gru), (wanted, state, last))


def test_layers_are_submodules_and_sizes_are_tuples():
    cell = dr.MultiRNNCell([dr.LSTMCell(4, 3), dr.GRUCell(2, 4)])
    assert list(cell.state_dict())[:3] == ["cell_0.kernel", "cell_0.bias", "cell_1.gates.kernel"]
    assert cell.state_size == (dr.LSTMState(4, 4), 2) and cell.output_size == 2
    assert copy.deepcopy(cell).cells[1].gates.kernel is not cell.cells[1].gates.kernel


def test_layers_may_be_functions_when_their_state_is_given():
    cell = dr.MultiRNNCell([dr.GRUCell(3, 3, **DOUBLE), running_sum])
    state = (torch.zeros(4, 3).double(), torch.ones(4, 3).double())
    _, (_, total) = dr.dynamic_rnn(cell, INPUTS, sequence_length=LENGTHS, initial_state=state)
    inner = dr.dynamic_rnn(cell.cells[0], INPUTS, sequence_length=LENGTHS)[0]
    torch.testing.assert_close(total, 1 + inner.sum(1), rtol=0, atol=1e-12)
    with pytest.raises(ValueError, match=r"initial_state\[1\] must be given, because running_sum has neither"):
        dr.dynamic_rnn(cell, INPUTS)


def test_gates_and_states_come_layer_by_layer():
    cell = dr.MultiRNNCell([dr.LSTMCell(4, **DOUBLE), dr.ResidualWrapper(dr.GRUCell(4, **DOUBLE))])
    outputs, _, states, gates = dr.dynamic_rnn(cell, INPUTS, return_states=True, return_gates=True)
    assert isinstance(gates[0], dr.LSTMGates) and isinstance(gates[1], dr.GRUGates)
    assert states[0].c.shape == (4, 6, 4) and states[1].shape == (4, 6, 4)
    assert_close(outputs, states[0].h + states[1])
    mixed = dr.MultiRNNCell([dr.LSTMCell(3, **DOUBLE), dr.BasicRNNCell(3, **DOUBLE)])
    with pytest.raises(ValueError, match="return_gates: BasicRNNCell has no gates"):
        dr.dynamic_rnn(mixed, INPUTS, return_gates=True)


@pytest.mark.parametrize("cells", [[], [None], [torch.nn.LSTMCell(3, 3)], [dr.LSTMCell]])
def test_what_is_no_cell_is_refused(cells):
    with pytest.raises((TypeError, ValueError), match="MultiRNNCell: cells"):
        dr.MultiRNNCell(cells)


def test_a_step_of_layers_is_a_pass_of_one_step():
    cell = dr.MultiRNNCell([dr.LSTMCell(4, **DOUBLE), dr.DropoutWrapper(dr.GRUCell(2, **DOUBLE))])
    output, state = cell(INPUTS[:, 0])
    outputs, final = dr.dynamic_rnn(cell, INPUTS[:, :1])
    assert_close((output, state), (outputs[:, 0], final))
    with pytest.raises(ValueError, match="MultiRNNCell: state must have 2 items"):
        cell(INPUTS[:, 0], (state[0],))


def test_a_layer_that_does_not_fit_is_named_with_its_sizes():
    cell = dr.MultiRNNCell([dr.LSTMCell(3, 4), dr.DropoutWrapper(dr.LSTMCell(2, 5))])
    for inputs, time_major in ((torch.ones(2, 6, 4), False), (torch.ones(6, 2, 4), True)):
        with pytest.raises(ValueError) as caught:
            dr.dynamic_rnn(cell, inputs, time_major=time_major)
        assert str(caught.value) == (
            f"MultiRNNCell: cells[1]: inputs have shape {[*inputs.shape[:2], 3]}, expected a last dimension of 5, the "
            "input_size of LSTMCell"
        )


def test_a_layer_of_another_dtype_is_named():
    cell = dr.MultiRNNCell([dr.GRUCell(3, 4), dr.GRUCell(3, 3, **DOUBLE)])
    with pytest.raises(TypeError, match=r"MultiRNNCell: cells\[1\]: inputs are float32, but cell weights are float64"):
        dr.dynamic_rnn(cell, torch.ones(2, 6, 4))


def test_a_step_from_zeros_takes_nested_inputs():
    class Sum(dr.RNNCell):
        state_size = output_size = 3

        def forward(self, inputs, state=None):
            return inputs["a"] + inputs["b"] + state, state + 1

    cell, one = dr.MultiRNNCell([Sum(), dr.GRUCell(2, 3)]), torch.ones(4, 3)
    output, state = cell({"a": one, "b": 2 * one})
    outputs, final = dr.dynamic_rnn(cell, {"a": one[:, None], "b": 2 * one[:, None]})
    assert_close((output, state), (outputs[:, 0], final), 1e-6)


def test_each_layers_state_is_checked_by_its_name():
    cell = dr.MultiRNNCell([dr.MultiRNNCell([dr.GRUCell(3, 3)]), dr.LSTMCell(2, 3), running_sum])
    pair = torch.zeros(2, 2), torch.zeros(2, 2)
    inputs, right = torch.ones(2, 6, 3), ((torch.zeros(2, 3),), pair, torch.zeros(2, 2))
    dr.dynamic_rnn(cell, inputs, sequence_length=[6, 2], initial_state=right)
    for place, bad, message in (
        (0, (torch.zeros(2, 3).long(),), "initial_state[0][0] is int64, expected float32"),
        (1, (torch.zeros(2, 2), torch.zeros(3, 2)), "initial_state[1].h has shape [3, 2], expected [2, 2]"),
        (2, torch.zeros(3, 2), "initial_state[2] has shape [3, 2], expected [2, ...], a row for each of the batch"),
    ):
        state = [bad if index == place else part for index, part in enumerate(right)]
        with pytest.raises((TypeError, ValueError)) as caught:
            dr.dynamic_rnn(cell, inputs, sequence_length=[6, 2], initial_state=state)
        assert f"dynamic_rnn: {message}" in str(caught.value)
    with pytest.raises(ValueError, match=r"initial_state must be a tuple of 3 .*, got a tuple of 2"):
        dr.dynamic_rnn(cell, inputs, initial_state=right[:2])
