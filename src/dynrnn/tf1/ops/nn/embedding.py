"""Looking up rows of embedding tables, also of tables in several parts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from .... import errors
from ....graph.node import Tensor as EngineTensor
from ....graph.op import INDICES, Op
from ....graph.shape import Dims, merge_dims
from ...export import export
from ...graph import Tensor, atomic, get_default_graph
from ..apply import apply
from ..array.gathering import gather
from ..convert import convert_to_tensor
from ..math.clip import clip_by_norm


def _by_remainder(ids: torch.Tensor, parts: int, total: int) -> tuple[torch.Tensor, torch.Tensor]:
    return ids % parts, ids // parts


def _by_range(ids: torch.Tensor, parts: int, total: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Part and row of each id, where the parts are consecutive ranges and the first `total % parts` of them are one
    longer.
    """
    size, extra = total // parts, total % parts
    part = torch.maximum(ids // (size + 1), (ids - extra) // max(size, 1))
    return part, torch.where(part < extra, ids % (size + 1), (ids - extra) % max(size, 1))


_STRATEGIES = {"mod": _by_remainder, "div": _by_range}


def _partition(ids: torch.Tensor, parts: int, total: int, strategy: str) -> tuple[torch.Tensor, ...]:
    """For each part the rows that are looked up there; last, where each id's row is found when the parts' rows are
    joined.
    """
    flat = ids.reshape(-1)
    part, row = _STRATEGIES[strategy](flat, parts, total)
    outside = flat[(part < 0) | (part >= parts)]
    if len(outside):
        raise errors.InvalidArgumentError(
            None, None, f"id {outside[0].item()} is in none of the {parts} parts of the embedding table"
        )
    order = torch.argsort(part, stable=True)
    places = torch.empty_like(flat)
    places[order] = torch.arange(len(order), dtype=flat.dtype)
    return (*torch.split(row[order], torch.bincount(part, minlength=parts).tolist()), places)


def _partition_dims(inputs: Any, attrs: Any) -> list[Dims]:
    return [(None,)] * attrs["parts"] + [(inputs[0].shape.num_elements(),)]


def _stitch(ids: torch.Tensor, places: torch.Tensor, *rows: torch.Tensor) -> torch.Tensor:
    joined = torch.cat(rows)
    return joined[places.long()].reshape(*ids.shape, *joined.shape[1:])


def _stitch_dims(inputs: Any, attrs: Any) -> Dims:
    ids, tail = inputs[0].dims, None
    for tensor in inputs[2:]:
        tail = merge_dims(tail, None if tensor.dims is None else tensor.dims[1:])
    return None if ids is None or tail is None else (*ids, *tail)


PARTITION = Op(
    "EmbeddingPartition", "ids:I -> *I", _partition, _partition_dims, types={"I": INDICES}, differentiable=False
)
STITCH = Op("EmbeddingStitch", "ids:I places:I *rows:T -> T", _stitch, _stitch_dims, types={"I": INDICES})


@export("nn.embedding_lookup")
@atomic
def embedding_lookup(
    params: Any,
    ids: Any,
    partition_strategy: str = "mod",
    name: str | None = None,
    validate_indices: bool = True,
    max_norm: Any = None,
) -> Tensor:
    """Return the rows of `params` that `ids` names: `[*shape of ids, *row shape]`.

    params: a tensor or variable `[rows, ...]`; or a list of them, or a partitioned variable, whose parts hold the rows
    by partition_strategy: "mod" (id i is row i // parts of part i % parts) or "div" (part after part, the first `rows %
    parts` of them one row longer). ids: int32 or int64, any shape. max_norm: rows of a larger norm are scaled down to
    it. validate_indices: ids are checked in any case. The gradient to a variable that is only looked up is an
    IndexedSlices.

    Raises:
        ValueError: params is empty; an unknown partition_strategy; "div" with a part whose number of rows is not known.
        tf.errors.InvalidArgumentError: in run, an id that is no row.

    Example:
        >>> import dynrnn.tf1 as tf
        >>> table = tf.get_variable("table", [10, 4])
        >>> tf.nn.embedding_lookup(table, [[1, 2, 3]]).shape.as_list()
        [1, 3, 4]
    """
    parts = _parts(params)
    if partition_strategy not in _STRATEGIES:
        raise ValueError(f"Unrecognized partition strategy: {partition_strategy!r}; it must be 'mod' or 'div'")
    with get_default_graph().name_scope(name or "embedding_lookup") as scope:
        ids = convert_to_tensor(ids, name="ids")
        if len(parts) == 1:
            found = gather(parts[0], ids, name=scope)
        else:
            found = _lookup_in_parts(parts, ids, partition_strategy)
        return found if max_norm is None else clip_by_norm(found, max_norm, _row_axes(parts[0]))


def _parts(params: Any) -> list[Any]:
    if hasattr(params, "_get_variable_list"):
        params = params._get_variable_list()
    parts = list(params) if isinstance(params, (list, tuple)) else [params]
    if not parts or params is None:
        raise ValueError(
            f"embedding_lookup: params must be a tensor, a variable or a list of at least one of them, got {params!r}"
        )
    return parts


def _row_axes(part: Any) -> tuple[int, ...]:
    """The axes of one row, counted from the end."""
    rank = _shaped(part).shape.ndims
    if rank is None:
        raise ValueError(f"embedding_lookup: with max_norm the rank of params must be known, got {part}")
    return tuple(range(1 - rank, 0))


def _lookup_in_parts(parts: Sequence[Any], ids: EngineTensor, strategy: str) -> Tensor:
    rows = [tensor.shape.tuple[0] if tensor.shape.tuple else None for tensor in map(_shaped, parts)]
    if strategy == "div" and None in rows:
        raise ValueError(
            f"embedding_lookup: with partition_strategy='div' the parts' numbers of rows must be known, got {rows}"
        )
    total = sum(size or 0 for size in rows)
    *wanted, places = apply(PARTITION, [ids], {"parts": len(parts), "total": total, "strategy": strategy})
    found = [gather(part, row) for part, row in zip(parts, wanted, strict=True)]
    return apply(STITCH, [ids, places, found])


def _shaped(part: Any) -> Any:
    return part if hasattr(part, "shape") and hasattr(part.shape, "tuple") else convert_to_tensor(part)
