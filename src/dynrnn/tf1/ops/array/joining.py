"""Joining tensors: concat, stack, tile. Taking them apart is in `splitting.py`."""

from __future__ import annotations

from typing import Any

import torch

from .... import errors
from ....graph import rules
from ....graph.constants import partial_value
from ....graph.op import INDICES
from ....graph.shape import Dims, merge_dims
from ...export import export
from ...graph import Tensor, atomic, get_default_graph
from ...legacy.order import concat_arguments
from ..apply import apply
from ..arguments import part_name, shape_tensor, static_int
from ..convert import PACK, convert_to_tensor
from ..moving import moves
from .placeholders import identity


def _concat(*values: torch.Tensor, axis: int) -> torch.Tensor:
    try:
        return torch.cat(values, axis)
    except RuntimeError:
        shapes = " vs. ".join(f"shape[{i}] = {list(value.shape)}" for i, value in enumerate(values))
        raise errors.InvalidArgumentError(
            None, None, f"ConcatOp : Dimensions of inputs should match, but for axis {axis}: {shapes}"
        ) from None


def _concat_dims(inputs: Any, attrs: Any) -> Dims:
    ranks = {len(tensor.dims) for tensor in inputs if tensor.dims is not None}
    shapes = ", ".join(f"{tensor.name} {tensor.shape}" for tensor in inputs)
    if not ranks:
        return None
    if len(ranks) > 1:
        raise ValueError(
            f"concat: Shape must be rank {max(ranks)} but is rank {min(ranks)}; values have shapes {shapes}"
        )
    rank = ranks.pop()
    if rank == 0:
        raise ValueError("concat: Can't concatenate scalars (use tf.stack instead)")
    axis = rules.normal_axis(attrs["axis"], rank, "concat: axis")
    others: Dims = (None,) * rank
    total: int | None = 0
    for tensor in inputs:
        dims = tensor.dims if tensor.dims is not None else (None,) * rank
        size = dims[axis]
        total = None if total is None or size is None else total + size
        try:
            others = merge_dims(others, (*dims[:axis], None, *dims[axis + 1 :]))
        except ValueError:
            raise ValueError(
                f"concat: Dimensions in all shapes must be equal but for axis {axis}; values have shapes {shapes}"
            ) from None
    assert others is not None
    return (*others[:axis], total, *others[axis + 1 :])


def _tile(value: torch.Tensor, multiples: torch.Tensor) -> torch.Tensor:
    times = multiples.tolist()
    if len(times) != value.ndim or any(n < 0 for n in times):
        raise errors.InvalidArgumentError(
            None, None, f"Expected multiples argument to be a vector of {value.ndim} sizes >= 0 but got {times}"
        )
    return value.repeat(times)


def _tile_dims(inputs: Any, attrs: Any) -> Dims:
    dims, times = inputs[0].dims, partial_value(inputs[1])
    if dims is None or times is None:
        length = inputs[1].dims[0] if inputs[1].dims else None
        rank = len(dims) if dims is not None else length
        return None if rank is None else (None,) * rank
    if times.shape != (len(dims),):
        raise ValueError(f"tile: multiples: Shape must be rank {len(dims)} but is rank {times.size}: {inputs[0].shape}")
    return tuple(_product(size, n) for size, n in zip(dims, times, strict=True))


def _product(size: int | None, times: int | None) -> int | None:
    if times == 0:
        return 0
    return None if size is None or times is None or times < 0 else size * times


_CONCAT = moves("ConcatV2", "*values:T -> T", _concat, _concat_dims)
_TILE = moves("Tile", "input:T multiples:I -> T", _tile, _tile_dims, types={"I": INDICES})


@export("concat")
@atomic
@concat_arguments
def concat(values: Any, axis: Any, name: str = "concat") -> Tensor:
    """Join tensors of one dtype along axis `axis`; on all other axes they have the same sizes.

    Raises:
        TypeError: dtypes differ. ValueError: static shapes do not fit, or `axis` is not known while the graph is built.
        tf.errors.InvalidArgumentError: shapes do not fit in a run.
    """
    values = list(values) if isinstance(values, (list, tuple)) else [values]
    axis = static_int("concat", "axis", axis)
    if not values:
        raise ValueError("concat: values must hold at least one tensor, got an empty list")
    if len(values) == 1:
        with get_default_graph().name_scope(name):
            return identity(values[0], name=name.rstrip("/").rpartition("/")[2])
    return apply(_CONCAT, [values], {"axis": axis}, name)


@export("stack")
@atomic
def stack(values: Any, axis: int = 0, name: str = "stack") -> Tensor:
    """Join tensors of one shape and dtype along a new axis `axis`; plain numbers give a constant.

    Raises:
        TypeError: `values` is no list, or dtypes differ. ValueError: shapes differ, or `axis` is out of range.
    """
    if not isinstance(values, (list, tuple)):
        if axis == 0:
            return convert_to_tensor(values, name=name)
        raise TypeError(f"Expected list for 'values' argument to 'pack' Op, not {values!r}.")
    if axis == 0 and not any(isinstance(item, Tensor) or hasattr(item, "_as_tensor") for item in values):
        return convert_to_tensor(values, name=name)
    return apply(PACK, [values], {"axis": static_int("stack", "axis", axis)}, name)


@export("tile", "manip.tile")
@atomic
def tile(input: Any, multiples: Any, name: str | None = None) -> Tensor:
    """Return `input` repeated `multiples[i]` times along each axis i.

    Raises:
        ValueError: `multiples` has another length than `input` has axes.
    """
    return apply(_TILE, [input, shape_tensor(multiples, part_name(name, "Tile", "multiples"))], name=name)
