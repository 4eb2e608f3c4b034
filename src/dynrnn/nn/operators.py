"""Layers of a torch-like module by torch's own operators, where our kernels do not apply: when, and how.

On CUDA they are cuDNN's, on the CPU oneDNN's or torch's. They know no empty rows, no second derivative and no
transform; what they lack comes from the reference loop. Several layers at once are better than one after the other:
only then are the weights laid out in memory as torch has laid them out for cuDNN.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import torch
from torch import _VF, Tensor
from torch._C import _functorch  # pyright: ignore[reportAttributeAccessIssue]
from torch.autograd import forward_ad

from dynrnn.nn.layers import States, run_layers
from dynrnn.rnn.dispatch import Choice
from dynrnn.rnn.lengths import Packing, length_range, pack
from dynrnn.rnn.torch_weights import Cell, Weights

_OPERATORS = {"LSTM": _VF.lstm, "GRU": _VF.gru, "RNN_TANH": _VF.rnn_tanh, "RNN_RELU": _VF.rnn_relu}


def applies(cell: Cell, inputs: Tensor, lengths: Tensor | None, *, time_major: bool = True) -> bool:
    """Say whether torch's operator should run layers over `inputs` `[time, batch, ...]`, or batch first.

    It does where some step runs, outside of transforms and compilation: on CUDA where cuDNN accepts the inputs, on the
    CPU where no row is shorter than the others and nothing is projected (torch's way through packed sequences, and its
    projection, are slower there than the reference).

    Example:
        >>> from dynrnn.rnn.torch_weights import cell_of
        >>> inputs, cell = torch.zeros(3, 2, 4), cell_of("GRU", 4, 0)
        >>> applies(cell, inputs, None), applies(cell, inputs, torch.tensor([3, 1]))
        (True, False)
    """
    if torch.compiler.is_compiling() or not inputs.numel():
        return False
    if _functorch.maybe_current_level() is not None or forward_ad._current_level >= 0:  # torch.func, or dual numbers
        return False
    if inputs.is_cuda:
        return torch.backends.cudnn.is_acceptable(inputs) and (lengths is None or bool(lengths.any()))
    projected = cell.spec.output_size(cell.options) != cell.options.num_units
    return inputs.device.type == "cpu" and not projected and _is_full(lengths, inputs.shape[0 if time_major else 1])


def _is_full(lengths: Tensor | None, max_time: int) -> bool:
    return lengths is None or length_range(lengths, lengths.shape[0], max_time)[0] == max_time


def run_layers_by_torch(
    cell: Cell,
    weights: Sequence[Weights],
    directions: int,
    inputs: Tensor,
    states: States | None,
    lengths: Tensor | None,
    *,
    time_major: bool = True,
) -> tuple[Tensor, States]:
    """Run layers as `run_layers` does, by torch's operator; the second derivative is the reference's.

    At least one row must have a step. Arguments and results are those of `run_layers`, on any device.
    """
    inputs = inputs if time_major else inputs.transpose(0, 1)
    if states is None:
        zeros = (inputs.new_zeros(len(weights), inputs.shape[1], size) for size in cell.state_sizes.values())
        states = tuple(zeros)
    count, names = 1 + len(states), [list(row) for row in weights]
    tensors = [inputs, *states, *(value for row in weights for value in row.values())]

    def with_values(run: Callable[..., Any], values: Sequence[Tensor]) -> tuple[Tensor, ...]:
        rest = iter(values[count:])
        rows = [{name: next(rest) for name in row} for row in names]
        outputs, final = run(cell, rows, directions, values[0], tuple(values[1:count]), lengths)
        return outputs, *final

    def operator(*values: Tensor) -> tuple[Tensor, ...]:
        return with_values(_call, values)

    def reference(*values: Tensor) -> tuple[Tensor, ...]:
        return with_values(partial(run_layers, choice=Choice(False, True, "this is its second derivative")), values)

    if torch.is_grad_enabled() and any(value.requires_grad for value in tensors):
        outputs, *final = _ByOperator.apply(operator, reference, *tensors)
    else:
        outputs, *final = operator(*tensors)
    return outputs if time_major else outputs.transpose(0, 1), tuple(final)


def _call(
    cell: Cell, weights: Sequence[Weights], directions: int, inputs: Tensor, states: States, lengths: Tensor | None
) -> tuple[Tensor, States]:
    flat = [row[name] for row in weights for name in _ORDER if name in row]
    # cuDNN keeps what backward needs only when told that it trains; dropout stays 0 here all the same
    train = torch.is_grad_enabled() and any(value.requires_grad for value in (inputs, *states, *flat))
    options = ("bias_ih" in weights[0], len(weights) // directions, 0.0, train, directions == 2)
    operator, pair = _OPERATORS[cell.mode], len(states) == 2
    if lengths is None or _is_full(lengths, inputs.shape[0]):
        states = tuple(value.contiguous() for value in states)
        outputs, *final = operator(inputs, states if pair else states[0], flat, *options, False)
        return outputs, tuple(final)
    packing = pack(lengths, inputs.shape[0], time_major=True, device=inputs.device)
    data = inputs.flatten(0, 1).index_select(0, packing.source)
    states = tuple(value.index_select(1, packing.order) for value in states)
    running = tuple(value.narrow(1, 0, packing.batch_sizes[0]).contiguous() for value in states)
    sizes = torch.tensor(packing.batch_sizes, device="cpu")
    data, *final = operator(data, sizes, running if pair else running[0], flat, *options)
    return _unpack(packing, data, inputs.shape), _with_empty_rows(packing, final, states)


_ORDER = ("weight_ih", "weight_hh", "bias_ih", "bias_hh", "weight_hr")  # as torch's operators want them


def _unpack(packing: Packing, data: Tensor, layout: torch.Size) -> Tensor:
    padded = torch.cat((data, data.new_zeros(1, data.shape[1])))
    return padded.index_select(0, packing.target).view(layout[0], layout[1], data.shape[1])


def _with_empty_rows(packing: Packing, final: Sequence[Tensor], initial: States) -> States:
    """Put the rows that never ran behind those that did, and all of them into the caller's order."""
    ran = packing.batch_sizes[0]
    pairs = zip(final, initial, strict=True)
    both = [torch.cat((value, begin.narrow(1, ran, begin.shape[1] - ran)), 1) for value, begin in pairs]
    return tuple(value.index_select(1, packing.inverse) for value in both)


