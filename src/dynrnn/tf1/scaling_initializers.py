"""Initializers whose spread follows from a variable's shape: variance scaling and its named cases, and orthogonal
matrices.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from ..graph.dtype import as_dtype, float32
from ..graph.op import Op
from .export import export
from .graph import Tensor, atomic
from .initializers import Initializer, float_dtype, known_sizes
from .ops.apply import apply
from .ops.random.distributions import random_normal, random_uniform, truncated_normal

# The standard deviation of a standard normal variable that is cut off at 2.
_TRUNCATED_STDDEV = 0.87962566103423978


@export("uniform_unit_scaling_initializer", "initializers.uniform_unit_scaling")
class UniformUnitScaling(Initializer):
    """Makes uniform numbers within `factor sqrt(3 / inputs)`, where inputs is the product of all sizes but the last."""

    def __init__(self, factor: float = 1.0, seed: int | None = None, dtype: Any = float32):
        self.factor, self.seed = factor, seed
        self.dtype = float_dtype(dtype)

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Tensor:
        whole = known_sizes(shape if partition_info is None else partition_info.full_shape)
        limit = math.sqrt(3 / max(1.0, float(math.prod(whole[:-1])))) * self.factor
        return random_uniform(shape, -limit, limit, self.dtype if dtype is None else dtype, self.seed)

    def get_config(self) -> dict[str, Any]:
        return {"factor": self.factor, "seed": self.seed, "dtype": self.dtype.name}


def fans(shape: Sequence[int]) -> tuple[int, int]:
    """How many inputs and outputs a unit has: sizes -2 and -1 of the shape, times all sizes before them (1-D: its size,
    twice).
    """
    if len(shape) < 2:
        size = shape[0] if shape else 1
        return size, size
    field = math.prod(shape[:-2])
    return shape[-2] * field, shape[-1] * field


@export("variance_scaling_initializer", "initializers.variance_scaling")
class VarianceScaling(Initializer):
    """Makes numbers of variance scale / n, where n is fan_in, fan_out, or their mean fan_avg.

    distribution: "truncated_normal" (or "normal"), "untruncated_normal" or "uniform".

    Raises:
        ValueError: a scale that is not positive; an unknown mode or distribution; a dtype that is no float type.

    Source: `tf.variance_scaling_initializer`; the fans are those of `fans`.

    Example:
        >>> import dynrnn.tf1 as tf
        >>> tf.variance_scaling_initializer(2.0, "fan_in")([3, 4]).shape.as_list()
        [3, 4]
    """

    def __init__(
        self,
        scale: float = 1.0,
        mode: str = "fan_in",
        distribution: str = "truncated_normal",
        seed: int | None = None,
        dtype: Any = float32,
    ):
        if scale <= 0.0:
            raise ValueError(f"`scale` must be positive float, got {scale!r}")
        if mode not in ("fan_in", "fan_out", "fan_avg"):
            raise ValueError(f"Invalid `mode` argument: it must be fan_in, fan_out or fan_avg, got {mode!r}")
        if distribution.lower() not in ("normal", "uniform", "truncated_normal", "untruncated_normal"):
            raise ValueError(
                "Invalid `distribution` argument: it must be normal, uniform, truncated_normal or "
                f"untruncated_normal, got {distribution!r}"
            )
        self.scale, self.mode, self.distribution, self.seed = scale, mode, distribution.lower(), seed
        self.dtype = float_dtype(dtype)

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Tensor:
        dtype = self.dtype if dtype is None else dtype
        fan_in, fan_out = fans(known_sizes(shape if partition_info is None else partition_info.full_shape))
        n = {"fan_in": fan_in, "fan_out": fan_out, "fan_avg": (fan_in + fan_out) / 2}[self.mode]
        scale = self.scale / max(1.0, n)
        if self.distribution == "uniform":
            limit = math.sqrt(3.0 * scale)
            return random_uniform(shape, -limit, limit, dtype, self.seed)
        if self.distribution == "untruncated_normal":
            return random_normal(shape, 0.0, math.sqrt(scale), dtype, self.seed)
        return truncated_normal(shape, 0.0, math.sqrt(scale) / _TRUNCATED_STDDEV, dtype, self.seed)

    def get_config(self) -> dict[str, Any]:
        return {
            "scale": self.scale,
            "mode": self.mode,
            "distribution": self.distribution,
            "seed": self.seed,
            "dtype": self.dtype.name,
        }


class _Glorot(VarianceScaling):
    def get_config(self) -> dict[str, Any]:
        return {"seed": self.seed, "dtype": self.dtype.name}


@export("glorot_uniform_initializer", "initializers.glorot_uniform")
class GlorotUniform(_Glorot):
    """Makes uniform numbers within sqrt(6 / (fan_in + fan_out)): Xavier's initialization."""

    def __init__(self, seed: int | None = None, dtype: Any = float32):
        super().__init__(1.0, "fan_avg", "uniform", seed, dtype)


