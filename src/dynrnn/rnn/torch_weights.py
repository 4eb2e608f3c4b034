"""From the weights of `torch.nn`'s modules to the parameters of our cells. Names and layouts only, no loop, no module.

The join is made anew in every call: nothing of it is kept, so nothing can go stale. The fused kernels need none; how a
layer is run is in `torch_layer.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NamedTuple

import torch
from torch import Tensor

from dynrnn.cells import BASIC_RNN, GRU, LSTM, BasicRNNOptions, CellSpec, GRUOptions, LSTMOptions

Weights = Mapping[
    str, Tensor
]  # of one layer and direction: "weight_ih", "weight_hh", "bias_ih", "bias_hh", "weight_hr"


class Cell(NamedTuple):
    """The cell that a module of torch stands for, and the widths of its state under torch's names and in its order."""

    mode: str  # torch's: "LSTM", "GRU", "RNN_TANH" or "RNN_RELU"
    spec: CellSpec
    options: Any
    state_sizes: dict[str, int]


def cell_of(mode: str, hidden_size: int, proj_size: int) -> Cell:
    """Return the cell for a `mode` of `torch.nn.RNNBase`: "LSTM", "GRU", "RNN_TANH" or "RNN_RELU".

    Example:
        >>> cell_of("LSTM", 3, 2).state_sizes
        {'h': 2, 'c': 3}
    """
    if torch.compiler.is_compiling():  # Dynamo cannot look into a cache
        return _cell_once.__wrapped__(mode, hidden_size, proj_size)
    return _cell_once(mode, hidden_size, proj_size)


@lru_cache(maxsize=64)
def _cell_once(mode: str, hidden_size: int, proj_size: int) -> Cell:
    if mode == "LSTM":
        options = LSTMOptions(hidden_size, num_proj=proj_size or None, forget_bias=0.0)
        return Cell(mode, LSTM, options, {"h": proj_size or hidden_size, "c": hidden_size})
    if mode == "GRU":
        return Cell(mode, GRU, GRUOptions(hidden_size, reset_after=True), {"h": hidden_size})
    activation = {"RNN_TANH": torch.tanh, "RNN_RELU": torch.relu}[mode]
    return Cell(mode, BASIC_RNN, BasicRNNOptions(hidden_size, activation=activation), {"h": hidden_size})


def cell_params(mode: str, weights: Weights) -> dict[str, Tensor]:
    """Bring one layer's weights, in one direction, into the layout of the cell that `cell_of` names.

    torch keeps `weight_ih` `[gates * hidden, input]` and `weight_hh` `[gates * hidden, hidden]` with the gates in the
    order i, f, g, o (LSTM) or r, z, n (GRU), and two biases; without bias ours are zeros.

    Example:
        >>> weights = {"weight_ih": torch.ones(3, 2), "weight_hh": torch.zeros(3, 3)}
        >>> {name: list(value.shape) for name, value in cell_params("RNN_TANH", weights).items()}
        {'kernel': [5, 3], 'bias': [3]}
    """
    join = {"LSTM": _lstm, "GRU": _gru}.get(mode, _rnn)
    if "bias_ih" in weights:
        return join(weights, weights["bias_ih"], weights["bias_hh"])
    zeros = weights["weight_ih"].new_zeros(weights["weight_ih"].shape[0])
    return join(weights, zeros, zeros)


def weight_shapes(cell: Cell, input_size: int, *, biased: bool) -> dict[str, tuple[int, ...]]:
    """The shapes that torch's weights of one layer and direction have.

    Example:
        >>> weight_shapes(cell_of("GRU", 4, 0), 3, biased=False)
        {'weight_ih': (12, 3), 'weight_hh': (12, 4)}
    """
    units, output = cell.options.num_units, cell.state_sizes["h"]
    rows = {"LSTM": 4, "GRU": 3}.get(cell.mode, 1) * units
    shapes: dict[str, tuple[int, ...]] = {"weight_ih": (rows, input_size), "weight_hh": (rows, output)}
    if biased:
        shapes |= {"bias_ih": (rows,), "bias_hh": (rows,)}
    if output != units:
        shapes["weight_hr"] = (output, units)
    return shapes


def _rnn(weights: Weights, bias_ih: Tensor, bias_hh: Tensor) -> dict[str, Tensor]:
    return {"kernel": _rows(weights).t(), "bias": bias_ih + bias_hh}


def _lstm(weights: Weights, bias_ih: Tensor, bias_hh: Tensor) -> dict[str, Tensor]:
    params = {"kernel": _swap_f_and_g(_rows(weights)).t(), "bias": _swap_f_and_g(bias_ih + bias_hh)}
    if "weight_hr" in weights:
        params["projection/kernel"] = weights["weight_hr"].t()
    return params


def _gru(weights: Weights, bias_ih: Tensor, bias_hh: Tensor) -> dict[str, Tensor]:
    units = weights["weight_hh"].shape[1]
    sizes = (2 * units, units)
    (gates_ih, candidate_ih), (gates_hh, candidate_hh) = (
        weights[name].split(sizes) for name in ("weight_ih", "weight_hh")
    )
    (gates_bias_ih, candidate_bias_ih), (gates_bias_hh, candidate_bias_hh) = bias_ih.split(sizes), bias_hh.split(sizes)
    return {
        "gates/kernel": torch.cat((gates_ih, gates_hh), 1).t(),
        "gates/bias": gates_bias_ih + gates_bias_hh,
        "candidate/input_projection/kernel": candidate_ih.t(),
        "candidate/hidden_projection/kernel": candidate_hh.t(),
        "candidate/input_projection/bias": candidate_bias_ih,
        "candidate/hidden_projection/bias": candidate_bias_hh,
    }


def _rows(weights: Weights) -> Tensor:
    """The kernel as it lies in torch's memory, a row for each column of ours: joining and sorting rows is cheap."""
    return torch.cat((weights["weight_ih"], weights["weight_hh"]), 1)


def _swap_f_and_g(value: Tensor) -> Tensor:
    """Reorder the first axis from torch's i, f, g, o to i, j, f, o (g is j)."""
    i, f, g, o = value.chunk(4)
    return torch.cat((i, g, f, o))
