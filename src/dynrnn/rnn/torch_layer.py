"""One layer in one direction with weights as `torch.nn`'s modules keep them.

The fused kernels read such weights as they lie; for the reference loop they are brought into our cell's layout by
`torch_weights.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch import Tensor

from dynrnn import kernels
from dynrnn.cells.spec import State
from dynrnn.errors import describe
from dynrnn.rnn.dispatch import Choice, choose
from dynrnn.rnn.layer import run_layer
from dynrnn.rnn.passes import run_reference
from dynrnn.rnn.pieces import Pieces
from dynrnn.rnn.reference import Traced, trace_reference
from dynrnn.rnn.torch_weights import Cell, Weights, cell_params, weight_shapes


def run_torch_layer(
    cell: Cell,
    weights: Weights,
    inputs: Tensor,
    state: State | None,
    *,
    lengths: Tensor | None,
    time_major: bool = True,
    reverse: bool = False,
    choice: Choice | None = None,
    packed: Any = None,
    pieces: Pieces | None = None,
) -> tuple[Tensor, State]:
    """Run a layer as `run_layer` does, with torch's weights: "weight_ih", "weight_hh", and what else there is.

    `cell` is what `cell_of` gives; `state` is in our order, `(c, h)` or `(h,)`; `choice` is what `choose` says for such
    a layer (None: it is asked), and `packed` what `pack_torch_layer` gave for these weights. With `pieces`, which stand
    for lengths, each piece of a row is walked as a row of its own, and states are per piece. Other arguments, results
    and errors are those of `run_layer`.

    Example:
        >>> import torch
        >>> from dynrnn.rnn.torch_weights import cell_of
        >>> weights = {"weight_ih": torch.ones(3, 2), "weight_hh": torch.zeros(3, 3)}
        >>> outputs, (h,) = run_torch_layer(cell_of("RNN_TANH", 3, 0), weights, torch.ones(4, 1, 2), None, lengths=None)
        >>> outputs.shape, torch.equal(outputs[3], h)
        (torch.Size([4, 1, 3]), True)
    """
    choice = choose(cell.spec, cell.options, inputs) if choice is None else choice
    layout: dict[str, Any] = {"time_major": time_major, "reverse": reverse}
    if not choice.fused:
        _check_weights(cell, weights, inputs)
        params = cell_params(cell.mode, weights)
        if pieces is not None:
            how = {"options": cell.options, "keep_states": False, "keep_gates": False, **layout}
            return run_reference(cell.spec, how, None, params, inputs, state, None, pieces)[:2]
        return run_layer(
            cell.spec,
            params,
            inputs,
            state,
            lengths=lengths,
            options=cell.options,
            implementation="reference",
            **layout,
        )

    layout["pieces"] = pieces
    how = {"reference": reference_of(cell, layout), "packed": packed, **layout}
    traced = kernels.run_torch_layer(cell.mode, weights, inputs, state, lengths=lengths, **how)
    return traced[0], traced[1]


def reference_of(cell: Cell, layout: dict[str, Any]) -> Callable[..., Traced]:
    """The reference loop for weights as torch lays them out; `layout` says what is time-major and reversed."""

    def reference(inputs: Tensor, state: State, weights: Weights, lengths: Tensor | None) -> Traced:
        params = cell_params(cell.mode, weights)
        return trace_reference(cell.spec, params, inputs, state, lengths=lengths, options=cell.options, **layout)

    return reference


def pack_torch_layer(cell: Cell, weights: Weights) -> Any:
    """Pack torch's weights of a layer for `run_torch_layer`, as `pack_layer` does.

    Example:
        >>> import torch
        >>> from dynrnn.rnn.torch_weights import cell_of
        >>> weights = {"weight_ih": torch.ones(3, 2).half(), "weight_hh": torch.zeros(3, 3).half()}
        >>> pack_torch_layer(cell_of("RNN_TANH", 3, 0), weights) is None
        True
    """
    if not choose(cell.spec, cell.options, weights["weight_ih"]).fused:
        return None
    return kernels.pack_torch_layer(cell.mode, weights)


def _check_weights(cell: Cell, weights: Weights, inputs: Tensor) -> None:
    """Refuse weights that do not fit the cell and the inputs, before they are joined."""
    for name, shape in weight_shapes(cell, inputs.shape[2], biased="bias_ih" in weights).items():
        value = weights[name]
        if value.shape != shape:
            raise ValueError(f"run_layer: weights[{name!r}] must have shape {list(shape)}, got {list(value.shape)}")
        if value.dtype != inputs.dtype:
            got = describe(name, value.shape, value.dtype)
            raise TypeError(f"run_layer: weights[{name!r}] must be {inputs.dtype}, as inputs are, got {got}")
