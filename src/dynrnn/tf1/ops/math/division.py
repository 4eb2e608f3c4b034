"""Division in all its kinds, and remainders."""

from __future__ import annotations

from typing import Any

import torch

from ....errors import InvalidArgumentError
from ....graph import rules
from ....graph.dtype import as_dtype
from ....graph.op import INEXACT, REALS, Op
from ...export import export
from ...graph import Tensor, atomic
from ...scopes import name_scope
from ..apply import apply
from ..convert import convert_to_tensor
from ..declare import binary
from . import derivatives
from .cast import cast


def _nonzero(y: torch.Tensor) -> torch.Tensor:
    if not y.is_floating_point() and bool((y == 0).any()):
        raise InvalidArgumentError(None, None, "Integer division by zero")
    return y


def _floor_divide(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    # The quotient is rounded before it is floored, as in TensorFlow: 1.0 // 0.1 is 10.
    return torch.floor(x / y) if x.is_floating_point() else torch.div(x, _nonzero(y), rounding_mode="floor")


def _truncate_divide(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return torch.div(x, _nonzero(y), rounding_mode="trunc")


def _floor_mod(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return torch.remainder(x, _nonzero(y))


def _truncate_mod(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return torch.fmod(x, _nonzero(y))


_TWO = "x:T y:T -> T"
REAL_DIV = Op("RealDiv", _TWO, torch.div, rules.broadcast, {"T": INEXACT})
FLOOR_DIV = Op("FloorDiv", _TWO, _floor_divide, rules.broadcast, {"T": REALS}, differentiable=False)
FLOOR_MOD = Op("FloorMod", _TWO, _floor_mod, rules.broadcast, {"T": REALS})
TRUNCATE_DIV = Op("TruncateDiv", _TWO, _truncate_divide, rules.broadcast, {"T": REALS}, differentiable=False)
TRUNCATE_MOD = Op("TruncateMod", _TWO, _truncate_mod, rules.broadcast, {"T": REALS})
DIV_NO_NAN = Op("DivNoNan", _TWO, derivatives.divide_no_nan, rules.broadcast, {"T": INEXACT})

# what integers become when they are divided truly
_QUOTIENTS = {
    **dict.fromkeys(("int8", "int16", "uint8", "uint16"), "float32"),
    **dict.fromkeys(("int32", "int64", "uint32", "uint64"), "float64"),
}

realdiv = binary(REAL_DIV, "realdiv", "realdiv", doc="Return x / y, for every element of two tensors of floats.")
floor_div = binary(FLOOR_DIV, "floor_div", "floor_div", doc="Return x / y, rounded down.")
floormod = binary(
    FLOOR_MOD,
    "floormod",
    *("floormod", "mod", "math.floormod", "math.mod"),
    doc="Return what x / y, rounded down, leaves over; it has the sign of y.",
)
truncatediv = binary(
    TRUNCATE_DIV, "truncatediv", "truncatediv", doc="Return x / y, rounded towards 0; no gradient passes."
)
truncatemod = binary(
    TRUNCATE_MOD, "truncatemod", "truncatemod", doc="Return what x / y, rounded towards 0, leaves over."
)


def pair(x: Any, y: Any) -> tuple[Tensor, Tensor]:
    """Two operands as tensors; a plain value takes the other's dtype where it can."""
    if hasattr(y, "dtype") and not hasattr(x, "dtype"):
        y = convert_to_tensor(y, name="y")
        return convert_to_tensor(x, dtype_hint=y.dtype.base_dtype, name="x"), y
    x = convert_to_tensor(x, name="x")
    return x, convert_to_tensor(y, dtype_hint=x.dtype.base_dtype, name="y")


def _divide_as_floats(row: Op, x: Any, y: Any, name: str | None, default: str) -> Tensor:
    with name_scope(name, default, [x, y]) as scope:
        x, y = pair(x, y)
        dtype = x.dtype.base_dtype
        if dtype is not y.dtype.base_dtype:
            raise TypeError(f"x and y must have the same dtype, got {dtype!r} != {y.dtype.base_dtype!r}")
        if dtype.name in _QUOTIENTS:
            wanted = as_dtype(_QUOTIENTS[dtype.name])
            x, y = cast(x, wanted), cast(y, wanted)
        return apply(row, [x, y], name=scope)


@export("truediv", "math.truediv")
@atomic
def truediv(x: Any, y: Any, name: str | None = None) -> Tensor:
    """Return x / y as Python 3 divides: integers of 8 and 16 bits give float32, wider ones float64.

    Raises:
        TypeError: tensors of different dtypes.

    Example:
        >>> import dynrnn.tf1 as tf
        >>> with tf.Session() as sess:
        ...     print(sess.run(tf.truediv(tf.constant([1, 3]), 2)))
        [0.5 1.5]
    """
    return _divide_as_floats(REAL_DIV, x, y, name, "truediv")


@export("divide", "math.divide")
def divide(x: Any, y: Any, name: str | None = None) -> Any:
    """Return x / y as Python 3 divides; two Python numbers give a Python number."""
    plain = (int, float, complex)
    return x / y if isinstance(x, plain) and isinstance(y, plain) else truediv(x, y, name)


@export("div")
@atomic
def div(x: Any, y: Any, name: str | None = None) -> Tensor:
    """Return x / y as Python 2 divides: integers are rounded down, floats are not.

    Raises:
        TypeError: tensors of different dtypes.
    """
    with name_scope(name, "div", [x, y]) as scope:
        x, y = pair(x, y)
        return apply(REAL_DIV if x.dtype.is_floating or x.dtype.is_complex else FLOOR_DIV, [x, y], name=scope)


@export("floordiv", "math.floordiv")
@atomic
def floordiv(x: Any, y: Any, name: str | None = None) -> Tensor:
    """Return x / y, rounded down; no gradient passes."""
    with name_scope(name, "floordiv", [x, y]) as scope:
        return apply(FLOOR_DIV, pair(x, y), name=scope)


@export("div_no_nan", "math.divide_no_nan")
@atomic
def div_no_nan(x: Any, y: Any, name: str | None = None) -> Tensor:
    """Return x / y, and 0 wherever y is 0; so are the gradients there."""
    return _divide_as_floats(DIV_NO_NAN, x, y, name, "div_no_nan")
