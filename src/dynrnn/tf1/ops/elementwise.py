"""Elementwise arithmetic: functions of one tensor, and of two that broadcast against each other.

Comparisons and logic are in `comparison.py`, conversions of types in `cast.py`, activations of networks in the nn tables.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch.nn import functional

from ...graph import rules
from ...graph.dtype import DType, float32, float64
from ...graph.op import FLOATS, INEXACT, INTEGERS, NUMBERS, REALS, Op
from ..export import export
from ..graph import Tensor, atomic, get_default_graph
from . import derivatives
from .apply import apply
from .convert import convert_to_tensor
from .declare import binary, unary


def _add(x: Any, y: Any) -> Any:
    if isinstance(x, np.ndarray):  # strings are joined
        return np.asarray(np.add(x, y), object)
    return torch.add(x, y)


def _floor_divide(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    # The quotient is rounded before it is floored, as in TensorFlow: 1.0 // 0.1 is 10.
    return torch.floor(x / y) if x.is_floating_point() else torch.div(x, y, rounding_mode="floor")


def _squared_difference(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return torch.square(x - y)


def _rsqrt(x: torch.Tensor) -> torch.Tensor:
    return torch.rsqrt(x)


def _cross(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return torch.linalg.cross(x, y)


def _lgamma(x: torch.Tensor) -> torch.Tensor:
    return torch.lgamma(x)


# public name: (op type, function, dtypes, what the docs say, more public names)
UNARY: dict[str, tuple[str, Callable[..., Any], frozenset[str], str, tuple[str, ...]]] = {
    "negative": ("Neg", torch.neg, NUMBERS, "-x", ("neg", "math.negative")),
    "sign": ("Sign", torch.sgn, NUMBERS, "-1, 0 or 1 by the sign of x, and x / |x| for complex x", ("math.sign",)),
    "square": ("Square", torch.square, NUMBERS, "x * x", ("math.square",)),
    "sqrt": ("Sqrt", torch.sqrt, INEXACT, "the square root of x", ("math.sqrt",)),
    "rsqrt": ("Rsqrt", torch.rsqrt, INEXACT, "1 / sqrt(x)", ("math.rsqrt",)),
    "reciprocal": ("Reciprocal", torch.reciprocal, INEXACT, "1 / x", ("math.reciprocal",)),
    "inv": ("Inv", torch.reciprocal, INEXACT, "1 / x", ()),
    "exp": ("Exp", torch.exp, INEXACT, "e ** x", ("math.exp",)),
    "expm1": ("Expm1", torch.expm1, INEXACT, "e ** x - 1, accurate near 0", ("math.expm1",)),
    "log": ("Log", torch.log, INEXACT, "the natural logarithm of x", ("math.log",)),
    "log1p": ("Log1p", torch.log1p, INEXACT, "log(1 + x), accurate near 0", ("math.log1p",)),
    "sin": ("Sin", torch.sin, INEXACT, "the sine of x (radians)", ("math.sin",)),
    "cos": ("Cos", torch.cos, INEXACT, "the cosine of x (radians)", ("math.cos",)),
    "tan": ("Tan", torch.tan, INEXACT, "the tangent of x (radians)", ("math.tan",)),
    "asin": ("Asin", torch.asin, INEXACT, "the angle (radians) whose sine is x", ("math.asin",)),
    "acos": ("Acos", torch.acos, INEXACT, "the angle (radians) whose cosine is x", ("math.acos",)),
    "atan": ("Atan", torch.atan, INEXACT, "the angle (radians) whose tangent is x", ("math.atan",)),
    "sinh": ("Sinh", torch.sinh, INEXACT, "the hyperbolic sine of x", ("math.sinh",)),
    "cosh": ("Cosh", torch.cosh, INEXACT, "the hyperbolic cosine of x", ("math.cosh",)),
    "tanh": ("Tanh", torch.tanh, INEXACT, "the hyperbolic tangent of x", ("math.tanh", "nn.tanh")),
    "asinh": ("Asinh", torch.asinh, INEXACT, "the number whose hyperbolic sine is x", ("math.asinh",)),
    "acosh": ("Acosh", torch.acosh, INEXACT, "the number whose hyperbolic cosine is x", ("math.acosh",)),
    "atanh": ("Atanh", torch.atanh, INEXACT, "the number whose hyperbolic tangent is x", ("math.atanh",)),
    "sigmoid": ("Sigmoid", torch.sigmoid, INEXACT, "1 / (1 + e ** -x)", ("math.sigmoid", "nn.sigmoid")),
    "log_sigmoid": ("LogSigmoid", functional.logsigmoid, FLOATS, "log(sigmoid(x))", ("math.log_sigmoid",)),
    "erf": ("Erf", torch.erf, FLOATS, "the error function of x", ("math.erf",)),
    "erfc": ("Erfc", torch.erfc, FLOATS, "1 - erf(x), accurate for large x", ("math.erfc",)),
    "lgamma": ("Lgamma", torch.lgamma, FLOATS, "log(|gamma(x)|)", ("math.lgamma",)),
    "digamma": ("Digamma", torch.digamma, FLOATS, "the derivative of lgamma at x", ("math.digamma",)),
    "math.bessel_i0": ("BesselI0", torch.special.i0, FLOATS, "the modified Bessel function of order 0", ()),
    "math.bessel_i0e": ("BesselI0e", torch.special.i0e, FLOATS, "e ** -|x| bessel_i0(x)", ()),
    "math.bessel_i1": ("BesselI1", torch.special.i1, FLOATS, "the modified Bessel function of order 1", ()),
    "math.bessel_i1e": ("BesselI1e", torch.special.i1e, FLOATS, "e ** -|x| bessel_i1(x)", ()),
}
# functions that are constant between jumps: no gradient passes
STEPS: dict[str, tuple[str, Callable[..., Any], str, tuple[str, ...]]] = {
    "ceil": ("Ceil", torch.ceil, "the least integer that is not below x", ("math.ceil",)),
    "floor": ("Floor", torch.floor, "the largest integer that is not above x", ("math.floor",)),
    "rint": ("Rint", torch.round, "the integer nearest to x, of two the even one", ("math.rint",)),
}
