"""Moments, batch normalization, and the share of zeros."""

from __future__ import annotations

from typing import Any

import torch

from ....graph import rules
from ....graph.op import FLOATS, NUMBERS, Op
from ....graph.shape import Dims
from ...export import export
from ...graph import Tensor, atomic, get_default_graph
from ..apply import apply
from ..arguments import static_ints


def _moments(x: torch.Tensor, axis: tuple[int, ...], keepdims: bool) -> tuple[torch.Tensor, torch.Tensor]:
    if not axis:  # each element by itself; torch would take all axes
        return x.clone(), torch.zeros_like(x)
    precise = x.float() if x.dtype in (torch.float16, torch.bfloat16) else x
    mean = precise.mean(axis, keepdim=True)
    # As in TensorFlow, the mean is a constant in the variance's gradient; the first derivative is the same either way.
    variance = (precise - mean.detach()).square().mean(axis, keepdim=keepdims)
    if not keepdims:
        mean = mean.squeeze(axis)
    return mean.to(x.dtype), variance.to(x.dtype)


def _moment_dims(inputs: Any, attrs: Any) -> list[Dims]:
    return [rules.reduce(inputs, attrs)] * 2


def _batch_normalization(
    x: torch.Tensor,
    mean: torch.Tensor,
    variance: torch.Tensor,
    epsilon: torch.Tensor,
    *rest: torch.Tensor,
    offset: bool,
    scale: bool,
) -> torch.Tensor:
    factor = torch.rsqrt(variance + epsilon)
    if scale:
        factor = factor * rest[-1]
    return x * factor + ((rest[0] - mean * factor) if offset else -mean * factor)


def _zero_fraction(value: torch.Tensor) -> torch.Tensor:
    return (value == 0).float().mean()


MOMENTS = Op("Moments", "x:T -> T T", _moments, _moment_dims, types={"T": FLOATS})
BATCH_NORMALIZATION = Op(
    "BatchNormalization",
    "x:T mean:T variance:T epsilon:T *rest:T -> T",
    _batch_normalization,
    rules.broadcast,
    types={"T": FLOATS},
)
ZERO_FRACTION = Op(
    "ZeroFraction", "value:T -> float32", _zero_fraction, rules.scalar, types={"T": NUMBERS}, differentiable=False
)


def _axes(axes: Any) -> tuple[int, ...]:
    return (axes,) if isinstance(axes, int) else static_ints("moments", "axes", axes)


@export("nn.moments")
@atomic
def moments(
    x: Any,
    axes: Any,
    shift: Any = None,
    name: str | None = None,
    keep_dims: bool | None = None,
    keepdims: bool | None = None,
) -> tuple[Tensor, Tensor]:
    """Return the mean and the variance (the mean of the squared distances to the mean) of x over `axes`.

    x: a float type. axes: ints. keepdims (old name keep_dims): keep these axes, with size 1. shift: of no effect, as in
    TensorFlow.

    Raises:
        ValueError: an axis out of range, or axes that are not known while the graph is built.
    """
    if keepdims is not None and keep_dims is not None:
        raise ValueError("Cannot specify both 'keep_dims' and 'keepdims'")
    keep = bool(keepdims if keepdims is not None else keep_dims)
    mean, variance = apply(MOMENTS, [x], {"axis": _axes(axes), "keepdims": keep}, name or "moments")
    return mean, variance


@export("nn.batch_normalization")
@atomic
def batch_normalization(
    x: Any, mean: Any, variance: Any, offset: Any, scale: Any, variance_epsilon: Any, name: str | None = None
) -> Tensor:
    """Return scale (x - mean) / sqrt(variance + variance_epsilon) + offset.

    mean, variance, offset and scale broadcast against x and have its dtype; offset and scale may be None.
    """
    rest = [tensor for tensor in (offset, scale) if tensor is not None]
    attrs = {"offset": offset is not None, "scale": scale is not None}
    with get_default_graph().name_scope(name or "batchnorm"):
        return apply(BATCH_NORMALIZATION, [x, mean, variance, variance_epsilon, rest], attrs, "add_1")


@export("nn.batch_norm_with_global_normalization")
@atomic
def batch_norm_with_global_normalization(
    t: Any,
    m: Any,
    v: Any,
    beta: Any,
    gamma: Any,
    variance_epsilon: Any,
    scale_after_normalization: bool,
    name: str | None = None,
) -> Tensor:
    """As `batch_normalization`, with other names; gamma counts only with scale_after_normalization."""
    return batch_normalization(t, m, v, beta, gamma if scale_after_normalization else None, variance_epsilon, name)


@export("nn.zero_fraction")
@atomic
def zero_fraction(value: Any, name: str | None = None) -> Tensor:
    """Return which share of value's items is 0, a float32 scalar; NaN where there are none."""
    with get_default_graph().name_scope(name or "zero_fraction"):
        return apply(ZERO_FRACTION, [value], name="fraction")
