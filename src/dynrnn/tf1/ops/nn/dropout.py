"""Dropout: uniform noise, and the selection and scaling by it.

`select` is also what drops out a whole sequence at once, with noise from `random/distributions.py`.
"""

from __future__ import annotations

import numbers
from typing import Any

import torch

from .... import errors
from ....graph import rules
from ....graph.constants import constant_value
from ....graph.dtype import DType, to_torch
from ....graph.node import Node
from ....graph.op import FLOATS, Op
from ....graph.shape import Dims, TensorShape
from ...export import export
from ...graph import Tensor, atomic, get_default_graph
from ..apply import apply
from ..convert import convert_to_tensor, make_array
from ..random.distributions import UNIFORM, sizes_tensor
from ..random.draws import Numbers, drawing


def _filled(noise_shape: tuple[int | None, ...] | None, dims: Any) -> tuple[Any, ...] | None:
    """A noise shape in which None stands for x's own size."""
    if noise_shape is None or None not in noise_shape:
        return noise_shape
    if len(noise_shape) != len(dims):
        raise ValueError(f"dropout: noise_shape {list(noise_shape)} holds None, so it must have x's rank, {len(dims)}")
    return tuple(dims[i] if size is None else size for i, size in enumerate(noise_shape))


def _noise_dims(inputs: Any, attrs: Any) -> Dims:
    dims = inputs[0].dims
    if attrs["noise_shape"] is None:
        return dims
    return attrs["noise_shape"] if dims is None else _filled(attrs["noise_shape"], dims)


def _noise(source: Numbers, node: Node, x: torch.Tensor) -> torch.Tensor:
    shape = _filled(node.attrs["noise_shape"], x.shape)
    return source.uniform(tuple(x.shape) if shape is None else shape, x.dtype)


def _selected_dims(inputs: Any, attrs: Any) -> Dims:
    if len(inputs) == 3 and inputs[2].dims not in (None, ()):
        raise ValueError(
            f"Shape {inputs[2].shape} must have rank 0: dropout's rate must be a number or a scalar tensor"
        )
    return rules.broadcast(inputs[:2], attrs)


def _dropout(x: torch.Tensor, noise: torch.Tensor, rate: float, scale: float) -> torch.Tensor:
    return torch.where(noise >= rate, x * scale, 0)


def _dropout_tensor(x: torch.Tensor, noise: torch.Tensor, rate: torch.Tensor, constant: bool) -> torch.Tensor:
    if rate.ndim:
        raise errors.InvalidArgumentError(None, None, f"dropout's rate must be a scalar, got shape {list(rate.shape)}")
    # TensorFlow turns the division by a constant into a product before it runs a graph, which rounds differently.
    scaled = x * (1 / (1 - rate)) if constant else x / (1 - rate)
    return torch.where(noise >= rate, scaled, 0)


NOISE = Op(
    "DropoutNoise",
    "x:T -> T",
    None,
    _noise_dims,
    types={"T": FLOATS},
    differentiable=False,
    bind=drawing(_noise),
    stateful=True,
)
DROPOUT = Op("Dropout", "x:T noise:T -> T", _dropout, _selected_dims, types={"T": FLOATS})
DROPOUT_TENSOR = Op(
    "DropoutTensorRate", "x:T noise:T rate:T -> T", _dropout_tensor, _selected_dims, types={"T": FLOATS}
)
ONE_MINUS = Op("OneMinus", "x:T -> T", lambda x: 1 - x, rules.same, types={"T": FLOATS})


def rate_of(keep_prob: Any, rate: Any, what: str = "dropout") -> Any:
    """Return the dropout rate as a float or a tensor, of the two ways to give it.

    Raises:
        ValueError: both or none are given; keep_prob is no number; a number outside of [0, 1) as a rate.
    """
    if keep_prob is not None:
        if rate is not None:
            raise ValueError("Cannot specify both 'keep_prob' and 'rate'.")
        rate = _one_minus(keep_prob)
    if rate is None:
        raise ValueError(f"You must provide a rate to {what}.")
    if not isinstance(rate, numbers.Real):
        return rate
    rate = float(rate)
    if not 0 <= rate < 1:
        raise ValueError(f"{what}: rate must be a scalar tensor or a float in the range [0, 1), got {rate}")
    return rate


