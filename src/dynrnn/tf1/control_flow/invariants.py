"""Shape invariants of loops: what a loop variable's shape is in every iteration."""

from __future__ import annotations

from typing import Any

from ... import _nest
from ...graph.gradients import IndexedSlices
from ...graph.shape import Dims, TensorShape
from ..graph import Tensor
from ..sparse_tensor import SparseTensor
from .structure import all_parts, parts
from .tensor_array import TensorArray


def invariants(loop_vars: Any, leaves: list[Any], shape_invariants: Any) -> list[Dims]:
    """The shapes of the tensors that stand for the leaves of `loop_vars`, in the order of `all_parts`.

    shape_invariants: a nest like `loop_vars` with a TensorShape (or None, for any shape) for each leaf; for sparse
    values the shape of the dense tensor. None: the shapes that the variables enter the loop with.

    Raises:
        TypeError: something that is no TensorShape. ValueError: another structure; a shape that a variable does not
        have when it enters.
    """
    if shape_invariants is None:
        return [tensor.dims for tensor in all_parts(leaves)]
    _check_structure(loop_vars, shape_invariants)
    given = [shape for shape in _flat(shape_invariants)]
    return [dims for leaf, shape in zip(leaves, given, strict=True) for dims in _of_leaf(leaf, shape)]


def _is_shape(value: Any) -> bool:
    return value is None or isinstance(value, TensorShape)


def _flat(shapes: Any) -> list[Any]:
    """The leaves of a nest of shapes; a TensorShape is one, though it can be iterated over."""
    if _is_shape(shapes) or not _nest.is_nested(shapes):
        return [shapes]
    children = [shapes[key] for key in sorted(shapes)] if isinstance(shapes, dict) else shapes
    return [leaf for child in children for leaf in _flat(child)]


def _check_structure(loop_vars: Any, shapes: Any) -> None:
    def stand_in(value: Any) -> Any:
        if _is_shape(value) or not _nest.is_nested(value):
            return 0
        if isinstance(value, dict):
            return {key: stand_in(item) for key, item in value.items()}
        items = [stand_in(item) for item in value]
        return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)

    _nest.assert_same_structure(loop_vars, stand_in(shapes), check_types=False)


def _of_leaf(leaf: Any, shape: Any) -> list[Dims]:
    if not _is_shape(shape):
        raise TypeError(f"shape_invariants must be TensorShapes, got {shape!r} of type {type(shape).__name__}")
    dims = None if shape is None else shape.tuple
    if isinstance(leaf, TensorArray):
        return [leaf.flow.dims]
    if isinstance(leaf, IndexedSlices):
        tail = None if dims is None else (None, *dims[1:])
        rank = None if dims is None else len(dims)
        return [tail, (None,), (rank,)][: len(parts(leaf))]
    if isinstance(leaf, SparseTensor):
        rank = None if dims is None else len(dims)
        return [(None, rank), (None,), (rank,)]
    return [_checked(leaf, dims)]


def _checked(tensor: Tensor, dims: Dims) -> Dims:
    if not as_known(tensor.dims, dims):
        raise ValueError(
            f"The shape invariant specified for {tensor.name} is not compatible with the initial shape of the loop "
            f"variable. It enters the loop with shape {tensor.shape}, but the specified shape invariant is "
            f"{TensorShape(dims)}."
        )
    return dims


def as_known(dims: Dims, invariant: Dims) -> bool:
    """Whether a shape says at least as much as an invariant, and nothing else."""
    if invariant is None:
        return True
    if dims is None or len(dims) != len(invariant):
        return False
    return all(want is None or size == want for size, want in zip(dims, invariant, strict=True))
