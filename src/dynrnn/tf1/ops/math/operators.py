"""Python's operators on tensors, installed on the tensor class, and on any class that stands for a tensor.

Indexing is installed with the slicing operations. `==` stays a comparison of identity, as in TensorFlow 1.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...graph import Tensor
from ...scopes import name_scope
from ..apply import apply
from ..convert import convert_to_tensor
from .comparison import (
    greater,
    greater_equal,
    invert,
    less,
    less_equal,
    logical_and,
    logical_not,
    logical_or,
    logical_xor,
)
from .division import FLOOR_DIV, FLOOR_MOD, div, truediv
from .elementwise import ADD_V2, absolute, add, multiply, negative, power, subtract
from .linalg import matmul

Function = Callable[..., Any]


def _add(x: Tensor, y: Tensor, name: str | None = None) -> Any:
    return add(x, y, name) if x.dtype.kind == "s" else apply(ADD_V2, [x, y], name=name)


def _floor_div(x: Tensor, y: Tensor, name: str | None = None) -> Any:
    return apply(FLOOR_DIV, [x, y], name=name)


def _mod(x: Tensor, y: Tensor, name: str | None = None) -> Any:
    return apply(FLOOR_MOD, [x, y], name=name)


# the operator's Python name: (function, name of the nodes it makes)
ARITHMETIC: dict[str, tuple[Function, str]] = {
    "add": (_add, "add"),
    "sub": (subtract, "sub"),
    "mul": (multiply, "mul"),
    "div": (div, "div"),
    "truediv": (truediv, "truediv"),
    "floordiv": (_floor_div, "floordiv"),
    "mod": (_mod, "mod"),
    "pow": (power, "pow"),
    "matmul": (matmul, "matmul"),
    "and": (logical_and, "and"),
    "or": (logical_or, "or"),
    "xor": (logical_xor, "xor"),
}
COMPARISONS: dict[str, tuple[Function, str]] = {
    "lt": (less, "Less"),
    "le": (less_equal, "LessEqual"),
    "gt": (greater, "Greater"),
    "ge": (greater_equal, "GreaterEqual"),
}


def _forward(function: Function, name: str, reflected: str | None) -> Function:
    def operator(self: Any, other: Any) -> Any:
        with self.graph.atomic(), name_scope(None, name, [self, other]) as scope:
            x = convert_to_tensor(self)
            try:
                y = convert_to_tensor(other, dtype_hint=x.dtype.base_dtype, name="y")
            except TypeError:
                if reflected is not None and hasattr(type(other), reflected):
                    return NotImplemented
                raise
            return function(x, y, name=scope)

    return operator


def _reflected(function: Function, name: str) -> Function:
    def operator(self: Any, other: Any) -> Any:
        with self.graph.atomic(), name_scope(None, name, [other, self]) as scope:
            y = convert_to_tensor(self)
            x = convert_to_tensor(other, dtype=y.dtype.base_dtype, name="x")
            return function(x, y, name=scope)

    return operator


def _unary(function: Function) -> Function:
    def operator(self: Any) -> Any:
        with self.graph.atomic():
            return function(convert_to_tensor(self))

    return operator


def _not(x: Tensor) -> Any:
    return invert(x) if x.dtype.is_integer else logical_not(x)


UNARY: dict[str, Function] = {"neg": negative, "abs": absolute, "invert": _not}


def install(cls: type) -> None:
    """Give a class Python's operators. Its objects must be tensors, or turn into them and know their graph."""
    for python_name, (function, name) in ARITHMETIC.items():
        setattr(cls, f"__{python_name}__", _forward(function, name, f"__r{python_name}__"))
        setattr(cls, f"__r{python_name}__", _reflected(function, name))
    for python_name, (function, name) in COMPARISONS.items():
        setattr(cls, f"__{python_name}__", _forward(function, name, None))
    for python_name, function in UNARY.items():
        setattr(cls, f"__{python_name}__", _unary(function))


install(Tensor)
