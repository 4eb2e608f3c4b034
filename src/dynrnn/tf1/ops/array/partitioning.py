"""Dealing slices out by number and putting them together again: dynamic_partition, dynamic_stitch."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from .... import errors
from ....graph.constants import constant_value
from ....graph.shape import Dims, merge_dims
from ...export import export
from ...graph import Tensor, atomic
from ..apply import apply
from ..arguments import static_int
from ..moving import moves


def _partition(data: torch.Tensor, partitions: torch.Tensor, num_partitions: int) -> tuple[torch.Tensor, ...]:
    flat = partitions.reshape(-1)
    bad = (flat < 0) | (flat >= num_partitions)
    if bad.any():
        place = int(bad.nonzero()[0])
        raise errors.InvalidArgumentError(
            None, None, f"partitions[{place}] = {int(flat[place])} is not in [0, {num_partitions})"
        )
    rows = data.reshape(len(flat), *data.shape[partitions.ndim :])
    return tuple(rows.index_select(0, (flat == i).nonzero().reshape(-1)) for i in range(num_partitions))


def _partition_dims(inputs: Any, attrs: Any) -> list[Dims]:
    data, partitions = inputs[0].dims, inputs[1].dims
    if data is not None and partitions is not None:
        merge_dims(data[: len(partitions)], partitions)
        return [(None, *data[len(partitions) :])] * attrs["num_partitions"]
    return [None] * attrs["num_partitions"]


def _stitch(*values: torch.Tensor) -> torch.Tensor:
    half = len(values) // 2
    places = torch.cat([indices.reshape(-1) for indices in values[:half]]).numpy()
    tail = values[half].shape[values[0].ndim :]
    rows = torch.cat([data.reshape(at.numel(), *tail) for at, data in zip(values[:half], values[half:], strict=True)])
    source = np.full(int(places.max()) + 1 if len(places) else 0, len(places))  # a row of zeros where nothing goes
    source[places] = np.arange(len(places))
    rows = torch.cat([rows, rows.new_zeros(1, *tail)])
    return rows.index_select(0, torch.from_numpy(source))


def _stitch_dims(inputs: Any, attrs: Any) -> Dims:
    half = len(inputs) // 2
    tail: Dims = None
    for indices, data in zip(inputs[:half], inputs[half:], strict=True):
        if indices.dims is not None and data.dims is not None:
            merge_dims(indices.dims, data.dims[: len(indices.dims)])
            tail = merge_dims(tail, data.dims[len(indices.dims) :])
    if tail is None:
        return None
    known = [constant_value(indices) for indices in inputs[:half]]
    last = [int(value.max()) for value in known if value is not None and value.size]
    return (max(last, default=-1) + 1 if all(value is not None for value in known) else None, *tail)


_PARTITION = moves("DynamicPartition", "data:T partitions:int32 -> *T", _partition, _partition_dims)
_STITCH = moves("DynamicStitch", "*indices:int32 *data:T -> T", _stitch, _stitch_dims)


@export("dynamic_partition")
@atomic
def dynamic_partition(data: Any, partitions: Any, num_partitions: int, name: str | None = None) -> list[Tensor]:
    """Deal the slices of `data` out to `num_partitions` tensors: `partitions` (int32, of the shape of the first axes)
    says which.

    Raises:
        tf.errors.InvalidArgumentError: a partition is not in `[0, num_partitions)`.
    """
    number = static_int("dynamic_partition", "num_partitions", num_partitions)
    return apply(_PARTITION, [data, partitions], {"num_partitions": number}, name)


@export("dynamic_stitch")
@atomic
def dynamic_stitch(indices: Any, data: Any, name: str | None = None) -> Tensor:
    """Put slices together: `result[indices[k][i]] = data[k][i]`, where a later one wins; rows that nothing names are
    zeros.

    Raises:
        ValueError: a tensor of `indices` has not the shape of the first axes of its `data`.
    """
    return apply(_STITCH, [indices, data], name=name)
