"""Initializers: objects that make the tensor of a variable's first value, when they are called with its shape and
dtype.

An object holds numbers only, never anything of a graph, so one may serve many variables and graphs. Those that scale
with a variable's shape are in `scaling_initializers.py`, those of `tf.contrib.layers` in `contrib/initializers.py`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from ..graph.dtype import DType, as_dtype, float32
from ..graph.op import FLOATS, NUMBERS, Op
from ..graph.shape import as_shape
from .export import export
from .graph import Tensor, atomic, get_default_graph
from .ops.apply import apply
from .ops.array.making import fill, ones, zeros
from .ops.convert import constant
from .ops.random.distributions import random_normal, random_uniform, truncated_normal


class Initializer:
    """What all initializers have: `init(shape, dtype=None, partition_info=None)`, `get_config()` and
    `from_config(config)`.

    shape: sizes, all known. dtype: the tensor's type; None: the one that the initializer was made with. partition_info:
    of a part of a partitioned variable, the shape of the whole.
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


def known_sizes(shape: Any) -> list[int]:
    sizes = as_shape(shape)
    sizes.assert_is_fully_defined()
    return sizes.as_list()  # type: ignore[return-value]


def float_dtype(dtype: Any) -> DType:
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

    value: a number, or a list or array whose items fill the shape in row-major order; its last item fills what is left.
    verify_shape: the value must have the very shape instead.

    Raises:
        TypeError: value is no number, list or array; when called, it has another shape and verify_shape is set.
        ValueError: when called, value has more items than the shape.
    """

    def __init__(self, value: Any = 0, dtype: Any = float32, verify_shape: bool = False):
        if not (np.isscalar(value) or isinstance(value, (list, tuple, np.ndarray))):
            raise TypeError(
                f"Invalid type for initial value: {value!r} of type {type(value).__name__}. Expected Python scalar, "
                "list or tuple of values, or numpy.ndarray."
            )
        self.value = value
        self.dtype = as_dtype(dtype)
        self._verify_shape = verify_shape

    @atomic
    def __call__(
        self, shape: Any, dtype: Any = None, partition_info: Any = None, verify_shape: bool | None = None
    ) -> Tensor:
        dtype = as_dtype(self.dtype if dtype is None else dtype)
        verify = self._verify_shape if verify_shape is None else verify_shape
        if np.isscalar(self.value) and not verify and dtype.name in NUMBERS:
            # A large variable's value is better made in a run than kept in the graph.
            return fill(known_sizes(shape), constant(self.value, dtype, name="Const/value"), name="Const")
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
        self.dtype = float_dtype(dtype)

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
        self.dtype = float_dtype(dtype)

    @atomic
    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Tensor:
        sizes = tuple(known_sizes(shape if partition_info is None else partition_info.full_shape))
        if len(sizes) != 2:
            raise ValueError(f"Identity matrix initializer can only be used for 2D matrices, got shape {list(sizes)}")
        dtype = as_dtype(self.dtype if dtype is None else dtype)
        if dtype.name not in FLOATS:
            raise ValueError(f"Expected floating point type, got {dtype!r}.")
        with get_default_graph().name_scope("eye"):
            return apply(IDENTITY, [], {"dtype": dtype, "gain": self.gain, "shape": sizes}, "diag")

    def get_config(self) -> dict[str, Any]:
        return {"gain": self.gain, "dtype": self.dtype.name}
