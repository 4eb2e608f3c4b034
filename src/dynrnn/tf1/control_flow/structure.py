"""Nests in control flow: their leaves may be tensors, values that become tensors, arrays of tensors, and sparse values,
which are several tensors each.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ... import _nest
from ...graph.gradients import IndexedSlices
from ..graph import Operation, Tensor, get_default_graph
from ..ops.convert import convert_to_tensor
from ..sparse_tensor import SparseTensor
from .tensor_array import TensorArray


def as_leaves(structure: Any, what: str) -> list[Any]:
    """The leaves of a nest: tensors, and arrays of tensors as they are; slices become dense.

    Raises:
        TypeError: a leaf that is neither and that no tensor can hold.
    """
    return [leaf if isinstance(leaf, TensorArray) else _tensor(leaf, what) for leaf in _nest.flatten(structure)]


def as_whole_leaves(structure: Any, what: str) -> list[Any]:
    """The leaves of a nest, as `as_leaves` gives them, but sparse values as they are."""
    kept = (TensorArray, IndexedSlices, SparseTensor)
    return [leaf if isinstance(leaf, kept) else _tensor(leaf, what) for leaf in _nest.flatten(structure)]


def _tensor(value: Any, what: str) -> Tensor:
    if isinstance(value, Operation):
        raise TypeError(f"{what} must be a tensor or something that becomes one, got the operation {value.name!r}")
    return convert_to_tensor(value)


def flow(leaf: Any) -> Tensor:
    """The tensor that stands for a leaf in the graph."""
    return leaf.flow if isinstance(leaf, TensorArray) else leaf


def rewrap(like: Any, tensor: Tensor) -> Any:
    """`tensor` as a leaf of the kind of `like`."""
    return like.with_flow(tensor) if isinstance(like, TensorArray) else tensor


def pack(structure: Any, likes: Sequence[Any], tensors: Sequence[Tensor]) -> Any:
    """`tensors` in the structure of a nest whose leaves are of the kinds of `likes`."""
    return _nest.pack_sequence_as(
        structure, [rewrap(like, tensor) for like, tensor in zip(likes, tensors, strict=True)]
    )


def parts(leaf: Any) -> list[Tensor]:
    """The tensors that stand for a leaf in the graph: several for a sparse value."""
    if isinstance(leaf, IndexedSlices):
        shape: list[Any] = [] if leaf.dense_shape is None else [leaf.dense_shape]
        return [leaf.values, leaf.indices, *shape]  # type: ignore[list-item]
    if isinstance(leaf, SparseTensor):
        return [leaf.indices, leaf.values, leaf.dense_shape]
    return [flow(leaf)]


def all_parts(leaves: Iterable[Any]) -> list[Tensor]:
    """The tensors that stand for some leaves, one leaf after the other."""
    return [tensor for leaf in leaves for tensor in parts(leaf)]


def pack_parts(structure: Any, likes: Sequence[Any], tensors: Iterable[Tensor]) -> Any:
    """Tensors as `all_parts` gives them, in the structure of a nest whose leaves are of the kinds of `likes`."""
    rest = iter(tensors)
    return _nest.pack_sequence_as(structure, [_rebuilt(like, rest) for like in likes])


def _rebuilt(like: Any, tensors: Iterator[Tensor]) -> Any:
    found = [next(tensors) for _ in parts(like)]
    if isinstance(like, (IndexedSlices, SparseTensor)):
        return type(like)(*found)
    return rewrap(like, found[0])


def renamed(tensors: Sequence[Tensor], row: Any) -> list[Tensor]:
    """The tensors, each handed on by a node of its own: a result's name is that of its node, as in TensorFlow."""
    graph = get_default_graph()
    return [
        graph.add(row, [tensor], {}, dtypes=[tensor.dtype], shapes=[tensor.dims]).outputs[0]  # type: ignore[misc]
        for tensor in tensors
    ]


def handed_on(value: Any) -> Any:
    """What a node gives that hands on its input: a tensor that is new to autograd."""
    return value.view_as(value) if hasattr(value, "view_as") else value
