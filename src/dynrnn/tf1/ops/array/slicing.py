"""Slices by begin and size, or by begin, end and strides: slice and strided_slice."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from .... import errors
from ....graph.constants import constant_value, partial_value
from ....graph.op import INDICES
from ....graph.shape import Dims
from ...export import export
from ...graph import Tensor, atomic
from ..apply import apply
from ..arguments import part_name, shape_tensor
from ..convert import convert_to_tensor
from ..moving import moves
from .indexing import Item, index_bound, index_item, indexed
from .splitting import unstack


def _slice(value: torch.Tensor, begin: torch.Tensor, size: torch.Tensor) -> torch.Tensor:
    starts, sizes = begin.tolist(), size.tolist()
    index = []
    for i, (start, count, have) in enumerate(zip(starts, sizes, value.shape, strict=True)):
        if not 0 <= start <= have:
            raise errors.InvalidArgumentError(None, None, f"Expected begin[{i}] in [0, {have}], but got {start}")
        count = have - start if count == -1 else count
        if not 0 <= count <= have - start:
            raise errors.InvalidArgumentError(None, None, f"Expected size[{i}] in [0, {have - start}], but got {count}")
        index.append(slice(start, start + count))
    return value[tuple(index)]


def _slice_dims(inputs: Any, attrs: Any) -> Dims:
    value, begin, size = inputs
    ranks = {len(value.dims)} if value.dims is not None else set()
    for name, tensor in (("begin", begin), ("size", size)):
        if tensor.dims is not None and len(tensor.dims) != 1:
            raise ValueError(f"slice: {name}: Shape must be rank 1 but is rank {len(tensor.dims)}")
        if tensor.dims is not None and tensor.dims[0] is not None:
            ranks.add(tensor.dims[0])
    if len(ranks) > 1:
        raise ValueError(
            f"slice: begin and size must have one item for every axis of {value.name} with shape {value.shape}, "
            f"got {begin.shape} and {size.shape} items"
        )
    if not ranks:
        return None
    rank = ranks.pop()
    starts, counts = partial_value(begin), partial_value(size)
    dims = value.dims if value.dims is not None else (None,) * rank
    if counts is None:
        return (None,) * rank
    starts = starts if starts is not None else np.full(rank, None, object)
    return tuple(_counted(*item) for item in zip(dims, starts, counts, strict=True))


def _counted(have: int | None, start: int | None, count: int | None) -> int | None:
    if count != -1:
        return count
    return None if have is None or start is None else have - start


_SLICE = moves("Slice", "input:T begin:I size:I -> T", _slice, _slice_dims, types={"I": INDICES})


@export("slice")
@atomic
def slice_(input_: Any, begin: Any, size: Any, name: str | None = None) -> Tensor:
    """Return `size[i]` elements from `begin[i]` on, along each axis i; a size of -1 takes all that are left.

    Raises:
        ValueError: `begin` or `size` has another length than `input_` has axes.
        tf.errors.InvalidArgumentError: the slice passes the end.
    """
    sizes = [
        shape_tensor(begin, part_name(name, "Slice", "begin")),
        shape_tensor(size, part_name(name, "Slice", "size")),
    ]
    return apply(_SLICE, [input_, *sizes], name=name)


@export("strided_slice")
@atomic
def strided_slice(
    input_: Any,
    begin: Any,
    end: Any,
    strides: Any = None,
    begin_mask: int = 0,
    end_mask: int = 0,
    ellipsis_mask: int = 0,
    new_axis_mask: int = 0,
    shrink_axis_mask: int = 0,
    var: Any = None,
    name: str | None = None,
) -> Tensor:
    """Return `input_[begin[0]:end[0]:strides[0], ...]`; what Python's indexing says otherwise, bit i of a mask says
    for item i.

    begin, end, strides: integer vectors or lists of one length. begin_mask, end_mask: the bound is left out.
    ellipsis_mask: the item is
    an Ellipsis. new_axis_mask: it is None. shrink_axis_mask: it is the int `begin[i]`. var: refused; assigning to
    slices is not supported.

    Raises:
        ValueError: lengths differ or are not known while the graph is built; an index out of range.
    """
    if var is not None:
        raise ValueError("strided_slice: var must be None; a slice of a variable cannot be assigned to")
    begins, ends = _entries("begin", begin), _entries("end", end)
    steps = [1] * len(begins) if strides is None else _entries("strides", strides)
    if not len(begins) == len(ends) == len(steps):
        raise ValueError(
            f"strided_slice: begin, end and strides must have one length, got {len(begins)}, {len(ends)} and "
            f"{len(steps)}"
        )
    if (ellipsis_mask & (1 << len(begins)) - 1).bit_count() > 1:
        raise ValueError(f"Multiple ellipses in slice spec not allowed: ellipsis_mask is {ellipsis_mask:#b}")
    tensors: list[Tensor] = []
    items: list[Item] = []
    for i, (start, stop, step) in enumerate(zip(begins, ends, steps, strict=True)):
        bit = 1 << i
        if ellipsis_mask & bit:
            items.append(Ellipsis)
        elif new_axis_mask & bit:
            items.append(None)
        elif shrink_axis_mask & bit:
            items.append(index_bound(start, tensors))
        else:
            first = None if begin_mask & bit else start
            last = None if end_mask & bit else stop
            items.append(index_item(slice(first, last, step), tensors))
    return indexed(input_, tuple(items), tensors, name or "StridedSlice")


def _entries(name: str, value: Any) -> list[Any]:
    """The items of a vector of bounds: ints, or scalar tensors."""
    if isinstance(value, (list, tuple)):
        return list(value)
    tensor = convert_to_tensor(value)
    known = constant_value(tensor)
    if known is not None:
        return known.reshape(-1).tolist()
    if not tensor.dims or tensor.dims[0] is None:
        raise ValueError(f"strided_slice: {name} must be a vector whose length is known, got {tensor}")
    return list(unstack(tensor))
