"""The initializers of `tf.contrib.layers`: functions that return an initializing function."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ...graph.dtype import as_dtype, float32
from ...graph.shape import as_shape
from ..export import export
from ..graph import Tensor
from ..ops.random.distributions import random_uniform, truncated_normal

# A truncated normal distribution is narrower than the normal one it is cut from; this is about the ratio of the
# variances.
_TRUNCATION = 1.3


@export(
    "contrib.layers.variance_scaling_initializer",
    "contrib.layers.python.layers.initializers.variance_scaling_initializer",
)
def variance_scaling_initializer(
    factor: float = 2.0, mode: str = "FAN_IN", uniform: bool = False, seed: int | None = None, dtype: Any = float32
) -> Callable[..., Tensor]:
    """Return an initializer of numbers whose variance is about factor / n.

    n is the number of a unit's inputs ("FAN_IN"), of its outputs ("FAN_OUT"), or their mean ("FAN_AVG"): sizes -2 and
    -1 of the shape, each times all sizes before them. uniform: numbers within sqrt(3 factor / n); else truncated normal
    ones of stddev sqrt(1.3 factor / n).

    Raises:
        TypeError: a dtype that is no float type (also when called), or an unknown mode.

    Example:
        >>> import dynrnn.tf1 as tf
        >>> tf.contrib.layers.variance_scaling_initializer(1.0)([3, 4], tf.float32).shape.as_list()
        [3, 4]
    """
    _require_float(dtype)
    if mode not in ("FAN_IN", "FAN_OUT", "FAN_AVG"):
        raise TypeError(f"Unknown mode {mode!r}: it must be one of FAN_IN, FAN_OUT, FAN_AVG")

    def initializer(shape: Any, dtype: Any = dtype, partition_info: Any = None) -> Tensor:
        _require_float(dtype)
        n = _units(shape, mode)
        if uniform:
            limit = math.sqrt(3.0 * factor / n)
            return random_uniform(shape, -limit, limit, dtype, seed=seed)
        return truncated_normal(shape, 0.0, math.sqrt(_TRUNCATION * factor / n), dtype, seed=seed)

    return initializer


@export(
    "contrib.layers.xavier_initializer",
    "contrib.layers.xavier_initializer_conv2d",
    "contrib.layers.python.layers.initializers.xavier_initializer",
    "contrib.layers.python.layers.initializers.xavier_initializer_conv2d",
)
def xavier_initializer(uniform: bool = True, seed: int | None = None, dtype: Any = float32) -> Callable[..., Tensor]:
    """Return Xavier's initializer: `variance_scaling_initializer` with factor 1 and the mean of inputs and outputs."""
    return variance_scaling_initializer(1.0, "FAN_AVG", uniform, seed, dtype)


def _require_float(dtype: Any) -> None:
    if not as_dtype(dtype).is_floating:
        raise TypeError(f"Cannot create initializer for non-floating point type {as_dtype(dtype)!r}.")


def _units(shape: Any, mode: str) -> float:
    sizes = as_shape(shape)
    sizes.assert_is_fully_defined()
    known: list[Any] = sizes.as_list()
    field = float(math.prod(known[:-2]))
    inputs = field * float(known[-2] if len(known) > 1 else known[-1] if known else 1)
    outputs = field * float(known[-1] if known else 1)
    return {"FAN_IN": inputs, "FAN_OUT": outputs, "FAN_AVG": (inputs + outputs) / 2.0}[mode]
