"""Elementwise arithmetic: functions of one tensor, and of two that broadcast against each other.

Division is in `division.py`, comparisons and logic in `comparison.py`, conversions of types in `cast.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch.nn import functional

from ....graph import rules
from ....graph.dtype import as_dtype
from ....graph.gradients import IndexedSlices
from ....graph.op import COMPLEX, FLOATS, INEXACT, NUMBERS, REALS, Op
from ...export import export
from ...graph import Tensor, atomic
from ..apply import apply
from ..convert import convert_to_tensor
from ..declare import binary, unary
from . import derivatives


def _add(x: Any, y: Any) -> Any:
    if isinstance(x, np.ndarray):  # strings are joined
        return np.asarray(np.add(x, y), object)
    return torch.add(x, y)


def _squared_difference(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return torch.square(x - y)


# public name: (op type, function, dtypes, what the docs say, more public names)
UNARY: dict[str, tuple[str, Callable[..., Any], frozenset[str], str, tuple[str, ...]]] = {
    "negative": ("Neg", torch.neg, NUMBERS, "-x", ("math.negative",)),
    "sign": ("Sign", derivatives.sign, NUMBERS, "-1, 0 or 1, and x / |x| for complex x", ("math.sign",)),
    "square": ("Square", torch.square, NUMBERS, "x * x", ("math.square",)),
    "sqrt": ("Sqrt", torch.sqrt, INEXACT, "the square root of x", ("math.sqrt",)),
    "rsqrt": ("Rsqrt", torch.rsqrt, INEXACT, "1 / sqrt(x)", ("math.rsqrt",)),
    "reciprocal": ("Reciprocal", torch.reciprocal, INEXACT, "1 / x", ("math.reciprocal",)),
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
# public name: (op type, function, dtypes, what the docs say, more public names)
BINARY: dict[str, tuple[str, Callable[..., Any], frozenset[str], str, tuple[str, ...]]] = {
    "add": ("Add", _add, NUMBERS | {"string"}, "x + y; strings are joined", ("math.add",)),
    "subtract": ("Sub", torch.sub, NUMBERS, "x - y", ("math.subtract",)),
    "multiply": ("Mul", torch.mul, NUMBERS, "x * y", ("math.multiply",)),
    "pow": ("Pow", derivatives.power, NUMBERS, "x ** y", ("math.pow",)),
    "maximum": ("Maximum", derivatives.maximum, REALS, "the larger of x and y", ("math.maximum",)),
    "minimum": ("Minimum", derivatives.minimum, REALS, "the smaller of x and y", ("math.minimum",)),
    "squared_difference": (
        "SquaredDifference",
        _squared_difference,
        NUMBERS,
        "(x - y) ** 2",
        ("math.squared_difference",),
    ),
    "atan2": (
        "Atan2",
        torch.atan2,
        FLOATS,
        "the angle (radians) of the point (y, x), x being the first of two",
        ("math.atan2",),
    ),
    "igamma": (
        "Igamma",
        torch.special.gammainc,
        FLOATS,
        "the lower regularized incomplete gamma function",
        ("math.igamma",),
    ),
    "igammac": (
        "Igammac",
        torch.special.gammaincc,
        FLOATS,
        "the upper regularized incomplete gamma function",
        ("math.igammac",),
    ),
    "math.xlogy": ("Xlogy", derivatives.times_logarithm, INEXACT, "x log(y), and 0 where x is 0", ()),
    "math.xdivy": ("Xdivy", derivatives.zero_over, INEXACT, "x / y, and 0 where x is 0", ()),
}


def _sentence(what: str, of: str) -> str:
    return f"Return {what}, for every element of {of}."


FUNCTIONS: dict[str, Callable[..., Any]] = {}
for _name, (_type, _function, _types, _what, _paths) in UNARY.items():
    _row = Op(_type, "x:T -> T", _function, rules.same, {"T": _types})
    FUNCTIONS[_name] = unary(_row, _name.rpartition(".")[2], _name, *_paths, doc=_sentence(_what, "x"))
for _name, (_type, _function, _what, _paths) in STEPS.items():
    _row = Op(_type, "x:T -> T", _function, rules.same, {"T": FLOATS}, differentiable=False)
    FUNCTIONS[_name] = unary(_row, _name, _name, *_paths, doc=_sentence(_what, "x"))
for _name, (_type, _function, _types, _what, _paths) in BINARY.items():
    _row = Op(_type, "x:T y:T -> T", _function, rules.broadcast, {"T": _types})
    FUNCTIONS[_name] = binary(
        _row, _name.rpartition(".")[2], _name, *_paths, doc=_sentence(_what, "x and y, broadcast against each other")
    )

add, subtract, multiply = FUNCTIONS["add"], FUNCTIONS["subtract"], FUNCTIONS["multiply"]
maximum, minimum = FUNCTIONS["maximum"], FUNCTIONS["minimum"]
power, square, sqrt, exp, log = (
    FUNCTIONS["pow"],
    FUNCTIONS["square"],
    FUNCTIONS["sqrt"],
    FUNCTIONS["exp"],
    FUNCTIONS["log"],
)
tanh, sigmoid, negative, floor = (FUNCTIONS[name] for name in ("tanh", "sigmoid", "negative", "floor"))

ADD_V2 = Op("AddV2", "x:T y:T -> T", torch.add, rules.broadcast, {"T": NUMBERS})  # what `x + y` makes of numbers
ABS = Op("Abs", "x:T -> T", derivatives.absolute, rules.same, {"T": REALS})
COMPLEX_ABS = Op("ComplexAbs", "x:T -> @dtype", lambda x, dtype: torch.abs(x), rules.same, {"T": COMPLEX})
ROUND = Op("Round", "x:T -> T", torch.round, rules.same, {"T": FLOATS}, differentiable=False)


@export("abs", "math.abs")
@atomic
def absolute(x: Any, name: str | None = None) -> Tensor:
    """Return |x| for every element of x; of complex numbers their (real) length."""
    x = convert_to_tensor(x, name="x")
    if x.dtype.is_complex:
        return apply(COMPLEX_ABS, [x], {"dtype": x.dtype.base_dtype.real_dtype}, name or "Abs")
    return apply(ABS, [x], name=name)


@export("round", "math.round")
@atomic
def round_half_even(x: Any, name: str | None = None) -> Tensor:
    """Return the integer nearest to every element of x, of two the even one; integers come back as they are."""
    x = convert_to_tensor(x, name="x")
    return x if x.dtype.is_integer else apply(ROUND, [x], name=name)


ADD_N = Op("AddN", "*inputs:T -> T", lambda *inputs: _sum(inputs), rules.merged, {"T": NUMBERS})


def _sum(inputs: tuple[torch.Tensor, ...]) -> torch.Tensor:
    total = inputs[0].view_as(inputs[0])
    for value in inputs[1:]:
        total = total + value
    return total


@export("add_n", "math.add_n")
@atomic
def add_n(inputs: Any, name: str | None = None) -> Tensor:
    """Return the sum of a list of tensors of one shape and dtype.

    An `IndexedSlices` counts as the tensor that it stands for. A list of one tensor gives that tensor.

    Raises:
        ValueError: an empty list, or shapes that differ.
    """
    if not isinstance(inputs, (list, tuple)):
        inputs = [inputs]
    if not inputs:
        raise ValueError("inputs must be a list of at least one Tensor/IndexedSlices with the same dtype and shape")
    if len(inputs) == 1 and name is None:
        return convert_to_tensor(inputs[0])
    return apply(ADD_N, [list(inputs)], name=name)


@export("accumulate_n", "math.accumulate_n")
@atomic
def accumulate_n(inputs: Any, shape: Any = None, tensor_dtype: Any = None, name: str | None = None) -> Tensor:
    """Return the sum of a list of tensors of one shape and dtype.

    shape, tensor_dtype: what the tensors' common shape and dtype are known to be.

    Raises:
        ValueError: an empty list, or shapes that differ. TypeError: another dtype than `tensor_dtype`.
    """
    total = add_n(inputs, name)
    total.shape.assert_is_compatible_with(shape)
    if tensor_dtype is not None and as_dtype(tensor_dtype).base_dtype is not total.dtype.base_dtype:
        raise TypeError(f"tensor_dtype is {as_dtype(tensor_dtype).name}, but input is of type {total.dtype.name}")
    return total


@export("scalar_mul", "math.scalar_mul")
@atomic
def scalar_mul(scalar: Any, x: Any, name: str | None = None) -> Any:
    """Return x times a scalar; of an `IndexedSlices`, the slices with their values multiplied.

    Raises:
        ValueError: `scalar` has a rank other than 0.
    """
    slices = isinstance(x, IndexedSlices)
    values = x.values if slices else convert_to_tensor(x, name="x")
    scalar = convert_to_tensor(scalar, dtype=values.dtype.base_dtype, name="scalar")
    if scalar.shape.ndims != 0:
        raise ValueError(f"Only scalar multiply works, got shape {scalar.shape}")
    product = multiply(scalar, values, name)
    return IndexedSlices(product, x.indices, x.dense_shape) if slices else product
