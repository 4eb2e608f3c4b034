"""Numbers as masks and indicator vectors: one_hot and sequence_mask."""

from __future__ import annotations

from typing import Any

import torch

from .... import errors
from ....graph.constants import constant_value
from ....graph.dtype import DType, as_dtype, bool_, float32, int64
from ....graph.op import INDICES, REALS, Op
from ....graph.shape import Dims
from ...export import export
from ...graph import Tensor, atomic
from ..apply import apply
from ..arguments import dtype_of, part_name, static_int, whole_numbers
from ..convert import convert_to_tensor
from ..moving import moves


def _one_hot(
    indices: torch.Tensor, depth: torch.Tensor, on: torch.Tensor, off: torch.Tensor, axis: int
) -> torch.Tensor:
    if axis > indices.ndim:
        raise errors.InvalidArgumentError(
            None, None, f"Expected axis to be -1 or between [0, {indices.ndim + 1}). But received: {axis}"
        )
    classes = torch.arange(depth.item(), dtype=indices.dtype)
    if axis != -1:
        classes = classes.reshape(-1, *[1] * (indices.ndim - axis))
    return torch.where(indices.unsqueeze(axis) == classes, on.detach(), off.detach())


def _one_hot_dims(inputs: Any, attrs: Any) -> Dims:
    dims, depth, axis = inputs[0].dims, constant_value(inputs[1]), attrs["axis"]
    if depth is not None and depth < 0:
        raise ValueError(f"one_hot: depth: Dimension size must be non-negative but is {depth}")
    if dims is None:
        return None
    if axis > len(dims):
        raise ValueError(f"one_hot: Expected axis to be -1 or between [0, {len(dims) + 1}). But received: {axis}")
    place = len(dims) if axis == -1 else axis
    return (*dims[:place], None if depth is None else int(depth), *dims[place:])


def _mask(lengths: torch.Tensor, maxlen: torch.Tensor, dtype: DType) -> torch.Tensor:
    steps = torch.arange(maxlen.item(), dtype=maxlen.dtype)
    return (steps < lengths.to(maxlen.dtype).unsqueeze(-1)).to(dtype.torch)


def _mask_to_longest(lengths: torch.Tensor, dtype: DType) -> torch.Tensor:
    steps = torch.arange(max(int(lengths.max()), 0) if lengths.numel() else 0)
    return (steps < lengths.long().unsqueeze(-1)).to(dtype.torch)


def _mask_dims(inputs: Any, attrs: Any) -> Dims:
    dims = inputs[0].dims
    if dims is None:
        return None
    lengths = constant_value(inputs[0]) if len(inputs) == 1 else None
    if lengths is not None:
        return (*dims, max(int(lengths.max()), 0) if lengths.size else 0)
    maxlen = constant_value(inputs[1]) if len(inputs) > 1 else None
    return (*dims, None if maxlen is None else max(int(maxlen), 0))


_ONE_HOT = moves(
    "OneHot",
    "indices:I depth:int32 on_value:T off_value:T -> T",
    _one_hot,
    _one_hot_dims,
    types={"I": frozenset(("uint8", "int32", "int64"))},
    differentiable=False,
)
_MASK = Op(
    "SequenceMask", "lengths:L maxlen:I -> @dtype", _mask, _mask_dims, {"L": REALS, "I": INDICES}, differentiable=False
)
_MASK_TO_LONGEST = Op(
    "SequenceMask", "lengths:L -> @dtype", _mask_to_longest, _mask_dims, {"L": REALS}, differentiable=False
)


@export("one_hot")
@atomic
def one_hot(
    indices: Any,
    depth: Any,
    on_value: Any = None,
    off_value: Any = None,
    axis: Any = None,
    dtype: Any = None,
    name: str | None = None,
) -> Tensor:
    """Return `indices` with a new axis of size `depth` that has `on_value` (1) at the index and `off_value` (0)
    elsewhere.

    indices: uint8, int32 or int64 (in an array any numbers, cut to integers); an index out of `[0, depth)` gives a row
    of `off_value`. axis: where the new axis goes, -1 (default) for the end. dtype: default that of the values given,
    else float32.

    Raises:
        TypeError: a value's dtype is not that of the other one, or not `dtype`.
    """
    if on_value is None and off_value is None:
        wanted = float32 if dtype is None else as_dtype(dtype).base_dtype
    else:
        wanted = _value_dtype(on_value, off_value, dtype)
    on_value, off_value = (1 if on_value is None else on_value), (0 if off_value is None else off_value)
    values = [
        convert_to_tensor(value, wanted, part_name(name, "one_hot", part))
        for value, part in ((on_value, "on_value"), (off_value, "off_value"))
    ]
    where = -1 if axis is None else static_int("one_hot", "axis", axis)
    if where < -1:
        raise ValueError(f"one_hot: Expected axis to be -1 or at least 0. But received: {where}")
    indices = whole_numbers(indices)
    if isinstance(indices, (list, tuple)) and not indices:  # which says nothing of its dtype
        indices = convert_to_tensor(indices, int64, part_name(name, "one_hot", "indices"))
    return apply(_ONE_HOT, [indices, depth, *values], {"axis": where}, name or "one_hot")


def _value_dtype(on_value: Any, off_value: Any, dtype: Any) -> DType:
    wanted = None if dtype is None else as_dtype(dtype).base_dtype
    found: list[tuple[str, DType]] = []
    for name, value in (("on_value", on_value), ("off_value", off_value)):
        if value is not None:
            found.append((name, dtype_of(value, wanted)))
    for name, kind in found:
        if wanted is not None and kind is not wanted:
            raise TypeError(f"one_hot: dtype {kind.name} of {name} does not match dtype parameter {wanted.name}")
    if len(found) == 2 and found[0][1] is not found[1][1]:
        raise TypeError(
            f"one_hot: dtype {found[0][1].name} of on_value does not match dtype {found[1][1].name} of off_value"
        )
    return found[0][1]


@export("sequence_mask")
@atomic
def sequence_mask(lengths: Any, maxlen: Any = None, dtype: Any = bool_, name: str | None = None) -> Tensor:
    """Return a mask `lengths.shape + [maxlen]` that holds at step t where `t < length`.

    lengths: integers of any shape. maxlen: an int or an integer scalar; default the longest of the lengths. dtype:
    what it is cast to.

    Raises:
        ValueError: `maxlen` is no scalar.
    """
    name = name or "SequenceMask"
    dtype = as_dtype(dtype).base_dtype
    full_name = f"{name}/Less" if dtype is bool_ else f"{name}/Cast_1"
    if maxlen is None:
        return apply(_MASK_TO_LONGEST, [lengths], {"dtype": dtype}, full_name)
    maxlen = convert_to_tensor(maxlen, name=f"{name}/maxlen")
    if maxlen.dims:
        raise ValueError(f"sequence_mask: maxlen must be scalar for sequence_mask, got {maxlen}")
    return apply(_MASK, [lengths, maxlen], {"dtype": dtype}, full_name)
