"""Strings to sparse tensors of their parts."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import torch

from ....graph.dtype import int64, string
from ....graph.op import Op
from ....graph.shape import Dims
from ...export import export
from ...graph import atomic, get_default_graph
from ...sparse_tensor import SparseTensor
from ..apply import apply
from ..convert import convert_to_tensor
from .text import Strings, static_text


def _by_letters(text: bytes, delimiter: bytes, skip_empty: bool) -> list[bytes]:
    if not delimiter:
        return [text[i : i + 1] for i in range(len(text))]
    if not text:
        return []
    parts = re.split(b"[" + re.escape(delimiter) + b"]", text)
    return [part for part in parts if part or not skip_empty]


def _by_separator(text: bytes, sep: bytes, maxsplit: int) -> list[bytes]:
    return text.split(sep or None, maxsplit)


def _packed(rows: list[list[bytes]]) -> tuple[torch.Tensor, Strings, torch.Tensor]:
    """The parts of each row as a sparse matrix."""
    places = [(b, k) for b, parts in enumerate(rows) for k in range(len(parts))]
    values = np.empty(len(places), object)
    values[:] = [part for parts in rows for part in parts]
    widest = max((len(parts) for parts in rows), default=0)
    return torch.tensor(places, dtype=torch.int64).reshape(-1, 2), values, torch.tensor([len(rows), widest])


def _split(value: Strings, delimiter: bytes, skip_empty: bool) -> tuple[torch.Tensor, Strings, torch.Tensor]:
    return _packed([_by_letters(text, delimiter, skip_empty) for text in value.tolist()])


def _split_whole(value: Strings, sep: bytes, maxsplit: int) -> tuple[torch.Tensor, Strings, torch.Tensor]:
    return _packed([_by_separator(text, sep, maxsplit) for text in value.tolist()])


def _split_dims(inputs: Any, attrs: Any) -> list[Dims]:
    dims = inputs[0].dims
    if dims is not None and len(dims) != 1:
        raise ValueError(f"string_split: Shape must be rank 1 but is rank {len(dims)}: source is {inputs[0].shape}")
    return [(None, 2), (None,), (2,)]


_SPLIT = Op("StringSplit", "input:string -> int64 string int64", _split, _split_dims)
_SPLIT_WHOLE = Op("StringSplitV2", "input:string -> int64 string int64", _split_whole, _split_dims)


@export("string_split")
@atomic
def string_split(
    source: Any, sep: Any = None, skip_empty: bool = True, delimiter: Any = None, name: str | None = None
) -> SparseTensor:
    """Return the parts of strings between delimiters, as a sparse matrix `[batch, most parts]` of strings.

    source: strings `[batch]`. sep, or `delimiter`, its other name: a string (default " ") each letter of which is a
    delimiter; "" takes strings apart into bytes. skip_empty: leave out empty parts.

    Raises:
        ValueError: `source` is no vector, or the delimiter is not known while the graph is built.

    Example:
        >>> import dynrnn.tf1 as tf
        >>> parts = tf.string_split(["a b", "c"])
        >>> tf.Session().run(tf.sparse_tensor_to_dense(parts, "")).tolist()
        [[b'a', b'b'], [b'c', b'']]
    """
    given = sep if sep is not None else delimiter
    letters = static_text("string_split", "delimiter", " " if given is None else given)
    with get_default_graph().name_scope(name or "StringSplit"):
        attrs = {"delimiter": letters, "skip_empty": bool(skip_empty)}
        return SparseTensor(*apply(_SPLIT, [convert_to_tensor(source, name="source", preferred_dtype=string)], attrs))


@export("strings.split")
@atomic
def strings_split(
    input: Any = None,
    sep: Any = None,
    maxsplit: int = -1,
    result_type: str = "SparseTensor",
    source: Any = None,
    name: str | None = None,
) -> SparseTensor:
    """Return the parts of strings as Python's `split` gives them, as a sparse matrix `[batch, most parts]` of strings.

    sep: the string between parts; None or "": any run of whitespace. maxsplit: how often to split at most; -1: always.

    Raises:
        ValueError: a result_type other than "SparseTensor"; `input` is no vector.
    """
    if result_type != "SparseTensor":
        raise ValueError(
            f"split: result_type must be 'SparseTensor', got {result_type!r}; ragged tensors are not there"
        )
    between = static_text("split", "sep", "" if sep is None else sep)
    with get_default_graph().name_scope(name or "StringSplit"):
        given = input if input is not None else source
        strings = convert_to_tensor(given, name="source", preferred_dtype=string)
        indices, values, sizes = apply(_SPLIT_WHOLE, [strings], {"sep": between, "maxsplit": int(maxsplit)})
        return SparseTensor(indices, values, convert_to_tensor(sizes, int64))
