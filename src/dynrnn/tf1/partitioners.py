"""Functions that choose into how many parts `get_variable` cuts each axis of a variable."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ..graph.dtype import as_dtype, string
from .export import export

Partitioner = Callable[..., list[int]]


@export("fixed_size_partitioner")
def fixed_size_partitioner(num_shards: int, axis: int = 0) -> Partitioner:
    """Return a partitioner that cuts `axis` into `num_shards` parts, or into single rows where it has fewer."""

    def partitioner(shape: Any, **_: Any) -> list[int]:
        sizes = shape.as_list()
        parts = [1] * len(sizes)
        parts[axis] = min(num_shards, sizes[axis])
        return parts

    return partitioner


@export("variable_axis_size_partitioner")
def variable_axis_size_partitioner(
    max_shard_bytes: int, axis: int = 0, bytes_per_string_element: int = 16, max_shards: int | None = None
) -> Partitioner:
    """Return a partitioner that cuts `axis` so that no part has more than `max_shard_bytes` bytes, and there are at
    most `max_shards`.

    Raises:
        ValueError: a number that is not positive.
    """
    if max_shard_bytes < 1 or bytes_per_string_element < 1:
        raise ValueError(
            "Both max_shard_bytes and bytes_per_string_element must be positive. "
            f"Currently, max_shard_bytes is {max_shard_bytes} and bytes_per_string_element is "
            f"{bytes_per_string_element}"
        )
    if max_shards and max_shards < 1:
        raise ValueError(f"max_shards must be positive, got {max_shards}.")

    def partitioner(shape: Any, dtype: Any, **_: Any) -> list[int]:
        sizes = shape.as_list()
        item = _item_bytes(dtype, bytes_per_string_element)
        row = shape.num_elements() // sizes[axis] * item  # bytes of one index of the axis
        rows = max(1, max_shard_bytes // row)
        count = math.ceil(sizes[axis] / rows)
        parts = [1] * len(sizes)
        parts[axis] = min(max_shards, count) if max_shards else count
        return parts

    return partitioner


@export("min_max_variable_partitioner")
def min_max_variable_partitioner(
    max_partitions: int = 1, axis: int = 0, min_slice_size: int = 256 << 10, bytes_per_string_element: int = 16
) -> Partitioner:
    """Return a partitioner that cuts `axis` into as many parts of `min_slice_size` bytes as there are in the variable,
    but not more than `max_partitions`.

    Raises:
        ValueError: `max_partitions` is below 1.
    """
    if max_partitions < 1:
        raise ValueError(f"max_partitions must be at least 1, got {max_partitions}")

    def partitioner(shape: Any, dtype: Any, **_: Any) -> list[int]:
        sizes = shape.as_list()
        size = shape.num_elements() * _item_bytes(dtype, bytes_per_string_element)
        count = math.ceil(size / min_slice_size)
        parts = [1] * len(sizes)
        parts[axis] = max(1, min(count, max_partitions, sizes[axis]))
        return parts

    return partitioner


def _item_bytes(dtype: Any, bytes_per_string: int) -> int:
    dtype = as_dtype(dtype).base_dtype
    return bytes_per_string if dtype is string else dtype.size
