"""Static shape rules, in a few families. A rule takes a node's inputs and attributes and returns dims (a list of them
for several outputs).

A size or rank that is not known stays unknown; shapes that can never fit raise ValueError.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .node import Tensor
from .shape import Dims, TensorShape, merge_dims

Inputs = Sequence[Tensor]
Attrs = Mapping[str, Any]


def same(inputs: Inputs, attrs: Attrs) -> Dims:
    """The shape of the first input."""
    return inputs[0].dims


def scalar(inputs: Inputs, attrs: Attrs) -> Dims:
    return ()


def unknown(inputs: Inputs, attrs: Attrs) -> Dims:
    return None


def merged(inputs: Inputs, attrs: Attrs) -> Dims:
    """All inputs have one shape; what each knows of it is joined."""
    dims = inputs[0].dims
    for tensor in inputs[1:]:
        try:
            dims = merge_dims(dims, tensor.dims)
        except ValueError:
            raise ValueError(
                f"Shapes must be equal, but are {TensorShape(dims)} and {tensor.shape} ({tensor.name})"
            ) from None
    return dims


def broadcast_dims(first: Dims, second: Dims) -> Dims:
    """Numpy's broadcasting with unknown sizes: None with 1 is None, None with a larger size is that size."""
    if first is None or second is None:
        return None
    longer, shorter = (first, second) if len(first) >= len(second) else (second, first)
    result = list(longer)
    offset = len(longer) - len(shorter)
    for i, size in enumerate(shorter):
        other = longer[offset + i]
        if other == 1 or size == other:
            result[offset + i] = size
        elif size == 1:
            result[offset + i] = other
        elif size is None or other is None:
            result[offset + i] = other if size is None else size
        else:
            one, two = (other, size) if longer is first else (size, other)
            raise ValueError(
                f"Dimensions must be equal, but are {one} and {two}, in shapes {TensorShape(first)} and "
                f"{TensorShape(second)}"
            )
    return tuple(result)


def broadcast(inputs: Inputs, attrs: Attrs) -> Dims:
    """All inputs broadcast against each other."""
    dims = inputs[0].dims
    for tensor in inputs[1:]:
        dims = broadcast_dims(dims, tensor.dims)
    return dims


def matmul(inputs: Inputs, attrs: Attrs) -> Dims:
    """The product of matrices in the last two axes; axes before them are batch axes."""
    a, b = inputs[0].dims, inputs[1].dims
    for name, dims in (("a", a), ("b", b)):
        if dims is not None and len(dims) < 2:
            raise ValueError(
                f"Shape must be rank 2 but is rank {len(dims)} for '{name}' of MatMul, which has shape "
                f"{TensorShape(dims)}"
            )
    if (a is None and (b is None or len(b) > 2)) or (b is None and a is not None and len(a) > 2):
        return None
    # What stands beside a matrix is taken for one where its rank is not known.
    batch_a, rows, inner = _matrix(a, attrs.get("transpose_a", False))
    batch_b, inner_b, columns = _matrix(b, attrs.get("transpose_b", False))
    if inner is not None and inner_b is not None and inner != inner_b:
        raise ValueError(
            f"Dimensions must be equal, but are {inner} and {inner_b} for 'MatMul' with input shapes: "
            f"{TensorShape(a)}, {TensorShape(b)}."
        )
    return (*(broadcast_dims(batch_a, batch_b) or ()), rows, columns)


def _matrix(dims: Dims, transposed: bool) -> tuple[Dims, int | None, int | None]:
    """The batch axes, rows and columns of a matrix, or of one of unknown rank."""
    *batch, rows, columns = (None, None) if dims is None else dims
    return (tuple(batch), columns, rows) if transposed else (tuple(batch), rows, columns)


def normal_axis(axis: int, rank: int, what: str = "axis") -> int:
    """A non-negative axis; ValueError where it is out of range."""
    if not -rank <= axis < rank:
        raise ValueError(f"{what} = {axis} is not in [{-rank}, {rank}), for an input of rank {rank}")
    return axis % rank


def reduce(inputs: Inputs, attrs: Attrs) -> Dims:
    """Axes in `axis` (an int, a tuple, None for all) go, or stay as 1 with `keepdims`."""
    dims, axis, keep = inputs[0].dims, attrs.get("axis"), attrs.get("keepdims", False)
    if dims is None:
        return () if axis is None and not keep else None
    if axis is None:
        return (1,) * len(dims) if keep else ()
    axes = {
        normal_axis(a, len(dims), "Invalid reduction dimension: axis")
        for a in (axis if isinstance(axis, tuple) else (axis,))
    }
    if keep:
        return tuple(1 if i in axes else size for i, size in enumerate(dims))
    return tuple(size for i, size in enumerate(dims) if i not in axes)