def _one_minus(keep_prob: Any) -> Any:
    if isinstance(keep_prob, numbers.Real):
        return 1.0 - float(keep_prob)
    if isinstance(keep_prob, Tensor) or hasattr(keep_prob, "_as_tensor"):
        return apply(ONE_MINUS, [keep_prob], name="sub")
    raise ValueError(f"keep_prob must be a floating point number or Tensor, got {keep_prob!r}")


def _rounded(value: float, dtype: DType) -> float:
    return to_torch(make_array(value, dtype)).item()  # type: ignore[union-attr]


@atomic
def select(x: Tensor, noise: Tensor, rate: Any, name: str | None = None) -> Tensor:
    """Return x / (1 - rate) where noise >= rate, and 0 elsewhere.

        scale = 1 / (1 - rate)
        y     = x * scale  where noise >= rate, else 0

    x: `[...]` of a float type. noise: numbers in [0, 1) of x's dtype, that broadcast against x. rate: a float, or a
    scalar tensor of x's dtype. Numbers are rounded to x's dtype after scale was computed in Python's floats. A dropped
    item is 0, also where x is NaN or Inf, and so is its gradient.
    """
    dtype = x.dtype.base_dtype
    if isinstance(rate, float):
        attrs = {"rate": _rounded(rate, dtype), "scale": _rounded(1 / (1 - rate), dtype)}
        return apply(DROPOUT, [x, noise], attrs, name)
    tensor = convert_to_tensor(rate, dtype)
    return apply(DROPOUT_TENSOR, [x, noise, tensor], {"constant": _is_constant(tensor)}, name)


def _is_constant(rate: Tensor) -> bool:
    return constant_value(rate.op.inputs[0] if rate.op.type == ONE_MINUS.type else rate) is not None


@export("nn.dropout")
@atomic
def dropout(
    x: Any,
    keep_prob: Any = None,
    noise_shape: Any = None,
    seed: int | None = None,
    name: str | None = None,
    rate: Any = None,
) -> Tensor:
    """Set items of x to 0 with probability `rate` and divide the others by 1 - rate, so that the expected sum stays.

    x: of a float type. rate, or keep_prob = 1 - rate: a number or a scalar tensor. noise_shape: sizes that broadcast
    against x (None: x's own size there); items that share a number are kept or dropped together. The arithmetic stands
    at `select`. With a rate of the number 0, x itself is returned and nothing is drawn.

    Raises:
        ValueError: x is not of a float type, a rate outside of [0, 1), both or neither of rate and keep_prob.

    Example:
        >>> import dynrnn.tf1 as tf
        >>> x = tf.ones([2, 3])
        >>> tf.nn.dropout(x, keep_prob=1.0) is x
        True
    """
    rate = rate_of(keep_prob, rate)
    graph = get_default_graph()
    with graph.name_scope(name or "dropout"):
        x = convert_to_tensor(x, name="x")
        if not x.dtype.is_floating:
            raise ValueError(
                f"x has to be a floating point tensor since it's going to be scaled. Got a {x.dtype!r} tensor instead."
            )
        if isinstance(rate, float) and rate == 0:
            return x
        noise = _draw_noise(x, noise_shape, seed)
        return select(x, noise, rate, name="mul_1")


def _draw_noise(x: Tensor, noise_shape: Any, seed: int | None) -> Tensor:
    seeds = {"seeds": get_default_graph().seeds(seed)}
    name = "random_uniform/RandomUniform"
    if isinstance(noise_shape, Tensor) or hasattr(noise_shape, "_as_tensor"):
        limits = [convert_to_tensor(value, x.dtype.base_dtype) for value in (0, 1)]
        return apply(UNIFORM, [sizes_tensor(noise_shape), *limits], seeds, name)
    if isinstance(noise_shape, (list, tuple)) and any(isinstance(size, Tensor) for size in noise_shape):
        return _draw_noise(x, convert_to_tensor(noise_shape), seed)
    sizes = None if noise_shape is None else TensorShape(noise_shape).tuple
    return apply(NOISE, [x], {"noise_shape": sizes, **seeds}, name)
