"""Comparisons, logic on bools, tests of single numbers, arithmetic on bits. No gradient passes through any of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from ....graph import rules
from ....graph.op import ANY, FLOATS, INTEGERS, REALS, Op
from ...export import export
from ...graph import Tensor, atomic
from ..apply import apply
from ..declare import binary, unary


def _equal(x: Any, y: Any) -> torch.Tensor:
    return torch.from_numpy(np.asarray(x == y, bool)) if isinstance(x, np.ndarray) else torch.eq(x, y)


def _not_equal(x: Any, y: Any) -> torch.Tensor:
    return torch.from_numpy(np.asarray(x != y, bool)) if isinstance(x, np.ndarray) else torch.ne(x, y)


# public name: (op type, function, dtypes, sign)
COMPARISONS: dict[str, tuple[str, Callable[..., Any], frozenset[str], str]] = {
    "equal": ("Equal", _equal, ANY, "=="),
    "not_equal": ("NotEqual", _not_equal, ANY, "!="),
    "less": ("Less", torch.lt, REALS, "<"),
    "less_equal": ("LessEqual", torch.le, REALS, "<="),
    "greater": ("Greater", torch.gt, REALS, ">"),
    "greater_equal": ("GreaterEqual", torch.ge, REALS, ">="),
}
LOGIC: dict[str, tuple[str, Callable[..., Any]]] = {
    "and": ("LogicalAnd", torch.logical_and),
    "or": ("LogicalOr", torch.logical_or),
    "xor": ("LogicalXor", torch.logical_xor),
}
TESTS: dict[str, tuple[str, Callable[..., Any], str]] = {
    "is_nan": ("IsNan", torch.isnan, "not a number"),
    "is_inf": ("IsInf", torch.isinf, "infinite"),
    "is_finite": ("IsFinite", torch.isfinite, "neither infinite nor NaN"),
}
BITS: dict[str, tuple[str, Callable[..., Any], str]] = {
    "and": ("BitwiseAnd", torch.bitwise_and, "x & y"),
    "or": ("BitwiseOr", torch.bitwise_or, "x | y"),
    "xor": ("BitwiseXor", torch.bitwise_xor, "x ^ y"),
}

FUNCTIONS: dict[str, Callable[..., Any]] = {}
for _name, (_type, _function, _types, _sign) in COMPARISONS.items():
    _row = Op(_type, "x:T y:T -> bool", _function, rules.broadcast, {"T": _types}, differentiable=False)
    _doc = f"Return whether x {_sign} y, a bool for every element of x and y, broadcast against each other."
    FUNCTIONS[_name] = binary(_row, _name, _name, f"math.{_name}", doc=_doc)
for _name, (_type, _function) in LOGIC.items():
    _row = Op(_type, "x:bool y:bool -> bool", _function, rules.broadcast, differentiable=False)
    _doc = f"Return x {_name} y, for every element of two tensors of bools, broadcast against each other."
    _name = f"logical_{_name}"
    FUNCTIONS[_name] = binary(_row, _name, _name, f"math.{_name}", doc=_doc)
for _name, (_type, _function, _what) in TESTS.items():
    _row = Op(_type, "x:T -> bool", _function, rules.same, {"T": FLOATS}, differentiable=False)
    _doc = f"Return whether an element is {_what}, a bool for every element of x."
    FUNCTIONS[_name] = unary(_row, _name, _name, f"math.{_name}", f"debugging.{_name}", doc=_doc)
for _name, (_type, _function, _what) in BITS.items():
    _row = Op(_type, "x:T y:T -> T", _function, rules.broadcast, {"T": INTEGERS}, differentiable=False)
    _doc = f"Return {_what}, bit by bit, for every element of two tensors of integers."
    FUNCTIONS[f"bitwise.bitwise_{_name}"] = binary(_row, f"bitwise_{_name}", f"bitwise.bitwise_{_name}", doc=_doc)

NOT = Op("LogicalNot", "x:bool -> bool", torch.logical_not, rules.same, differentiable=False)
INVERT = Op("Invert", "x:T -> T", torch.bitwise_not, rules.same, {"T": INTEGERS}, differentiable=False)
logical_not = unary(NOT, "logical_not", "logical_not", "math.logical_not", doc="Return `not x` for every bool of x.")
invert = unary(INVERT, "invert", "bitwise.invert", doc="Return x with every bit turned, for every integer of x.")
equal, not_equal, less = FUNCTIONS["equal"], FUNCTIONS["not_equal"], FUNCTIONS["less"]
less_equal, greater, greater_equal = FUNCTIONS["less_equal"], FUNCTIONS["greater"], FUNCTIONS["greater_equal"]
logical_and, logical_or, logical_xor = (FUNCTIONS[f"logical_{name}"] for name in LOGIC)


def _near(x: torch.Tensor, y: torch.Tensor, tolerance: float) -> torch.Tensor:
    return torch.abs(x - y) < tolerance


APPROXIMATE_EQUAL = Op("ApproximateEqual", "x:T y:T -> bool", _near, rules.merged, {"T": REALS}, differentiable=False)


@export("math.approximate_equal")
@atomic
def approximate_equal(x: Any, y: Any, tolerance: float = 1e-05, name: str | None = None) -> Tensor:
    """Return whether |x - y| < tolerance, a bool for every element of two tensors of one shape."""
    return apply(APPROXIMATE_EQUAL, [x, y], {"tolerance": tolerance}, name)
