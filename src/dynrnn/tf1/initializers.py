"""Initializers: objects that make the tensor of a variable's first value, when they are called with its shape and dtype.

An object holds numbers only, never anything of a graph, so one may serve many variables and graphs. Those of `tf.contrib.layers` are in
`contrib/initializers.py`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from ..graph.dtype import DType, as_dtype, float32
from ..graph.op import FLOATS, NUMBERS, Op
from ..graph.shape import as_shape
from .export import export
from .graph import Tensor, atomic, get_default_graph
from .ops.apply import apply
from .ops.making import fill, ones, zeros
from .ops.convert import constant
from .ops.random import random_normal, random_uniform, truncated_normal

# The standard deviation of a standard normal variable that is cut off at 2.
_TRUNCATED_STDDEV = 0.87962566103423978


class Initializer:
    """What all initializers have: `init(shape, dtype=None, partition_info=None)`, `get_config()` and `from_config(config)`.

    shape: sizes, all known. dtype: the tensor's type; None: the one that the initializer was made with. partition_info: of a part of a
    partitioned variable, the shape of the whole.
    """

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Tensor:
        raise NotImplementedError(f"{type(self).__name__} must say what it makes of a shape, in __call__")

    def get_config(self) -> dict[str, Any]:
        """The arguments that make an equal initializer."""
        return {}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Any:
        """Make an initializer from what `get_config` returned."""
        return cls(**config)


def _sizes(shape: Any) -> list[int]:
    sizes = as_shape(shape)
    sizes.assert_is_fully_defined()
    return sizes.as_list()  # type: ignore[return-value]


def _float_dtype(dtype: Any) -> DType:
    dtype = as_dtype(dtype)
    if not dtype.is_floating:
        raise ValueError(f"Expected floating point type, got {dtype!r}.")
    return dtype


@export("zeros_initializer", "initializers.zeros")
class Zeros(Initializer):
    """Makes zeros (of strings: empty ones)."""

    def __init__(self, dtype: Any = float32):
        self.dtype = as_dtype(dtype)

    @atomic
    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Tensor:
        return zeros(shape, self.dtype if dtype is None else dtype)

    def get_config(self) -> dict[str, Any]:
        return {"dtype": self.dtype.name}


@export("ones_initializer", "initializers.ones")
class Ones(Initializer):
    """Makes ones."""

    def __init__(self, dtype: Any = float32):
        self.dtype = as_dtype(dtype)

    @atomic
    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Tensor:
        return ones(shape, self.dtype if dtype is None else dtype)

    def get_config(self) -> dict[str, Any]:
        return {"dtype": self.dtype.name}


@export("constant_initializer", "initializers.constant")
class Constant(Initializer):
    """Makes a constant.

    value: a number, or a list or array whose items fill the shape in row-major order; its last item fills what is left. verify_shape: the
    value must have the very shape instead.

    Raises:
        TypeError: value is no number, list or array; when called, it has another shape and verify_shape is set.
        ValueError: when called, value has more items than the shape.
    """

    def __init__(self, value: Any = 0, dtype: Any = float32, verify_shape: bool = False):
        if not (np.isscalar(value) or isinstance(value, (list, tuple, np.ndarray))):
            raise TypeError(
                f"Invalid type for initial value: {value!r} of type {type(value).__name__}. Expected Python scalar, list or tuple of values, or numpy.ndarray."
            )
        self.value = value
        self.dtype = as_dtype(dtype)
        self._verify_shape = verify_shape

    @atomic
    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None, verify_shape: bool | None = None) -> Tensor:
        dtype = as_dtype(self.dtype if dtype is None else dtype)
        verify = self._verify_shape if verify_shape is None else verify_shape
        if np.isscalar(self.value) and not verify and dtype.name in NUMBERS:
            # A large variable's value is better made in a run than kept in the graph.
            return fill(_sizes(shape), constant(self.value, dtype, name="Const/value"), name="Const")
        return constant(self.value, dtype, shape, verify_shape=verify)

    def get_config(self) -> dict[str, Any]:
        return {"value": self.value, "dtype": self.dtype.name}


@export("random_uniform_initializer", "initializers.random_uniform")
class RandomUniform(Initializer):
    """Makes numbers drawn uniformly from [minval, maxval); maxval is 1 for floats by default."""

    def __init__(self, minval: Any = 0.0, maxval: Any = None, seed: int | None = None, dtype: Any = float32):
        self.minval, self.maxval, self.seed = minval, maxval, seed
        self.dtype = as_dtype(dtype)

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Tensor:
        dtype = as_dtype(self.dtype if dtype is None else dtype)
        minval = int(self.minval) if dtype.is_integer and self.minval == 0 else self.minval
        return random_uniform(shape, minval, self.maxval, dtype, self.seed)

    def get_config(self) -> dict[str, Any]:
        return {"minval": self.minval, "maxval": self.maxval, "seed": self.seed, "dtype": self.dtype.name}


class _Normal(Initializer):
    """Draws with a mean and a standard deviation."""

    def __init__(self, mean: Any = 0.0, stddev: Any = 1.0, seed: int | None = None, dtype: Any = float32):
        self.mean, self.stddev, self.seed = mean, stddev, seed
        self.dtype = _float_dtype(dtype)

    def get_config(self) -> dict[str, Any]:
        return {"mean": self.mean, "stddev": self.stddev, "seed": self.seed, "dtype": self.dtype.name}


@export("random_normal_initializer", "initializers.random_normal")
class RandomNormal(_Normal):
    """Makes numbers from a normal distribution."""

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Tensor:
        return random_normal(shape, self.mean, self.stddev, self.dtype if dtype is None else dtype, self.seed)


@export("truncated_normal_initializer", "initializers.truncated_normal")
class TruncatedNormal(_Normal):
    """Makes numbers from a normal distribution without those two standard deviations or more away from the mean."""

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Tensor:
        return truncated_normal(shape, self.mean, self.stddev, self.dtype if dtype is None else dtype, self.seed)


@export("uniform_unit_scaling_initializer", "initializers.uniform_unit_scaling")
class UniformUnitScaling(Initializer):
    """Makes uniform numbers within `factor sqrt(3 / inputs)`, where inputs is the product of all sizes but the last."""

    def __init__(self, factor: float = 1.0, seed: int | None = None, dtype: Any = float32):
        self.factor, self.seed = factor, seed
        self.dtype = _float_dtype(dtype)

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Tensor:
        whole = _sizes(shape if partition_info is None else partition_info.full_shape)
        limit = math.sqrt(3 / max(1.0, float(math.prod(whole[:-1])))) * self.factor
        return random_uniform(shape, -limit, limit, self.dtype if dtype is None else dtype, self.seed)

    def get_config(self) -> dict[str, Any]:
        return {"factor": self.factor, "seed": self.seed, "dtype": self.dtype.name}


def fans(shape: Sequence[int]) -> tuple[int, int]:
    """How many inputs and outputs a unit has: sizes -2 and -1 of the shape, times all sizes before them (1-D: its size, twice)."""
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
                f"Invalid `distribution` argument: it must be normal, uniform, truncated_normal or untruncated_normal, got {distribution!r}"
            )
        self.scale, self.mode, self.distribution, self.seed = scale, mode, distribution.lower(), seed
        self.dtype = _float_dtype(dtype)

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Tensor:
        dtype = self.dtype if dtype is None else dtype
        fan_in, fan_out = fans(_sizes(shape if partition_info is None else partition_info.full_shape))
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
    "Orthogonal", "a:T -> T", _orthogonal, lambda inputs, attrs: attrs["shape"], types={"T": frozenset(("float32", "float64"))}
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
        self.dtype = _float_dtype(dtype)

    @atomic
    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Tensor:
        sizes = _sizes(shape)
        if len(sizes) < 2:
            raise ValueError(f"The tensor to initialize must be at least two-dimensional, got shape {sizes}")
        dtype = as_dtype(self.dtype if dtype is None else dtype)
        rows, columns = math.prod(sizes[:-1]), sizes[-1]
        a = random_normal([max(rows, columns), min(rows, columns)], dtype=dtype, seed=self.seed)
        gain = float(np.asarray(self.gain, dtype.numpy))
        return apply(ORTHOGONAL, [a], {"gain": gain, "transposed": rows < columns, "shape": tuple(sizes)}, "mul_1")

    def get_config(self) -> dict[str, Any]:
        return {"gain": self.gain, "seed": self.seed, "dtype": self.dtype.name}


def _identity(dtype: DType, gain: float, shape: tuple[int, int]) -> torch.Tensor:
    return torch.eye(*shape, dtype=dtype.torch) * gain


IDENTITY = Op("IdentityMatrix", "-> @dtype", _identity, lambda inputs, attrs: attrs["shape"])


@export("initializers.identity")
class Identity(Initializer):
    """Makes gain times the identity matrix, also of a matrix that is not square.

    Raises:
        ValueError: when called, a shape that is no matrix's.
    """

    def __init__(self, gain: float = 1.0, dtype: Any = float32):
        self.gain = gain
        self.dtype = _float_dtype(dtype)

    @atomic
    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Tensor:
        sizes = tuple(_sizes(shape if partition_info is None else partition_info.full_shape))
        if len(sizes) != 2:
            raise ValueError(f"Identity matrix initializer can only be used for 2D matrices, got shape {list(sizes)}")
        dtype = as_dtype(self.dtype if dtype is None else dtype)
        if dtype.name not in FLOATS:
            raise ValueError(f"Expected floating point type, got {dtype!r}.")
        with get_default_graph().name_scope("eye"):
            return apply(IDENTITY, [], {"dtype": dtype, "gain": self.gain, "shape": sizes}, "diag")

    def get_config(self) -> dict[str, Any]:
        return {"gain": self.gain, "dtype": self.dtype.name}


zeros_initializer = Zeros
ones_initializer = Ones
constant_initializer = Constant
random_uniform_initializer = RandomUniform
random_normal_initializer = RandomNormal
truncated_normal_initializer = TruncatedNormal
uniform_unit_scaling_initializer = UniformUnitScaling
variance_scaling_initializer = VarianceScaling
glorot_uniform_initializer = GlorotUniform
glorot_normal_initializer = GlorotNormal
orthogonal_initializer = Orthogonal
