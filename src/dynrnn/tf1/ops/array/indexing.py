"""The indexing of tensors, `x[:, t]`: ints, slices, None, Ellipsis, and scalar tensors in their places."""

from __future__ import annotations

import operator
from typing import Any, NamedTuple

import numpy as np
import torch

from .... import errors
from ....graph.constants import constant_value
from ....graph.op import INDICES
from ....graph.shape import Dimension, Dims
from ...graph import Tensor, atomic
from ..apply import apply
from ..convert import convert_to_tensor
from ..moving import moves
from .choosing import boolean_mask


class Slot(NamedTuple):
    """The place in an index where the value of input `position` goes."""

    position: int


_WHOLE = slice(None)
Item = Any  # what an index is a tuple of: int, Slot, slice of them, None, Ellipsis


def _index(value: torch.Tensor, index: tuple[Item, ...]) -> torch.Tensor:
    try:
        return value[index]
    except IndexError:
        raise errors.InvalidArgumentError(None, None, _out_of_bounds(tuple(value.shape), index)) from None


def _index_by(value: torch.Tensor, *values: torch.Tensor, index: tuple[Item, ...]) -> torch.Tensor:
    """An index with tensors in it."""
    return _index(value, tuple([_filled(item, values) for item in index]))


def _index_steps(value: torch.Tensor, *values: torch.Tensor, index: tuple[Item, ...]) -> torch.Tensor:
    """An index with steps backwards, which torch does not have."""
    filled = _spread(tuple(_filled(item, values) for item in index), value.ndim)
    turned: list[int] = []
    axis = 0
    for position, item in enumerate(filled):
        if isinstance(item, slice) and item.step is not None and item.step < 1:
            if item.step == 0:
                raise errors.InvalidArgumentError(None, None, f"strides[{position}] must be non-zero")
            size = value.shape[axis] if axis < value.ndim else 0
            start, stop, step = item.indices(size)
            count = len(range(start, stop, step))
            begin = size - 1 - start if count else 0
            filled = (
                *filled[:position],
                slice(begin, begin + (count - 1) * -step + 1 if count else 0, -step),
                *filled[position + 1 :],
            )
            turned.append(axis)
        axis += item is not None
    return _index(value.flip(turned) if turned else value, filled)


def _filled(item: Item, values: tuple[torch.Tensor, ...]) -> Item:
    kind = type(item)
    if kind is Slot:
        return values[item.position].item()
    if kind is slice and item != _WHOLE:
        return slice(_filled(item.start, values), _filled(item.stop, values), _filled(item.step, values))
    return item


def _spread(index: tuple[Item, ...], rank: int) -> tuple[Item, ...]:
    """The index with whole slices in place of an Ellipsis."""
    if not any(item is Ellipsis for item in index):
        return index
    at = next(i for i, item in enumerate(index) if item is Ellipsis)
    used = sum(item is not None and item is not Ellipsis for item in index)
    return (*index[:at], *[slice(None)] * max(rank - used, 0), *index[at + 1 :])


def _out_of_bounds(dims: tuple[int | None, ...], index: tuple[Item, ...]) -> str:
    """Say in TensorFlow's words which item of an index does not fit."""
    used = sum(item is not None and item is not Ellipsis for item in index)
    if used > len(dims):
        if not dims:
            return "Attempting to slice scalar input."
        return f"Index out of range using input dim {len(dims)}; input has only {len(dims)} dims, got {used} indices"
    axis = 0
    for item in _spread(index, len(dims)):
        size = dims[axis] if axis < len(dims) else None
        if isinstance(item, int) and size is not None and not -size <= item < size:
            return f"slice index {item} of dimension {axis} out of bounds; the shape is {list(dims)}"
        axis += item is not None
    return ""


def _index_dims(inputs: Any, attrs: Any) -> Dims:
    dims, index = inputs[0].dims, attrs["index"]
    if dims is None:
        return None
    index = tuple(_known(item, inputs[1:]) for item in index)
    problem = _out_of_bounds(dims, index)
    if problem:
        raise ValueError(f"{problem} ({inputs[0].name}, {inputs[0].shape})")
    sizes: list[int | None] = []
    axis = 0
    for item in _spread(index, len(dims)):
        if item is None:
            sizes.append(1)
            continue
        if isinstance(item, slice):
            sizes.append(_slice_size(dims[axis], item))
        axis += 1
    return (*sizes, *dims[axis:])


