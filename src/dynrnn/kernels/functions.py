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

from dynrnn.kernels import call
from dynrnn.kernels.check import Rows
from dynrnn.kernels.derivatives import Layer, gradients, second_gradients, zeros_of
from dynrnn.kernels.mapped import Fold, one_by_one

_INDICES = 3  # row, start, length: the operands that come first


class Record:
    """What one recorded call carries besides tensors.

    `buffers` holds what the forward pass left for backward, which uses it up: it is taken out once, and a second
    backward runs forward again. Without `keep` nothing is left.
    """

    __slots__ = ("layer", "keep", "buffers")

    def __init__(self, layer: Layer, *, keep: bool) -> None:
        self.layer = layer
        self.keep = keep
        self.buffers: list[Tensor] = []

    def take(self) -> Tensor | None:
        """The buffer, the first time that it is asked for."""
        try:
            return self.buffers.pop()  # one step, so that two threads cannot take the same
        except IndexError:
            return None


class Request:
    """Which gradients of a record are wanted, of inputs, state and weights in this order."""

    __slots__ = ("record", "wanted", "num_grads")

    def __init__(self, record: Record, wanted: Sequence[bool], num_grads: int) -> None:
        self.record = record
        self.wanted = tuple(wanted)
        self.num_grads = num_grads


class LayerFunction(Function):
    """`(record, row, start, length, inputs, *state, *weights)` to the results of `call.forward`."""

    @staticmethod
    def forward(record: Record, *operands: Any) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        setting = record.layer.setting
        inputs, tensors, count = operands[_INDICES], operands[_INDICES + 1 :], setting.num_states
        rows = Rows(*operands[:_INDICES])
        results, saved = call.forward(setting, rows, inputs, tensors[:count], tensors[count:], keep=record.keep)
        if saved is not None:
            record.buffers.append(saved)
        return results

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, ...]) -> None:
        ctx.record = inputs[0]
        ctx.save_for_backward(output[0], *inputs[1:])
        ctx.set_materialize_grads(False)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor | None) -> Any:
        record, wanted = ctx.record, ctx.needs_input_grad[1 + _INDICES :]
        nothing = (None,) * (1 + _INDICES)
        if all(grad is None for grad in grads):
            return *nothing, *(None for _ in wanted)
        outputs, *operands = ctx.saved_tensors
        indices, values = operands[:_INDICES], operands[_INDICES:]
        # dual numbers, or what `is_grads_batched` maps over in a way of its own: neither can be a function's operand
        if forward_ad._current_level >= 0 or any(
            [grad is not None and is_legacy_batchedtensor(grad) for grad in grads]
        ):
            found = gradients(record.layer, _lengths(indices), _with_zeros(record, values, indices), grads)
            return *nothing, *(value if want else None for value, want in zip(found, wanted, strict=True))
        request = Request(record, wanted, len(grads))
        if torch.is_grad_enabled() or torch._C._are_functorch_transforms_active():
            found = iter(GradientFunction.apply(request, outputs, *indices, *grads, *values))
            return *nothing, *(next(found) if want else None for want in wanted)
        return *nothing, *_gradients(request, outputs, indices, grads, values)

    @staticmethod
    def vmap(info: Any, in_dims: Any, record: Record, *operands: Any) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        layer, dims = record.layer, in_dims[1:]
        end = _INDICES + 1 + layer.setting.num_states
        if any(dim is not None for dim in dims[end:]):
            return one_by_one(partial(_apply_layer, layer), info.batch_size, dims, operands)
        fold, folded, indices = _folded(layer, info.batch_size, dims, operands, _INDICES)
        state = [
            fold.narrow(*pair) for pair in zip(operands[_INDICES + 1 : end], dims[_INDICES + 1 : end], strict=True)
        ]
        inputs = fold.wide(operands[_INDICES], dims[_INDICES])
        return fold.results(_apply_layer(folded, *indices, inputs, *state, *operands[end:]))


class PlainLayerFunction(Function):
    """`LayerFunction` for use outside of transforms: binding arguments to a forward without ctx takes 6 us a call."""

    @staticmethod
    def forward(ctx: Any, record: Record, *operands: Any) -> Any:
        results = LayerFunction.forward(record, *operands)
        LayerFunction.setup_context(ctx, (record, *operands), results)
        return results

    backward = LayerFunction.backward


