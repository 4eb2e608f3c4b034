"""Convolutions in one, two and three dimensions, depthwise and transposed ones."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F

from .... import errors
from ....graph.constants import partial_dims
from ....graph.op import FLOATS, Op
from ....graph.shape import Dims
from ...export import export
from ...graph import Tensor, atomic
from ..apply import apply
from . import windows

_CONVOLUTIONS = {1: F.conv1d, 2: F.conv2d, 3: F.conv3d}
_TRANSPOSED = {1: F.conv_transpose1d, 2: F.conv_transpose2d, 3: F.conv_transpose3d}


def _weights(filters: torch.Tensor) -> torch.Tensor:
    # [*window, in, out] -> [out, in, *window]; some of torch's backward kernels want it contiguous
    return filters.movedim((-1, -2), (0, 1)).contiguous()


def _convolve(
    value: torch.Tensor, filters: torch.Tensor, strides: tuple, dilations: tuple, padding: windows.Padding, last: bool
) -> torch.Tensor:
    x, weights = windows.channels_to_front(value, last), _weights(filters)
    if x.ndim != filters.ndim or not weights.shape[1] or x.shape[1] % weights.shape[1]:
        raise errors.InvalidArgumentError(
            None,
            None,
            f"input depth must be a multiple of the filter's: input {list(value.shape)}, filter {list(filters.shape)}",
        )
    pairs = windows.margins(x.shape[2:], weights.shape[2:], strides, dilations, padding)
    even = all(before == after for before, after in pairs)
    x = x if even else windows.pad(x, pairs)
    inside = [before if even else 0 for before, _ in pairs]
    result = _CONVOLUTIONS[len(strides)](x, weights, None, strides, inside, dilations, x.shape[1] // weights.shape[1])
    return windows.channels_back(result, last)


def _depthwise(
    value: torch.Tensor, filters: torch.Tensor, strides: tuple, dilations: tuple, padding: windows.Padding, last: bool
) -> torch.Tensor:
    return _convolve(value, filters.flatten(-2).unsqueeze(-2), strides, dilations, padding, last)


def _filter_dims(dims: Dims, spatial: int) -> tuple[int | None, ...]:
    if dims is None:
        return (None,) * (spatial + 2)
    if len(dims) != spatial + 2:
        raise ValueError(f"Shape must be rank {spatial + 2} but is rank {len(dims)}: the filter is {list(dims)}")
    return dims


def _swept(inputs: Any, attrs: Any) -> tuple[int | None, list[int | None], int | None, tuple[int | None, ...]]:
    """Batch, the sizes after the convolution, channels, and the filter's shape."""
    last, strides, padding = attrs["last"], attrs["strides"], attrs["padding"]
    spatial = len(strides)
    batch, sizes, channels = windows.split_dims(inputs[0].dims, spatial, last)
    filters = _filter_dims(inputs[1].dims, spatial)
    paddings = (padding,) * spatial if isinstance(padding, str) else padding
    swept = [
        windows.steps(*each)
        for each in zip(sizes, filters[:spatial], strides, attrs["dilations"], paddings, strict=True)
    ]
    return batch, swept, channels, filters


def _conv_dims(inputs: Any, attrs: Any) -> Dims:
    batch, sizes, channels, filters = _swept(inputs, attrs)
    if channels is not None and filters[-2] and channels % filters[-2]:
        raise ValueError(
            f"Depth of input ({channels}) is not a multiple of input depth of filter ({filters[-2]}), for shapes "
            f"{inputs[0].shape}, {inputs[1].shape}"
        )
    return windows.join_dims(batch, sizes, filters[-1], attrs["last"])


def _depthwise_dims(inputs: Any, attrs: Any) -> Dims:
    batch, sizes, channels, filters = _swept(inputs, attrs)
    if channels is not None and filters[-2] is not None and channels != filters[-2]:
        raise ValueError(
            f"Dimensions must be equal, but are {channels} and {filters[-2]}: the channels of input and depthwise "
            "filter"
        )
    outputs = None if filters[-1] is None or filters[-2] is None else filters[-1] * filters[-2]
    return windows.join_dims(batch, sizes, outputs, attrs["last"])


