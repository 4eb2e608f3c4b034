"""Which elements are largest: argmax and argmin, top_k, in_top_k."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import torch

from ....errors import InvalidArgumentError
from ....graph import rules
from ....graph.constants import partial_value
from ....graph.dtype import DType, as_dtype
from ....graph.op import INDICES, REALS, Op
from ....graph.shape import Dims, merge_dims
from ...export import export
from ...graph import Tensor, atomic
from ...scopes import name_scope
from ..apply import apply
from ..convert import convert_to_tensor
from .reduction import fixed_axis, one_of


def _comparable(x: torch.Tensor) -> torch.Tensor:
    return x.byte() if x.dtype is torch.bool else x


def _arg_max(input: torch.Tensor, axis: int, dtype: DType) -> torch.Tensor:
    return torch.argmax(_without_nan(_comparable(input), -math.inf), axis).to(dtype.torch)


def _arg_min(input: torch.Tensor, axis: int, dtype: DType) -> torch.Tensor:
    return torch.argmin(_without_nan(_comparable(input), math.inf), axis).to(dtype.torch)


def _without_nan(x: torch.Tensor, last: float) -> torch.Tensor:
    """TensorFlow never finds a NaN; torch finds the first of them before all else."""
    if not x.is_floating_point():
        return x
    missing = x.isnan()
    return torch.where(missing, last, x) if missing.any() else x


ARG_MAX = Op("ArgMax", "input:T -> @dtype", _arg_max, rules.reduce, {"T": REALS | {"bool"}}, differentiable=False)
ARG_MIN = Op("ArgMin", "input:T -> @dtype", _arg_min, rules.reduce, {"T": REALS | {"bool"}}, differentiable=False)


def _arg(row: Op, input: Any, axis: Any, output_type: Any, name: str | None) -> Tensor:
    dtype = as_dtype(output_type)
    if dtype.name not in INDICES:
        raise TypeError(f"{row.type}: output_type must be int32 or int64, got {dtype.name}")
    axis = fixed_axis(0 if axis is None else axis)
    if not isinstance(axis, int):
        raise ValueError(f"{row.type}: axis must be a single integer, got {axis}")
    return apply(row, [input], {"axis": axis, "dtype": dtype}, name)


@export("argmax", "math.argmax")
@atomic
def argmax(
    input: Any, axis: Any = None, name: str | None = None, dimension: Any = None, output_type: Any = "int64"
) -> Tensor:
    """Return the indices of the largest elements along an axis, of equal ones the first.

    axis: one axis (default: 0); `dimension` is its old name. output_type: int64 or int32. A NaN is passed over; where
    there is nothing else, the index is 0.

    Raises:
        ValueError: an axis that is not there; `axis` and `dimension` together.
    """
    return _arg(ARG_MAX, input, one_of("axis", axis, "dimension", dimension), output_type, name)


@export("argmin", "math.argmin")
@atomic
def argmin(
    input: Any, axis: Any = None, name: str | None = None, dimension: Any = None, output_type: Any = "int64"
) -> Tensor:
    """Return the indices of the smallest elements along an axis, of equal ones the first.

    axis: one axis (default: 0); `dimension` is its old name. output_type: int64 or int32. A NaN is passed over; where
    there is nothing else, the index is 0.

    Raises:
        ValueError: an axis that is not there; `axis` and `dimension` together.
    """
    return _arg(ARG_MIN, input, one_of("axis", axis, "dimension", dimension), output_type, name)


@export("arg_max")
def arg_max(input: Any, dimension: Any, output_type: Any = "int64", name: str | None = None) -> Tensor:
    """Return `tf.argmax` of `input` along `dimension`."""
    return argmax(input, dimension, name, output_type=output_type)


@export("arg_min")
def arg_min(input: Any, dimension: Any, output_type: Any = "int64", name: str | None = None) -> Tensor:
    """Return `tf.argmin` of `input` along `dimension`."""
    return argmin(input, dimension, name, output_type=output_type)


class TopKV2(NamedTuple):
    """What `tf.nn.top_k` returns."""

    values: Any
    indices: Any


def _top_k(input: torch.Tensor, k: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    count = int(k)
    if count > input.shape[-1] or count < 0:
        raise InvalidArgumentError(
            None, None, f"input must have last dimension >= k = {count} but is {input.shape[-1]}"
        )
    if count == 1:
        values, indices = torch.max(input, -1, keepdim=True)
        return values, indices.to(torch.int32)
    # A stable sort puts the first of equal elements first, as TensorFlow does; torch.topk promises no order.
    values, indices = torch.sort(input, dim=-1, descending=True, stable=True)
    return values[..., :count], indices[..., :count].to(torch.int32)


def _top_k_dims(inputs: rules.Inputs, attrs: rules.Attrs) -> list[Dims]:
    dims, k = inputs[0].dims, partial_value(inputs[1])
    if dims is None:
        return [None, None]
    if not dims:
        raise ValueError("input must have at least rank 1 but is rank 0, for 'TopKV2'")
    count = None if k is None else k.item()
    if count is not None and dims[-1] is not None and dims[-1] < count:
        raise ValueError(f"input must have last dimension >= k = {count} but is {dims[-1]}, for 'TopKV2'")
    return [(*dims[:-1], count), (*dims[:-1], count)]


TOP_K = Op("TopKV2", "input:T k:int32 -> T int32", _top_k, _top_k_dims, {"T": REALS})


@export("nn.top_k", "math.top_k")
@atomic
def top_k(input: Any, k: Any = 1, sorted: bool = True, name: str | None = None) -> TopKV2:
    """Return the k largest elements along the last axis and their indices (int32), the largest first.

    Of equal elements those with smaller indices come first. k: an int or a scalar tensor.
    sorted: whether the order matters; they come sorted all the same.

    Raises:
        ValueError: the last axis is known to be shorter than k. tf.errors.InvalidArgumentError: it turns out to be.
    """
    return TopKV2(*apply(TOP_K, [input, k], name=name))


def _in_top_k(predictions: torch.Tensor, targets: torch.Tensor, k: torch.Tensor) -> torch.Tensor:
    known = (targets >= 0) & (targets < predictions.shape[1])
    chosen = predictions.gather(1, torch.where(known, targets, 0).long()[:, None]) if predictions.shape[1] else 0
    larger = (predictions > chosen).sum(1)
    return (larger < k) & torch.isfinite(predictions).all(1) & known


def _in_top_k_dims(inputs: rules.Inputs, attrs: rules.Attrs) -> Dims:
    for tensor, rank in zip(inputs[:2], (2, 1), strict=True):
        if tensor.dims is not None and len(tensor.dims) != rank:
            raise ValueError(f"in_top_k: Shape must be rank {rank} but is rank {len(tensor.dims)}: {tensor.shape}")
    rows = None if inputs[0].dims is None else inputs[0].dims[:1]
    return (None,) if rows is None and inputs[1].dims is None else merge_dims(rows, inputs[1].dims)


IN_TOP_K = Op(
    "InTopKV2",
    "predictions:float32 targets:T k:T -> bool",
    _in_top_k,
    _in_top_k_dims,
    {"T": INDICES},
    differentiable=False,
)


@export("nn.in_top_k", "math.in_top_k")
@atomic
def in_top_k(predictions: Any, targets: Any, k: Any, name: str | None = None) -> Tensor:
    """Return for each row whether its target is among the k largest predictions; ties with the k-th count as in.

    predictions: [batch, classes], float32. targets: [batch], int32 or int64. A row with a prediction that is not
    finite, or with a target that is no class, gives False.
    """
    with name_scope(name, "in_top_k", [predictions, targets]):
        return apply(IN_TOP_K, [predictions, convert_to_tensor(targets, name="targets"), k])
