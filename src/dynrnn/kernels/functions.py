"""The eager door: autograd functions over the kernels, at home in `torch.func`'s transforms.

`LayerFunction` is a layer, `GradientFunction` its gradient as a function of its own, so that it can be mapped over and
differentiated again. What the kernels cannot do is computed by the reference loop (`derivatives.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import torch
from torch import Tensor
from torch._C._functorch import is_legacy_batchedtensor  # pyright: ignore[reportMissingImports]
from torch.autograd import Function, forward_ad

from dynrnn.kernels import call, short
from dynrnn.kernels.check import Rows
from dynrnn.kernels.derivatives import Layer, gradients, second_gradients, zeros_of
from dynrnn.kernels.mapped import Fold, one_by_one

_ALL_STEPS = Rows(None, None, None)
_INDICES = 3  # row, start, length: the first operands of a layer


class Record:
    """What one call of a layer carries besides tensors.

    With `keep` its last result is the buffer that the forward pass leaves for backward, which uses it up: `first` tells
    whether that has happened, and a later backward runs forward again. An `UntransformedLayerFunction` finds more here:
    `rows`, what `short.look` made of its operands if it was asked before (`found`), and how many axes of one element
    the state's tensors have before theirs.
    """

    __slots__ = ("_unused", "axes", "found", "keep", "layer", "rows")

    def __init__(
        self, layer: Layer, *, keep: bool, rows: Rows = _ALL_STEPS, found: Any = None, axes: tuple[int, ...] = ()
    ) -> None:
        self.layer = layer
        self.keep = keep
        self.rows = rows
        self.found = found
        self.axes = axes
        self._unused = [True]

    def first(self) -> bool:
        """Whether this has not been asked before."""
        try:
            return self._unused.pop()  # one step, so that no two threads are told the same
        except IndexError:
            return False


class Request:
    """Which gradients of a record are wanted, of inputs, state and weights in this order."""

    __slots__ = ("num_grads", "record", "wanted")

    def __init__(self, record: Record, wanted: Sequence[bool], num_grads: int) -> None:
        self.record = record
        self.wanted = tuple(wanted)
        self.num_grads = num_grads

    def parts(self, operands: Sequence[Any]) -> tuple[Sequence[Any], Sequence[Any], Sequence[Any]]:
        """Operands as row, start and length; the gradients of the results; inputs, state and weights."""
        end = _INDICES + self.num_grads
        return operands[:_INDICES], operands[_INDICES:end], operands[end:]


class LayerFunction(Function):
    """`(record, row, start, length, inputs, *state, *weights)` to the results of `call.forward`, the buffer last."""

    @staticmethod
    def forward(record: Record, *operands: Any) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        setting, split = record.layer.setting, _INDICES + 1
        row, start, length, inputs = operands[:split]
        state = operands[split : split + setting.num_states]
        weights = operands[split + setting.num_states :]
        results, saved = call.forward(setting, Rows(row, start, length), inputs, state, weights, keep=record.keep)
        return results if saved is None else (*results, saved)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, ...]) -> None:
        record = ctx.record = inputs[0]
        saved = None
        if len(output) > record.layer.setting.num_results:
            saved = output[-1]
            ctx.mark_non_differentiable(saved)
        ctx.save_for_backward(output[0], saved, *inputs[1:])
        ctx.set_materialize_grads(False)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor | None) -> Any:
        record: Record = ctx.record
        outputs, saved, *operands = ctx.saved_tensors
        indices, values = operands[:_INDICES], operands[_INDICES:]
        wanted = ctx.needs_input_grad[1 + _INDICES :]
        return None, *(None,) * _INDICES, *_gradients(record, indices, outputs, saved, grads, values, wanted)

    @staticmethod
    def vmap(info: Any, in_dims: Any, record: Record, *operands: Any) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        layer, dims = record.layer, in_dims[1:]
        end = _INDICES + 1 + layer.setting.num_states
        if any(dim is not None for dim in dims[end:]):
            return one_by_one(partial(_apply_layer, layer), info.batch_size, dims, operands)
        fold = Fold(layer, info.batch_size, operands[: _INDICES + 1], dims[: _INDICES + 1])
        state = fold.state(operands[_INDICES + 1 : end], dims[_INDICES + 1 : end])
        return fold.results(_apply_layer(fold.layer, *fold.indices, fold.inputs, *state, *operands[end:]))


class UntransformedLayerFunction(Function):
    """`(record, inputs, *state, *weights)` to the same results, outside of transforms: their machinery takes time."""

    @staticmethod
    def forward(ctx: Any, record: Record, *operands: Any) -> Any:
        setting, inputs, end = record.layer.setting, operands[0], 1 + record.layer.setting.num_states
        if record.found is None:
            results, saved = call.forward(setting, record.rows, inputs, operands[1:end], operands[end:], keep=True)
        else:
            results, saved = short.forward(record.found, setting, inputs, keep=True, axes=record.axes)
            record.found = None
        ctx.record = record
        ctx.mark_non_differentiable(saved)
        ctx.save_for_backward(results[0], saved, *operands)
        ctx.set_materialize_grads(False)
        return (*results, saved)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor | None) -> Any:
        record, end = ctx.record, 1 + ctx.record.layer.setting.num_states
        outputs, saved, *values = ctx.saved_tensors
        wanted = ctx.needs_input_grad[1:]
        if not record.axes:
            return None, *_gradients(record, record.rows, outputs, saved, grads, values, wanted)
        grads = tuple([value if value is None or i == 0 else value.squeeze(0) for i, value in enumerate(grads)])
        values[1:end] = [None if value is None else value.squeeze(0) for value in values[1:end]]
        found = _gradients(record, record.rows, outputs, saved, grads, values, wanted)
        found[1:end] = [None if value is None else value.unsqueeze(0) for value in found[1:end]]
        return None, *found


class GradientFunction(Function):
    """Gradients as a function: those that a request wants.

    Operands are `(request, outputs, saved, row, start, length, *grads, inputs, *state, *weights)`.
    """

    @staticmethod
    def forward(request: Request, outputs: Tensor, saved: Tensor | None, *operands: Any) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        found = _compute(request, outputs, saved, *request.parts(operands))
        return tuple(value for value in found if value is not None)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, ...]) -> None:
        ctx.request = inputs[0]
        ctx.save_for_backward(*inputs[3:])
        ctx.set_materialize_grads(False)

    @staticmethod
    def backward(ctx: Any, *seconds: Tensor | None) -> Any:
        request: Request = ctx.request
        layer = request.record.layer
        indices, grads, values = request.parts(ctx.saved_tensors)
        values = _with_zeros(layer, values, indices)
        found, for_grads = second_gradients(layer, _lengths(indices), values, grads, request.wanted, seconds)
        # that outputs depend on inputs and weights is part of the derivative for these
        every = (None, None, None, *(None for _ in indices), *for_grads, *found)
        return tuple(value if need else None for value, need in zip(every, ctx.needs_input_grad, strict=True))

    @staticmethod
    def vmap(info: Any, in_dims: Any, request: Request, outputs: Tensor, saved: Any, *operands: Any) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        layer, wanted = request.record.layer, request.wanted
        dims = in_dims[3:]
        indices, grads, values = request.parts(operands)
        index_dims, grad_dims, value_dims = request.parts(dims)
        end = 1 + layer.setting.num_states
        if any(wanted[end:]) or any(dim is not None for dim in value_dims[end:]):
            run = partial(_apply_gradient, layer, request)
            return one_by_one(run, info.batch_size, (in_dims[1], *dims), (outputs, *operands))
        fold = Fold(layer, info.batch_size, (*indices, values[0]), (*index_dims, value_dims[0]))
        folded = (*fold.indices, *fold.like_results(grads, grad_dims), fold.inputs)
        folded += (*fold.state(values[1:end], value_dims[1:end]), *values[end:])
        folded_outputs = fold.like_results([outputs], in_dims[1:2])
        return fold.gradients(_apply_gradient(fold.layer, request, *folded_outputs, *folded), wanted)


def _apply_layer(layer: Layer, *operands: Any) -> Any:
    return LayerFunction.apply(Record(layer, keep=False), *operands)


def _apply_gradient(layer: Layer, request: Request, outputs: Any, *operands: Any) -> Any:
    """The gradients that `request` wants, of another layer: there is no buffer, so that it runs forward again."""
    again = Request(Record(layer, keep=False), request.wanted, request.num_grads)
    return GradientFunction.apply(again, outputs, None, *operands)


def _gradients(
    record: Record,
    indices: Sequence[Tensor | None],
    outputs: Tensor,
    saved: Tensor | None,
    grads: Sequence[Tensor | None],
    values: Sequence[Any],
    wanted: Sequence[bool],
) -> list[Tensor | None]:
    """The gradients of `values` (inputs, state and weights) as far as they are wanted, by whichever way has them."""
    grads = grads[: record.layer.setting.num_results]
    if all([grad is None for grad in grads]):
        return [None] * len(wanted)
    # dual numbers, or what `is_grads_batched` maps over in a way of its own: neither can be a function's operand
    if forward_ad._current_level >= 0 or any([grad is not None and is_legacy_batchedtensor(grad) for grad in grads]):
        found = gradients(record.layer, _lengths(indices), _with_zeros(record.layer, values, indices), grads)
        return [value if want else None for value, want in zip(found, wanted, strict=True)]
    request = Request(record, wanted, len(grads))
    if torch.is_grad_enabled() or torch._C._are_functorch_transforms_active():
        each = iter(GradientFunction.apply(request, outputs, saved, *indices, *grads, *values))
        return [next(each) if want else None for want in wanted]
    return _compute(request, outputs, saved, indices, grads, values)


def _lengths(indices: Sequence[Tensor | None]) -> Tensor | None:
    """The lengths that the reference is given: none where it knows the pieces itself."""
    return indices[2] if indices[0] is None else None


def _with_zeros(layer: Layer, values: Sequence[Any], indices: Sequence[Tensor | None]) -> list[Tensor]:
    """Inputs, state and weights, with zeros where no state was given."""
    zeros = zeros_of(layer.setting, indices[0], values[0])
    state = [zero if value is None else value for value, zero in zip(values[1 : 1 + len(zeros)], zeros, strict=True)]
    return [values[0], *state, *values[1 + len(zeros) :]]


def _compute(
    request: Request,
    outputs: Tensor,
    saved: Tensor | None,
    indices: Sequence[Tensor | None],
    grads: Sequence[Tensor | None],
    values: Sequence[Any],
) -> list[Tensor | None]:
    setting, end = request.record.layer.setting, 1 + request.record.layer.setting.num_states
    if saved is not None and not request.record.first():
        saved = None
    state, weights, rows = values[1:end], values[end:], Rows(*indices)
    return call.backward(setting, rows, values[0], state, weights, outputs, grads, request.wanted, saved)