def _transposed(
    value: torch.Tensor,
    filters: torch.Tensor,
    output_shape: torch.Tensor,
    strides: tuple,
    padding: windows.Padding,
    last: bool,
) -> torch.Tensor:
    wanted = output_shape.tolist()
    x, weights = windows.channels_to_front(value, last), _weights(filters)  # [in, out, *window], as torch wants it here
    sizes, channels = (wanted[1:-1], wanted[-1]) if last else (wanted[2:], wanted[1])
    ones = (1,) * len(strides)
    pairs = windows.margins(sizes, weights.shape[2:], strides, ones, padding)
    swept = [
        (size + before + after - window) // stride + 1
        for size, window, stride, (before, after) in zip(sizes, weights.shape[2:], strides, pairs, strict=True)
    ]
    if swept != list(x.shape[2:]) or channels != weights.shape[1] or wanted[0] != len(x):
        raise errors.InvalidArgumentError(
            None,
            None,
            f"output_shape {wanted} does not fit value {list(value.shape)} and filter {list(filters.shape)}: its "
            f"windows take {swept} places",
        )
    full = _TRANSPOSED[len(strides)](x, weights, None, strides)
    for axis, (size, (before, _)) in enumerate(zip(sizes, pairs, strict=True), 2):
        full = windows.pad(full.movedim(axis, -1), [(0, max(before + size - full.shape[axis], 0))]).narrow(
            -1, before, size
        )
        full = full.movedim(-1, axis)
    return windows.channels_back(full, last)


def _transposed_dims(inputs: Any, attrs: Any) -> Dims:
    spatial = len(attrs["strides"])
    windows.split_dims(inputs[0].dims, spatial, attrs["last"])
    _filter_dims(inputs[1].dims, spatial)
    return partial_dims(inputs[2])


_T = {"T": FLOATS, "S": frozenset(("int32", "int64"))}
CONVOLUTIONS = {
    spatial: Op(f"Conv{spatial}D", "input:T filter:T -> T", _convolve, _conv_dims, types=_T) for spatial in (1, 2, 3)
}
DEPTHWISE = Op("DepthwiseConv2dNative", "input:T filter:T -> T", _depthwise, _depthwise_dims, types=_T)
TRANSPOSED = Op("Conv2DBackpropInput", "value:T filter:T output_shape:S -> T", _transposed, _transposed_dims, types=_T)


def _attrs(spatial: int, strides: Any, padding: Any, data_format: str | None, dilations: Any) -> dict[str, Any]:
    if padding is None or strides is None:
        raise ValueError(f"strides and padding must be given, got strides {strides!r} and padding {padding!r}")
    last = windows.channels_last(data_format, spatial)
    return {
        "strides": windows.per_axis(strides, spatial, last, "strides"),
        "dilations": windows.per_axis(dilations, spatial, last, "dilations"),
        "padding": windows.as_padding(padding, last, spatial),
        "last": last,
    }


def _one_of(value: Any, other: Any, name: str, other_name: str) -> Any:
    if value is not None and other is not None:
        raise ValueError(f"Cannot specify both '{name}' and '{other_name}'.")
    if value is None and other is None:
        raise ValueError(f"'{name}' must be given")
    return other if value is None else value


@export("nn.conv2d")
@atomic
def conv2d(
    input: Any,
    filter: Any = None,
    strides: Any = None,
    padding: Any = None,
    use_cudnn_on_gpu: bool = True,
    data_format: str = "NHWC",
    dilations: Any = None,
    name: str | None = None,
    filters: Any = None,
) -> Tensor:
    """Return the cross-correlation of images with filters.

    input: `[batch, height, width, in]` ("NHWC") or `[batch, in, height, width]` ("NCHW"), a float type. filter (or
    filters): `[height, width, in / groups, out]`. strides, dilations: an int, one an image axis, or one an axis of
    input. padding: "SAME" (the result has ceil(size / stride) places an axis; an odd margin is added at the end),
    "VALID", or pairs for all four axes. use_cudnn_on_gpu has nothing to choose here.

    Raises:
        ValueError: ranks, depths or sizes that do not fit; an unknown padding or data_format.

    Example:
        >>> import dynrnn.tf1 as tf
        >>> tf.nn.conv2d(tf.ones([1, 5, 5, 2]), tf.ones([3, 3, 2, 4]), [1, 2, 2, 1], "SAME").shape.as_list()
        [1, 3, 3, 4]
    """
    filters = _one_of(filter, filters, "filter", "filters")
    return apply(CONVOLUTIONS[2], [input, filters], _attrs(2, strides, padding, data_format, dilations), name)


