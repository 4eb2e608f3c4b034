"""Named initializers for the kernels of cells; biases and gains start at the constants that their specs name."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor

Initializer = Callable[[Tensor], object]


def _fans(value: Tensor) -> tuple[int, int]:
    """A kernel `[in, out]` has both fans; for a vector, such as a peephole, TensorFlow 1 takes its width twice."""
    return (value.shape[0], value.shape[-1]) if value.ndim > 1 else (value.shape[0], value.shape[0])


def glorot_uniform(value: Tensor) -> None:
    """Fill with uniform draws within sqrt(6 / (fan_in + fan_out)): TensorFlow 1's default for every kernel."""
    limit = math.sqrt(6 / max(1, sum(_fans(value))))
    with torch.no_grad():
        value.uniform_(-limit, limit)


def glorot_normal(value: Tensor) -> None:
    """Fill with normal draws of deviation sqrt(2 / (fan_in + fan_out)), cut off at twice the uncut deviation."""
    deviation = math.sqrt(2 / max(1, sum(_fans(value)))) / 0.87962566103423978  # what the cut takes away
    torch.nn.init.trunc_normal_(value, std=deviation, a=-2 * deviation, b=2 * deviation)


def orthogonal(value: Tensor) -> None:
    """Make rows or columns orthonormal; a vector, which has no such thing, is drawn as by `glorot_uniform`."""
    if value.ndim > 1:
        torch.nn.init.orthogonal_(value)
    else:
        glorot_uniform(value)


INITIALIZERS: dict[str, Initializer] = {
    "glorot_uniform": glorot_uniform,
    "glorot_normal": glorot_normal,
    "orthogonal": orthogonal,
}


def initializer_of(initializer: str | Initializer) -> Initializer:
    """Look an initializer up by name; a callable, which fills a tensor in place, is taken as it is.

    Raises ValueError for an unknown name, TypeError for what is neither.

    Example:
        >>> initializer_of("glorot_uniform") is glorot_uniform
        True
    """
    if isinstance(initializer, str):
        if initializer not in INITIALIZERS:
            raise ValueError(f"initializer must be one of {list(INITIALIZERS)} or a callable, got {initializer!r}")
        return INITIALIZERS[initializer]
    if not callable(initializer):
        raise TypeError(f"initializer must be a name or a callable, got {initializer!r}")
    return initializer
