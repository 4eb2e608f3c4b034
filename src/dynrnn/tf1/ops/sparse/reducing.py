"""Sums over sparse tensors, and embedding rows summed by sparse ids."""

from __future__ import annotations

import math
from typing import Any

import torch

from ....graph.op import NUMBERS, REALS, Op
from ....graph.shape import Dims
from ...export import export
from ...graph import Tensor, atomic, get_default_graph
from ...sparse_tensor import SparseTensor, as_sparse
from ..apply import apply
from ..array.gathering import gather
from ..array.reshaping import reshape
from ..math.cast import cast
from ..nn.embedding import embedding_lookup
from .dense import sparse_tensor_to_dense


def _axes(axis: Any, rank: int) -> list[int]:
    if axis is None:
        return list(range(rank))
    return [item % rank for item in (axis if isinstance(axis, tuple) else (axis,))]


def _reduced(
    indices: torch.Tensor, values: torch.Tensor, sizes: list[int], axis: Any, keepdims: bool
) -> tuple[torch.Tensor, list[int], list[int]]:
    """The place of each item in the result laid end to end, the sizes that stay, and the result's shape."""
    gone = _axes(axis, len(sizes))
    stay = [i for i in range(len(sizes)) if i not in gone]
    kept = [sizes[i] for i in stay]
    place = torch.zeros(len(indices), dtype=torch.int64)
    for i in stay:
        place = place * sizes[i] + indices[:, i]
    return place, kept, [1 if i in gone else size for i, size in enumerate(sizes)] if keepdims else kept


def _sum(
    indices: torch.Tensor, values: torch.Tensor, dense_shape: torch.Tensor, axis: Any, keepdims: bool
) -> torch.Tensor:
    place, kept, shape = _reduced(indices, values, dense_shape.tolist(), axis, keepdims)
    return values.new_zeros(math.prod(kept)).index_add(0, place, values).reshape(shape)


def _max(
    indices: torch.Tensor, values: torch.Tensor, dense_shape: torch.Tensor, axis: Any, keepdims: bool
) -> torch.Tensor:
    place, kept, shape = _reduced(indices, values, dense_shape.tolist(), axis, keepdims)
    count = math.prod(kept)
    return values.new_zeros(count).scatter_reduce(0, place, values, "amax", include_self=False).reshape(shape)


def _reduced_dims(inputs: Any, attrs: Any) -> Dims:
    sizes = inputs[2].dims
    if sizes is None or sizes[0] is None:
        return () if attrs["axis"] is None and not attrs["keepdims"] else None
    if attrs["keepdims"]:
        return (None,) * sizes[0]
    return (None,) * (sizes[0] - len(set(_axes(attrs["axis"], sizes[0]))))


_REDUCED = "indices:int64 values:T dense_shape:int64 -> T"
_SUM = Op("SparseReduceSum", _REDUCED, _sum, _reduced_dims, {"T": NUMBERS})
_MAX = Op("SparseReduceMax", _REDUCED, _max, _reduced_dims, {"T": REALS}, differentiable=False)


def _reduce(
    row: Op, sp_input: Any, axis: Any, keepdims: Any, name: str | None, reduction_axes: Any, keep_dims: Any
) -> Tensor:
    sparse = as_sparse(sp_input, row.type)
    axis = reduction_axes if axis is None else axis
    axis = tuple(int(item) for item in axis) if hasattr(axis, "__len__") else axis
    keep = bool(keep_dims if keepdims is None else keepdims)
    inputs = [sparse.indices, sparse.values, sparse.dense_shape]
    return apply(row, inputs, {"axis": axis, "keepdims": keep}, name)


@export("sparse_reduce_sum", "sparse.reduce_sum")
@atomic
def sparse_reduce_sum(
    sp_input: Any,
    axis: Any = None,
    keepdims: Any = None,
    reduction_axes: Any = None,
    keep_dims: Any = None,
    name: str | None = None,
) -> Tensor:
    """Return the sum of a sparse tensor over `axis` (an int, a list, or all axes) as a dense tensor.

    Raises:
        TypeError: `sp_input` is no SparseTensor.
    """
    return _reduce(_SUM, sp_input, axis, keepdims, name, reduction_axes, keep_dims)


@export("sparse_reduce_max", "sparse.reduce_max")
@atomic
def sparse_reduce_max(
    sp_input: Any,
    axis: Any = None,
    keepdims: Any = None,
    reduction_axes: Any = None,
    keep_dims: Any = None,
    name: str | None = None,
) -> Tensor:
    """Return the largest of the items that a sparse tensor holds over `axis`; 0 where it holds none.

    Raises:
        TypeError: `sp_input` is no SparseTensor.
    """
    return _reduce(_MAX, sp_input, axis, keepdims, name, reduction_axes, keep_dims)


