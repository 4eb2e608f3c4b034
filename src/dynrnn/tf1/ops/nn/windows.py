"""Sliding windows over the spatial axes of images and sequences: the arguments that convolutions and pooling share, and
their sizes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
import torch.nn.functional as F

from ....graph.shape import Dims

Padding = str | tuple[tuple[int, int], ...]  # "SAME", "VALID", or what to add before and after each spatial axis


def channels_last(data_format: str | None, spatial: int) -> bool:
    """Whether the channels are the last axis; ValueError for a layout that there is not."""
    letters = {1: "W", 2: "HW", 3: "DHW"}[spatial]
    allowed = {None: True, f"N{letters}C": True, f"NC{letters}": False}
    if spatial == 1:
        allowed |= {"NHWC": True, "NCHW": False}
    if data_format not in allowed:
        raise ValueError(
            f"data_format must be one of {', '.join(str(key) for key in allowed if key)}, got {data_format!r}"
        )
    return allowed[data_format]


def per_axis(value: Any, spatial: int, last: bool, what: str) -> tuple[int, ...]:
    """Return strides, dilations or window sizes as one int a spatial axis.

    value: an int, one int a spatial axis, or one an axis of the whole input, with 1 for batch and channels.

    Raises:
        ValueError: another number of items, items below 1, or a step over batch or channels.
    """
    if value is None:
        return (1,) * spatial
    items = [int(item) for item in value] if isinstance(value, Sequence) else [int(value)]
    if len(items) == 1:
        items *= spatial
    if len(items) == spatial + 2:
        outer = (items[0], items[-1]) if last else (items[0], items[1])
        if outer != (1, 1):
            raise ValueError(f"{what} over batch or channels are not supported: they must be 1, got {items}")
        items = items[1:-1] if last else items[2:]
    if len(items) != spatial or min(items) < 1:
        raise ValueError(f"{what} must be 1, {spatial} or {spatial + 2} numbers of at least 1, got {value!r}")
    return tuple(items)


def as_padding(padding: Any, last: bool, spatial: int) -> Padding:
    """Return a padding argument: "SAME", "VALID", or pairs for every axis of the input, zero for batch and channels."""
    if isinstance(padding, str):
        if padding.upper() not in ("SAME", "VALID"):
            raise ValueError(f'padding must be "SAME", "VALID" or a list of pairs, got {padding!r}')
        return padding.upper()
    pairs = [tuple(int(item) for item in pair) for pair in padding] if isinstance(padding, Sequence) else []
    outer = pairs[:1] + (pairs[-1:] if last else pairs[1:2])
    if len(pairs) != spatial + 2 or any(len(pair) != 2 for pair in pairs) or any(pair != (0, 0) for pair in outer):
        raise ValueError(
            f"padding must be a string or {spatial + 2} pairs, (0, 0) for batch and channels, got {padding!r}"
        )
    return tuple(pairs[1:-1] if last else pairs[2:])  # type: ignore[arg-type]


def steps(
    size: int | None, window: int | None, stride: int, dilation: int, padding: str | tuple[int, int]
) -> int | None:
    """How many places a window takes along an axis; ValueError where it is longer than the padded axis."""
    if size is None or window is None:
        return None
    if padding == "SAME":
        return -(-size // stride)
    before, after = (0, 0) if isinstance(padding, str) else padding
    extent = (window - 1) * dilation + 1
    if size + before + after < extent:
        raise ValueError(
            f"Negative dimension size caused by subtracting {extent} from {size + before + after}: the window is "
            "longer than the input"
        )
    return (size + before + after - extent) // stride + 1


def margins(
    size: Sequence[int], window: Sequence[int], strides: Sequence[int], dilations: Sequence[int], padding: Padding
) -> list[tuple[int, int]]:
    """What to add before and after each spatial axis; "SAME" adds the odd one after."""
    if not isinstance(padding, str):
        return list(padding)
    if padding == "VALID":
        return [(0, 0)] * len(size)
    pairs = []
    for length, extent, stride, dilation in zip(size, window, strides, dilations, strict=True):
        total = max((-(-length // stride) - 1) * stride + (extent - 1) * dilation + 1 - length, 0)
        pairs.append((total // 2, total - total // 2))
    return pairs


def pad(x: torch.Tensor, pairs: Sequence[tuple[int, int]], value: float = 0.0) -> torch.Tensor:
    """Add margins to the last axes of x; x itself where there are none."""
    if not any(any(pair) for pair in pairs):
        return x
    return F.pad(x, [amount for pair in reversed(pairs) for amount in pair], value=value)


def channels_to_front(x: torch.Tensor, last: bool) -> torch.Tensor:
    return x.movedim(-1, 1) if last else x


def channels_back(x: torch.Tensor, last: bool) -> torch.Tensor:
    return x.movedim(1, -1) if last else x


def split_dims(dims: Dims, spatial: int, last: bool) -> tuple[int | None, tuple[int | None, ...], int | None]:
    """Batch, spatial sizes and channels of a static shape; ValueError for another rank."""
    if dims is None:
        return None, (None,) * spatial, None
    if len(dims) != spatial + 2:
        raise ValueError(
            f"Shape must be rank {spatial + 2} but is rank {len(dims)}: the input of a window over {spatial} axes is "
            f"{list(dims)}"
        )
    return (dims[0], dims[1:-1], dims[-1]) if last else (dims[0], dims[2:], dims[1])


def join_dims(batch: int | None, sizes: Sequence[int | None], channels: int | None, last: bool) -> Dims:
    return (batch, *sizes, channels) if last else (batch, channels, *sizes)
