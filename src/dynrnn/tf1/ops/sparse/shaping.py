"""Sparse tensors in another order, shape or part: reorder, transpose, reshape, slice, retain, concat and the like."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch

from .... import errors
from ....graph.dtype import int64
from ....graph.op import Op
from ....graph.shape import Dims
from ...export import export
from ...graph import Tensor, atomic, get_default_graph
from ...sparse_tensor import SparseTensor, as_sparse
from ..apply import apply
from ..arguments import shape_tensor, static_int
from ..array.choosing import boolean_mask
from ..array.gathering import gather
from ..array.joining import concat
from ..convert import convert_to_tensor
from ..math.cast import cast


def flat_places(indices: torch.Tensor, sizes: list[int]) -> torch.Tensor:
    """The place of each item in the dense tensor laid end to end."""
    strides = [math.prod(sizes[i + 1 :]) for i in range(len(sizes))]
    return indices @ torch.tensor(strides, dtype=torch.int64) if sizes else indices.new_zeros(len(indices))


def _unravel(flat: torch.Tensor, sizes: list[int]) -> torch.Tensor:
    parts = np.unravel_index(flat.numpy(), sizes) if flat.numel() else [np.empty(0, np.int64)] * len(sizes)
    return torch.from_numpy(np.stack(parts, 1).astype(np.int64)) if sizes else flat.new_zeros((len(flat), 0))


def _order(indices: torch.Tensor, dense_shape: torch.Tensor) -> torch.Tensor:
    return torch.argsort(flat_places(indices, dense_shape.tolist()), stable=True)


def _reshape(
    indices: torch.Tensor, dense_shape: torch.Tensor, new_shape: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    old, new = dense_shape.tolist(), new_shape.tolist()
    total, known = math.prod(old), math.prod(size for size in new if size != -1)
    if new.count(-1) == 1 and known:
        new[new.index(-1)] = total // known
    if math.prod(new) != total or -1 in new:
        raise errors.InvalidArgumentError(
            None, None, f"Input to reshape is a tensor with {total} dense values, but the requested shape is {new}"
        )
    return _unravel(flat_places(indices, old), new), torch.tensor(new, dtype=torch.int64)


def _inside(
    indices: torch.Tensor, dense_shape: torch.Tensor, start: torch.Tensor, size: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    end = torch.minimum(start + size, dense_shape)
    kept = ((indices >= start) & (indices < end)).all(1).nonzero().reshape(-1)
    return kept, indices[kept] - start, torch.clamp(end - start, min=0)


def _moved(indices: torch.Tensor, dense_shape: torch.Tensor, perm: tuple[int, ...] | None) -> Any:
    order = list(perm) if perm is not None else list(range(len(dense_shape)))[::-1]
    return indices[:, order], dense_shape[order]


def _joined(*parts: torch.Tensor, axis: int, expand: bool) -> tuple[torch.Tensor, torch.Tensor]:
    half = len(parts) // 2
    indices, shapes = parts[:half], torch.stack(parts[half:])
    axis = axis % shapes.shape[1]
    sizes = shapes.max(0).values
    other = [i for i in range(shapes.shape[1]) if i != axis]
    if not expand and bool((shapes[:, other] != shapes[0, other]).any()):
        raise errors.InvalidArgumentError(
            None, None, f"Input shapes should match except along axis {axis}, got {shapes.tolist()}"
        )
    moved, start = [], 0
    for places, size in zip(indices, shapes[:, axis].tolist(), strict=True):
        offset = torch.zeros(shapes.shape[1], dtype=torch.int64)
        offset[axis] = start
        moved.append(places + offset)
        start += size
    sizes[axis] = start
    return torch.cat(moved), sizes


def _grown(indices: torch.Tensor, dense_shape: torch.Tensor, *new_shape: torch.Tensor) -> torch.Tensor:
    if new_shape:
        if len(new_shape[0]) != len(dense_shape) or bool((new_shape[0] < dense_shape).any()):
            raise errors.InvalidArgumentError(
                None,
                None,
                f"new_shape must hold the old one, {dense_shape.tolist()}, in each axis, got {new_shape[0].tolist()}",
            )
        return new_shape[0].clone()
    return indices.max(0).values + 1 if len(indices) else torch.zeros_like(dense_shape)


def _places_dims(inputs: Any, attrs: Any) -> list[Dims]:
    return [inputs[0].dims, inputs[1].dims]


_ORDER = Op("SparseOrder", "indices:int64 dense_shape:int64 -> int64", _order, lambda inputs, attrs: (None,))
_RESHAPE = Op(
    "SparseReshape", "indices:int64 dense_shape:int64 new_shape:int64 -> int64 int64", _reshape,
    lambda inputs, attrs: [(None, inputs[2].dims[0] if inputs[2].dims else None), inputs[2].dims],
)  # fmt: skip
_SLICE = Op(
    "SparseSlice", "indices:int64 dense_shape:int64 start:int64 size:int64 -> int64 int64 int64", _inside,
    lambda inputs, attrs: [(None,), (None, inputs[1].dims[0] if inputs[1].dims else None), inputs[1].dims],
)  # fmt: skip
_TRANSPOSE = Op("SparseTranspose", "indices:int64 dense_shape:int64 -> int64 int64", _moved, _places_dims)
_CONCAT = Op(
    "SparseConcat", "*indices:int64 *shapes:int64 -> int64 int64", _joined,
    lambda inputs, attrs: [(None, inputs[-1].dims[0] if inputs[-1].dims else None), inputs[-1].dims],
)  # fmt: skip
_GROWN = Op(
    "SparseResetShape", "indices:int64 dense_shape:int64 *new_shape:int64 -> int64", _grown,
    lambda inputs, attrs: inputs[1].dims,
)  # fmt: skip


@export("sparse_reorder", "sparse.reorder")
@atomic
def sparse_reorder(sp_input: Any, name: str | None = None) -> SparseTensor:
    """Return the same sparse tensor with its items in row-major order.

    Raises:
        TypeError: `sp_input` is no SparseTensor.
    """
    sparse = as_sparse(sp_input, "sparse_reorder")
    with get_default_graph().name_scope(name or "SparseReorder"):
        order = apply(_ORDER, [sparse.indices, sparse.dense_shape])
        return SparseTensor(gather(sparse.indices, order), gather(sparse.values, order), sparse.dense_shape)


@export("sparse_transpose", "sparse.transpose")
@atomic
def sparse_transpose(sp_input: Any, perm: Any = None, name: str | None = None) -> SparseTensor:
    """Return the sparse tensor with its axes in the order `perm` (default: turned around), its items in row-major
    order.

    Raises:
        TypeError: `sp_input` is no SparseTensor.
    """
    sparse = as_sparse(sp_input, "sparse_transpose")
    order = None if perm is None else tuple(static_int("sparse_transpose", "perm", axis) for axis in perm)
    with get_default_graph().name_scope(name or "SparseTranspose"):
        indices, sizes = apply(_TRANSPOSE, [sparse.indices, sparse.dense_shape], {"perm": order})
        return sparse_reorder(SparseTensor(indices, sparse.values, sizes))


@export("sparse_reshape", "sparse.reshape")
@atomic
def sparse_reshape(sp_input: Any, shape: Any, name: str | None = None) -> SparseTensor:
    """Return the sparse tensor in another dense shape of as many items; one size may be -1.

    Raises:
        TypeError: `sp_input` is no SparseTensor. tf.errors.InvalidArgumentError: in run, the sizes do not fit.
    """
    sparse = as_sparse(sp_input, "sparse_reshape")
    with get_default_graph().name_scope(name or "SparseReshape"):
        new_shape = cast(shape_tensor(shape), int64)
        indices, sizes = apply(_RESHAPE, [sparse.indices, sparse.dense_shape, new_shape])
        return SparseTensor(indices, sparse.values, sizes)


@export("sparse_slice", "sparse.slice")
@atomic
def sparse_slice(sp_input: Any, start: Any, size: Any, name: str | None = None) -> SparseTensor:
    """Return the part of a sparse tensor that begins at `start` and has `size` places along each axis, cut at its end.

    Raises:
        TypeError: `sp_input` is no SparseTensor.
    """
    sparse = as_sparse(sp_input, "sparse_slice")
    with get_default_graph().name_scope(name or "SparseSlice"):
        begin, extent = (cast(shape_tensor(value), int64) for value in (start, size))
        kept, indices, sizes = apply(_SLICE, [sparse.indices, sparse.dense_shape, begin, extent])
        return SparseTensor(indices, gather(sparse.values, kept), sizes)


@export("sparse_retain", "sparse.retain")
@atomic
def sparse_retain(sp_input: Any, to_retain: Any) -> SparseTensor:
    """Return the sparse tensor with only those items for which `to_retain` (bool `[count]`) holds.

    Raises:
        TypeError: `sp_input` is no SparseTensor.
    """
    sparse = as_sparse(sp_input, "sparse_retain")
    kept = convert_to_tensor(to_retain)
    return SparseTensor(boolean_mask(sparse.indices, kept), boolean_mask(sparse.values, kept), sparse.dense_shape)


@export("sparse_reset_shape", "sparse.reset_shape")
@atomic
def sparse_reset_shape(sp_input: Any, new_shape: Any = None) -> SparseTensor:
    """Return the sparse tensor with the dense shape `new_shape`, or with the smallest one that holds its items.

    Raises:
        TypeError: `sp_input` is no SparseTensor. tf.errors.InvalidArgumentError: in run, `new_shape` is smaller.
    """
    sparse = as_sparse(sp_input, "sparse_reset_shape")
    wanted = [] if new_shape is None else [cast(shape_tensor(new_shape), int64)]
    return SparseTensor(sparse.indices, sparse.values, apply(_GROWN, [sparse.indices, sparse.dense_shape, wanted]))


@export("sparse_concat", "sparse.concat")
@atomic
def sparse_concat(
    axis: Any = None,
    sp_inputs: Any = None,
    name: str | None = None,
    expand_nonconcat_dim: bool = False,
    concat_dim: Any = None,
) -> SparseTensor:
    """Return sparse tensors joined along `axis`; expand_nonconcat_dim lets the other axes grow to the largest.

    Raises:
        TypeError: `sp_inputs` is no list of SparseTensors. tf.errors.InvalidArgumentError: in run, sizes differ.
    """
    axis = static_int("sparse_concat", "axis", concat_dim if axis is None else axis)
    if not isinstance(sp_inputs, (list, tuple)) or not sp_inputs:
        raise TypeError(f"sparse_concat: sp_inputs must be a list of SparseTensors, got {sp_inputs!r}")
    parts = [as_sparse(item, "sparse_concat", "sp_inputs") for item in sp_inputs]
    with get_default_graph().name_scope(name or "SparseConcat"):
        indices, sizes = apply(
            _CONCAT,
            [[part.indices for part in parts], [part.dense_shape for part in parts]],
            {"axis": axis, "expand": bool(expand_nonconcat_dim)},
        )
        values: Tensor = concat([part.values for part in parts], 0)
        return sparse_reorder(SparseTensor(indices, values, sizes))
