"""Shapes as tensors: shape, size and rank of a value, and what two shapes broadcast to. Functions that change a shape
are in `reshaping.py`.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch

from .... import errors
from ....graph import rules
from ....graph.dtype import DType, as_dtype, int32
from ....graph.op import INDICES, Op
from ....graph.shape import Dims, TensorShape, as_shape
from ...export import export
from ...graph import Tensor, atomic
from ..apply import apply
from ..arguments import part_name
from ..convert import add_constant, convert_to_tensor


def _shape(value: Any, out_type: DType) -> torch.Tensor:
    return torch.tensor(value.shape, dtype=out_type.torch)


def _shape_dims(inputs: Any, attrs: Any) -> Dims:
    dims = inputs[0].dims
    return (None if dims is None else len(dims),)


def _shapes(*values: Any, out_type: DType) -> tuple[torch.Tensor, ...]:
    return tuple(torch.tensor(value.shape, dtype=out_type.torch) for value in values)


def _shapes_dims(inputs: Any, attrs: Any) -> list[Dims]:
    return [(None if tensor.dims is None else len(tensor.dims),) for tensor in inputs]


def _size(value: Any, out_type: DType) -> torch.Tensor:
    return torch.tensor(math.prod(value.shape), dtype=out_type.torch)


def _rank(value: Any) -> torch.Tensor:
    return torch.tensor(value.ndim, dtype=torch.int32)


def _broadcast_args(first: torch.Tensor, second: torch.Tensor) -> torch.Tensor:
    try:
        sizes = np.broadcast_shapes(tuple(first.tolist()), tuple(second.tolist()))
    except ValueError:
        raise errors.InvalidArgumentError(
            None, None, f"Incompatible shapes: {first.tolist()} vs. {second.tolist()}"
        ) from None
    return torch.tensor(sizes, dtype=first.dtype)


def _broadcast_args_dims(inputs: Any, attrs: Any) -> Dims:
    lengths = [tensor.dims[0] if tensor.dims else None for tensor in inputs]
    known = [length for length in lengths if length is not None]
    return (max(known) if len(known) == len(lengths) else None,)


_SHAPE = Op("Shape", "input:T -> @out_type", _shape, _shape_dims, differentiable=False)
_SHAPE_N = Op("ShapeN", "*input:T -> *@out_type", _shapes, _shapes_dims, differentiable=False)
_SIZE = Op("Size", "input:T -> @out_type", _size, rules.scalar, differentiable=False)
_RANK = Op("Rank", "input:T -> int32", _rank, rules.scalar, differentiable=False)
_BROADCAST_ARGS = Op("BroadcastArgs", "s0:T s1:T -> T", _broadcast_args, _broadcast_args_dims, {"T": INDICES})


@export("shape")
@atomic
def shape(input: Any, name: str | None = None, out_type: Any = int32) -> Tensor:
    """Return the shape of `input` as a vector of type `out_type`; a constant where the static shape is fully known."""
    tensor = convert_to_tensor(input, name=part_name(name, "Shape", "input"))
    dtype = as_dtype(out_type)
    if tensor.dims is not None and None not in tensor.dims:
        return add_constant(np.array(tensor.dims, dtype.numpy), dtype, name or "Shape")
    return apply(_SHAPE, [tensor], {"out_type": dtype}, name)


@export("shape_n")
@atomic
def shape_n(input: Any, out_type: Any = int32, name: str | None = None) -> list[Tensor]:
    """Return the shapes of a list of tensors of one dtype."""
    return apply(_SHAPE_N, [input], {"out_type": as_dtype(out_type)}, name)


@export("size")
@atomic
def size(input: Any, name: str | None = None, out_type: Any = int32) -> Tensor:
    """Return the number of elements of `input` as a scalar of type `out_type`."""
    tensor = convert_to_tensor(input, name=part_name(name, "Size", "input"))
    dtype = as_dtype(out_type)
    count = tensor.shape.num_elements()
    if count is not None:
        return add_constant(np.array(count, dtype.numpy), dtype, name or "Size")
    return apply(_SIZE, [tensor], {"out_type": dtype}, name)


@export("rank")
@atomic
def rank(input: Any, name: str | None = None) -> Tensor:
    """Return the number of axes of `input` as an int32 scalar."""
    tensor = convert_to_tensor(input, name=part_name(name, "Rank", "input"))
    if tensor.dims is not None:
        return add_constant(np.array(len(tensor.dims), np.int32), int32, name or "Rank")
    return apply(_RANK, [tensor], name=name)


@export("broadcast_dynamic_shape")
@atomic
def broadcast_dynamic_shape(shape_x: Any, shape_y: Any) -> Tensor:
    """Return the shape that values of the two given shapes (integer vectors) broadcast to.

    Raises:
        tf.errors.InvalidArgumentError: in a run in which they do not broadcast.
    """
    return apply(_BROADCAST_ARGS, [shape_x, shape_y])


@export("broadcast_static_shape")
def broadcast_static_shape(shape_x: Any, shape_y: Any) -> TensorShape:
    """Return the static shape that values of the two static shapes broadcast to; ValueError where they do not.

    Example:
        >>> print(broadcast_static_shape(TensorShape([1, None]), TensorShape([3, 1])))
        (3, ?)
    """
    try:
        return TensorShape(rules.broadcast_dims(as_shape(shape_x).tuple, as_shape(shape_y).tuple))
    except ValueError:
        raise ValueError(
            f"Incompatible shapes for broadcasting: {shape_x} and {shape_y}; two sizes must be equal or one of them 1"
        ) from None
