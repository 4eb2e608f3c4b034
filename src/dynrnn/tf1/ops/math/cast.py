"""Conversion between element types, and between real and complex numbers."""

from __future__ import annotations

from typing import Any

import torch

from ....errors import UnimplementedError
from ....graph import rules
from ....graph.dtype import DType, as_dtype
from ....graph.gradients import IndexedSlices
from ....graph.op import COMPLEX, INEXACT, NUMBERS, REALS, Op
from ...export import export
from ...graph import Tensor, atomic
from ...sparse_tensor import SparseTensor, with_values
from ..apply import apply
from ..convert import convert_to_tensor


def _cast(x: torch.Tensor, dtype: DType) -> torch.Tensor:
    if not isinstance(x, torch.Tensor):  # strings: as in TensorFlow, only a run refuses them
        raise UnimplementedError(None, None, f"Cast string to {dtype.name} is not supported")
    if x.is_complex() and not dtype.is_complex:
        x = x.real
    result = x.to(dtype.torch)
    return result if result is not x else x.view_as(x)


def _saturate(x: torch.Tensor, dtype: DType) -> torch.Tensor:
    least, most = dtype.min, dtype.max
    result = x.to(dtype.torch)
    # The limits of wide types are no floats, so the ends are set by comparison instead of clamping before the cast.
    return torch.where(x >= most, most, torch.where(x <= least, least, result)).to(dtype.torch)


CAST = Op("Cast", "x:S -> @dtype", _cast, rules.same, {"S": NUMBERS | {"bool", "string"}})
SATURATE = Op("SaturateCast", "value:S -> @dtype", _saturate, rules.same, {"S": REALS})
_SHORT = {
    "float": "ToFloat",
    "double": "ToDouble",
    "int32": "ToInt32",
    "int64": "ToInt64",
    "bfloat16": "ToBFloat16",
    "complex64": "ToComplex64",
    "complex128": "ToComplex128",
}


@export("cast", "dtypes.cast")
@atomic
def cast(x: Any, dtype: Any, name: str | None = None) -> Any:
    """Return x with elements of type `dtype`; x itself where it has that type already.

    Floats become integers by dropping their fraction, numbers become bools by comparison with 0, complex numbers lose
    their imaginary part. Gradients pass between floating types only.

    x: a tensor of numbers or bools, or an `IndexedSlices` or a `SparseTensor`, whose values are cast.

    Raises:
        TypeError: `dtype` is not a type of numbers or bools. tf.errors.UnimplementedError: in run, x holds strings.
    """
    wanted = as_dtype(dtype).base_dtype
    if isinstance(x, IndexedSlices):
        return IndexedSlices(cast(x.values, wanted, name), x.indices, x.dense_shape)
    if isinstance(x, SparseTensor):
        return with_values(x, cast(x.values, wanted, name))
    x = convert_to_tensor(x, name="x")
    if x.dtype.base_dtype is wanted:
        return x
    if wanted.kind == "s":
        raise TypeError(f"cast: dtype must be a type of numbers or bool, got {wanted.name}; tf.as_string makes strings")
    return apply(CAST, [x], {"dtype": wanted}, name)


@export("saturate_cast", "dtypes.saturate_cast")
@atomic
def saturate_cast(value: Any, dtype: Any, name: str | None = None) -> Tensor:
    """Return `value` cast to `dtype`; what is out of its range becomes its least or largest value."""
    wanted = as_dtype(dtype).base_dtype
    value = convert_to_tensor(value, name="value")
    if value.dtype.min >= wanted.min and value.dtype.max <= wanted.max:
        return cast(value, wanted, name or "saturate_cast")
    return apply(SATURATE, [value], {"dtype": wanted}, name or "saturate_cast")


def _short(dtype: str, default: str) -> None:
    def convert(x: Any, name: str = default) -> Any:
        return cast(x, dtype, name)

    convert.__name__ = convert.__qualname__ = f"to_{dtype}"
    convert.__doc__ = f"Return x cast to {as_dtype(dtype).name}: `tf.cast` under its old name."
    export(f"to_{dtype}")(convert)


for _dtype, _default in _SHORT.items():
    _short(_dtype, _default)


# Complex numbers


def _complex(real: torch.Tensor, imag: torch.Tensor, dtype: DType) -> torch.Tensor:
    return torch.complex(*torch.broadcast_tensors(real, imag))


def _real(input: torch.Tensor, dtype: DType) -> torch.Tensor:
    return torch.real(input).clone()


def _imag(input: torch.Tensor, dtype: DType) -> torch.Tensor:
    return torch.imag(input).clone() if input.is_complex() else torch.zeros_like(input)


def _angle(input: torch.Tensor, dtype: DType) -> torch.Tensor:
    return torch.angle(input)


COMPLEX_OF = Op(
    "Complex", "real:T imag:T -> @dtype", _complex, rules.broadcast, {"T": frozenset(("float32", "float64"))}
)
REAL = Op("Real", "input:T -> @dtype", _real, rules.same, {"T": COMPLEX})
IMAG = Op("Imag", "input:T -> @dtype", _imag, rules.same, {"T": INEXACT})
ANGLE = Op("Angle", "input:T -> @dtype", _angle, rules.same, {"T": INEXACT})
CONJ = Op("Conj", "input:T -> T", torch.conj_physical, rules.same, {"T": COMPLEX})


@export("complex", "dtypes.complex")
@atomic
def complex_of(real: Any, imag: Any, name: str | None = None) -> Tensor:
    """Return the complex numbers real + imag i: complex64 of two float32 tensors, complex128 of two float64 ones."""
    real = convert_to_tensor(real, name="real")
    dtype = as_dtype("complex128" if real.dtype.base_dtype.name == "float64" else "complex64")
    return apply(COMPLEX_OF, [real, imag], {"dtype": dtype}, name)


@export("real", "math.real")
@atomic
def real(input: Any, name: str | None = None) -> Tensor:
    """Return the real part of every element; a real tensor comes back as it is."""
    input = convert_to_tensor(input, name="input")
    return apply(REAL, [input], {"dtype": input.dtype.base_dtype.real_dtype}, name) if input.dtype.is_complex else input


@export("imag", "math.imag")
@atomic
def imag(input: Any, name: str | None = None) -> Tensor:
    """Return the imaginary part of every element, 0 for real ones."""
    input = convert_to_tensor(input, name="input")
    return apply(IMAG, [input], {"dtype": input.dtype.base_dtype.real_dtype}, name)


@export("angle", "math.angle")
@atomic
def angle(input: Any, name: str | None = None) -> Tensor:
    """Return the argument (radians) of every element: 0 or pi for real ones."""
    input = convert_to_tensor(input, name="input")
    return apply(ANGLE, [input], {"dtype": input.dtype.base_dtype.real_dtype}, name)


@export("conj", "math.conj")
@atomic
def conj(x: Any, name: str | None = None) -> Tensor:
    """Return the complex conjugate of every element; a real tensor comes back as it is."""
    x = convert_to_tensor(x, name="x")
    return apply(CONJ, [x], name=name) if x.dtype.is_complex else x
