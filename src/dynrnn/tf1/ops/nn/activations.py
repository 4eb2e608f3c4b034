"""Activations and softmax. Biases, losses, convolutions, pooling, normalization, embeddings and dropout have files of
their own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F

from ....graph import rules
from ....graph.dtype import float32
from ....graph.op import FLOATS, REALS, Op
from ....graph.shape import Dims
from ...export import export
from ...graph import Tensor, atomic, get_default_graph
from ..apply import apply
from ..arguments import static_int
from ..convert import convert_to_tensor
from ..math.cast import cast

_SELU_SCALE = 1.0507009873554804934193349852946
_SELU_ALPHA = 1.6732632423543772848170429916717


def _selu(x: torch.Tensor) -> torch.Tensor:
    # torch's own has the slope of the left side at 0, TensorFlow that of the right one.
    return torch.where(x < 0, _SELU_SCALE * _SELU_ALPHA * torch.expm1(x.clamp(max=0)), _SELU_SCALE * x)


def _softplus(x: torch.Tensor) -> torch.Tensor:
    return F.softplus(x, 1.0, 40.0)  # from 40 on, log(1 + exp(x)) is x also in float64


def _leaky_relu(x: torch.Tensor, alpha: float) -> torch.Tensor:
    return F.leaky_relu(x, alpha)


def _crelu(x: torch.Tensor, axis: int) -> torch.Tensor:
    return torch.relu(torch.cat([x, -x], axis))


def _crelu_dims(inputs: Any, attrs: Any) -> Dims:
    dims = inputs[0].dims
    if dims is None:
        return None
    axis = rules.normal_axis(attrs["axis"], len(dims))
    return tuple(size if i != axis or size is None else 2 * size for i, size in enumerate(dims))


# public name: (op type, torch function, dtypes)
ACTIVATIONS: dict[str, tuple[str, Callable[[torch.Tensor], torch.Tensor], frozenset[str]]] = {
    "relu": ("Relu", torch.relu, REALS),
    "relu6": ("Relu6", F.relu6, REALS),
    "elu": ("Elu", F.elu, FLOATS),
    "selu": ("Selu", _selu, FLOATS),
    "softplus": ("Softplus", _softplus, FLOATS),
    "softsign": ("Softsign", F.softsign, FLOATS),
}
EQUATIONS = {
    "relu": "max(x, 0)",
    "relu6": "min(max(x, 0), 6)",
    "elu": "x where x >= 0, exp(x) - 1 elsewhere",
    "selu": "1.0507 x where x >= 0, 1.7581 (exp(x) - 1) elsewhere",
    "softplus": "log(1 + exp(x))",
    "softsign": "x / (1 + |x|)",
}
ROWS = {
    name: Op(type, "features:T -> T", function, rules.same, types={"T": dtypes})
    for name, (type, function, dtypes) in ACTIVATIONS.items()
}
LEAKY_RELU = Op("LeakyRelu", "features:T -> T", _leaky_relu, rules.same, types={"T": FLOATS})
CRELU = Op("CRelu", "features:T -> T", _crelu, _crelu_dims, types={"T": FLOATS})


def _activation(name: str, row: Op, equation: str) -> Callable[..., Tensor]:
    def function(features: Any, name: str | None = None) -> Tensor:
        return apply(row, [features], name=name)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"Return {equation} for every item x of `features`, in their shape and dtype."
    return atomic(function)


for _name, _row in ROWS.items():
    export(f"nn.{_name}")(_activation(_name, _row, EQUATIONS[_name]))


@export("nn.leaky_relu")
@atomic
def leaky_relu(features: Any, alpha: float = 0.2, name: str | None = None) -> Tensor:
    """Return x where x > 0 and alpha x elsewhere, for every item x of `features`; integers become float32."""
    features = convert_to_tensor(features)
    if features.dtype.is_integer:
        features = cast(features, float32)
    return apply(LEAKY_RELU, [features], {"alpha": float(alpha)}, name)


@export("nn.crelu")
@atomic
def crelu(features: Any, name: str | None = None, axis: int = -1) -> Tensor:
    """Return relu of `features` and of their negatives, joined along `axis`, which doubles there."""
    with get_default_graph().name_scope(name or "CRelu"):
        return apply(CRELU, [features], {"axis": as_axis("crelu", axis)}, "Relu")


# Softmax


def as_axis(function: str, axis: Any, dim: Any = None) -> int:
    """Return an axis argument, or its old name `dim`, as an int; the last axis where neither is given.

    Raises:
        ValueError: both are given, or a tensor whose value is not fixed by the graph.
    """
    if dim is not None:
        if axis is not None:
            raise ValueError("Cannot specify both 'axis' and 'dim'")
        axis = dim
    return -1 if axis is None else static_int(function, "axis", axis)


def _softmax_dims(inputs: Any, attrs: Any) -> Dims:
    dims = inputs[0].dims
    if dims is not None:
        if not dims:
            raise ValueError("Shape must be at least rank 1 but is rank 0: softmax needs an axis of classes")
        rules.normal_axis(attrs["axis"], len(dims))
    return dims


def _softmax(logits: torch.Tensor, axis: int) -> torch.Tensor:
    return torch.softmax(logits, axis)


def _log_softmax(logits: torch.Tensor, axis: int) -> torch.Tensor:
    return torch.log_softmax(logits, axis)


SOFTMAX = Op("Softmax", "logits:T -> T", _softmax, _softmax_dims, types={"T": FLOATS})
LOG_SOFTMAX = Op("LogSoftmax", "logits:T -> T", _log_softmax, _softmax_dims, types={"T": FLOATS})


@export("nn.softmax", "math.softmax")
@atomic
def softmax(logits: Any, axis: Any = None, name: str | None = None, dim: Any = None) -> Tensor:
    """Return exp(logits) / sum(exp(logits)) along `axis`.

    logits: any shape of rank 1 or more, a float type. axis: default the last one; `dim` is its old name.

    Raises:
        ValueError: a scalar, or an axis out of range. TypeError: logits that are not of a float type.

    Example:
        >>> import dynrnn.tf1 as tf
        >>> tf.nn.softmax(tf.zeros([2, 4])).shape.as_list()
        [2, 4]
    """
    return apply(SOFTMAX, [logits], {"axis": as_axis("softmax", axis, dim)}, name)


@export("nn.log_softmax", "math.log_softmax")
@atomic
def log_softmax(logits: Any, axis: Any = None, name: str | None = None, dim: Any = None) -> Tensor:
    """Return logits - log(sum(exp(logits))) along `axis`; shapes, dtypes and errors as for `softmax`."""
    return apply(LOG_SOFTMAX, [logits], {"axis": as_axis("log_softmax", axis, dim)}, name)
