"""Pooling: the largest item or the mean of each window."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F

from ....graph.op import FLOATS, Op
from ....graph.shape import Dims
from ...export import export
from ...graph import Tensor, atomic
from ..apply import apply
from ..convert import convert_to_tensor
from . import windows

_MAXIMA = {1: F.max_pool1d, 2: F.max_pool2d, 3: F.max_pool3d}
_MEANS = {1: F.avg_pool1d, 2: F.avg_pool2d, 3: F.avg_pool3d}


def _margins(x: torch.Tensor, window: tuple, strides: tuple, padding: windows.Padding) -> list[tuple[int, int]]:
    return windows.margins(x.shape[2:], window, strides, (1,) * len(window), padding)


def _max_pool(value: torch.Tensor, window: tuple, strides: tuple, padding: windows.Padding, last: bool) -> torch.Tensor:
    x = windows.channels_to_front(value, last)
    padded = windows.pad(x, _margins(x, window, strides, padding), float("-inf"))
    return windows.channels_back(_MAXIMA[len(window)](padded, window, strides), last)


def _avg_pool(value: torch.Tensor, window: tuple, strides: tuple, padding: windows.Padding, last: bool) -> torch.Tensor:
    x, pool = windows.channels_to_front(value, last), _MEANS[len(window)]
    pairs = _margins(x, window, strides, padding)
    means = pool(windows.pad(x, pairs), window, strides)
    if any(any(pair) for pair in pairs):  # margins do not count
        means = means / pool(windows.pad(torch.ones_like(x[:1, :1]), pairs), window, strides)
    return windows.channels_back(means, last)


def _pool_dims(inputs: Any, attrs: Any) -> Dims:
    window, last = attrs["window"], attrs["last"]
    batch, sizes, channels = windows.split_dims(inputs[0].dims, len(window), last)
    swept = [
        windows.steps(size, extent, stride, 1, attrs["padding"])
        for size, extent, stride in zip(sizes, window, attrs["strides"], strict=True)
    ]
    return windows.join_dims(batch, swept, channels, last)


MAX_POOL = Op("MaxPool", "value:T -> T", _max_pool, _pool_dims, types={"T": FLOATS})
AVG_POOL = Op("AvgPool", "value:T -> T", _avg_pool, _pool_dims, types={"T": FLOATS})


def _pool(
    row: Op, spatial: int, value: Any, ksize: Any, strides: Any, padding: Any, data_format: str | None, name: str | None
) -> Tensor:
    if ksize is None or strides is None or not isinstance(padding, str):
        raise ValueError(
            f'ksize, strides and padding ("SAME" or "VALID") must be given, got {ksize!r}, {strides!r}, {padding!r}'
        )
    last = windows.channels_last(data_format, spatial)
    attrs = {
        "window": windows.per_axis(ksize, spatial, last, "ksize"),
        "strides": windows.per_axis(strides, spatial, last, "strides"),
        "padding": windows.as_padding(padding, last, spatial),
        "last": last,
    }
    return apply(row, [convert_to_tensor(value)], attrs, name)


@export("nn.max_pool", "nn.max_pool2d")
@atomic
def max_pool(
    value: Any = None,
    ksize: Any = None,
    strides: Any = None,
    padding: Any = None,
    data_format: str = "NHWC",
    name: str | None = None,
    input: Any = None,
) -> Tensor:
    """Return the largest item of each window.

    value (or input): `[batch, height, width, channels]` ("NHWC") or `[batch, channels, height, width]` ("NCHW"), a
    float type. ksize, strides: the window's sizes and steps, an int, one an image axis, or one an axis of value.
    padding: "SAME" or "VALID"; margins never win.

    Example:
        >>> import dynrnn.tf1 as tf
        >>> tf.nn.max_pool(tf.ones([1, 5, 5, 2]), [1, 2, 2, 1], [1, 2, 2, 1], "VALID").shape.as_list()
        [1, 2, 2, 2]
    """
    return _pool(MAX_POOL, 2, input if value is None else value, ksize, strides, padding, data_format, name)


@export("nn.avg_pool", "nn.avg_pool2d")
@atomic
def avg_pool(
    value: Any = None,
    ksize: Any = None,
    strides: Any = None,
    padding: Any = None,
    data_format: str = "NHWC",
    name: str | None = None,
    input: Any = None,
) -> Tensor:
    """Return the mean of each window, margins not counted; arguments as for `max_pool`."""
    return _pool(AVG_POOL, 2, input if value is None else value, ksize, strides, padding, data_format, name)


@export("nn.max_pool1d")
@atomic
def max_pool1d(
    input: Any, ksize: Any, strides: Any, padding: str, data_format: str = "NWC", name: str | None = None
) -> Tensor:
    """Return the largest item of each window of `[batch, width, channels]`; arguments as for `max_pool`."""
    return _pool(MAX_POOL, 1, input, ksize, strides, padding, data_format, name or "max_pool1d")


@export("nn.avg_pool1d")
@atomic
def avg_pool1d(
    input: Any, ksize: Any, strides: Any, padding: str, data_format: str = "NWC", name: str | None = None
) -> Tensor:
    """Return the mean of each window of `[batch, width, channels]`; arguments as for `max_pool`."""
    return _pool(AVG_POOL, 1, input, ksize, strides, padding, data_format, name or "avg_pool1d")
