"""Taking tensors apart: split and unstack."""

from __future__ import annotations

from typing import Any

import torch

from .... import errors
from ....graph import rules
from ....graph.constants import constant_value
from ....graph.op import INDICES
from ....graph.shape import Dims
from ...export import export
from ...graph import Tensor, atomic
from ...legacy.order import split_arguments
from ..apply import apply
from ..arguments import known_sizes, part_name, shape_tensor, static_int
from ..convert import convert_to_tensor
from ..moving import moves


def _split(value: torch.Tensor, axis: int, num: int) -> tuple[torch.Tensor, ...]:
    if value.shape[axis] % num:
        raise errors.InvalidArgumentError(
            None,
            None,
            f"Number of ways to split should evenly divide the split dimension, but got split_dim {axis} "
            f"(size = {value.shape[axis]}) and num_split {num}",
        )
    return value.tensor_split(num, axis)


def _split_dims(inputs: Any, attrs: Any) -> list[Dims]:
    dims, num = inputs[0].dims, attrs["num"]
    if dims is None:
        return [None] * num
    axis = rules.normal_axis(attrs["axis"], len(dims), "split: axis")
    size = dims[axis]
    if size is not None and size % num:
        raise ValueError(
            f"split: Dimension size must be evenly divisible by {num} but is {size}: Number of ways to split "
            "should evenly divide "
            f"the split dimension, axis {axis} of {inputs[0].name} with shape {inputs[0].shape}"
        )
    return [(*dims[:axis], None if size is None else size // num, *dims[axis + 1 :])] * num


def _sizes(size: int, sizes: tuple[int, ...] | list[int]) -> list[int]:
    """The sizes with -1 replaced by what is left of `size`; ValueError where they do not add up."""
    rest = size - sum(part for part in sizes if part >= 0)
    unknown = sum(part < 0 for part in sizes)
    if unknown > 1 or rest < 0 or (rest and not unknown):
        raise ValueError(f"can't split axis of size {size} into pieces of size {list(sizes)}")
    return [rest if part < 0 else part for part in sizes]


def _split_at_run(value: torch.Tensor, axis: int, sizes: tuple[int, ...] | list[int]) -> tuple[torch.Tensor, ...]:
    try:
        return value.split(_sizes(value.shape[axis], sizes), axis)
    except ValueError as error:
        raise errors.InvalidArgumentError(
            None,
            None,
            f"Determined shape must match input shape along split_dim {axis}: {error}, shape is {list(value.shape)}",
        ) from None


def _split_by(value: torch.Tensor, sizes: torch.Tensor, axis: int, num: int) -> tuple[torch.Tensor, ...]:
    return _split_at_run(value, axis, sizes.tolist())


def _split_sized_dims(inputs: Any, attrs: Any) -> list[Dims]:
    dims, sizes = inputs[0].dims, attrs["sizes"]
    if dims is None:
        return [None] * len(sizes)
    axis = rules.normal_axis(attrs["axis"], len(dims), "split: axis")
    if dims[axis] is not None:
        try:
            sizes = _sizes(dims[axis], sizes)
        except ValueError as error:
            raise ValueError(f"split: {error}; axis {axis} of {inputs[0].name} with shape {inputs[0].shape}") from None
    return [(*dims[:axis], None if size < 0 else size, *dims[axis + 1 :]) for size in sizes]


def _split_by_dims(inputs: Any, attrs: Any) -> list[Dims]:
    dims = inputs[0].dims
    if dims is None:
        return [None] * attrs["num"]
    axis = rules.normal_axis(attrs["axis"], len(dims), "split: axis")
    return [(*dims[:axis], None, *dims[axis + 1 :])] * attrs["num"]


def _unstack(value: torch.Tensor, axis: int, num: int) -> tuple[torch.Tensor, ...]:
    if value.shape[axis] != num:
        raise errors.InvalidArgumentError(
            None, None, f"Input shape axis {axis} must equal {num}, got shape {list(value.shape)}"
        )
    return value.unbind(axis)


def _unstack_dims(inputs: Any, attrs: Any) -> list[Dims]:
    dims, num = inputs[0].dims, attrs["num"]
    if dims is None:
        return [None] * num
    axis = rules.normal_axis(attrs["axis"], len(dims), "unstack: Argument `axis`")
    if dims[axis] not in (None, num):
        raise ValueError(
            f"unstack: num: Dimension must be {num} but is {dims[axis]}, axis {axis} of {inputs[0].name} with "
            f"shape {inputs[0].shape}"
        )
    return [(*dims[:axis], *dims[axis + 1 :])] * num


_SPLIT = moves("Split", "value:T -> *T", _split, _split_dims)
_SPLIT_SIZED = moves("SplitV", "value:T -> *T", _split_at_run, _split_sized_dims)
_SPLIT_BY = moves("SplitV", "value:T size_splits:I -> *T", _split_by, _split_by_dims, types={"I": INDICES})
_UNSTACK = moves("Unpack", "value:T -> *T", _unstack, _unstack_dims)


@export("split")
@atomic
@split_arguments
def split(
    value: Any, num_or_size_splits: Any, axis: Any = 0, num: int | None = None, name: str = "split"
) -> list[Tensor]:
    """Cut `value` along axis `axis` into equal parts, or into parts of given sizes.

    num_or_size_splits: the number of parts (an int), or their sizes: ints, of which one may be -1 (what is left), or
    an integer vector.
    num: the number of parts, where the length of such a vector is not known.

    Raises:
        ValueError: parts do not add up to the axis, or their number is not known. tf.errors.InvalidArgumentError: the
        same in a run.
    """
    value = convert_to_tensor(value, name=part_name(name, "split", "value"))
    axis = static_int("split", "axis", axis)
    sizes = known_sizes(num_or_size_splits)
    if sizes is not None and not hasattr(num_or_size_splits, "__len__"):
        if sizes[0] < 1:
            raise ValueError(f"split: num_or_size_splits must be at least 1, got {sizes[0]}")
        return apply(_SPLIT, [value], {"axis": axis, "num": sizes[0]}, name)
    if sizes is not None:
        return apply(_SPLIT_SIZED, [value], {"axis": axis, "sizes": sizes}, name)
    splits = shape_tensor(num_or_size_splits, part_name(name, "split", "size_splits"))
    if splits.dims == ():
        raise ValueError(
            f"split: Rank-0 tensors are not supported as the num_or_size_splits argument to split, got {splits}; "
            "give an int"
        )
    known = constant_value(splits)
    if known is not None:
        return apply(_SPLIT_SIZED, [value], {"axis": axis, "sizes": tuple(known.tolist())}, name)
    num = num if num is not None else splits.dims[0] if splits.dims else None
    if num is None:
        raise ValueError(f"split: Cannot infer argument `num` from shape {splits}")
    return apply(_SPLIT_BY, [value, splits], {"axis": axis, "num": num}, name)


@export("unstack")
@atomic
def unstack(value: Any, num: int | None = None, axis: int = 0, name: str = "unstack") -> list[Tensor]:
    """Return the slices of `value` along axis `axis`, without that axis.

    num: how many there are; needed where the static shape does not tell.

    Raises:
        ValueError: the number is neither given nor known, or it differs from the axis.
        tf.errors.InvalidArgumentError: it differs in a run.
    """
    value = convert_to_tensor(value, name=part_name(name, "unstack", "value"))
    axis = static_int("unstack", "axis", axis)
    if num is None and value.dims is not None:
        num = value.dims[rules.normal_axis(axis, len(value.dims), "unstack: Argument `axis`")]
    if num is None:
        raise ValueError(
            f"Cannot infer argument `num` from shape {value.shape}; tf.unstack of {value.name} along axis {axis} "
            "needs num="
        )
    return apply(_UNSTACK, [value], {"axis": axis, "num": int(num)}, name)
