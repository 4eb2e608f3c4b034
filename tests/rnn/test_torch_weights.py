"""Weights of torch's modules in our cells' layout: one step of the cell is one step of torch's cell."""

import pytest
import torch
from torch import nn

from dynrnn.rnn.torch_weights import cell_of, cell_params

CELLS = {
    "LSTM": (nn.LSTMCell, {}),
    "GRU": (nn.GRUCell, {}),
    "RNN_TANH": (nn.RNNCell, {}),
    "RNN_RELU": (nn.RNNCell, {"nonlinearity": "relu"}),
}


@pytest.mark.parametrize("mode", CELLS)
@pytest.mark.parametrize("bias", [True, False])
def test_a_step_of_the_cell_is_a_step_of_torchs(mode, bias):
    make, options = CELLS[mode]
    theirs = make(3, 4, bias=bias, dtype=torch.float64, **options)
    cell = cell_of(mode, 4, 0)
    params = cell_params(mode, dict(theirs.named_parameters()))
    assert {name: value.shape for name, value in params.items()} == {
        param.name: param.shape for param in cell.spec.params(3, cell.options)
    }
    x, h, c = (torch.randn(2, size, dtype=torch.float64) for size in (3, 4, 4))
    output, state = cell.spec.step(params, x, (c, h) if mode == "LSTM" else (h,), cell.options)
    if mode == "LSTM":
        expected, new_c = theirs(x, (h, c))
        torch.testing.assert_close(state[0], new_c, rtol=0, atol=1e-14)
    else:
        expected = theirs(x, h)
    torch.testing.assert_close(output, expected, rtol=0, atol=1e-14)


def test_a_projection_is_turned_around():
    weights = {
        "weight_ih": torch.randn(16, 3),
        "weight_hh": torch.randn(16, 2),
        "weight_hr": torch.randn(2, 4),
    }
    params = cell_params("LSTM", weights)
    assert torch.equal(params["projection/kernel"], weights["weight_hr"].t())
    cell = cell_of("LSTM", 4, 2)
    assert {name: value.shape for name, value in params.items()} == {
        param.name: param.shape for param in cell.spec.params(3, cell.options)
    }
    assert cell.state_sizes == {"h": 2, "c": 4}


def test_gates_go_from_i_f_g_o_to_i_j_f_o():
    weights = {"weight_ih": torch.arange(4.0).unsqueeze(1), "weight_hh": torch.zeros(4, 1)}
    assert cell_params("LSTM", weights)["kernel"][0].tolist() == [0, 2, 1, 3]


def test_the_forget_bias_is_in_torchs_weights_already():
    assert cell_of("LSTM", 4, 0).options.forget_bias == 0
