"""Activations, softmax, biases and what is made of them. Losses, convolutions, pooling, normalization, embeddings and dropout have files of
their own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F

from ...graph import rules
from ...graph.constants import constant_value
from ...graph.op import FLOATS, NUMBERS, REALS, Op
from ...graph.shape import Dims
from ..export import export
from ..graph import Tensor, atomic, get_default_graph
from .apply import apply
from .convert import convert_to_tensor

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
    globals()[_name] = export(f"nn.{_name}")(_activation(_name, _row, EQUATIONS[_name]))
relu: Callable[..., Tensor] = globals()["relu"]


@export("nn.leaky_relu")
@atomic
def leaky_relu(features: Any, alpha: float = 0.2, name: str | None = None) -> Tensor:
    """Return x where x > 0 and alpha x elsewhere, for every item x of `features`; integers become float32."""
    features = convert_to_tensor(features)
    if features.dtype.is_integer:
        features = apply(_TO_FLOAT, [features], name="Cast")
    return apply(LEAKY_RELU, [features], {"alpha": float(alpha)}, name)


_TO_FLOAT = Op("Cast", "x:S -> float32", lambda x: x.to(torch.float32), rules.same, differentiable=False)


@export("nn.crelu")
@atomic
def crelu(features: Any, name: str | None = None, axis: int = -1) -> Tensor:
    """Return relu of `features` and of their negatives, joined along `axis`, which doubles there."""
    with get_default_graph().name_scope(name or "CRelu"):
        return apply(CRELU, [features], {"axis": as_axis(axis)}, "Relu")


# Softmax


def as_axis(axis: Any, dim: Any = None, default: int = -1) -> int:
    """Return an axis argument, or its old name `dim`, as an int.

    Raises:
        ValueError: both are given, or a tensor whose value is not fixed by the graph.
    """
    if dim is not None:
        if axis is not None:
            raise ValueError("Cannot specify both 'axis' and 'dim'")
        axis = dim
    if axis is None:
        return default
    if isinstance(axis, Tensor):
        value = constant_value(axis)
        if value is None:
            raise ValueError(f"axis must be known while the graph is built, got {axis}")
        axis = value
    return int(axis)


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
    return apply(SOFTMAX, [logits], {"axis": as_axis(axis, dim)}, name)


@export("nn.log_softmax", "math.log_softmax")
@atomic
def log_softmax(logits: Any, axis: Any = None, name: str | None = None, dim: Any = None) -> Tensor:
    """Return logits - log(sum(exp(logits))) along `axis`; shapes, dtypes and errors as for `softmax`."""
    return apply(LOG_SOFTMAX, [logits], {"axis": as_axis(axis, dim)}, name)


# Biases


def _bias_dims(inputs: Any, attrs: Any) -> Dims:
    dims, bias = inputs[0].dims, inputs[1].dims
    if bias is not None and len(bias) != 1:
        raise ValueError(f"Shape must be rank 1 but is rank {len(bias)}: the bias of BiasAdd has shape {inputs[1].shape}")
    if dims is None:
        return None
    if len(dims) < 2:
        raise ValueError(f"Shape must be at least rank 2 but is rank {len(dims)}: the value of BiasAdd has shape {inputs[0].shape}")
    axis = 1 if attrs["channels_first"] else len(dims) - 1
    size, wanted = dims[axis], None if bias is None else bias[0]
    if size is not None and wanted is not None and size != wanted:
        raise ValueError(f"Dimensions must be equal, but are {size} and {wanted} for 'BiasAdd' with shapes {inputs[0].shape}, {inputs[1].shape}.")
    return tuple(wanted if i == axis and size is None else size for i, size in enumerate(dims))


def _bias_add(value: torch.Tensor, bias: torch.Tensor, channels_first: bool) -> torch.Tensor:
    axis = 1 if channels_first else value.ndim - 1
    if bias.ndim != 1 or value.ndim < 2 or value.shape[axis] != len(bias):
        raise RuntimeError(f"bias of shape {list(bias.shape)} does not fit axis {axis} of {list(value.shape)}")
    return value + (bias.reshape(-1, *[1] * (value.ndim - 2)) if channels_first else bias)


def _xw_plus_b(x: torch.Tensor, weights: torch.Tensor, biases: torch.Tensor) -> torch.Tensor:
    return torch.addmm(biases, x, weights)


def _relu_layer(x: torch.Tensor, weights: torch.Tensor, biases: torch.Tensor) -> torch.Tensor:
    return torch.relu(torch.addmm(biases, x, weights))


def _layer_dims(inputs: Any, attrs: Any) -> Dims:
    for tensor, rank in zip(inputs, (2, 2, 1), strict=True):
        tensor.shape.with_rank(rank)
    product = rules.matmul(inputs[:2], {}) or (None, None)
    bias = inputs[2].dims
    if bias is None:
        return product
    return product[0], rules.merged([_Sized(product[1]), _Sized(bias[0])], {})[0]


BIAS_ADD = Op("BiasAdd", "value:T bias:T -> T", _bias_add, _bias_dims, types={"T": NUMBERS})