class _ByOperator(torch.autograd.Function):
    """A function with a fast first derivative, and another with the same values that has all of them.

    The operator's own graph is kept for one backward, which uses it up; a later one calls the operator again. That a
    backward comes after the last one for which the user kept the graph is seen by the tensors that are saved.
    """

    @staticmethod
    def forward(ctx: Any, operator: Callable[..., Any], reference: Callable[..., Any], *tensors: Tensor) -> Any:
        leaves, results = _recorded(operator, tensors)
        ctx.operator, ctx.reference, ctx.unused = operator, reference, [(leaves, results)]
        ctx.save_for_backward(*tensors)
        return tuple(value.detach() for value in results)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        tensors, again = ctx.saved_tensors, torch.is_grad_enabled()
        if again:  # somebody will differentiate this gradient
            values = [value.view_as(value) for value in tensors]  # apart from each other's histories
            results = ctx.reference(*values)
        else:
            try:
                values, results = ctx.unused.pop()  # one step, so that no two threads are given the same
            except IndexError:
                values, results = _recorded(ctx.operator, tensors)
        wanted = [value for value, needed in zip(values, ctx.needs_input_grad[2:], strict=True) if needed]
        found = iter(torch.autograd.grad(results, wanted, grads, create_graph=again, allow_unused=True))
        return None, None, *(next(found) if needed else None for needed in ctx.needs_input_grad[2:])


def _recorded(operator: Callable[..., Any], tensors: Sequence[Tensor]) -> tuple[list[Tensor], tuple[Tensor, ...]]:
    """The operator's results over new leaves, with a graph of their own."""
    leaves = [value.detach().requires_grad_(value.requires_grad) for value in tensors]
    with torch.enable_grad():
        return leaves, operator(*leaves)
