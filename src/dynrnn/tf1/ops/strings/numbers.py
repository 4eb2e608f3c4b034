"""Strings to numbers and numbers to strings."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import torch

from .... import errors
from ....graph import rules
from ....graph.dtype import DType, as_dtype, float32, to_numpy, to_torch
from ....graph.op import NUMBERS, Op
from ....graph.shape import Dims
from ...export import export
from ...graph import Tensor, atomic
from ..apply import apply
from ..convert import convert_to_tensor
from .text import Strings, each

_FLOAT = re.compile(rb"\s*[+-]?(\d+\.?\d*(e[+-]?\d+)?|\.\d+(e[+-]?\d+)?|inf(inity)?|nan)\s*", re.IGNORECASE)
_INTEGER = re.compile(rb"\s*[+-]?\d+\s*")
_OUT = ("float32", "float64", "int32", "int64")


def _as_string(value: torch.Tensor, format: str, dtype: DType) -> Strings:
    array = to_numpy(value)
    if dtype.kind == "b":
        return each(lambda item: b"true" if item else b"false", array)
    if dtype.kind == "c":
        return each(lambda item: f"({format % item.real},{format % item.imag})".encode(), array)
    if array.dtype.kind == "V":
        array = array.astype(np.float32)
    return each(lambda item: (format % item).encode(), array)


def _to_number(value: Strings, dtype: DType) -> torch.Tensor:
    return torch.from_numpy(each(lambda text: _number(text, dtype), value, dtype=dtype.numpy))


def _number(text: bytes, dtype: DType) -> float | int:
    if dtype.kind == "f" and _FLOAT.fullmatch(text):
        return float(text)
    if dtype.kind == "i" and _INTEGER.fullmatch(text):
        number = int(text)
        if dtype.min <= number <= dtype.max:
            return number
    raise errors.InvalidArgumentError(
        None, None, f"StringToNumberOp could not correctly convert string: {text.decode(errors='replace')}"
    )


def _decode(value: Strings, dtype: DType, little_endian: bool) -> Any:
    texts = value.reshape(-1).tolist()
    size, length = dtype.size, len(texts[0]) if texts else 0
    for i, text in enumerate(texts):
        if len(text) != length:
            raise errors.InvalidArgumentError(
                None,
                None,
                f"DecodeRaw requires input strings to all be the same size, but element {i} has size {len(text)} != "
                f"{length}",
            )
    if length % size:
        raise errors.InvalidArgumentError(
            None, None, f"Input to DecodeRaw has length {length} that is not a multiple of {size}, the size of "
            f"{dtype.name}"
        )  # fmt: skip
    order = "<" if little_endian else ">"
    array = np.frombuffer(b"".join(texts), dtype.numpy.newbyteorder(order)).astype(dtype.numpy)
    return to_torch(array.reshape(*value.shape, length // size))


def _decode_dims(inputs: Any, attrs: Any) -> Dims:
    dims = inputs[0].dims
    return None if dims is None else (*dims, None)


_AS_STRING = Op("AsString", "input:T -> string", _as_string, rules.same, {"T": NUMBERS | {"bool"}})
_TO_NUMBER = Op("StringToNumber", "string_tensor:string -> @dtype", _to_number, rules.same)
_DECODE = Op("DecodeRaw", "bytes:string -> @dtype", _decode, _decode_dims)


@export("as_string", "dtypes.as_string", "strings.as_string")
@atomic
def as_string(
    input: Any,
    precision: int = -1,
    scientific: bool = False,
    shortest: bool = False,
    width: int = -1,
    fill: str = "",
    name: str | None = None,
) -> Tensor:
    """Return numbers and bools as text, as C's printf writes them: 1.5 is "1.500000", True is "true".

    precision: digits behind the point of floats (-1: six). scientific: with an exponent; shortest: whichever is
    shorter. width, fill: the least length, and what fills it: " " (default), "0", or "-" for spaces behind.

    Raises:
        ValueError: `scientific` and `shortest` together, or for integers; an unknown fill.

    Example:
        >>> import dynrnn.tf1 as tf
        >>> tf.Session().run(tf.as_string([3.14159, 2.0], precision=2)).tolist()
        [b'3.14', b'2.00']
    """
    input = convert_to_tensor(input, name="input")
    if input.dtype.kind == "s":
        return input
    floating = input.dtype.kind in "fc"
    if (scientific and shortest) or ((scientific or shortest or precision > -1) and not floating):
        raise ValueError(
            f"as_string: scientific, shortest and precision are for floats, and the first two exclude each other; got "
            f"scientific={scientific}, shortest={shortest}, precision={precision} for {input.dtype.name}"
        )
    if fill not in ("", " ", "-", "0", "+"):
        raise ValueError(f"as_string: fill must be one of '', ' ', '-', '0', '+', got {fill!r}")
    letter = ("e" if scientific else "g" if shortest else "f") if floating else "d"
    size = fill + str(width) if width > -1 else ""
    digits = f".{precision}" if precision > -1 else ""
    return apply(_AS_STRING, [input], {"format": f"%{size}{digits}{letter}", "dtype": input.dtype.base_dtype}, name)


@export("string_to_number", "strings.to_number")
@atomic
def string_to_number(string_tensor: Any = None, out_type: Any = float32, name: str | None = None,
                     input: Any = None) -> Tensor:  # fmt: skip
    """Return the numbers that strings spell, as `out_type` (float32, float64, int32 or int64).

    Raises:
        TypeError: another out_type. tf.errors.InvalidArgumentError: in run, a string that spells no such number.

    Example:
        >>> import dynrnn.tf1 as tf
        >>> tf.Session().run(tf.string_to_number(["1.5", " 2 "])).tolist()
        [1.5, 2.0]
    """
    dtype = as_dtype(out_type).base_dtype
    if dtype.name not in _OUT:
        raise TypeError(f"string_to_number: out_type must be one of {', '.join(_OUT)}, got {dtype.name}")
    strings = string_tensor if string_tensor is not None else input
    return apply(_TO_NUMBER, [strings], {"dtype": dtype}, name)


@export("decode_raw", "io.decode_raw")
@atomic
def decode_raw(
    input_bytes: Any = None, out_type: Any = None, little_endian: bool = True, name: str | None = None,
    bytes: Any = None,
) -> Tensor:  # fmt: skip
    """Return the numbers that strings of bytes hold, `[*shape, bytes // size of out_type]`; all strings are as long.

    Raises:
        TypeError: `out_type` is no type of numbers. tf.errors.InvalidArgumentError: in run, lengths differ or are no
        multiple of the type's size.
    """
    dtype = as_dtype(out_type).base_dtype
    if dtype.kind == "s":
        raise TypeError(f"decode_raw: out_type must be a type of numbers, got {dtype.name}")
    strings = input_bytes if input_bytes is not None else bytes
    return apply(_DECODE, [strings], {"dtype": dtype, "little_endian": bool(little_endian)}, name)
