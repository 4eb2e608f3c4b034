"""Layouts of weights: TensorFlow 1's parameters or torch's weights, for the cells and options that have kernels.

Names and numbers only; where each weight's elements lie is in `weights.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

LSTM, GRU, GRU_AFTER, TANH, RELU, SIGMOID = range(6)  # as the kernels number them
_TANHS = (torch.tanh, torch.Tensor.tanh, functional.tanh)
_BASIC = {
    **dict.fromkeys(_TANHS, TANH),
    **dict.fromkeys((torch.relu, torch.Tensor.relu, functional.relu), RELU),
    **dict.fromkeys((torch.sigmoid, torch.Tensor.sigmoid, functional.sigmoid), SIGMOID),
}
_MODES = {"LSTM": LSTM, "GRU": GRU_AFTER, "RNN_TANH": TANH, "RNN_RELU": RELU}
_GATES = (4, 3, 3, 0, 0, 0)
_CANDIDATE_AFTER = (
    "candidate/input_projection/kernel",
    "candidate/hidden_projection/kernel",
    "candidate/input_projection/bias",
    "candidate/hidden_projection/bias",
)


class Layout(NamedTuple):
    """A cell, its options, and which of two layouts its weights have: plain values that may also go through a graph."""

    cell: int
    from_torch: bool
    units: int
    projection: int  # 0: none
    peepholes: bool
    biased: bool
    forget_bias: float
    cell_clip: float | None
    proj_clip: float | None

    @property
    def has_cell_state(self) -> bool:
        """Whether the state is (c, h) rather than (h,)."""
        return self.cell == LSTM

    @property
    def output_size(self) -> int:
        """Width of the outputs."""
        return self.projection or self.units

    @property
    def state_sizes(self) -> dict[str, int]:
        """Widths of the state's tensors, in the order of the table of cells."""
        return {"c": self.units, "h": self.output_size} if self.has_cell_state else {"h": self.output_size}

    @property
    def gates(self) -> int:
        """How many gates there are to be kept."""
        return _GATES[self.cell]

    @property
    def spec_name(self) -> str:
        """What the cell is called in the table of cells."""
        return {LSTM: "lstm", GRU: "gru", GRU_AFTER: "gru"}.get(self.cell, "basic_rnn")

    @property
    def group(self) -> str:
        """What the weights are called together."""
        return "weights" if self.from_torch else "params"

    @property
    def names(self) -> tuple[str, ...]:
        """The weights' names, in the order in which they are given."""
        if self.from_torch:
            biases = ("bias_ih", "bias_hh") if self.biased else ()
            return ("weight_ih", "weight_hh", *biases, *(("weight_hr",) if self.projection else ()))
        if self.cell == GRU:
            return ("gates/kernel", "gates/bias", "candidate/kernel", "candidate/bias")
        if self.cell == GRU_AFTER:
            return ("gates/kernel", "gates/bias", *_CANDIDATE_AFTER)
        peepholes = ("w_f_diag", "w_i_diag", "w_o_diag") if self.peepholes else ()
        return ("kernel", "bias", *peepholes, *(("projection/kernel",) if self.projection else ()))


def cell_of(name: str, options: Any) -> int | None:
    """The kernels' number for a row of the table of cells with these options; None where there is no kernel."""
    activation = getattr(options, "activation", None)
    if name == "basic_rnn":
        for known, cell in _BASIC.items():  # not every function can be a key
            if activation is known:
                return cell
        return None
    if not any(activation is known for known in _TANHS):
        return None
    if name == "gru":
        return GRU_AFTER if options.reset_after else GRU
    return LSTM if name == "lstm" else None


def layout_of(name: str, options: Any) -> Layout:
    """The layout of the parameters that the spec called `name` lists for `options`."""
    cell = cell_of(name, options)
    if cell is None:
        raise ValueError(f"run_layer: there is no kernel for {name} with {options}")
    if cell != LSTM:
        return Layout(cell, False, options.num_units, 0, False, True, 0.0, None, None)
    return Layout(
        cell,
        from_torch=False,
        units=options.num_units,
        projection=options.num_proj or 0,
        peepholes=options.use_peepholes,
        biased=True,
        forget_bias=float(options.forget_bias),
        cell_clip=options.cell_clip,
        proj_clip=options.proj_clip if options.num_proj else None,
    )


def torch_layout(mode: str, units: int, projection: int, biased: bool) -> Layout:
    """The layout of the weights of one layer and direction of a `torch.nn.RNNBase`."""
    return Layout(_MODES[mode], True, units, projection, False, biased, 0.0, None, None)


Named = tuple[Layout, tuple[str, ...]]  # a layout, and the names of its weights


def named_layout(name: str, options: Any) -> Named:
    """What `layout_of` gives, and its names: worked out once."""
    # torch.compile sees through caches, and says so with a warning
    find = _layout_once.__wrapped__ if torch.compiler.is_compiling() else _layout_once
    return find(name, options)


def named_torch_layout(mode: str, weights: Mapping[str, Tensor]) -> Named:
    """What `torch_layout` gives for these weights of a layer, and its names: worked out once."""
    weight_hr = weights.get("weight_hr")
    units = weights["weight_hh"].shape[1] if weight_hr is None else weight_hr.shape[1]
    find = _torch_layout_once.__wrapped__ if torch.compiler.is_compiling() else _torch_layout_once
    return find(mode, units, 0 if weight_hr is None else weight_hr.shape[0], "bias_ih" in weights)


@lru_cache(maxsize=512)
def _layout_once(name: str, options: Any) -> Named:  # keeps no activation of anybody's: for these there is no layout
    layout = layout_of(name, options)
    return layout, layout.names


@lru_cache(maxsize=512)
def _torch_layout_once(mode: str, units: int, projection: int, biased: bool) -> Named:
    layout = torch_layout(mode, units, projection, biased)
    return layout, layout.names
