"""One layer of a torch-like module by torch's own operator, which is cuDNN's on CUDA: when it applies, and how.

Torch's operators know no empty rows, no second derivative and no transform; what they lack comes from the reference in
`directions.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import _VF, Tensor
from torch.autograd import forward_ad

from dynrnn.nn.directions import States, run_directions
from dynrnn.nn.weights_layout import Cell, Weights
from dynrnn.rnn.lengths import Packing, pack

_OPERATORS = {"LSTM": _VF.lstm, "GRU": _VF.gru, "RNN_TANH": _VF.rnn_tanh, "RNN_RELU": _VF.rnn_relu}


def applies(inputs: Tensor, lengths: Tensor | None) -> bool:
    """Say whether cuDNN can run a layer over `inputs` `[time, batch, ...]`: on CUDA, some step, and no transform.

    Example:
        >>> applies(torch.zeros(3, 2, 4), None)
        False
    """
    if not inputs.is_cuda or not torch.backends.cudnn.is_acceptable(inputs) or not inputs.numel():
        return False
    if torch._C._functorch.maybe_current_level() is not None or forward_ad._current_level >= 0:  # pyright: ignore
        return False
    return lengths is None or bool(lengths.any())


def run_directions_fused(
    cell: Cell, weights: Sequence[Weights], inputs: Tensor, states: States, lengths: Tensor | None
) -> tuple[Tensor, States]:
    """Run one layer as `run_directions` does, by torch's operator; the second derivative is the reference's.

    At least one row must have a step. Arguments and results are those of `run_directions`, on any device.
    """
    names = [list(row) for row in weights]
    tensors = [inputs, *states, *(value for row in weights for value in row.values())]

    def split(values: Sequence[Tensor]) -> tuple[Any, ...]:
        rest = iter(values[1 + len(states) :])
        return [dict(zip(row, rest)) for row in names], values[0], tuple(values[1 : 1 + len(states)])

    def fused(*values: Tensor) -> tuple[Tensor, ...]:
        outputs, final = _call(cell, *split(values), lengths)
        return outputs, *final

    def reference(*values: Tensor) -> tuple[Tensor, ...]:
        outputs, final = run_directions(cell, *split(values), lengths)
        return outputs, *final

    if torch.is_grad_enabled() and any(value.requires_grad for value in tensors):
        outputs, *final = _Fused.apply(fused, reference, *tensors)
    else:
        outputs, *final = fused(*tensors)
    return outputs, tuple(final)


def _call(
    cell: Cell, weights: Sequence[Weights], inputs: Tensor, states: States, lengths: Tensor | None
) -> tuple[Tensor, States]:
    flat = [row[name] for row in weights for name in _ORDER if name in row]
    # cuDNN keeps what backward needs only when it is told to train; dropout is applied between the layers, not here
    train = torch.is_grad_enabled() and inputs.requires_grad or any(value.requires_grad for value in (*states, *flat))
    options = ("bias_ih" in weights[0], 1, 0.0, train, len(weights) == 2)
    operator, pair = _OPERATORS[cell.mode], len(states) == 2
    if lengths is None:
        outputs, *final = operator(inputs, states if pair else states[0], flat, *options, False)
        return outputs, tuple(final)
    packing = pack(lengths, inputs.shape[0], time_major=True, device=inputs.device)
    data = inputs.flatten(0, 1).index_select(0, packing.source)
    states = tuple(value.index_select(1, packing.order) for value in states)
    running = tuple(value.narrow(1, 0, packing.batch_sizes[0]) for value in states)
    sizes = torch.tensor(packing.batch_sizes)
    data, *final = operator(data, sizes, running if pair else running[0], flat, *options)
    return _unpack(packing, data, inputs.shape), _with_empty_rows(packing, final, states)


_ORDER = ("weight_ih", "weight_hh", "bias_ih", "bias_hh", "weight_hr")  # as torch's operators want them


def _unpack(packing: Packing, data: Tensor, layout: torch.Size) -> Tensor:
    padded = torch.cat((data, data.new_zeros(1, data.shape[1])))
    return padded.index_select(0, packing.target).view(layout[0], layout[1], data.shape[1])


def _with_empty_rows(packing: Packing, final: Sequence[Tensor], initial: States) -> States:
    """Put the rows that never ran behind those that did, and all of them into the caller's order."""
    ran = packing.batch_sizes[0]
    both = [torch.cat((value, begin.narrow(1, ran, begin.shape[1] - ran)), 1) for value, begin in zip(final, initial)]
    return tuple(value.index_select(1, packing.inverse) for value in both)


class _Fused(torch.autograd.Function):
    """A function with a fast first derivative, and another with the same values that has all of them."""

    @staticmethod
    def forward(ctx: Any, fused: Callable[..., Any], reference: Callable[..., Any], *tensors: Tensor) -> Any:
        leaves = [value.detach().requires_grad_(value.requires_grad) for value in tensors]
        with torch.enable_grad():
            results = fused(*leaves)
        ctx.reference, ctx.leaves, ctx.results = reference, leaves, results
        ctx.save_for_backward(*tensors)
        return tuple(value.detach() for value in results)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        again = torch.is_grad_enabled()  # somebody will differentiate this gradient
        if again:
            values = [value.view_as(value) for value in ctx.saved_tensors]  # apart from each other's histories
            results = ctx.reference(*values)
        else:
            values, results = ctx.leaves, ctx.results
        wanted = [value for value, needed in zip(values, ctx.needs_input_grad[2:], strict=True) if needed]
        found = iter(
            torch.autograd.grad(results, wanted, grads, create_graph=again, retain_graph=True, allow_unused=True)
        )
        return None, None, *(next(found) if needed else None for needed in ctx.needs_input_grad[2:])
