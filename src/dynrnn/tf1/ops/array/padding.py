"""Padding: constants, or the tensor's own elements mirrored, around a tensor."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F

from .... import errors
from ....graph.constants import partial_value
from ....graph.dtype import string
from ....graph.op import INDICES, Op
from ....graph.shape import Dims, TensorShape
from ...export import export
from ...graph import Tensor, atomic
from ..apply import apply
from ..arguments import part_name, shape_tensor
from ..convert import convert_to_tensor
from ..moving import moves


def _pairs(paddings: torch.Tensor, rank: int) -> list[list[int]]:
    pairs = paddings.tolist()
    if len(pairs) != rank or any(len(pair) != 2 or min(pair) < 0 for pair in pairs):
        raise errors.InvalidArgumentError(
            None, None, f"paddings must be [{rank}, 2] sizes that are non-negative, got {pairs}"
        )
    return pairs


def _flat(pairs: list[list[int]]) -> list[int]:
    return [side for pair in reversed(pairs) for side in pair]


def _pad(value: torch.Tensor, paddings: torch.Tensor) -> torch.Tensor:
    return F.pad(value, _flat(_pairs(paddings, value.ndim)))


def _pad_with(value: torch.Tensor, paddings: torch.Tensor, constant: torch.Tensor) -> torch.Tensor:
    # A choice instead of torch's fill value, so that a gradient reaches the constant.
    sides = _flat(_pairs(paddings, value.ndim))
    inside = F.pad(torch.ones(value.shape, dtype=torch.bool), sides)
    return torch.where(inside, F.pad(value, sides), constant)


def _mirror(value: torch.Tensor, paddings: torch.Tensor, mode: str) -> torch.Tensor:
    skipped = int(mode == "REFLECT")  # REFLECT does not repeat the edge
    result = value.view_as(value)
    for axis, (before, after) in enumerate(_pairs(paddings, value.ndim)):
        size = value.shape[axis]
        if max(before, after) > size - skipped:
            limit = "less than" if skipped else "no greater than"
            raise errors.InvalidArgumentError(
                None,
                None,
                f"paddings must be {limit} the dimension size: {before}, {after} for axis {axis} of size {size}",
            )
        if before or after:
            places = torch.arange(size)
            left = places[skipped : skipped + before].flip(0)
            right = places[size - skipped - after : size - skipped].flip(0)
            result = result.index_select(axis, torch.cat([left, places, right]))
    return result


def _pad_dims(inputs: Any, attrs: Any) -> Dims:
    dims, pairs = inputs[0].dims, partial_value(inputs[1])
    if pairs is None:
        shape = inputs[1].dims
        rank = len(dims) if dims is not None else shape[0] if shape else None
        return None if rank is None else (None,) * rank
    if pairs.ndim != 2 or pairs.shape[1] != 2 or (dims is not None and len(pairs) != len(dims)):
        raise ValueError(
            f"pad: paddings: Shape must be [rank, 2] with rank {TensorShape(dims).ndims}, but is "
            f"{list(pairs.shape)}; the tensor is "
            f"{inputs[0].name} with shape {inputs[0].shape}"
        )
    if any(side is not None and side < 0 for side in pairs.flat):
        raise ValueError(f"pad: Paddings must be non-negative, got {pairs.tolist()}")
    dims = dims if dims is not None else (None,) * len(pairs)
    return tuple(_padded(size, *pair) for size, pair in zip(dims, pairs, strict=True))


def _padded(size: int | None, before: int | None, after: int | None) -> int | None:
    return None if size is None or before is None or after is None else size + before + after


_I = {"I": INDICES}
_PAD = Op("Pad", "input:T paddings:I -> T", _pad, _pad_dims, _I)
_PAD_WITH = moves("PadV2", "input:T paddings:I constant_values:T -> T", _pad_with, _pad_dims, types=_I)
_MIRROR = moves("MirrorPad", "input:T paddings:I -> T", _mirror, _pad_dims, types=_I)


@export("pad")
@atomic
def pad(
    tensor: Any, paddings: Any, mode: str = "CONSTANT", name: str | None = None, constant_values: Any = 0
) -> Tensor:
    """Return `tensor` with elements added before and after it on every axis.

    paddings: integers `[rank, 2]`, how many come before and after on each axis. mode: "CONSTANT" adds
    `constant_values` (a scalar; strings are padded with empty ones by default), "REFLECT" mirrors the elements without
    their edge, "SYMMETRIC" with it.

    Raises:
        ValueError: another mode; `paddings` of another shape, or negative.
        tf.errors.InvalidArgumentError: more is to be mirrored than there is.
    """
    kind = mode.upper()
    paddings = shape_tensor(paddings, part_name(name, "Pad", "paddings"))
    if kind in ("REFLECT", "SYMMETRIC"):
        return apply(_MIRROR, [tensor, paddings], {"mode": kind}, name)
    if kind != "CONSTANT":
        raise ValueError(f'pad: mode must be "CONSTANT", "REFLECT" or "SYMMETRIC", got {mode!r}: Unknown padding mode')
    if not isinstance(constant_values, Tensor) and constant_values == 0:
        tensor = convert_to_tensor(tensor, name=part_name(name, "Pad", "input"))
        if tensor.dtype.base_dtype is string:
            return apply(_PAD_WITH, [tensor, paddings, ""], name=name)
        return apply(_PAD, [tensor, paddings], name=name)
    return apply(_PAD_WITH, [tensor, paddings, constant_values], name=name)
