"""Reductions over axes: sums, means, extremes, products, norms, counts; and sums and products along an axis."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from ....graph import rules
from ....graph.constants import constant_value
from ....graph.dtype import DType, as_dtype
from ....graph.op import FLOATS, NUMBERS, REALS, Op
from ....graph.shape import Dimension
from ...export import export
from ...graph import Tensor, atomic
from ...scopes import name_scope
from ..apply import apply
from ..arguments import whole_numbers

Axis = int | tuple[int, ...] | None


def fixed_axis(axis: Any, what: str = "axis") -> Axis:
    """Return an axis argument (an int, a list, an array, a tensor of known value) as an int, a tuple or None.

    Raises:
        ValueError: a tensor whose value is not known while the graph is built.
    """
    if axis is None:
        return None
    if isinstance(axis, Dimension):
        return int(axis)
    if isinstance(axis, Tensor):
        value = constant_value(axis)
        if value is None:
            raise ValueError(f"{what} must be known while the graph is built, got {axis}")
        axis = value
    if isinstance(axis, (list, tuple)):
        return tuple(_one_axis(item, what) for item in axis)
    array = np.asarray(whole_numbers(axis))
    if array.dtype.kind not in "iu":
        raise TypeError(f"{what} must be an integer or a list of integers, got {axis!r}")
    return int(array) if array.ndim == 0 else tuple(array.ravel().tolist())


def _one_axis(axis: Any, what: str) -> int:
    value = fixed_axis(axis, what)
    if not isinstance(value, int):
        raise ValueError(f"{what} must be an integer or a list of integers, got a list that holds {axis!r}")
    return value


def _over(x: torch.Tensor, axis: Axis) -> tuple[int, ...]:
    """The axes to reduce over."""
    if axis is None:
        return tuple(range(x.ndim))
    return axis if isinstance(axis, tuple) else (axis,)


# Each computation below leaves x as it is for an empty tuple of axes, which torch takes for all of them.


def _sum(input: torch.Tensor, axis: Axis, keepdims: bool) -> torch.Tensor:
    axes = _over(input, axis)
    return torch.sum(input, axes, keepdims, dtype=input.dtype) if axes else input.view_as(input)


def _mean(input: torch.Tensor, axis: Axis, keepdims: bool) -> torch.Tensor:
    axes = _over(input, axis)
    if not axes:
        return input.view_as(input)
    if input.is_floating_point() or input.is_complex():
        return torch.mean(input, axes, keepdims)
    count = int(np.prod([input.shape[a] for a in axes]))
    return torch.div(torch.sum(input, axes, keepdims, dtype=input.dtype), count, rounding_mode="trunc")


def _max(input: torch.Tensor, axis: Axis, keepdims: bool) -> torch.Tensor:
    return _extreme(input, axis, keepdims, torch.amax, -1)


def _min(input: torch.Tensor, axis: Axis, keepdims: bool) -> torch.Tensor:
    return _extreme(input, axis, keepdims, torch.amin, 1)


def _extreme(x: torch.Tensor, axis: Axis, keepdims: bool, function: Callable[..., Any], sign: int) -> torch.Tensor:
    axes = _over(x, axis)
    if not axes:
        return x.view_as(x)
    if any(x.shape[a] == 0 for a in axes):  # of nothing: what every number is larger, or smaller, than
        limits = torch.finfo(x.dtype) if x.is_floating_point() else torch.iinfo(x.dtype)
        limit = sign * torch.inf if x.is_floating_point() else limits.min if sign < 0 else limits.max
        return torch.full_like(torch.sum(x, axes, keepdims, dtype=x.dtype), limit)
    return function(x, axes, keepdims)


def _prod(input: torch.Tensor, axis: Axis, keepdims: bool) -> torch.Tensor:
    result = input.view_as(input)
    for a in sorted({a % input.ndim for a in _over(input, axis)}, reverse=True):
        result = torch.prod(result, a, keepdims, dtype=input.dtype)
    return result


def _all(input: torch.Tensor, axis: Axis, keepdims: bool) -> torch.Tensor:
    axes = _over(input, axis)
    return torch.all(input, axes, keepdims) if axes else input.view_as(input)


def _any(input: torch.Tensor, axis: Axis, keepdims: bool) -> torch.Tensor:
    axes = _over(input, axis)
    return torch.any(input, axes, keepdims) if axes else input.view_as(input)


def _log_sum_exp(input: torch.Tensor, axis: Axis, keepdims: bool) -> torch.Tensor:
    largest = _max(input.detach(), axis, True)
    largest = torch.where(torch.isfinite(largest), largest, 0)
    total = torch.log(_sum(torch.exp(input - largest), axis, keepdims))
    return total + largest.reshape(total.shape)


def _euclidean_norm(input: torch.Tensor, axis: Axis, keepdims: bool) -> torch.Tensor:
    return torch.sqrt(_sum(input * input, axis, keepdims))


def _variance(input: torch.Tensor, axis: Axis, keepdims: bool) -> torch.Tensor:
    return _mean(torch.square(input - _mean(input, axis, True)), axis, keepdims)


def _deviation(input: torch.Tensor, axis: Axis, keepdims: bool) -> torch.Tensor:
    return torch.sqrt(_variance(input, axis, keepdims))


_BOOL = frozenset(("bool",))
# public name: (op type, function, dtypes, what the docs say, more public names)
REDUCTIONS: dict[str, tuple[str, Callable[..., Any], frozenset[str], str, tuple[str, ...]]] = {
    "reduce_sum": ("Sum", _sum, NUMBERS, "the sum", ("math.reduce_sum",)),
    "reduce_mean": (
        "Mean",
        _mean,
        NUMBERS,
        "the mean (of integers, rounded towards 0; of nothing, NaN)",
        ("math.reduce_mean",),
    ),
    "reduce_max": ("Max", _max, REALS, "the maximum (equal maxima share the gradient)", ("math.reduce_max",)),
    "reduce_min": ("Min", _min, REALS, "the minimum (equal minima share the gradient)", ("math.reduce_min",)),
    "reduce_prod": ("Prod", _prod, NUMBERS, "the product", ("math.reduce_prod",)),
    "reduce_all": ("All", _all, _BOOL, "whether all are true", ("math.reduce_all",)),
    "reduce_any": ("Any", _any, _BOOL, "whether any is true", ("math.reduce_any",)),
    "reduce_logsumexp": ("ReduceLogSumExp", _log_sum_exp, FLOATS, "log(sum(exp))", ("math.reduce_logsumexp",)),
    "math.reduce_euclidean_norm": (
        "EuclideanNorm",
        _euclidean_norm,
        FLOATS,
        "the square root of the sum of squares",
        (),
    ),
    "math.reduce_variance": ("ReduceVariance", _variance, FLOATS, "the mean squared distance from the mean", ()),
    "math.reduce_std": ("ReduceStd", _deviation, FLOATS, "the square root of the variance", ()),
}


_SCOPED = {
    "math.reduce_variance": "Mean_1",
    "math.reduce_std": "Sqrt",
}  # these make their node in a scope, by this name


def _reduction(path: str, row: Op, what: str, *more: str) -> Callable[..., Any]:
    def function(
        input_tensor: Any,
        axis: Any = None,
        keepdims: bool | None = None,
        name: str | None = None,
        reduction_indices: Any = None,
        keep_dims: bool | None = None,
    ) -> Tensor:
        axis = one_of("axis", axis, "reduction_indices", reduction_indices)
        keepdims = one_of("keepdims", keepdims, "keep_dims", keep_dims)
        attrs = {"axis": fixed_axis(axis), "keepdims": bool(keepdims)}
        if path not in _SCOPED:
            return apply(row, [input_tensor], attrs, name)
        with name_scope(name, function.__name__, [input_tensor]):
            return apply(row, [input_tensor], attrs, _SCOPED[path])

    function.__name__ = function.__qualname__ = path.rpartition(".")[2]
    function.__doc__ = f"""Return {what} of the elements of a tensor along some axes.

    axis: an axis or a list of them (default: all); negative ones count from the end. keepdims: keep them, with size 1.
    reduction_indices, keep_dims: their old names.

    Raises:
        ValueError: an axis that is not there; an argument and its old name together.
    """
    function.row = row  # type: ignore[attr-defined]
    wrapped = atomic(function)
    export(path, *more)(wrapped)
    return wrapped


def one_of(name: str, value: Any, old_name: str, old_value: Any) -> Any:
    """Return an argument that may come under its old name.

    Raises:
        ValueError: both are given.
    """
    if old_value is None:
        return value
    if value is not None:
        raise ValueError(f"Cannot specify both '{old_name}' and '{name}'.")
    return old_value


FUNCTIONS: dict[str, Callable[..., Any]] = {}
for _path, (_type, _function, _types, _what, _more) in REDUCTIONS.items():
    _signature = "input:bool -> bool" if _types is _BOOL else "input:T -> T"
    _row = Op(_type, _signature, _function, rules.reduce, {"T": _types}, differentiable=_types is not _BOOL)
    FUNCTIONS[_path] = _reduction(_path, _row, _what, *_more)

reduce_sum, reduce_mean, reduce_prod = (FUNCTIONS[f"reduce_{name}"] for name in ("sum", "mean", "prod"))
reduce_max, reduce_min = FUNCTIONS["reduce_max"], FUNCTIONS["reduce_min"]
reduce_all, reduce_any = FUNCTIONS["reduce_all"], FUNCTIONS["reduce_any"]
reduce_logsumexp = FUNCTIONS["reduce_logsumexp"]


def _count(input: Any, axis: Axis, keepdims: bool, dtype: DType) -> torch.Tensor:
    if isinstance(input, np.ndarray):  # strings count where they hold something
        input = torch.from_numpy(np.asarray(np.not_equal(input, b"") & np.not_equal(input, ""), bool))
    return _sum((input != 0).to(dtype.torch), axis, keepdims)


COUNT_NONZERO = Op("CountNonzero", "input:T -> @dtype", _count, rules.reduce, differentiable=False)


@export("count_nonzero", "math.count_nonzero")
@atomic
def count_nonzero(
    input_tensor: Any = None,
    axis: Any = None,
    keepdims: bool | None = None,
    dtype: Any = "int64",
    name: str | None = None,
    reduction_indices: Any = None,
    keep_dims: bool | None = None,
    input: Any = None,
) -> Tensor:
    """Return how many elements along some axes are not 0 (of strings: not empty), as a tensor of type `dtype`.

    axis, keepdims and their old names: as in `tf.reduce_sum`. input: `input_tensor` under its other name.
    """
    input_tensor = one_of("input_tensor", input_tensor, "input", input)
    axis = fixed_axis(one_of("axis", axis, "reduction_indices", reduction_indices))
    attrs = {
        "axis": axis,
        "keepdims": bool(one_of("keepdims", keepdims, "keep_dims", keep_dims)),
        "dtype": as_dtype(dtype),
    }
    with name_scope(name, "count_nonzero", [input_tensor]):
        return apply(COUNT_NONZERO, [input_tensor], attrs, "Sum")


def _cumulative(function: Callable[..., Any], first: int) -> Callable[..., torch.Tensor]:
    def compute(x: torch.Tensor, axis: int, exclusive: bool, reverse: bool) -> torch.Tensor:
        values = x.flip(axis) if reverse else x
        values = function(values, axis, dtype=x.dtype)
        if exclusive and x.shape[axis]:
            shifted = values.narrow(axis, 0, x.shape[axis] - 1)
            values = torch.cat([torch.full_like(values.narrow(axis, 0, 1), first), shifted], axis)
        return values.flip(axis) if reverse else values

    return compute


def _along(inputs: rules.Inputs, attrs: rules.Attrs) -> Any:
    dims = inputs[0].dims
    if dims is not None:
        rules.normal_axis(attrs["axis"], len(dims))
    return dims


CUMSUM = Op("Cumsum", "x:T -> T", _cumulative(torch.cumsum, 0), _along, {"T": NUMBERS})
CUMPROD = Op("Cumprod", "x:T -> T", _cumulative(torch.cumprod, 1), _along, {"T": NUMBERS})


@export("cumsum", "math.cumsum")
@atomic
def cumsum(x: Any, axis: Any = 0, exclusive: bool = False, reverse: bool = False, name: str | None = None) -> Tensor:
    """Return the sums of all elements up to each one along an axis.

    exclusive: leave the element itself out. reverse: sum from the end.

    Raises:
        ValueError: an axis that is not there.
    """
    return apply(CUMSUM, [x], {"axis": _one_axis(axis, "axis"), "exclusive": exclusive, "reverse": reverse}, name)


@export("cumprod", "math.cumprod")
@atomic
def cumprod(x: Any, axis: Any = 0, exclusive: bool = False, reverse: bool = False, name: str | None = None) -> Tensor:
    """Return the products of all elements up to each one along an axis.

    exclusive: leave the element itself out. reverse: multiply from the end.

    Raises:
        ValueError: an axis that is not there.
    """
    return apply(CUMPROD, [x], {"axis": _one_axis(axis, "axis"), "exclusive": exclusive, "reverse": reverse}, name)
