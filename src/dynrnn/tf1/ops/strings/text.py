"""Strings to strings: join, cut, strip, change of case, replacement by patterns; and their lengths."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch

from .... import errors
from ....graph import rules
from ....graph.constants import constant_value
from ....graph.op import INDICES, Op
from ....graph.shape import Dims
from ...export import export
from ...graph import Tensor, atomic
from ..apply import apply
from ..convert import convert_to_tensor

Strings = np.ndarray  # of bytes objects


def each(function: Callable[..., Any], *values: Strings, dtype: Any = object) -> np.ndarray:
    """Return an array of `function` of each item of arrays of one shape."""
    items = [function(*parts) for parts in zip(*(value.reshape(-1).tolist() for value in values), strict=True)]
    result = np.empty(values[0].shape, dtype)
    result.reshape(-1)[:] = items
    return result


def static_text(function: str, name: str, value: Any) -> bytes:
    """Return a string argument that is fixed while the graph is built, as bytes.

    Raises:
        ValueError: a tensor whose value is not known. TypeError: no string.
    """
    if isinstance(value, Tensor):
        known = constant_value(value)
        if known is None or known.ndim:
            raise ValueError(f"{function}: {name} must be a string known while the graph is built, got {value}")
        value = known.item()
    if not isinstance(value, (str, bytes)):
        raise TypeError(f"{function}: {name} must be a string, got {value!r}")
    return value.encode() if isinstance(value, str) else value


def _join(*values: Strings, separator: bytes) -> Strings:
    shapes = {value.shape for value in values if value.ndim}
    if len(shapes) > 1:
        raise errors.InvalidArgumentError(
            None, None, f"Input shapes do not match: {' vs. '.join(str(list(shape)) for shape in sorted(shapes))}"
        )
    shape = shapes.pop() if shapes else ()
    return each(lambda *parts: separator.join(parts), *(np.broadcast_to(value, shape) for value in values))


def _join_dims(inputs: Any, attrs: Any) -> Dims:
    wide = [tensor for tensor in inputs if tensor.dims != ()]
    return rules.merged(wide, attrs) if wide else ()


def _reduce_join(value: Strings, axis: tuple[int, ...] | None, keepdims: bool, separator: bytes) -> Strings:
    axes = tuple(range(value.ndim))[::-1] if axis is None else tuple(item % value.ndim for item in axis)
    stay = [i for i in range(value.ndim) if i not in axes]
    # The first axis named is joined first: it is the innermost one.
    flat = value.transpose(*stay, *axes[::-1]).reshape(*(value.shape[i] for i in stay), -1)
    joined = np.empty(flat.shape[:-1], object)
    for index in np.ndindex(joined.shape):
        joined[index] = separator.join(flat[index].tolist())
    return joined.reshape([1 if i in axes else size for i, size in enumerate(value.shape)]) if keepdims else joined


def _reduce_join_dims(inputs: Any, attrs: Any) -> Dims:
    return rules.reduce(inputs, attrs)


def _cut(value: Strings, start: torch.Tensor, length: torch.Tensor, unit: str) -> Strings:
    strings, starts, counts = np.broadcast_arrays(value, start.numpy(), length.numpy())
    return each(lambda text, pos, count: _part(text, pos, count, unit), strings, starts, counts)


def _part(text: bytes, pos: int, count: int, unit: str) -> bytes:
    whole: Any = text.decode() if unit == "UTF8_CHAR" else text
    if not -len(whole) <= pos <= len(whole):
        raise errors.InvalidArgumentError(None, None, f"pos {pos} out of range for string {text!r}")
    begin = pos if pos >= 0 else len(whole) + pos
    found = whole[begin : begin + max(count, 0)]
    return found.encode() if isinstance(found, str) else found


def _length(value: Strings, unit: str) -> torch.Tensor:
    count = (lambda text: len(text.decode(errors="replace"))) if unit == "UTF8_CHAR" else len
    return torch.from_numpy(each(count, value, dtype=np.int32))


def _lower(value: Strings, encoding: str) -> Strings:
    return each(lambda text: text.decode().lower().encode() if encoding else text.lower(), value)


def _upper(value: Strings, encoding: str) -> Strings:
    return each(lambda text: text.decode().upper().encode() if encoding else text.upper(), value)


def _strip(value: Strings) -> Strings:
    return each(bytes.strip, value)


def _replace(value: Strings, pattern: bytes, rewrite: bytes, every: bool) -> Strings:
    found, count = re.compile(_text(pattern)), 0 if every else 1
    parts = re.split(r"\\(.)", _text(rewrite))  # text, escaped letter, text, escaped letter ...

    def put(match: re.Match[str]) -> str:
        return "".join(
            part if i % 2 == 0 else (match[int(part)] or "") if part.isdigit() else part for i, part in enumerate(parts)
        )

    return each(lambda text: found.sub(put, _text(text), count=count).encode(errors="surrogateescape"), value)


def _text(value: bytes) -> str:
    return value.decode(errors="surrogateescape")


def _full_match(value: Strings, pattern: bytes) -> torch.Tensor:
    found = re.compile(_text(pattern))
    return torch.from_numpy(each(lambda text: found.fullmatch(_text(text)) is not None, value, dtype=bool))


def _broadcast(inputs: Sequence[Any], attrs: Any) -> Dims:
    return rules.broadcast(inputs, attrs)


_JOIN = Op("StringJoin", "*inputs:string -> string", _join, _join_dims)
_REDUCE_JOIN = Op("ReduceJoin", "inputs:string -> string", _reduce_join, _reduce_join_dims)
_SUBSTR = Op("Substr", "input:string pos:I len:I -> string", _cut, _broadcast, {"I": INDICES})
_LENGTH = Op("StringLength", "input:string -> int32", _length, rules.same)
_LOWER = Op("StringLower", "input:string -> string", _lower, rules.same)
_UPPER = Op("StringUpper", "input:string -> string", _upper, rules.same)
_STRIP = Op("StringStrip", "input:string -> string", _strip, rules.same)
_REPLACE = Op("StaticRegexReplace", "input:string -> string", _replace, rules.same)
_MATCH = Op("StaticRegexFullMatch", "input:string -> bool", _full_match, rules.same)
_UNITS = ("BYTE", "UTF8_CHAR")


@export("string_join", "strings.join")
@atomic
def string_join(inputs: Any, separator: Any = "", name: str | None = None) -> Tensor:
    """Return the strings of all `inputs` joined item by item, `separator` between them; scalars go with any shape.

    Raises:
        ValueError: static shapes differ. tf.errors.InvalidArgumentError: shapes differ in a run.

    Example:
        >>> import dynrnn.tf1 as tf
        >>> tf.Session().run(tf.string_join([["a", "b"], "x"], "-")).tolist()
        [b'a-x', b'b-x']
    """
    return apply(_JOIN, [inputs], {"separator": static_text("string_join", "separator", separator)}, name)


@export("reduce_join", "strings.reduce_join")
@atomic
def reduce_join(
    inputs: Any,
    axis: Any = None,
    keep_dims: bool | None = None,
    separator: Any = "",
    name: str | None = None,
    reduction_indices: Any = None,
    keepdims: bool | None = None,
) -> Tensor:
    """Return strings joined along axes, the first axis of the list innermost; None: all axes, the last one innermost.

    Raises:
        ValueError: an axis is out of range.
    """
    axis = reduction_indices if axis is None else axis
    axes = tuple(int(item) for item in np.atleast_1d(axis)) if axis is not None else None
    keep = bool(keepdims if keepdims is not None else keep_dims)
    attrs = {"axis": axes, "keepdims": keep, "separator": static_text("reduce_join", "separator", separator)}
    return apply(_REDUCE_JOIN, [inputs], attrs, name)


def _unit(function: str, unit: str) -> str:
    if unit not in _UNITS:
        raise ValueError(f"{function}: unit must be 'BYTE' or 'UTF8_CHAR', got {unit!r}")
    return unit


@export("substr", "strings.substr")
@atomic
def substr(input: Any, pos: Any, len: Any, name: str | None = None, unit: str = "BYTE") -> Tensor:
    """Return `len` bytes (or characters, unit="UTF8_CHAR") of each string from place `pos` on, fewer at its end.

    pos, len: int32 or int64, broadcast with `input`; a negative `pos` counts from the end.

    Raises:
        tf.errors.InvalidArgumentError: in run, `pos` is outside of a string.

    Example:
        >>> import dynrnn.tf1 as tf
        >>> tf.Session().run(tf.substr(["hello", "world"], 1, 3)).tolist()
        [b'ell', b'orl']
    """
    return apply(_SUBSTR, [input, pos, len], {"unit": _unit("substr", unit)}, name)


@export("strings.length")
@atomic
def string_length(input: Any, name: str | None = None, unit: str = "BYTE") -> Tensor:
    """Return the number of bytes (or of characters, unit="UTF8_CHAR") of each string, int32."""
    return apply(_LENGTH, [input], {"unit": _unit("length", unit)}, name)


@export("strings.lower")
@atomic
def string_lower(input: Any, encoding: str = "", name: str | None = None) -> Tensor:
    """Return strings in small letters: A to Z only, or all letters with encoding="utf-8"."""
    return apply(_LOWER, [input], {"encoding": encoding}, name)


@export("strings.upper")
@atomic
def string_upper(input: Any, encoding: str = "", name: str | None = None) -> Tensor:
    """Return strings in capitals: a to z only, or all letters with encoding="utf-8"."""
    return apply(_UPPER, [input], {"encoding": encoding}, name)


@export("string_strip", "strings.strip")
@atomic
def string_strip(input: Any, name: str | None = None) -> Tensor:
    """Return strings without the whitespace at their ends."""
    return apply(_STRIP, [input], name=name)


def _pattern(function: str, value: Any) -> bytes:
    pattern = static_text(function, "pattern", value)
    try:
        re.compile(_text(pattern))
    except re.error as error:
        raise ValueError(f"{function}: pattern {pattern!r} is not one that Python's re understands: {error}") from error
    return pattern


@export("regex_replace", "strings.regex_replace")
@atomic
def regex_replace(
    input: Any, pattern: Any, rewrite: Any, replace_global: bool = True, name: str | None = None
) -> Tensor:
    r"""Return strings in which each match of `pattern` (or the first, replace_global=False) becomes `rewrite`.

    pattern: as Python's `re` has it; `\pL` and other classes that only RE2 knows are refused. rewrite: \1 to \9 stand
    for the groups of the match, \0 for the whole.

    Raises:
        ValueError: `pattern` is none, or not known while the graph is built.

    Example:
        >>> import dynrnn.tf1 as tf
        >>> tf.Session().run(tf.regex_replace("a1b22", r"(\d+)", r"<\1>"))
        b'a<1>b<22>'
    """
    attrs = {
        "pattern": _pattern("regex_replace", pattern),
        "rewrite": static_text("regex_replace", "rewrite", rewrite),
        "every": bool(replace_global),
    }
    return apply(_REPLACE, [input], attrs, name)


@export("strings.regex_full_match")
@atomic
def regex_full_match(input: Any, pattern: Any, name: str | None = None) -> Tensor:
    """Return whether `pattern` (as Python's `re` has it) matches the whole of each string, bool.

    Raises:
        ValueError: `pattern` is none, or not known while the graph is built.
    """
    return apply(_MATCH, [convert_to_tensor(input)], {"pattern": _pattern("regex_full_match", pattern)}, name)