@export("nn.conv1d")
@atomic
def conv1d(
    value: Any = None,
    filters: Any = None,
    stride: Any = None,
    padding: Any = None,
    use_cudnn_on_gpu: bool | None = None,
    data_format: str | None = None,
    name: str | None = None,
    input: Any = None,
    dilations: Any = None,
) -> Tensor:
    """Return the cross-correlation of sequences with filters.

    value (or input): `[batch, width, in]` ("NWC") or `[batch, in, width]` ("NCW"). filters: `[width, in, out]`. The
    rest as for `conv2d`.
    """
    value = _one_of(value, input, "value", "input")
    return apply(
        CONVOLUTIONS[1], [value, filters], _attrs(1, stride, padding, data_format, dilations), name or "conv1d"
    )


@export("nn.conv3d")
@atomic
def conv3d(
    input: Any,
    filter: Any = None,
    strides: Any = None,
    padding: Any = None,
    data_format: str = "NDHWC",
    dilations: Any = None,
    name: str | None = None,
    filters: Any = None,
) -> Tensor:
    """Return the cross-correlation of volumes `[batch, depth, height, width, in]` with filters `[depth, height, width,
    in, out]`.
    """
    filters = _one_of(filter, filters, "filter", "filters")
    return apply(CONVOLUTIONS[3], [input, filters], _attrs(3, strides, padding, data_format, dilations), name)


@export("nn.atrous_conv2d")
@atomic
def atrous_conv2d(value: Any, filters: Any, rate: int, padding: str, name: str | None = None) -> Tensor:
    """Return `conv2d` with stride 1 and a filter whose items stand `rate` apart."""
    return apply(CONVOLUTIONS[2], [value, filters], _attrs(2, 1, padding, "NHWC", rate), name or "convolution")


@export("nn.depthwise_conv2d_native", "nn.depthwise_conv2d")
@atomic
def depthwise_conv2d(
    input: Any,
    filter: Any = None,
    strides: Any = None,
    padding: Any = None,
    rate: Any = None,
    name: str | None = None,
    data_format: str | None = None,
    dilations: Any = None,
) -> Tensor:
    """Return each channel's cross-correlation with its own filters.

    input: `[batch, height, width, in]`. filter: `[height, width, in, multiplier]`; the result has in * multiplier
    channels, those of the first input channel first. rate, or dilations: the distance between a filter's items.
    """
    attrs = _attrs(2, strides, padding, data_format, rate if dilations is None else dilations)
    return apply(DEPTHWISE, [input, filter], attrs, name or "depthwise")


@export("nn.conv2d_transpose")
@atomic
def conv2d_transpose(
    value: Any = None,
    filter: Any = None,
    output_shape: Any = None,
    strides: Any = None,
    padding: str = "SAME",
    data_format: str = "NHWC",
    name: str | None = None,
    input: Any = None,
    filters: Any = None,
) -> Tensor:
    """Return the transpose of `conv2d`: what its gradient does to a result of shape `value`, for an input of shape
    `output_shape`.

    value (or input): `[batch, height, width, in]`. filter (or filters): `[height, width, out, in]`. output_shape: four
    sizes, a list or a tensor.

    Raises:
        tf.errors.InvalidArgumentError: in run, output_shape does not give value's shape when it is convolved.
    """
    value, filters = _one_of(value, input, "value", "input"), _one_of(filter, filters, "filter", "filters")
    attrs = _attrs(2, strides, padding, data_format, None)
    del attrs["dilations"]
    return apply(TRANSPOSED, [value, filters, output_shape], attrs, name or "conv2d_transpose")
