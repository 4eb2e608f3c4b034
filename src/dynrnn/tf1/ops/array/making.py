"""Tensors made from sizes and numbers: zeros, ones, fill and the `_like` pair, range, linspace, meshgrid. Encodings
are in `encoding.py`.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch

from .... import errors
from ....graph.constants import constant_value, partial_dims, partial_value
from ....graph.dtype import DType, as_dtype, float32, float64, int32, int64
from ....graph.op import FLOATS, INDICES, REALS, Op
from ....graph.rules import same
from ....graph.shape import Dimension, Dims
from ...export import export
from ...graph import Tensor, atomic
from ..apply import apply
from ..arguments import dtype_of, known_sizes, part_name, shape_tensor
from ..convert import add_constant, constant, convert_to_tensor, make_array
from ..math.cast import cast
from ..moving import moves
from .reshaping import reshape

_MOST_ITEMS = 1000  # from here on zeros and ones are made when they are needed


def _fill(dims: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
    return value.expand(dims.tolist()).contiguous()


def _fill_dims(inputs: Any, attrs: Any) -> Dims:
    sizes, value = inputs
    if sizes.dims is not None and len(sizes.dims) != 1:
        raise ValueError(f"fill: dims: Shape must be rank 1 but is rank {len(sizes.dims)}")
    if value.dims:
        raise ValueError(
            f"fill: value: Shape must be rank 0 but is rank {len(value.dims)}: {value.name} is {value.shape}"
        )
    known = partial_value(sizes)
    for size in () if known is None else known.flat:
        if size is not None and size < 0:
            raise ValueError(f"fill: dims: Invalid value in tensor used for shape: {size}")
    return partial_dims(sizes)


def _zeros_like(value: torch.Tensor, dtype: DType) -> torch.Tensor:
    return torch.zeros(value.shape, dtype=dtype.torch)


def _ones_like(value: torch.Tensor, dtype: DType) -> torch.Tensor:
    return torch.ones(value.shape, dtype=dtype.torch)


def _count(start: Any, limit: Any, delta: Any) -> int:
    """The number of items of a range; ValueError for one that leads nowhere."""
    if delta == 0:
        raise ValueError("Requires delta != 0")
    if delta > 0 and start > limit:
        raise ValueError(f"Requires start <= limit when delta > 0: {start}/{limit}")
    if delta < 0 and start < limit:
        raise ValueError(f"Requires start >= limit when delta < 0: {start}/{limit}")
    if isinstance(start, int) and isinstance(limit, int) and isinstance(delta, int):
        return len(range(start, limit, delta))
    return math.ceil(abs((limit - start) / delta))


def _range(start: torch.Tensor, limit: torch.Tensor, delta: torch.Tensor) -> torch.Tensor:
    first, step = start.item(), delta.item()
    try:
        count = _count(first, limit.item(), step)
    except ValueError as error:
        raise errors.InvalidArgumentError(None, None, str(error)) from None
    return torch.arange(count, dtype=start.dtype) * step + first


def _range_dims(inputs: Any, attrs: Any) -> Dims:
    for name, tensor in zip(("start", "limit", "delta"), inputs, strict=True):
        if tensor.dims:
            raise ValueError(
                f"range: {name}: Shape must be rank 0 but is rank {len(tensor.dims)}: {tensor.name} is {tensor.shape}"
            )
    values = [constant_value(tensor) for tensor in inputs]
    if any(value is None for value in values):
        return (None,)
    return (_count(*(value.item() for value in values if value is not None)),)


def _linspace(start: torch.Tensor, stop: torch.Tensor, num: torch.Tensor) -> torch.Tensor:
    count = int(num)
    if count < 1:
        raise errors.InvalidArgumentError(None, None, f"Requires num > 0: {count}")
    start, stop = start.detach(), stop.detach()
    if count == 1:
        return start.reshape(1)
    steps = start + torch.arange(count - 1, dtype=start.dtype) * ((stop - start) / (count - 1))
    return torch.cat([steps, stop.reshape(1)])  # the end is exact


def _linspace_dims(inputs: Any, attrs: Any) -> Dims:
    num = constant_value(inputs[2])
    if num is not None and num < 1:
        raise ValueError(f"linspace: Requires num > 0: {num}")
    return (None if num is None else int(num),)


def _meshgrid(*values: torch.Tensor, indexing: str) -> tuple[torch.Tensor, ...]:
    return tuple(torch.meshgrid(*(value.reshape(-1) for value in values), indexing=indexing))


def _meshgrid_dims(inputs: Any, attrs: Any) -> list[Dims]:
    counts = [tensor.shape.num_elements() for tensor in inputs]
    if attrs["indexing"] == "xy" and len(counts) > 1:
        counts[:2] = counts[1::-1]
    return [tuple(counts)] * len(counts)


_FILL = moves("Fill", "dims:I value:T -> T", _fill, _fill_dims, types={"I": INDICES})
_ZEROS_LIKE = Op("ZerosLike", "x:T -> @dtype", _zeros_like, same, differentiable=False)
_ONES_LIKE = Op("OnesLike", "x:T -> @dtype", _ones_like, same, differentiable=False)
_RANGE = Op("Range", "start:T limit:T delta:T -> T", _range, _range_dims, {"T": REALS}, differentiable=False)
_LINSPACE = Op(
    "LinSpace",
    "start:T stop:T num:I -> T",
    _linspace,
    _linspace_dims,
    {"T": FLOATS, "I": INDICES},
    differentiable=False,
)
_MESHGRID = moves("Meshgrid", "*args:T -> *T", _meshgrid, _meshgrid_dims)


@export("fill")
@atomic
def fill(dims: Any, value: Any, name: str | None = None) -> Tensor:
    """Return a tensor of shape `dims` (ints, or an integer vector) in which every element is the scalar `value`, of
    its dtype.

    Raises:
        ValueError: a size is negative; `value` is no scalar.
    """
    return apply(_FILL, [shape_tensor(dims, part_name(name, "Fill", "dims")), value], name=name)


@export("zeros")
@atomic
def zeros(shape: Any, dtype: Any = float32, name: str | None = None) -> Tensor:
    """Return zeros (False, empty strings) of shape `shape`: a size, a list of ints and scalar tensors, or an integer
    vector.
    """
    return _filled(shape, 0, as_dtype(dtype).base_dtype, name or "zeros")


@export("ones")
@atomic
def ones(shape: Any, dtype: Any = float32, name: str | None = None) -> Tensor:
    """Return ones (True) of shape `shape`: a size, a list of ints and scalar tensors, or an integer vector."""
    dtype = as_dtype(dtype).base_dtype
    if dtype.kind == "s":
        raise TypeError(f"ones: Expected {dtype.name}, got 1 of type 'int' instead.")
    return _filled(shape, 1, dtype, name or "ones")


def _filled(shape: Any, number: int, dtype: DType, name: str) -> Tensor:
    item = np.array(b"" if dtype.kind == "s" else number, dtype.numpy)
    sizes = known_sizes(shape)
    if sizes is not None:
        if any(size < 0 for size in sizes):
            raise ValueError(f"{name}: shape: Dimension must be >= 0, got {list(sizes)}")
        if math.prod(sizes) < _MOST_ITEMS:
            return add_constant(np.full(sizes, item, dtype.numpy), dtype, name)
        shape = list(sizes)
    dims = shape_tensor(shape, part_name(name, "zeros", "shape_as_tensor"))
    if dims.dims == ():
        dims = reshape(dims, [-1])
    return fill(dims, add_constant(item, dtype, part_name(name, "zeros", "Const")), name=name)


@export("zeros_like")
@atomic
def zeros_like(tensor: Any, dtype: Any = None, name: str | None = None, optimize: bool = True) -> Tensor:
    """Return zeros of the shape of `tensor`, of its dtype unless `dtype` is given. optimize: use the static shape
    where it is known.
    """
    return _like(_ZEROS_LIKE, zeros, tensor, dtype, name or "zeros_like", optimize)


@export("ones_like")
@atomic
def ones_like(tensor: Any, dtype: Any = None, name: str | None = None, optimize: bool = True) -> Tensor:
    """Return ones of the shape of `tensor`, of its dtype unless `dtype` is given. optimize: use the static shape where
    it is known.
    """
    return _like(_ONES_LIKE, ones, tensor, dtype, name or "ones_like", optimize)


def _like(row: Op, maker: Any, tensor: Any, dtype: Any, name: str, optimize: bool) -> Tensor:
    tensor = convert_to_tensor(tensor, name=part_name(name, "zeros_like", "tensor"))
    dtype = tensor.dtype.base_dtype if dtype is None else as_dtype(dtype).base_dtype
    if (optimize and tensor.dims is not None and None not in tensor.dims) or dtype.kind == "s":
        return maker(tensor.dims, dtype, name=name)
    return apply(row, [tensor], {"dtype": dtype}, name)


_RANGE_ORDER = (int32, int64, float32, float64)


@export("range")
@atomic
def range_(start: Any, limit: Any = None, delta: Any = 1, dtype: Any = None, name: str = "range") -> Tensor:
    """Return the numbers `start, start + delta, ...` before `limit`; with one number, those from 0 to before it.

    All are scalars, Python numbers or tensors. dtype: default the widest of theirs in the order int32, int64,
    float32, float64.

    Raises:
        ValueError, or tf.errors.InvalidArgumentError in a run: `delta` is 0 or leads away from `limit`.
    """
    start, limit = (0, start) if limit is None else (start, limit)
    start, limit, delta = (int(value) if isinstance(value, Dimension) else value for value in (start, limit, delta))
    if dtype is not None:
        wanted = as_dtype(dtype).base_dtype
        return apply(_RANGE, _as_type((start, limit, delta), wanted, name), name=name)
    values = (start, limit, delta)
    found = [dtype_of(value) for value in values]
    for kind in found:
        if kind not in _RANGE_ORDER:
            raise TypeError(f"range: start, limit and delta must be int32, int64, float32 or float64, got {kind.name}")
    wanted = max(found, key=_RANGE_ORDER.index)
    return apply(_RANGE, _as_type(values, wanted, name), name=name)


def _as_type(values: tuple[Any, Any, Any], dtype: DType, name: str) -> list[Tensor]:
    tensors = []
    for value, part in zip(values, ("start", "limit", "delta"), strict=True):
        if isinstance(value, Tensor) or hasattr(value, "_as_tensor"):
            tensors.append(cast(value, dtype))
        else:
            tensors.append(constant(make_array(value, dtype), dtype, name=part_name(name, "range", part)))
    return tensors


@export("linspace", "lin_space")
@atomic
def linspace(start: Any, stop: Any, num: Any, name: str | None = None) -> Tensor:
    """Return `num` numbers with equal steps between them, from `start` to `stop` (float scalars), both included.

    Raises:
        ValueError, or tf.errors.InvalidArgumentError in a run: `num` is less than 1.
    """
    return apply(_LINSPACE, [start, stop, num], name=name)


@export("meshgrid")
@atomic
def meshgrid(*args: Any, indexing: str = "xy", name: str = "meshgrid") -> list[Tensor]:
    """Return one tensor for each of the given vectors: its coordinate at every point of the grid that they span.

    indexing: "xy", where the first vector runs along axis 1 and the second along axis 0, or "ij", where the k-th runs
    along axis k.
    """
    if indexing not in ("xy", "ij"):
        raise ValueError(f"meshgrid: indexing parameter must be either 'xy' or 'ij', got {indexing!r}")
    return apply(_MESHGRID, [list(args)], {"indexing": indexing}, name)
