"""Structures of sizes, which are what a cell's `state_size` is, and of what is nested likewise.

A size is an int, or a `torch.Size` for a tensor `[batch, *size]`; sizes are nested in tuples, lists, dicts and named
tuples. States that are held against such a structure are in `given_state.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import torch

from dynrnn import _nest


def is_size(sizes: Any) -> bool:
    """Say whether this is the size of one tensor.

    Example:
        >>> is_size(3), is_size(torch.Size([2, 3])), is_size((2, 3))
        (True, True, False)
    """
    if isinstance(sizes, tuple):  # the usual ones, known at once, also to the compiler
        return isinstance(sizes, torch.Size)
    return isinstance(sizes, int) or not _nest.is_nested(sizes)


def dims_of(size: Any) -> list[int]:
    """What a size says of the axes after the batch."""
    return list(size) if isinstance(size, torch.Size) else [size]


def children_of(sizes: Any) -> list[Any]:
    """The parts of a nest, in its own order."""
    return list(sizes.values()) if isinstance(sizes, Mapping) else list(sizes)


def part_names(sizes: Any) -> list[str]:
    """What the parts of a nest are called: `.c`, `[0]`, `['key']`.

    Example:
        >>> part_names((3, 4)), part_names({"a": 1})
        (['[0]', '[1]'], ["['a']"])
    """
    if isinstance(sizes, Mapping):
        return [f"[{key!r}]" for key in sizes]
    fields = getattr(sizes, "_fields", None)
    return [f".{field}" for field in fields] if fields else [f"[{index}]" for index in range(len(sizes))]


def rebuilt(sizes: Any, values: list[Any]) -> Any:
    """A nest like `sizes` with other parts, which come in its own order."""
    if isinstance(sizes, Mapping):
        return dict(zip(sizes, values, strict=True))
    return type(sizes)(*values) if hasattr(sizes, "_fields") else type(sizes)(values)


def labelled_leaves(nest: Any, name: str) -> Iterator[tuple[str, Any]]:
    """List the leaves of a nest in the order of `_nest.flatten`, each with what it is called inside `name`.

    Example:
        >>> list(labelled_leaves({"b": [1, 2], "a": {"x": 3}}, "state"))
        [("state['a']['x']", 3), ("state['b'][0]", 1), ("state['b'][1]", 2)]
    """
    if not _nest.is_nested(nest):
        yield name, nest
        return
    for label, part in labelled_parts(nest):
        yield from labelled_leaves(part, name + label)


def labelled_parts(nest: Any) -> list[tuple[str, Any]]:
    """The parts of a nest with what they are called, mappings by sorted key, as `_nest.flatten` takes them.

    Example:
        >>> labelled_parts({"b": 1, "a": 2})
        [("['a']", 2), ("['b']", 1)]
    """
    if isinstance(nest, Mapping):
        return [(f"[{key!r}]", nest[key]) for key in sorted(nest)]
    return list(zip(part_names(nest), children_of(nest), strict=True))
