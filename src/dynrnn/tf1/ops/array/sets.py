"""Vectors as sets: unique, unique_with_counts, setdiff1d."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import torch

from ....graph.dtype import DType, as_dtype, int32, to_numpy, to_torch
from ....graph.op import Op
from ....graph.shape import Dims
from ...export import export
from ...graph import Tensor, atomic
from ..apply import apply


def _array(value: Any) -> np.ndarray:
    return value if isinstance(value, np.ndarray) else to_numpy(value)


def _counted(value: Any, out_idx: DType) -> tuple[Any, torch.Tensor, torch.Tensor]:
    """The different items in the order in which they first come, where each item went, and how often each comes."""
    array = _array(value)
    _, first, place, count = np.unique(array, return_index=True, return_inverse=True, return_counts=True)
    order = np.argsort(first)
    position = np.empty_like(order)
    position[order] = np.arange(len(order))
    idx = torch.from_numpy(position[place.reshape(-1)].astype(out_idx.numpy))
    return to_torch(array[first[order]]), idx, torch.from_numpy(count[order].astype(out_idx.numpy))


def _unique(value: Any, out_idx: DType) -> tuple[Any, torch.Tensor]:
    return _counted(value, out_idx)[:2]


def _list_diff(value: Any, other: Any, out_idx: DType) -> tuple[Any, torch.Tensor]:
    array = _array(value)
    places = np.flatnonzero(~np.isin(array, _array(other)))
    return to_torch(array[places]), torch.from_numpy(places.astype(out_idx.numpy))


def _vector(inputs: Any) -> Dims:
    for tensor in inputs:
        if tensor.dims is not None and len(tensor.dims) != 1:
            raise ValueError(
                f"Shape must be rank 1 but is rank {len(tensor.dims)}: {tensor.name} is {tensor.shape}, a vector "
                "is wanted"
            )
    return inputs[0].dims if inputs[0].dims is not None else (None,)


def _unique_dims(inputs: Any, attrs: Any) -> list[Dims]:
    return [(None,), _vector(inputs), (None,)]


def _list_diff_dims(inputs: Any, attrs: Any) -> list[Dims]:
    _vector(inputs)
    return [(None,), (None,)]


class Unique(NamedTuple):
    """What `tf.unique` returns."""

    y: Tensor
    idx: Tensor


class UniqueWithCounts(NamedTuple):
    """What `tf.unique_with_counts` returns."""

    y: Tensor
    idx: Tensor
    count: Tensor


class ListDiff(NamedTuple):
    """What `tf.setdiff1d` returns."""

    out: Tensor
    idx: Tensor


_UNIQUE = Op("Unique", "x:T -> T @out_idx", _unique, _unique_dims, differentiable=False)
_COUNTED = Op("UniqueWithCounts", "x:T -> T @out_idx @out_idx", _counted, _unique_dims, differentiable=False)
_LIST_DIFF = Op("ListDiff", "x:T y:T -> T @out_idx", _list_diff, _list_diff_dims, differentiable=False)


@export("unique")
@atomic
def unique(x: Any, out_idx: Any = int32, name: str | None = None) -> Unique:
    """Return the different items of a vector in the order in which they first come, and for each item which of them it
    is.
    """
    return Unique(*apply(_UNIQUE, [x], {"out_idx": as_dtype(out_idx)}, name))


@export("unique_with_counts")
@atomic
def unique_with_counts(x: Any, out_idx: Any = int32, name: str | None = None) -> UniqueWithCounts:
    """Return what `unique` does, and how often each of the different items comes."""
    return UniqueWithCounts(*apply(_COUNTED, [x], {"out_idx": as_dtype(out_idx)}, name))


@export("setdiff1d")
@atomic
def setdiff1d(x: Any, y: Any, index_dtype: Any = int32, name: str | None = None) -> ListDiff:
    """Return the items of vector `x` that are not in vector `y`, in their order, and their places in `x`."""
    return ListDiff(*apply(_LIST_DIFF, [x, y], {"out_idx": as_dtype(index_dtype)}, name))
