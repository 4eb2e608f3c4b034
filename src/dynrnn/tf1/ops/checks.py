"""Checks of values, `tf.assert_equal` and the like: what is known while building is checked at once, the rest when it
runs. Checks of shapes and types are in `shape_checks.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...errors import InvalidArgumentError
from ...graph.constants import constant_value
from ...graph.op import REALS
from ..export import export
from ..graph import Operation, Tensor, atomic
from ..scopes import name_scope
from .array.reshaping import reshape
from .assertions import Assert
from .control import no_op
from .convert import convert_to_tensor
from .math.comparison import FUNCTIONS, less_equal
from .math.reduction import reduce_all


def _known(tensor: Tensor) -> np.ndarray | None:
    return constant_value(tensor) if tensor.op.context is None else None


def _shown(item: Any) -> str:
    known = _known(item) if isinstance(item, Tensor) else None
    return str(item if known is None else known)


def assertion(holds: Tensor, known: bool | None, data: Sequence[Any], summarize: int | None) -> Operation:
    """Return an operation that checks `holds` when it runs, or what stands for it where the outcome is known.

    Raises:
        InvalidArgumentError: it is known to be false.
    """
    if known is None:
        return Assert(holds, data, summarize)
    if not known:
        raise InvalidArgumentError(None, None, "\n".join(_shown(item) for item in data))
    return no_op(name="static_checks_determined_all_ok")


def _compare(
    op_name: str,
    sign: str,
    holds: Callable[[Any, Any], Tensor],
    holds_for_arrays: Callable[[np.ndarray, np.ndarray], Any],
    arguments: tuple[Any, Any, Sequence[Any] | None, int | None, str | None, str | None],
) -> Operation:
    x, y, data, summarize, message, name = arguments
    with name_scope(name, op_name):
        x = convert_to_tensor(x, name="x")
        y = convert_to_tensor(y, name="y", preferred_dtype=x.dtype.base_dtype)
        shown = [message] if message else []
        if data is None:
            shown.append(f"Condition x {sign} y did not hold element-wise:")
            shown += [f"x ({x.name}) = ", x, f"y ({y.name}) = ", y]
        else:
            shown += data
        first, second = _known(x), _known(y)
        condition = reduce_all(holds(x, y))
        known = None if first is None or second is None else bool(np.all(holds_for_arrays(first, second)))
        return assertion(condition, known, shown, summarize)


# public name: (sign, comparison of tensors, comparison of arrays)
_COMPARISONS: dict[str, tuple[str, str, Callable[[Any, Any], Any]]] = {
    "assert_equal": ("==", "equal", np.equal),
    "assert_none_equal": ("!=", "not_equal", np.not_equal),
    "assert_less": ("<", "less", np.less),
    "assert_less_equal": ("<=", "less_equal", np.less_equal),
    "assert_greater": (">", "greater", np.greater),
    "assert_greater_equal": (">=", "greater_equal", np.greater_equal),
}
_SIGNS: dict[str, tuple[str, str, Callable[[Any, Any], Any]]] = {
    "assert_positive": ("> 0", "greater", np.greater),
    "assert_non_negative": (">= 0", "greater_equal", np.greater_equal),
    "assert_negative": ("< 0", "less", np.less),
    "assert_non_positive": ("<= 0", "less_equal", np.less_equal),
}


def _make_comparison(op_name: str) -> Callable[..., Operation]:
    sign, function, of_arrays = _COMPARISONS[op_name]

    def check(
        x: Any,
        y: Any,
        data: Sequence[Any] | None = None,
        summarize: int | None = None,
        message: str | None = None,
        name: str | None = None,
    ) -> Operation:
        return _compare(op_name, sign, FUNCTIONS[function], of_arrays, (x, y, data, summarize, message, name))

    check.__doc__ = (
        f"Return an operation that fails unless x {sign} y for all elements of x and y, broadcast against each other.\n"
        "\n    data: what the error shows (default: x and y). summarize: how many elements of each (default: 3)."
        "\n    message: what the error begins with.\n"
        "\n    Raises:\n        tf.errors.InvalidArgumentError: in a run, or at once where x and y are constants.\n    "
    )
    return _named(check, op_name)


def _make_sign(op_name: str) -> Callable[..., Operation]:
    sign, function, of_arrays = _SIGNS[op_name]

    def check(
        x: Any,
        data: Sequence[Any] | None = None,
        summarize: int | None = None,
        message: str | None = None,
        name: str | None = None,
    ) -> Operation:
        with name_scope(name, op_name):
            x = convert_to_tensor(x, name="x")
            shown = [f"Condition x {sign} did not hold element-wise:", f"x ({x.name}) = ", x] if data is None else data
            known = _known(x)
            condition = reduce_all(FUNCTIONS[function](x, 0))
            return assertion(
                condition,
                None if known is None else bool(np.all(of_arrays(known, 0))),
                [*([message] if message else []), *shown],
                summarize,
            )

    check.__doc__ = (
        f"Return an operation that fails unless all elements of x are {sign}.\n"
        "\n    data, summarize, message: as for `tf.assert_equal`.\n    "
    )
    return _named(check, op_name)


def _named(check: Callable[..., Operation], op_name: str) -> Callable[..., Operation]:
    check.__name__ = check.__qualname__ = op_name
    return export(op_name, f"debugging.{op_name}")(atomic(check))


CHECKS = {
    **{op_name: _make_comparison(op_name) for op_name in _COMPARISONS},
    **{op_name: _make_sign(op_name) for op_name in _SIGNS},
}


@export("assert_near", "debugging.assert_near")
@atomic
def assert_near(
    x: Any,
    y: Any,
    rtol: Any = None,
    atol: Any = None,
    data: Sequence[Any] | None = None,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> Operation:
    """Return an operation that fails unless |x - y| <= atol + rtol * |y| for all elements.

    rtol, atol: numbers (default: 10 times the dtype's precision). data, summarize, message: as for `tf.assert_equal`.
    """
    with name_scope(name, "assert_near"):
        x = convert_to_tensor(x, name="x")
        y = convert_to_tensor(y, name="y", preferred_dtype=x.dtype.base_dtype)
        eps = 10 * float(np.finfo(x.dtype.base_dtype.numpy).eps)
        rtol, atol = eps if rtol is None else rtol, eps if atol is None else atol
        shown = data
        if shown is None:
            shown = [f"x and y not equal to tolerance rtol = {rtol}, atol = {atol}"]
            shown += [f"x ({x.name}) = ", x, f"y ({y.name}) = ", y]
        distance = abs(x - y)
        condition = reduce_all(less_equal(distance, atol + rtol * abs(y)))
        return Assert(condition, [*([message] if message else []), *shown], summarize)


@export("is_non_decreasing", "debugging.is_non_decreasing", "math.is_non_decreasing")
@atomic
def is_non_decreasing(x: Any, name: str | None = None) -> Tensor:
    """Return whether every element of x, in row-major order, is at least the one before it: a bool scalar."""
    with name_scope(name, "is_non_decreasing"):
        first, second = _neighbours(x)
        return reduce_all(less_equal(first, second))


@export("is_strictly_increasing", "debugging.is_strictly_increasing", "math.is_strictly_increasing")
@atomic
def is_strictly_increasing(x: Any, name: str | None = None) -> Tensor:
    """Return whether every element of x, in row-major order, is larger than the one before it: a bool scalar."""
    with name_scope(name, "is_strictly_increasing"):
        first, second = _neighbours(x)
        return reduce_all(FUNCTIONS["less"](first, second))


def _neighbours(x: Any) -> tuple[Tensor, Tensor]:
    tensor = convert_to_tensor(x, name="x")
    if tensor.dtype.base_dtype.name not in REALS:
        raise TypeError(f"Expected x to be numeric, instead found: {tensor}")
    flat = reshape(tensor, [-1])
    return flat[:-1], flat[1:]
