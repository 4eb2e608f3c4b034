"""Adding biases, and products of matrices with a bias."""

from __future__ import annotations

from typing import Any

import torch

from .... import errors
from ....graph import rules
from ....graph.op import FLOATS, NUMBERS, Op
from ....graph.shape import Dims, TensorShape
from ...export import export
from ...graph import Tensor, atomic, get_default_graph
from ..apply import apply


def _with_bias(dims: Dims, bias: Dims, channels_first: bool = False) -> Dims:
    """The shape of a sum with a bias along one axis; what the bias knows of that axis is joined."""
    if bias is not None and len(bias) != 1:
        raise ValueError(f"Shape must be rank 1 but is rank {len(bias)}: the bias has shape {TensorShape(bias)}")
    if dims is None:
        return None
    if len(dims) < 2:
        raise ValueError(
            f"Shape must be at least rank 2 but is rank {len(dims)}: the value has shape {TensorShape(dims)}"
        )
    axis = 1 if channels_first else len(dims) - 1
    size, wanted = dims[axis], None if bias is None else bias[0]
    if size is not None and wanted is not None and size != wanted:
        raise ValueError(
            f"Dimensions must be equal, but are {size} and {wanted}, for a value {TensorShape(dims)} and a bias "
            f"{TensorShape(bias)}"
        )
    return tuple(wanted if i == axis and size is None else size for i, size in enumerate(dims))


def _bias_dims(inputs: Any, attrs: Any) -> Dims:
    return _with_bias(inputs[0].dims, inputs[1].dims, attrs["channels_first"])


def _layer_dims(inputs: Any, attrs: Any) -> Dims:
    return _with_bias(rules.matmul(inputs[:2], {}), inputs[2].dims)


def _require_fit(bias: torch.Tensor, size: int) -> None:
    if bias.shape != (size,):
        raise errors.InvalidArgumentError(None, None, f"the bias must have shape [{size}], got {list(bias.shape)}")


def _bias_add(value: torch.Tensor, bias: torch.Tensor, channels_first: bool) -> torch.Tensor:
    if value.ndim < 2:
        raise errors.InvalidArgumentError(None, None, f"Input tensor must be at least 2D: {list(value.shape)}")
    _require_fit(bias, value.shape[1 if channels_first else -1])
    return value + (bias.reshape(-1, *[1] * (value.ndim - 2)) if channels_first else bias)


def _xw_plus_b(x: torch.Tensor, weights: torch.Tensor, biases: torch.Tensor) -> torch.Tensor:
    _require_fit(biases, weights.shape[-1])
    return torch.addmm(biases, x, weights) if x.ndim == 2 and weights.ndim == 2 else torch.matmul(x, weights) + biases


def _relu_layer(x: torch.Tensor, weights: torch.Tensor, biases: torch.Tensor) -> torch.Tensor:
    return torch.relu(_xw_plus_b(x, weights, biases))


BIAS_ADD = Op("BiasAdd", "value:T bias:T -> T", _bias_add, _bias_dims, types={"T": NUMBERS})
XW_PLUS_B = Op("XWPlusB", "x:T weights:T biases:T -> T", _xw_plus_b, _layer_dims, types={"T": FLOATS})
RELU_LAYER = Op("ReluLayer", "x:T weights:T biases:T -> T", _relu_layer, _layer_dims, types={"T": FLOATS})


@export("nn.bias_add")
@atomic
def bias_add(value: Any, bias: Any, data_format: str | None = None, name: str | None = None) -> Tensor:
    """Return value + bias, for a bias of shape `[channels]`.

    value: rank 2 or more; its channels are the last axis, or axis 1 where data_format starts with "NC".

    Raises:
        ValueError: the bias is no vector or does not fit; an unknown data_format.
    """
    if data_format is not None and not (
        data_format.startswith("NC") or data_format.startswith("N") and data_format.endswith("C")
    ):
        raise ValueError(f"data_format must be of the form `N...C` or `NC...`, got {data_format!r}")
    channels_first = data_format is not None and data_format.startswith("NC") and data_format != "NC"
    return apply(BIAS_ADD, [value, bias], {"channels_first": channels_first}, name)


@export("nn.xw_plus_b")
@atomic
def xw_plus_b(x: Any, weights: Any, biases: Any, name: str | None = None) -> Tensor:
    """Return x . weights + biases, for x `[..., batch, in]`, weights `[in, out]` and biases `[out]`.

    Example:
        >>> import dynrnn.tf1 as tf
        >>> tf.nn.xw_plus_b(tf.ones([2, 3]), tf.ones([3, 4]), tf.zeros([4])).shape.as_list()
        [2, 4]
    """
    return _layer(XW_PLUS_B, x, weights, biases, name or "xw_plus_b")


@export("nn.relu_layer")
@atomic
def relu_layer(x: Any, weights: Any, biases: Any, name: str | None = None) -> Tensor:
    """Return relu(x . weights + biases), for x `[..., batch, in]`, weights `[in, out]` and biases `[out]`."""
    return _layer(RELU_LAYER, x, weights, biases, name or "relu_layer")


def _layer(row: Op, x: Any, weights: Any, biases: Any, name: str) -> Tensor:
    with get_default_graph().name_scope(name) as scope:
        return apply(row, [x, weights, biases], name=scope)
