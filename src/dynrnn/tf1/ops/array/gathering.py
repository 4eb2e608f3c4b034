"""Elements by their places: gather, batch_gather, gather_nd and scatter_nd. Conditions are in `choosing.py`."""

from __future__ import annotations

import math
from typing import Any

import torch

from .... import errors
from ....graph import rules
from ....graph.constants import partial_dims
from ....graph.op import INDICES, NUMBERS, Op
from ....graph.shape import Dims, merge_dims
from ...export import export
from ...graph import Tensor, atomic
from ..apply import apply
from ..arguments import part_name, shape_tensor, static_int
from ..convert import convert_to_tensor
from ..moving import moves


def _gather(params: torch.Tensor, indices: torch.Tensor, axis: int) -> torch.Tensor:
    try:
        found = params.index_select(axis, indices.reshape(-1))
    except (IndexError, RuntimeError):  # torch's ways to refuse an index that is out of range
        if _inside(indices, params.shape[axis]):
            raise
        raise _out_of_range(indices, params.shape[axis]) from None
    if indices.ndim == 1:
        return found
    axis %= params.ndim
    return found.reshape(params.shape[:axis] + indices.shape + params.shape[axis + 1 :])


def _inside(indices: torch.Tensor, size: int) -> bool:
    return not indices.numel() or (int(indices.min()) >= 0 and int(indices.max()) < size)


def _out_of_range(indices: torch.Tensor, size: int) -> errors.InvalidArgumentError:
    place = tuple(((indices < 0) | (indices >= size)).nonzero()[0].tolist())
    where = f"[{','.join(map(str, place))}]" if place else ""
    return errors.InvalidArgumentError(
        None,
        None,
        f"indices{where} = {int(indices[place])} is not in [0, {size}); indices have shape {list(indices.shape)}",
    )


def _gather_dims(inputs: Any, attrs: Any) -> Dims:
    dims, places, axis = inputs[0].dims, inputs[1].dims, attrs["axis"]
    batch = attrs.get("batch_dims", 0)
    if dims is None:
        return None
    if not dims:
        raise ValueError(f"gather: params: Shape must be at least rank 1 but is rank 0 ({inputs[0].name})")
    axis = rules.normal_axis(axis, len(dims), "gather: axis")
    if places is None:
        return None
    common = merge_dims(dims[:batch], places[:batch])
    assert common is not None
    return (*common, *dims[batch:axis], *places[batch:], *dims[axis + 1 :])


def _gather_batches(params: torch.Tensor, indices: torch.Tensor, axis: int, batch_dims: int) -> torch.Tensor:
    """Gather within each entry of the first `batch_dims` axes: one gather from all entries' rows laid end to end."""
    size = params.shape[axis]
    if not _inside(indices, size):
        raise _out_of_range(indices, size)
    batch = params.shape[:batch_dims]
    moved = params.movedim(axis, batch_dims)  # [batch..., size, outer..., inner...]
    rows = moved.reshape(math.prod(batch) * size, *moved.shape[batch_dims + 1 :])
    starts = torch.arange(math.prod(batch)).mul(size).reshape(*batch, *[1] * (indices.ndim - batch_dims))
    found = rows.index_select(0, (indices + starts).reshape(-1)).reshape(indices.shape + rows.shape[1:])
    own = range(batch_dims, indices.ndim)
    return found.movedim(tuple(own), tuple(i - batch_dims + axis for i in own))


def _places(indices: torch.Tensor, sizes: torch.Size, what: str) -> torch.Tensor:
    """The places in a flattened tensor that vectors of indices into `sizes` stand for."""
    flat = torch.zeros(indices.shape[:-1], dtype=torch.int64)
    for axis, size in enumerate(sizes):
        index = indices[..., axis]
        bad = (index < 0) | (index >= size)
        if bad.any():
            place = tuple(bad.nonzero()[0].tolist())
            where = f"[{','.join(map(str, place))}]" if place else ""
            raise errors.InvalidArgumentError(
                None, None, f"indices{where} = {indices[place].tolist()} does not index into {what} {list(sizes)}"
            )
        flat = flat * size + index
    return flat.reshape(-1)


def _gather_nd(params: torch.Tensor, indices: torch.Tensor) -> torch.Tensor:
    depth = indices.shape[-1]
    sizes, rest = params.shape[:depth], params.shape[depth:]
    rows = params.reshape(math.prod(sizes), *rest)
    return rows.index_select(0, _places(indices, sizes, "param shape")).reshape(indices.shape[:-1] + rest)


def _gather_nd_dims(inputs: Any, attrs: Any) -> Dims:
    dims, places = inputs[0].dims, inputs[1].dims
    if places is not None and not places:
        raise ValueError("gather_nd: indices: Shape must be at least rank 1 but is rank 0")
    if dims is None or places is None or places[-1] is None:
        return None
    if places[-1] > len(dims):
        raise ValueError(
            f"gather_nd: indices.shape[-1] must be <= params.rank, but saw indices shape: {inputs[1].shape} and "
            f"params shape: {inputs[0].shape}"
        )
    return (*places[:-1], *dims[places[-1] :])