class GradientFunction(Function):
    """`(request, outputs, row, start, length, *grads, inputs, *state, *weights)` to the gradients that are wanted."""

    @staticmethod
    def forward(request: Request, outputs: Tensor, *operands: Any) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        grads, values = _parts(request, operands)
        found = _gradients(request, outputs, operands[:_INDICES], grads, values)
        return tuple(value for value in found if value is not None)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, ...]) -> None:
        ctx.request = inputs[0]
        ctx.save_for_backward(*inputs[2:])
        ctx.set_materialize_grads(False)

    @staticmethod
    def backward(ctx: Any, *seconds: Tensor | None) -> Any:
        request: Request = ctx.request
        operands = ctx.saved_tensors
        grads, values = _parts(request, operands)
        indices = operands[:_INDICES]
        found, for_grads = second_gradients(
            request.record.layer,
            _lengths(indices),
            _with_zeros(request.record, values, indices),
            grads,
            request.wanted,
            seconds,
        )
        # that outputs depend on inputs and weights is part of the derivative for these
        every = (None, None, *(None,) * _INDICES, *for_grads, *found)
        return tuple(value if need else None for value, need in zip(every, ctx.needs_input_grad, strict=True))

    @staticmethod
    def vmap(info: Any, in_dims: Any, request: Request, *operands: Any) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        layer, dims, wanted = request.record.layer, in_dims[1:], request.wanted
        first, count = 1 + _INDICES + request.num_grads, 1 + layer.setting.num_states
        if any(wanted[count:]) or any(dim is not None for dim in dims[first + count :]):
            return one_by_one(partial(_apply_gradient, layer, request), info.batch_size, dims, operands)
        fold, folded, indices = _folded(layer, info.batch_size, dims[1:], operands[1:], first - 1)
        axes = fold.result_axes(request.num_grads)
        pairs = list(zip(operands, dims, strict=True))
        grads = [fold.folded(*pair, axis) for pair, axis in zip(pairs[1 + _INDICES : first], axes, strict=True)]
        state = [fold.narrow(*pair) for pair in pairs[first + 1 : first + count]]
        values = (fold.wide(*pairs[first]), *state, *operands[first + count :])
        found = _apply_gradient(folded, request, fold.wide(*pairs[0]), *indices, *grads, *values)
        return fold.gradients(found, wanted)


def _apply_layer(layer: Layer, *operands: Any) -> Any:
    return LayerFunction.apply(Record(layer, keep=False), *operands)


def _apply_gradient(layer: Layer, request: Request, *operands: Any) -> Any:
    """The gradients that `request` wants, of another layer: its buffer is not there, so that it runs forward again."""
    again = Request(Record(layer, keep=False), request.wanted, request.num_grads)
    return GradientFunction.apply(again, *operands)


def _folded(
    layer: Layer, size: int, dims: Sequence[int | None], operands: Sequence[Any], place: int
) -> tuple[Fold, Layer, list[Tensor | None]]:
    """How a layer is folded whose operands begin with the indices and whose inputs stand at `place`."""
    row, _, length = operands[:_INDICES]
    pieces = None if row is None else row.shape[-1]
    fold = Fold(layer, size, operands[place], dims[place], pieces)
    shared = length if row is None and dims[_INDICES - 1] is None else None
    return fold, fold.layer(layer, shared), fold.indices(operands[:_INDICES], dims[:_INDICES])


def _parts(request: Request, operands: Sequence[Any]) -> tuple[Sequence[Any], Sequence[Any]]:
    end = _INDICES + request.num_grads
    return operands[_INDICES:end], operands[end:]


def _lengths(indices: Sequence[Tensor | None]) -> Tensor | None:
    """The lengths that the reference is given: none where it knows the pieces itself."""
    return indices[2] if indices[0] is None else None


def _with_zeros(record: Record, values: Sequence[Any], indices: Sequence[Tensor | None]) -> list[Tensor]:
    """Inputs, state and weights, with zeros where no state was given."""
    setting = record.layer.setting
    zeros = zeros_of(setting, indices[0], values[0])
    state = [zero if value is None else value for value, zero in zip(values[1 : 1 + len(zeros)], zeros, strict=True)]
    return [values[0], *state, *values[1 + len(zeros) :]]


def _gradients(
    request: Request,
    outputs: Tensor,
    indices: Sequence[Tensor | None],
    grads: Sequence[Tensor | None],
    values: Sequence[Any],
) -> list[Tensor | None]:
    setting, count = request.record.layer.setting, request.record.layer.setting.num_states
    return call.backward(
        setting,
        Rows(*indices),
        values[0],
        values[1 : 1 + count],
        values[1 + count :],
        outputs,
        grads,
        request.wanted,
        request.record.take(),
    )
