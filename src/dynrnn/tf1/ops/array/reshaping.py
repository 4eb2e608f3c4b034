"""The same elements in other shapes: reshape, expand_dims, squeeze, broadcast_to. See also `transposing.py`."""

from __future__ import annotations

import math
from typing import Any

import torch

from .... import errors
from ....graph.constants import partial_dims, partial_value
from ....graph.op import INDICES
from ....graph.shape import Dims, TensorShape
from ...export import export
from ...graph import Tensor, atomic
from ..apply import apply
from ..arguments import part_name, shape_tensor, static_int, static_ints
from ..moving import moves


def _reshape(value: torch.Tensor, shape: torch.Tensor) -> torch.Tensor:
    sizes = shape.tolist()
    try:
        return value.reshape(sizes)
    except RuntimeError:
        wanted = math.prod(size for size in sizes if size != -1)
        need = f"requires a multiple of {wanted}" if -1 in sizes else f"has {wanted}"
        raise errors.InvalidArgumentError(
            None,
            None,
            f"Input to reshape is a tensor with {value.numel()} values, but the requested shape {need}: "
            f"{list(value.shape)} to {sizes}",
        ) from None


def _reshape_dims(inputs: Any, attrs: Any) -> Dims:
    if inputs[1].dims is not None and len(inputs[1].dims) != 1:
        raise ValueError(
            f"reshape: shape: Shape must be rank 1 but is rank {len(inputs[1].dims)} ({inputs[1].name}, "
            f"{inputs[1].shape})"
        )
    sizes, count = partial_dims(inputs[1]), inputs[0].shape.num_elements()
    wanted = partial_value(inputs[1])
    if wanted is not None and any(size is not None and size < -1 for size in wanted.flat):
        raise ValueError(f"Invalid value in tensor used for shape: {min(s for s in wanted.flat if s is not None)}")
    if sizes is None:
        return None
    if count is None:
        _require_divisible(inputs[0], sizes)
        return sizes
    known = math.prod(size for size in sizes if size is not None)
    if None not in sizes:
        if known != count:
            raise ValueError(
                f"Cannot reshape a tensor with {count} elements to shape {list(sizes)} ({known} elements); the "
                "tensor is "
                f"{inputs[0].name} with shape {inputs[0].shape}"
            )
    elif known and sizes.count(None) == 1:
        if count % known:
            raise ValueError(
                f"Dimension size must be evenly divisible by {known} but is {count}, to reshape {inputs[0].name} "
                "with shape "
                f"{inputs[0].shape} to {TensorShape(sizes)}"
            )
        return tuple(count // known if size is None else size for size in sizes)
    return sizes


def _require_divisible(tensor: Any, sizes: tuple[int | None, ...]) -> None:
    """Hold the known sizes of a tensor that lacks a single one against a fully known shape."""
    if tensor.dims is None or tensor.dims.count(None) != 1 or None in sizes:
        return
    part, wanted = (math.prod(size for size in dims if size is not None) for dims in (tensor.dims, sizes))
    if wanted % part if part else wanted:
        raise ValueError(
            f"Dimension size must be evenly divisible by {part} but is {wanted}, to reshape {tensor.name} with shape "
            f"{tensor.shape} to {TensorShape(sizes)}"
        )


def _expand(value: torch.Tensor, axis: int) -> torch.Tensor:
    return value.unsqueeze(axis)


def _expand_dims(inputs: Any, attrs: Any) -> Dims:
    dims, axis = inputs[0].dims, attrs["axis"]
    if dims is None:
        return None
    rank = len(dims)
    if not -rank - 1 <= axis <= rank:
        raise ValueError(
            f"expand_dims: axis: dim {axis} not in the interval [{-rank - 1}, {rank}] for {inputs[0].name} with "
            f"shape {inputs[0].shape}"
        )
    axis %= rank + 1
    return (*dims[:axis], 1, *dims[axis:])


def _squeeze(value: torch.Tensor, axis: tuple[int, ...] | None) -> torch.Tensor:
    if axis is None:
        return value.squeeze()
    sizes = value.shape
    for i in axis:
        if sizes[i] != 1:
            raise errors.InvalidArgumentError(
                None,
                None,
                f"Can not squeeze dim[{i}], expected a dimension of 1, got {sizes[i]}; the shape is {list(sizes)}",
            )
    return value.squeeze(axis)


def _squeeze_dims(inputs: Any, attrs: Any) -> Dims:
    dims, axis = inputs[0].dims, attrs["axis"]
    if dims is None or (axis is None and None in dims):
        return None
    if axis is None:
        return tuple(size for size in dims if size != 1)
    rank = len(dims)
    for position, i in enumerate(axis):
        if not -rank <= i < rank:
            raise ValueError(f"squeeze: axis: squeeze_dims[{position}] = {i} not in [{-rank},{rank})")
        if dims[i] not in (1, None):
            raise ValueError(
                f"Can not squeeze dim[{i}], expected a dimension of 1, got {dims[i]}; {inputs[0].name} has shape "
                f"{inputs[0].shape}"
            )
    gone = {i % rank for i in axis}
    return tuple(size for i, size in enumerate(dims) if i not in gone)


def _broadcast_to(value: torch.Tensor, shape: torch.Tensor) -> torch.Tensor:
    return value.expand(shape.tolist())


def _broadcast_to_dims(inputs: Any, attrs: Any) -> Dims:
    dims, sizes = inputs[0].dims, partial_dims(inputs[1])
    if dims is None or sizes is None:
        return sizes
    if len(dims) > len(sizes):
        raise ValueError(f"broadcast_to: {inputs[0].shape} has more axes than the shape {TensorShape(sizes)} asked for")
    result = list(sizes)
    for axis in range(1, len(dims) + 1):
        size, wanted = dims[-axis], sizes[-axis]
        if size not in (1, None, wanted) and wanted is not None:
            raise ValueError(
                f"broadcast_to: Dimensions must be equal, but are {size} and {wanted}: {inputs[0].shape} to "
                f"{TensorShape(sizes)}"
            )
        if wanted is None and size != 1:
            result[-axis] = size
    return tuple(result)


_I = {"I": INDICES}
_RESHAPE = moves("Reshape", "tensor:T shape:I -> T", _reshape, _reshape_dims, types=_I)
_EXPAND_DIMS = moves("ExpandDims", "input:T -> T", _expand, _expand_dims)
_SQUEEZE = moves("Squeeze", "input:T -> T", _squeeze, _squeeze_dims)
_BROADCAST_TO = moves("BroadcastTo", "input:T shape:I -> T", _broadcast_to, _broadcast_to_dims, types=_I)


@export("reshape", "manip.reshape")
@atomic
def reshape(tensor: Any, shape: Any, name: str | None = None) -> Tensor:
    """Return the elements of `tensor`, in their order, in another shape.

    shape: a vector, or a list of ints and scalar tensors; one size may be -1, which takes what is left.

    Raises:
        ValueError: static shapes show that the counts differ. tf.errors.InvalidArgumentError: they differ in a run.
    """
    return apply(_RESHAPE, [tensor, shape_tensor(shape, part_name(name, "Reshape", "shape"))], name=name)


@export("expand_dims")
@atomic
def expand_dims(input: Any, axis: Any = None, name: str | None = None, dim: Any = None) -> Tensor:
    """Return `input` with an axis of size 1 before axis `axis` (`dim` is its old name); -1 adds it at the end."""
    axis = _renamed("expand_dims", axis, "dim", dim)
    if axis is None:
        raise ValueError("Must specify an axis argument to tf.expand_dims()")
    return apply(_EXPAND_DIMS, [input], {"axis": static_int("expand_dims", "axis", axis)}, name)


@export("squeeze")
@atomic
def squeeze(input: Any, axis: Any = None, name: str | None = None, squeeze_dims: Any = None) -> Tensor:
    """Return `input` without the axes of size 1 that `axis` (an int or a list; `squeeze_dims` is its old name) names,
    without all of them by default.

    Raises:
        ValueError, or tf.errors.InvalidArgumentError in a run: a named axis has another size.
    """
    axis = _renamed("squeeze", axis, "squeeze_dims", squeeze_dims)
    if axis is not None:
        axis = (
            static_ints("squeeze", "axis", axis)
            if isinstance(axis, (list, tuple))
            else (static_int("squeeze", "axis", axis),)
        )
    return apply(_SQUEEZE, [input], {"axis": axis or None}, name)


def _renamed(function: str, value: Any, old_name: str, old_value: Any) -> Any:
    if old_value is None:
        return value
    if value is not None:
        raise ValueError(f"{function}: Cannot specify both '{old_name}' and 'axis'.")
    return old_value


@export("broadcast_to")
@atomic
def broadcast_to(input: Any, shape: Any, name: str | None = None) -> Tensor:
    """Return `input` broadcast to `shape`, by numpy's rules."""
    return apply(_BROADCAST_TO, [input, shape_tensor(shape, part_name(name, "BroadcastTo", "shape"))], name=name)
