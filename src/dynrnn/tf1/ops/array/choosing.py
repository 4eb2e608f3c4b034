"""Elements by a condition: where and boolean_mask."""

from __future__ import annotations

import math
from typing import Any

import torch

from .... import errors
from ....graph.op import NUMBERS, Op
from ....graph.shape import Dims, TensorShape, merge_dims
from ...export import export
from ...graph import Tensor, atomic, get_default_graph
from ..apply import apply
from ..arguments import static_int
from ..convert import convert_to_tensor
from ..moving import moves
from .gathering import gather
from .reshaping import reshape, squeeze


def _where(condition: torch.Tensor) -> torch.Tensor:
    return torch.nonzero(condition)


def _where_dims(inputs: Any, attrs: Any) -> Dims:
    dims = inputs[0].dims
    return (None, None if dims is None else len(dims))


def _select(condition: torch.Tensor, first: torch.Tensor, second: torch.Tensor) -> torch.Tensor:
    if first.shape != second.shape:
        raise errors.InvalidArgumentError(
            None,
            None,
            f"'then' and 'else' must have the same size, but received: {list(first.shape)} vs. {list(second.shape)}",
        )
    if condition.shape != first.shape and condition.ndim:
        if condition.ndim != 1 or not first.ndim or condition.shape[0] != first.shape[0]:
            raise errors.InvalidArgumentError(
                None,
                None,
                f"Number of batches of 'then' must match size of 'cond', but saw: {list(first.shape)} vs. "
                f"{list(condition.shape)}",
            )
        condition = condition.reshape(-1, *[1] * (first.ndim - 1))
    return torch.where(condition, first, second)


def _select_dims(inputs: Any, attrs: Any) -> Dims:
    condition, first, second = (tensor.dims for tensor in inputs)
    if first is not None and second is not None and len(first) != len(second):
        raise ValueError(
            f"where: Shapes must be equal rank, but are {len(first)} and {len(second)}: x is {inputs[1].shape}, y "
            f"is {inputs[2].shape}"
        )
    try:
        dims = merge_dims(first, second)
        if dims is None or not condition:
            return dims
        if len(condition) == 1 and len(dims) > 1:
            condition = (*condition, *[None] * (len(dims) - 1))
        return merge_dims(dims, condition)
    except ValueError:
        raise ValueError(
            "where: Dimensions in all shapes must be equal (a vector condition chooses rows): "
            f"condition is {inputs[0].shape}, x is {inputs[1].shape}, y is {inputs[2].shape}"
        ) from None


def _merge(value: torch.Tensor, axis: int, count: int) -> torch.Tensor:
    sizes = value.shape
    return value.reshape((*sizes[:axis], math.prod(sizes[axis : axis + count]), *sizes[axis + count :]))


def _merge_dims(inputs: Any, attrs: Any) -> Dims:
    dims, axis, count = inputs[0].dims, attrs["axis"], attrs["count"]
    if dims is None:
        return None
    merged = dims[axis : axis + count]
    return (*dims[:axis], None if None in merged else math.prod(merged), *dims[axis + count :])


_WHERE = Op("Where", "input:T -> int64", _where, _where_dims, {"T": NUMBERS | {"bool"}}, differentiable=False)
_SELECT = moves("Select", "condition:bool t:T e:T -> T", _select, _select_dims)
_MERGE = moves("Reshape", "tensor:T -> T", _merge, _merge_dims)  # of an axis and those after it


@export("where")
@atomic
def where(condition: Any, x: Any = None, y: Any = None, name: str | None = None) -> Tensor:
    """Return the elements of `x` where `condition` holds and those of `y` elsewhere; without x and y, the places where
    it holds.

    condition: bool, of the shape of x and y, a scalar, or a vector that chooses whole rows. Places are int64 `[count,
    rank]`.

    Raises:
        ValueError: only one of x and y is given, or shapes do not fit (they are not broadcast).
    """
    if x is None and y is None:
        return apply(_WHERE, [condition], name=name)
    if x is None or y is None:
        raise ValueError("x and y must both be non-None or both be None.")
    return apply(_SELECT, [condition, x, y], name=name)


@export("boolean_mask")
@atomic
def boolean_mask(tensor: Any, mask: Any, name: str = "boolean_mask", axis: int | None = None) -> Tensor:
    """Return the slices of `tensor` for which `mask` holds; the mask covers the axes from `axis` (default 0) on, which
    become one.

    Raises:
        ValueError: `mask` is a scalar or of unknown rank, or its shape does not fit.
    """
    with get_default_graph().name_scope(name):
        tensor, mask = convert_to_tensor(tensor, name="tensor"), convert_to_tensor(mask, name="mask")
        axis = 0 if axis is None else static_int("boolean_mask", "axis", axis)
        if mask.dims is None:
            raise ValueError(
                "boolean_mask: Number of mask dimensions must be specified, even if some dimensions are None. "
                f"E.g. shape=[None] is ok, but shape=None is not; got {mask}"
            )
        if not mask.dims:
            raise ValueError("boolean_mask: mask cannot be scalar.")
        covered = TensorShape(None if tensor.dims is None else tensor.dims[axis : axis + len(mask.dims)])
        covered.assert_is_compatible_with(mask.shape)
        places = squeeze(where(reshape(mask, [-1])), axis=[1])
        if len(mask.dims) == 1:
            return gather(tensor, places, axis=axis)
        return gather(apply(_MERGE, [tensor], {"axis": axis, "count": len(mask.dims)}), places, axis=axis)