@export("glorot_normal_initializer", "initializers.glorot_normal")
class GlorotNormal(_Glorot):
    """Makes truncated normal numbers of variance 2 / (fan_in + fan_out)."""

    def __init__(self, seed: int | None = None, dtype: Any = float32):
        super().__init__(1.0, "fan_avg", "truncated_normal", seed, dtype)


@export("initializers.lecun_normal")
def lecun_normal(seed: int | None = None) -> VarianceScaling:
    """Return the initializer of truncated normal numbers of variance 1 / fan_in."""
    return VarianceScaling(1.0, "fan_in", "truncated_normal", seed)


@export("initializers.lecun_uniform")
def lecun_uniform(seed: int | None = None) -> VarianceScaling:
    """Return the initializer of uniform numbers of variance 1 / fan_in."""
    return VarianceScaling(1.0, "fan_in", "uniform", seed)


@export("initializers.he_normal")
def he_normal(seed: int | None = None) -> VarianceScaling:
    """Return the initializer of truncated normal numbers of variance 2 / fan_in."""
    return VarianceScaling(2.0, "fan_in", "truncated_normal", seed)


@export("initializers.he_uniform")
def he_uniform(seed: int | None = None) -> VarianceScaling:
    """Return the initializer of uniform numbers of variance 2 / fan_in."""
    return VarianceScaling(2.0, "fan_in", "uniform", seed)


def _orthogonal(a: torch.Tensor, gain: float, transposed: bool, shape: tuple[int, ...]) -> torch.Tensor:
    q, r = torch.linalg.qr(a)
    q = q * torch.sign(torch.diagonal(r))
    return ((q.T if transposed else q).reshape(shape)) * gain


ORTHOGONAL = Op(
    "Orthogonal",
    "a:T -> T",
    _orthogonal,
    lambda inputs, attrs: attrs["shape"],
    types={"T": frozenset(("float32", "float64"))},
)


@export("orthogonal_initializer", "initializers.orthogonal")
class Orthogonal(Initializer):
    """Makes a matrix with orthonormal rows or columns, whichever are fewer, times gain.

    A shape of more than two axes counts as a matrix whose rows are all axes but the last.

    Raises:
        ValueError: when called, a shape of less than two axes; a dtype that is no float type.
    """

    def __init__(self, gain: float = 1.0, seed: int | None = None, dtype: Any = float32):
        self.gain, self.seed = gain, seed
        self.dtype = float_dtype(dtype)

    @atomic
    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Tensor:
        sizes = known_sizes(shape)
        if len(sizes) < 2:
            raise ValueError(f"The tensor to initialize must be at least two-dimensional, got shape {sizes}")
        dtype = as_dtype(self.dtype if dtype is None else dtype)
        rows, columns = math.prod(sizes[:-1]), sizes[-1]
        a = random_normal([max(rows, columns), min(rows, columns)], dtype=dtype, seed=self.seed)
        gain = float(np.asarray(self.gain, dtype.numpy))
        return apply(ORTHOGONAL, [a], {"gain": gain, "transposed": rows < columns, "shape": tuple(sizes)}, "mul_1")

    def get_config(self) -> dict[str, Any]:
        return {"gain": self.gain, "seed": self.seed, "dtype": self.dtype.name}
