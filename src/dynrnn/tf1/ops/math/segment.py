"""Sums, means, extremes and products of the rows that share an id."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from ....errors import InvalidArgumentError
from ....graph import rules
from ....graph.constants import constant_value, partial_value
from ....graph.op import FLOATS, INDICES, NUMBERS, REALS, Op
from ....graph.shape import Dims, TensorShape, merge_dims
from ...export import export
from ...graph import Tensor, atomic
from ..apply import apply
from . import derivatives

# How a group of rows becomes one. Each takes rows [n, ...], ids [n] and the number of groups; ids are in range.


def _sum(rows: torch.Tensor, ids: torch.Tensor, count: int) -> torch.Tensor:
    return rows.new_zeros((count, *rows.shape[1:])).index_add(0, ids, rows)


def _sizes(rows: torch.Tensor, ids: torch.Tensor, count: int) -> torch.Tensor:
    """How many rows each group has, at least 1, to be divided by."""
    sizes = torch.bincount(ids, minlength=count).clamp(min=1)
    return sizes.to(rows.dtype).reshape(-1, *[1] * (rows.ndim - 1))


def _mean(rows: torch.Tensor, ids: torch.Tensor, count: int) -> torch.Tensor:
    rounding = None if rows.is_floating_point() else "trunc"
    return torch.div(_sum(rows, ids, count), _sizes(rows, ids, count), rounding_mode=rounding)


def _sqrt_n(rows: torch.Tensor, ids: torch.Tensor, count: int) -> torch.Tensor:
    return _sum(rows, ids, count) / torch.sqrt(_sizes(rows, ids, count))


def _extreme(rows: torch.Tensor, ids: torch.Tensor, count: int, reduce: str, empty: float) -> torch.Tensor:
    places = ids.reshape(-1, *[1] * (rows.ndim - 1)).expand(rows.shape)
    start = torch.full((count, *rows.shape[1:]), empty, dtype=rows.dtype)
    value = start.scatter_reduce(0, places, rows.detach(), reduce, include_self=False)
    if not derivatives.recorded(rows):
        return value
    hit = rows == value[ids]  # those that reach the extreme share the gradient
    shares = _sum(hit.to(rows.dtype), ids, count)[ids]
    return derivatives.with_derivative_of(value, _sum(torch.where(hit, rows, 0) / shares.clamp(min=1), ids, count))


def _prod(rows: torch.Tensor, ids: torch.Tensor, count: int) -> torch.Tensor:
    # Groups side by side, filled up with ones: the product along an axis can be differentiated where rows are 0.
    order = torch.argsort(ids, stable=True)
    sizes = torch.bincount(ids, minlength=count)
    position = torch.arange(len(ids)) - (sizes.cumsum(0) - sizes)[ids[order]]
    longest = int(sizes.max()) if count else 0
    places = ids[order] * longest + position
    padded = rows.new_ones((count * longest, *rows.shape[1:])).index_put((places,), rows[order])
    return torch.prod(padded.reshape(count, longest, *rows.shape[1:]), 1, dtype=rows.dtype)


def _lowest(dtype: torch.dtype) -> float:
    return (torch.finfo(dtype) if dtype.is_floating_point else torch.iinfo(dtype)).min


def _highest(dtype: torch.dtype) -> float:
    return (torch.finfo(dtype) if dtype.is_floating_point else torch.iinfo(dtype)).max


GROUPS: dict[str, tuple[Callable[..., torch.Tensor], str]] = {
    "sum": (_sum, "sums"),
    "mean": (_mean, "means"),
    "prod": (_prod, "products"),
    "max": (lambda rows, ids, count, empty: _extreme(rows, ids, count, "amax", empty), "maxima"),
    "min": (lambda rows, ids, count, empty: _extreme(rows, ids, count, "amin", empty), "minima"),
    "sqrt_n": (_sqrt_n, "sums, divided by the square root of the number of rows"),
}
_EMPTY = {"max": _lowest, "min": _highest}


def _sorted(kind: str) -> Callable[..., torch.Tensor]:
    group = GROUPS[kind][0]

    def compute(data: torch.Tensor, segment_ids: torch.Tensor) -> torch.Tensor:
        ids = segment_ids.long()
        if len(ids) != len(data):
            raise IndexError(
                f"segment_ids should be the same size as dimension 0 of input, got {len(ids)}, {len(data)}"
            )
        if len(ids) and (bool((ids[1:] < ids[:-1]).any()) or int(ids[0]) < 0):
            raise InvalidArgumentError(None, None, "segment ids are not increasing")
        count = int(ids[-1]) + 1 if len(ids) else 0
        return group(data, ids, count, *([0] if kind in _EMPTY else []))

    return compute


def _unsorted(kind: str) -> Callable[..., torch.Tensor]:
    group = GROUPS[kind][0]

    def compute(data: torch.Tensor, segment_ids: torch.Tensor, num_segments: torch.Tensor) -> torch.Tensor:
        ids, count = segment_ids.reshape(-1).long(), int(num_segments)
        wrong = (ids >= count).nonzero()
        if len(wrong):
            raise InvalidArgumentError(
                None, None, f"segment_ids[{int(wrong[0])}] = {int(ids[wrong[0]])} is out of range [0, {count})"
            )
        rows = data.reshape(len(ids), *data.shape[segment_ids.ndim :])
        if bool((ids < 0).any()):  # these are dropped
            kept = ids >= 0
            rows, ids = rows[kept], ids[kept]
        return group(rows, ids, count, *([_EMPTY[kind](data.dtype)] if kind in _EMPTY else []))

    return compute


def _sorted_dims(inputs: rules.Inputs, attrs: rules.Attrs) -> Dims:
    dims, ids = inputs[0].dims, constant_value(inputs[1])
    merge_dims(inputs[1].dims, (None,))
    count = None if ids is None else int(ids[-1]) + 1 if len(ids) else 0
    return None if dims is None else (count, *dims[1:])


def _unsorted_dims(inputs: rules.Inputs, attrs: rules.Attrs) -> Dims:
    dims, ids, count = inputs[0].dims, inputs[1].dims, partial_value(inputs[2])
    if dims is None or ids is None:
        return None
    try:
        merge_dims(dims[: len(ids)], ids)
    except ValueError:
        raise ValueError(f"segment_ids: shape {TensorShape(ids)} must begin data's shape {TensorShape(dims)}") from None
    return (None if count is None else count.item(), *dims[len(ids) :])


def _types(kind: str) -> dict[str, frozenset[str]]:
    data = REALS if kind in _EMPTY else FLOATS if kind == "sqrt_n" else NUMBERS
    return {"T": data, "I": INDICES, "N": INDICES}


def _camel(kind: str) -> str:
    return "".join(part.title() for part in kind.split("_"))


SORTED = {
    kind: Op(f"Segment{_camel(kind)}", "data:T segment_ids:I -> T", _sorted(kind), _sorted_dims, _types(kind))
    for kind in ("sum", "mean", "prod", "max", "min")
}
UNSORTED = {
    kind: Op(
        f"UnsortedSegment{_camel(kind)}",
        "data:T segment_ids:I num_segments:N -> T",
        _unsorted(kind),
        _unsorted_dims,
        _types(kind),
    )
    for kind in GROUPS
}


def _declare_sorted(kind: str, row: Op) -> None:
    def function(data: Any, segment_ids: Any, name: str | None = None) -> Tensor:
        return apply(row, [data, segment_ids], name=name)

    function.__name__ = function.__qualname__ = f"segment_{kind}"
    function.__doc__ = f"""Return the {GROUPS[kind][1]} of the rows of `data` that share an id.

    data: [n, ...]. segment_ids: [n], integers from 0 that never fall. The result has a row for every id up to the last;
    ids that do not occur give {1 if kind == "prod" else 0}.

    Raises:
        tf.errors.InvalidArgumentError, in run: ids that fall, or another number of them than rows.
    """
    export(f"segment_{kind}", f"math.segment_{kind}")(atomic(function))


def _declare_unsorted(kind: str, row: Op) -> None:
    def function(data: Any, segment_ids: Any, num_segments: Any, name: str | None = None) -> Tensor:
        return apply(row, [data, segment_ids, num_segments], name=name)

    empty = {"prod": 1, "max": "the type's least value", "min": "the type's largest value"}.get(kind, 0)
    function.__name__ = function.__qualname__ = f"unsorted_segment_{kind}"
    function.__doc__ = f"""Return the {GROUPS[kind][1]} of the parts of `data` that share an id.

    data: a tensor whose shape begins with that of `segment_ids`, integers below `num_segments` in any order; parts with
    a negative id are dropped. The result has `num_segments` rows; ids that do not occur give {empty}.

    Raises:
        tf.errors.InvalidArgumentError, in run: an id that is too large.
    """
    export(f"unsorted_segment_{kind}", f"math.unsorted_segment_{kind}")(atomic(function))


for _kind, _row in SORTED.items():
    _declare_sorted(_kind, _row)
for _kind, _row in UNSORTED.items():
    _declare_unsorted(_kind, _row)