def _known(item: Item, tensors: Any) -> Item:
    """The item with the values of its slots, where they are known."""
    if isinstance(item, Slot):
        value = constant_value(tensors[item.position])
        return item if value is None else int(value)
    if isinstance(item, slice):
        return slice(*(_known(part, tensors) for part in (item.start, item.stop, item.step)))
    return item


def _slice_size(size: int | None, item: slice) -> int | None:
    if item.step == 0:
        raise ValueError("strides[0] must be non-zero: a slice's step is 0")
    if item.start is None and item.stop is None and item.step in (None, 1, -1):
        return size
    if size is None or any(isinstance(part, Slot) for part in (item.start, item.stop, item.step)):
        return None
    return len(range(*item.indices(size)))


_INDEX = moves("StridedSlice", "input:T -> T", _index, _index_dims)
_INDEX_BY = moves("StridedSlice", "input:T *bounds:I -> T", _index_by, _index_dims)
_INDEX_STEPS = moves("StridedSlice", "input:T *bounds:I -> T", _index_steps, _index_dims)


def getitem(tensor: Any, index: Any, name: str = "strided_slice") -> Tensor:
    """Return `tensor[index]`: ints and slices (bounds may be scalar tensors), Ellipsis, None for a new axis, or a
    boolean mask.

    Raises:
        TypeError: something else. ValueError: more items than axes; an index out of range.
        tf.errors.InvalidArgumentError: the same in a run.
    """
    if _is_mask(index):
        return boolean_mask(tensor, index)
    items = tuple(index) if isinstance(index, (list, tuple)) else (index,)
    if sum(item is Ellipsis for item in items) > 1:
        raise ValueError("Multiple ellipses not allowed")
    tensors: list[Tensor] = []
    return indexed(tensor, tuple(index_item(item, tensors) for item in items), tensors, name)


def indexed(tensor: Any, index: tuple[Item, ...], tensors: list[Tensor], name: str) -> Tensor:
    steps = [item.step for item in index if isinstance(item, slice) and item.step is not None]
    if any(isinstance(step, Slot) or step < 0 for step in steps):
        return apply(_INDEX_STEPS, [tensor, tensors], {"index": index}, name)
    if tensors:
        return apply(_INDEX_BY, [tensor, tensors], {"index": index}, name)
    return apply(_INDEX, [tensor], {"index": index}, name)


def _is_mask(index: Any) -> bool:
    if isinstance(index, (bool, np.bool_)):
        return True
    return isinstance(index, (Tensor, np.ndarray)) and getattr(index.dtype, "name", None) == "bool"


def index_item(item: Any, tensors: list[Tensor]) -> Item:
    if item is None or item is Ellipsis:
        return item
    if isinstance(item, slice):
        return slice(
            *(None if part is None else index_bound(part, tensors) for part in (item.start, item.stop, item.step))
        )
    return index_bound(item, tensors)


def index_bound(value: Any, tensors: list[Tensor]) -> Item:
    if isinstance(value, Dimension) and value.value is None:
        return None
    if isinstance(value, Tensor) or hasattr(value, "_as_tensor"):
        tensor = convert_to_tensor(value)
        if tensor.dtype.base_dtype.name in INDICES and tensor.dims in ((), None):
            tensors.append(tensor)
            return Slot(len(tensors) - 1)
    elif hasattr(value, "__index__") and not isinstance(value, (bool, np.bool_)) and not getattr(value, "ndim", 0):
        return operator.index(value)
    raise TypeError(
        "Only integers, slices (`:`), ellipsis (`...`), tf.newaxis (`None`) and scalar tf.int32/tf.int64 tensors "
        "are valid indices, "
        f"got {value!r}"
    )


Tensor.__getitem__ = atomic(getitem)  # type: ignore[attr-defined]
