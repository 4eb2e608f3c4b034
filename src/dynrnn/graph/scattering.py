"""Replacing some rows or elements of a variable, and counting with one. Assignments of the whole are in
`resources.py`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from .. import errors
from .executor import Runtime
from .node import Node
from .op import ANY, INDICES, NUMBERS, REALS, Op

Combine = Callable[[Any, torch.Tensor, Any], Any]  # (rows, where, updates) -> rows


def _replace(rows: Any, where: torch.Tensor, updates: Any) -> Any:
    """The rows with new ones at `where`; of several for one place, the last stays."""
    if isinstance(rows, np.ndarray):
        rows = rows.copy()
        rows[where.numpy()] = updates
        return rows
    places, which = torch.unique(where, return_inverse=True)
    last = torch.zeros_like(places).scatter_reduce(0, which, torch.arange(len(where)), "amax")
    return rows.index_copy(0, places, updates[last])


def _add(rows: torch.Tensor, where: torch.Tensor, updates: torch.Tensor) -> torch.Tensor:
    return rows.index_add(0, where, updates)


def _subtract(rows: torch.Tensor, where: torch.Tensor, updates: torch.Tensor) -> torch.Tensor:
    return rows.index_add(0, where, updates, alpha=-1)


def _reduce(how: str) -> Combine:
    def combine(rows: torch.Tensor, where: torch.Tensor, updates: torch.Tensor) -> torch.Tensor:
        places = where.reshape(-1, *[1] * (updates.ndim - 1)).expand_as(updates)
        return rows.scatter_reduce(0, places, updates, how)

    return combine


def _divide(rows: torch.Tensor, where: torch.Tensor, updates: torch.Tensor) -> torch.Tensor:
    """One update after the other, as rounding makes the order count; integers are cut off towards zero."""
    rows, mode = rows.clone(), None if rows.is_floating_point() or rows.is_complex() else "trunc"
    for place, update in zip(where.tolist(), updates, strict=True):
        rows[place] = torch.div(rows[place], update, rounding_mode=mode)
    return rows


def _bind(combine: Combine, by_index_vectors: bool) -> Callable[[Node, Runtime], Callable[..., Any]]:
    def bind(node: Node, runtime: Runtime) -> Callable[[Any, Any], Any]:
        holder = node.attrs["variable"]

        def update(indices: torch.Tensor, updates: Any) -> Any:
            vectors = indices if by_index_vectors else indices[..., None]
            with runtime.lock:
                before = runtime.read(holder)
                shape, axes = tuple(before.shape), vectors.shape[-1]
                head, tail = tuple(vectors.shape[:-1]), shape[axes:]
                where = _places(node, vectors, shape)
                if updates.ndim == 0:
                    spread = torch.broadcast_to if isinstance(updates, torch.Tensor) else np.broadcast_to
                    updates = spread(updates, head + tail)
                elif tuple(updates.shape) != head + tail:
                    raise errors.InvalidArgumentError(
                        None,
                        node,
                        f"{node.type}: updates must have shape {[*head, *tail]} (that of the indices, then that of "
                        f"what they name in {holder.name}), got {list(updates.shape)}",
                    )
                rows = before.reshape(math.prod(shape[:axes]), *tail)
                new = combine(rows, where, updates.reshape(len(where), *tail))
                runtime.write(holder, new.reshape(shape))
                return runtime.read(holder)

        return update

    return bind


def _places(node: Node, indices: torch.Tensor, shape: tuple[int, ...]) -> torch.Tensor:
    """The row of each index vector, where the axes that the vectors go over are counted as one."""
    axes = indices.shape[-1]
    flat = indices.reshape(-1, axes).long()
    sizes = torch.tensor(shape[:axes])
    outside = ((flat < 0) | (flat >= sizes)).any(1)
    if outside.any():
        first = int(outside.nonzero()[0])
        at = ", ".join(str(int(i)) for i in np.unravel_index(first, tuple(indices.shape[:-1]) or (1,)))
        value = flat[first].tolist()
        inside = f"{value[0]} is not in [0, {shape[0]})" if axes == 1 else f"{value} does not index into shape {shape}"
        raise errors.InvalidArgumentError(None, node, f"{node.type}: indices[{at}] = {inside}")
    strides = [math.prod(shape[axis + 1 : axes]) for axis in range(axes)]
    return (flat * torch.tensor(strides)).sum(1)


def _row(type: str, combine: Combine, dtypes: frozenset[str], by_index_vectors: bool = False) -> Op:
    return Op(
        type,
        "indices:I updates:T -> T",
        None,
        None,
        types={"T": dtypes, "I": INDICES},
        differentiable=False,
        bind=_bind(combine, by_index_vectors),
        stateful=True,
    )


# public name: row. The first list takes one index a row, the second a vector of indices an element or slice.
SCATTER = {
    "scatter_update": _row("ScatterUpdate", _replace, ANY),
    "scatter_add": _row("ScatterAdd", _add, NUMBERS),
    "scatter_sub": _row("ScatterSub", _subtract, NUMBERS),
    "scatter_mul": _row("ScatterMul", _reduce("prod"), NUMBERS),
    "scatter_div": _row("ScatterDiv", _divide, NUMBERS),
    "scatter_min": _row("ScatterMin", _reduce("amin"), REALS),
    "scatter_max": _row("ScatterMax", _reduce("amax"), REALS),
}
SCATTER_ND = {
    "scatter_nd_update": _row("ScatterNdUpdate", _replace, ANY, True),
    "scatter_nd_add": _row("ScatterNdAdd", _add, NUMBERS, True),
    "scatter_nd_sub": _row("ScatterNdSub", _subtract, NUMBERS, True),
}


def _bind_count(node: Node, runtime: Runtime) -> Callable[[], Any]:
    holder, limit = node.attrs["variable"], node.attrs["limit"]

    def count() -> Any:
        with runtime.lock:
            before = runtime.read(holder)
            if before.item() >= limit:
                raise errors.OutOfRangeError(None, node, f"Reached limit of {limit}: {holder.name} is {before.item()}")
            runtime.write(holder, before + 1)
            return before

    return count


COUNT_UP_TO = Op("CountUpTo", "-> T", None, None, differentiable=False, bind=_bind_count, stateful=True)
