"""Nests in control flow: their leaves may be tensors, values that become tensors, and arrays of tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ... import _nest
from ...graph.gradients import IndexedSlices
from ..graph import Operation, Tensor
from ..ops.convert import convert_to_tensor
from .tensor_array import TensorArray


def as_leaves(structure: Any, what: str) -> list[Any]:
    """The leaves of a nest: tensors, and arrays of tensors as they are.

    Raises:
        TypeError: a leaf that is neither and that no tensor can hold.
    """
    return [leaf if isinstance(leaf, TensorArray) else _tensor(leaf, what) for leaf in _nest.flatten(structure)]


def _tensor(value: Any, what: str) -> Tensor:
    if isinstance(value, Operation):
        raise TypeError(f"{what} must be a tensor or something that becomes one, got the operation {value.name!r}")
    if isinstance(value, IndexedSlices):
        return convert_to_tensor(value)
    return convert_to_tensor(value)


def flow(leaf: Any) -> Tensor:
    """The tensor that stands for a leaf in the graph."""
    return leaf.flow if isinstance(leaf, TensorArray) else leaf


def rewrap(like: Any, tensor: Tensor) -> Any:
    """`tensor` as a leaf of the kind of `like`."""
    return like.with_flow(tensor) if isinstance(like, TensorArray) else tensor


def pack(structure: Any, likes: Sequence[Any], tensors: Sequence[Tensor]) -> Any:
    """`tensors` in the structure of a nest whose leaves are of the kinds of `likes`."""
    return _nest.pack_sequence_as(structure, [rewrap(like, tensor) for like, tensor in zip(likes, tensors, strict=True)])
