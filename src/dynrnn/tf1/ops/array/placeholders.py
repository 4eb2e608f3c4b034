"""Placeholders, and the operations that hand a value on: identity and stop_gradient."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from .... import errors
from ....graph import rules
from ....graph.dtype import as_dtype
from ....graph.node import Node
from ....graph.op import Op
from ....graph.shape import Dims, TensorShape, as_shape, merge_dims
from ...export import export
from ...graph import Tensor, atomic
from ..apply import apply
from ..moving import moves


def _bind_placeholder(node: Node, runtime: Any) -> Callable[..., Any]:
    def compute() -> Any:
        dims = node.attrs["shape"]
        shape = f" and shape [{','.join('?' if size is None else str(size) for size in dims)}]" if dims else ""
        raise errors.InvalidArgumentError(
            None,
            node,
            f"You must feed a value for placeholder tensor '{node.name}' with dtype {node.attrs['dtype'].name}{shape}",
        )

    return compute


def _with_default_dims(inputs: Any, attrs: Any) -> Dims:
    merge_dims(inputs[0].dims, attrs["shape"])
    return attrs["shape"]


def _same_view(value: torch.Tensor) -> torch.Tensor:
    return value.view_as(value)


def _given_view(value: torch.Tensor, shape: Dims) -> torch.Tensor:
    return value.view_as(value)


PLACEHOLDER = Op(
    "Placeholder", "-> @dtype", None, lambda inputs, attrs: attrs["shape"], bind=_bind_placeholder, stateful=True
)
_WITH_DEFAULT = moves("PlaceholderWithDefault", "input:T -> T", _given_view, _with_default_dims)
_IDENTITY = moves("Identity", "input:T -> T", _same_view, rules.same)
_STOP = moves("StopGradient", "input:T -> T", torch.Tensor.detach, rules.same, differentiable=False)


@export("placeholder")
@atomic
def placeholder(dtype: Any, shape: Any = None, name: str | None = None) -> Tensor:
    """Return a tensor whose value is fed at every run.

    dtype: its type, also by name (`"float"`). shape: what is known of its shape; None: not even the rank, None for a
    size: any size.

    Raises:
        TypeError: `dtype` is no type. ValueError: `shape` is no shape. tf.errors.InvalidArgumentError: in a run that
        does not feed it.

    Example:
        >>> import dynrnn.tf1 as tf
        >>> with tf.Graph().as_default():
        ...     x = tf.placeholder(tf.float32, [None, 3])
        >>> x
        <tf.Tensor 'Placeholder:0' shape=(?, 3) dtype=float32>
    """
    try:
        dtype = as_dtype(dtype).base_dtype
    except TypeError:
        raise TypeError(f"placeholder: Expected DataType for argument 'dtype' not {dtype!r}.") from None
    return apply(PLACEHOLDER, [], {"dtype": dtype, "shape": as_shape(shape).tuple}, name)


@export("placeholder_with_default")
@atomic
def placeholder_with_default(input: Any, shape: Any, name: str | None = None) -> Tensor:
    """Return a placeholder that has the value of `input` in runs that do not feed it.

    shape: the placeholder's static shape, which may say less than that of `input`.

    Raises:
        ValueError: `shape` and the shape of `input` are not compatible.
    """
    return apply(_WITH_DEFAULT, [input], {"shape": TensorShape(shape).tuple}, name)


@export("identity")
@atomic
def identity(input: Any, name: str | None = None) -> Tensor:
    """Return a tensor with the shape and value of `input`; of a variable, its value when this runs."""
    return apply(_IDENTITY, [input], name=name)


@export("stop_gradient")
@atomic
def stop_gradient(input: Any, name: str | None = None) -> Tensor:
    """Return the value of `input`, as a constant to `tf.gradients`."""
    return apply(_STOP, [input], name=name)
