"""Rows that only move elements about: what they do with numbers they do with strings too, by way of the elements'
places.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from ...graph.node import Node
from ...graph.op import Op


def moves(type: str, signature: str, compute: Callable[..., Any], shape: Any, **options: Any) -> Op:
    """Return a row whose `compute` takes elements from its inputs and makes no new ones, so that it serves strings as
    well.
    """

    def bind(node: Node, runtime: Any) -> Callable[..., Any]:
        if any(tensor.dtype.kind == "s" for tensor in node.inputs):
            return functools.partial(_move_strings, compute, node.attrs)
        return functools.partial(compute, **node.attrs) if node.attrs else compute

    return Op(type, signature, compute, shape, bind=bind, **options)


def _move_strings(compute: Callable[..., Any], attrs: dict[str, Any], *values: Any) -> Any:
    """Move the places of the strings as `compute` moves elements, then put the strings where their places went."""
    places: list[torch.Tensor] = []
    pool: list[np.ndarray] = []
    count = 0
    for value in values:
        if isinstance(value, np.ndarray):
            places.append(torch.arange(count, count + value.size).reshape(value.shape))
            pool.append(value.reshape(-1))
            count += value.size
        else:
            places.append(value)
    strings = np.concatenate(pool)
    moved = compute(*places, **attrs)
    if isinstance(moved, tuple):
        return tuple(_put(strings, item) for item in moved)
    return _put(strings, moved)


def _put(strings: np.ndarray, places: torch.Tensor) -> np.ndarray:
    return strings[places.reshape(-1).numpy()].reshape(tuple(places.shape))