@export("sparse_add", "sparse.add")
@atomic
def sparse_add(a: Any, b: Any, thresh: Any = 0) -> Tensor:
    """Return the sum of a sparse tensor and a dense one as a dense tensor; the order does not matter.

    Raises:
        TypeError: neither, or both, are sparse; or dtypes differ. ValueError: a `thresh` other than 0.
    """
    first, second = (isinstance(value, SparseTensor) for value in (a, b))
    if first == second:
        raise TypeError(f"sparse_add: one of the arguments must be a SparseTensor and one a tensor, got {a!r}, {b!r}")
    if not isinstance(thresh, (int, float)) or thresh != 0:
        raise ValueError(f"sparse_add: thresh must be 0 for a dense result, got {thresh!r}")
    sparse, dense = (a, b) if first else (b, a)
    return sparse_tensor_to_dense(sparse, validate_indices=False) + dense


def _segments(rows: torch.Tensor, segments: torch.Tensor, weights: torch.Tensor, combiner: str) -> torch.Tensor:
    count = int(segments[-1]) + 1 if len(segments) else 0
    scale = weights.reshape(-1, *[1] * (rows.ndim - 1))
    total = rows.new_zeros((count, *rows.shape[1:])).index_add(0, segments.long(), rows * scale)
    if combiner == "sum":
        return total
    measure = scale * scale if combiner == "sqrtn" else scale
    parts = measure.new_zeros((count, *measure.shape[1:])).index_add(0, segments.long(), measure)
    whole = parts.sqrt() if combiner == "sqrtn" else parts
    return torch.where(parts == 0, torch.zeros((), dtype=total.dtype), total / torch.where(parts == 0, 1, whole))


def _segments_dims(inputs: Any, attrs: Any) -> Dims:
    dims = inputs[0].dims
    return None if dims is None else (None, *dims[1:])


_SEGMENTS = Op(
    "EmbeddingCombine", "rows:T segments:int64 weights:T -> T", _segments, _segments_dims,
    {"T": frozenset(("float16", "bfloat16", "float32", "float64"))},
)  # fmt: skip


@export("nn.embedding_lookup_sparse")
@atomic
def embedding_lookup_sparse(
    params: Any,
    sp_ids: Any,
    sp_weights: Any,
    partition_strategy: str = "mod",
    name: str | None = None,
    combiner: str | None = None,
    max_norm: Any = None,
) -> Tensor:
    """Return for each row of `sp_ids` the embeddings of its ids, combined into one.

    params, partition_strategy, max_norm: as for `embedding_lookup`. sp_ids: a SparseTensor of int32 or int64
    `[batch, any]` with sorted places. sp_weights: a SparseTensor of weights at the same places; None: each counts 1.
    combiner: "mean" (default), "sum", or "sqrtn": the weighted sum over the root of the sum of squared weights.
    Returns `[rows up to the last that has ids, *row shape]`; a row without ids is 0.

    Raises:
        ValueError: an unknown combiner. TypeError: sp_ids or sp_weights is no SparseTensor.

    Example:
        >>> import dynrnn.tf1 as tf
        >>> ids = tf.SparseTensor([[0, 0], [0, 1], [1, 0]], tf.constant([1, 3, 0], tf.int64), [2, 2])
        >>> table = tf.constant([[0.0], [1.0], [2.0], [3.0]])
        >>> tf.Session().run(tf.nn.embedding_lookup_sparse(table, ids, None, combiner="mean")).tolist()
        [[2.0], [0.0]]
    """
    combiner = combiner or "mean"
    if combiner not in ("mean", "sqrtn", "sum"):
        raise ValueError(f"combiner must be one of 'mean', 'sqrtn' or 'sum', got {combiner}")
    if not isinstance(sp_ids, SparseTensor):
        raise TypeError(f"sp_ids must be SparseTensor, got {type(sp_ids)}")
    if sp_weights is not None and not isinstance(sp_weights, SparseTensor):
        raise TypeError(f"sp_weights must be either None or SparseTensor, got {type(sp_weights)}")
    with get_default_graph().name_scope(name or "embedding_lookup_sparse") as scope:
        rows = embedding_lookup(params, sp_ids.values, partition_strategy, max_norm=max_norm)
        segments = reshape(gather(sp_ids.indices, [0], axis=1), [-1])
        weights: Any = sp_weights.values if sp_weights is not None else apply(_ONES, [rows])
        return apply(_SEGMENTS, [rows, segments, cast(weights, rows.dtype.base_dtype)], {"combiner": combiner}, scope)


def _ones(rows: torch.Tensor) -> torch.Tensor:
    return rows.new_ones(len(rows))


def _ones_dims(inputs: Any, attrs: Any) -> Dims:
    dims = inputs[0].dims
    return (None,) if dims is None else dims[:1]


_ONES = Op("RowWeights", "rows:T -> T", _ones, _ones_dims, differentiable=False)