def _scatter_nd(indices: torch.Tensor, updates: torch.Tensor, shape: torch.Tensor) -> torch.Tensor:
    sizes = torch.Size(shape.tolist())
    depth = indices.shape[-1]
    rest = sizes[depth:]
    places = _places(indices, sizes[:depth], "shape")
    rows = updates.new_zeros((math.prod(sizes[:depth]), *rest))
    return rows.index_add(0, places, updates.reshape(len(places), *rest)).reshape(sizes)


def _scatter_nd_dims(inputs: Any, attrs: Any) -> Dims:
    places, updates, sizes = inputs[0].dims, inputs[1].dims, partial_dims(inputs[2])
    if places and updates is not None:
        try:
            merge_dims(places[:-1], updates[: len(places) - 1])
        except ValueError:
            raise ValueError(
                f"scatter_nd: Dimensions [0,{len(places) - 1}) of indices[shape={inputs[0].shape}] must match those of "
                f"updates[shape={inputs[1].shape}]"
            ) from None
    return sizes


_I = {"I": INDICES}
_GATHER = moves("GatherV2", "params:T indices:I -> T", _gather, _gather_dims, types=_I)
_GATHER_BATCHES = moves("GatherV2", "params:T indices:I -> T", _gather_batches, _gather_dims, types=_I)
_GATHER_ND = moves("GatherNd", "params:T indices:I -> T", _gather_nd, _gather_nd_dims, types=_I)
_SCATTER_ND = Op("ScatterNd", "indices:I updates:T shape:I -> T", _scatter_nd, _scatter_nd_dims, {**_I, "T": NUMBERS})


@export("gather")
@atomic
def gather(
    params: Any,
    indices: Any,
    validate_indices: Any = None,
    name: str | None = None,
    axis: Any = None,
    batch_dims: int = 0,
) -> Tensor:
    """Return the slices of `params` along axis `axis` that `indices` (int32 or int64, any shape) names.

    axis: default `batch_dims`. batch_dims: how many leading axes `params` and `indices` share; within each of their
    entries it gathers
    on its own. validate_indices: indices are always checked.

    The result has the shape `params.shape[:axis] + indices.shape[batch_dims:] + params.shape[axis + 1:]`.

    Raises:
        tf.errors.InvalidArgumentError: an index is not in `[0, params.shape[axis])`.
    """
    batch = static_int("gather", "batch_dims", batch_dims)
    if not batch and (axis is None or axis == 0):
        return apply(_GATHER, [params, indices], {"axis": 0}, name)
    params = convert_to_tensor(params, name=part_name(name, "GatherV2", "params"))
    indices = convert_to_tensor(indices, name=part_name(name, "GatherV2", "indices"))
    axis = batch if axis is None else static_int("gather", "axis", axis)
    if axis < 0 and params.dims is not None:
        axis = rules.normal_axis(axis, len(params.dims), "gather: axis")
    if not batch:
        return apply(_GATHER, [params, indices], {"axis": axis}, name)
    if batch < 0:
        if indices.dims is None:
            raise ValueError(f"gather: a negative batch_dims needs indices of known rank, got {indices}")
        batch = rules.normal_axis(batch, len(indices.dims), "gather: batch_dims")
    if not 0 <= batch <= axis:
        raise ValueError(f"gather: batch_dims must be at most axis, got batch_dims = {batch} and axis = {axis}")
    row = _GATHER_BATCHES if batch else _GATHER
    return apply(row, [params, indices], {"axis": axis, "batch_dims": batch} if batch else {"axis": axis}, name)


@export("batch_gather")
@atomic
def batch_gather(params: Any, indices: Any, name: str | None = None) -> Tensor:
    """Return a gather along the last axis of `indices`, on its own in each entry of the axes before it.

    Raises:
        ValueError: the rank of `indices` is not known.
    """
    indices = convert_to_tensor(indices, name=part_name(name, "BatchGather", "indices"))
    if indices.dims is None:
        raise ValueError(f"batch_gather: indices must have a known rank, got {indices}")
    depth = len(indices.dims) - 1
    return gather(params, indices, axis=depth, batch_dims=depth, name=name or "BatchGather")


@export("gather_nd", "manip.gather_nd")
@atomic
def gather_nd(params: Any, indices: Any, name: str | None = None, batch_dims: int = 0) -> Tensor:
    """Return the elements or slices of `params` that the vectors in the last axis of `indices` name.

    The result has the shape `indices.shape[:-1] + params.shape[indices.shape[-1]:]`. batch_dims: only 0.

    Raises:
        ValueError: the vectors are longer than `params` has axes. tf.errors.InvalidArgumentError: one of them is out
        of range.
    """
    if batch_dims:
        raise ValueError(f"gather_nd: batch_dims must be 0, got {batch_dims}")
    return apply(_GATHER_ND, [params, indices], name=name)


@export("scatter_nd", "manip.scatter_nd")
@atomic
def scatter_nd(indices: Any, updates: Any, shape: Any, name: str | None = None) -> Tensor:
    """Return zeros of `shape` to which `updates` are added at the places that the vectors in the last axis of
    `indices` name.

    Raises:
        ValueError: the shapes of `indices` and `updates` do not fit. tf.errors.InvalidArgumentError: an index is out
        of range.
    """
    return apply(_SCATTER_ND, [indices, updates, shape_tensor(shape, part_name(name, "ScatterNd", "shape"))], name=name)
