"""Random numbers: uniform and normal numbers, integers, classes, shuffles and crops. Dropout is in `dropout.py`.

With a `seed`, uniform numbers, integers and shuffles are TensorFlow's own bits, normal numbers within 2e-6; with only a graph-level seed
the numbers repeat from run to run of a program; with neither they are fresh in every session.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from ... import errors
from ...graph import rules
from ...graph.constants import constant_value, partial_dims, partial_value
from ...graph.dtype import DType, as_dtype, float32, int32, int64
from ...graph.graph import Node
from ...graph.op import FLOATS, INDICES, REALS, Op
from ...graph.shape import Dims
from ..export import export
from ..graph import Tensor, atomic, get_default_graph
from .apply import apply
from .arguments import shape_tensor
from .convert import convert_to_tensor
from .draws import Fresh, Stream, drawing, generator, sizes

_Numbers = Stream | Fresh
_ALL = FLOATS | INDICES


# Shapes


def _drawn_dims(inputs: Any, attrs: Any) -> Dims:
    """The shape that the first input holds, broadcast against the parameters' shapes."""
    dims = partial_dims(inputs[0])
    for tensor in inputs[1:]:
        dims = rules.broadcast_dims(dims, tensor.dims)
    return dims


def _int_dims(inputs: Any, attrs: Any) -> Dims:
    for name, tensor in zip(("minval", "maxval"), inputs[1:], strict=True):
        if tensor.dims not in (None, ()):
            raise ValueError(f"Shape must be rank 0 but is rank {len(tensor.dims)}: {name} of RandomUniformInt has {tensor.shape}")
    return partial_dims(inputs[0])


def _steps_dims(inputs: Any, attrs: Any) -> Dims:
    dims, steps = partial_dims(inputs[1]), partial_value(inputs[0])
    return None if dims is None else (None if steps is None else steps.item(), *dims)


def _samples_dims(inputs: Any, attrs: Any) -> Dims:
    """The shape that the first input holds, with the parameters' common shape behind it."""
    dims, common = partial_dims(inputs[0]), rules.broadcast(inputs[1:], attrs)
    return None if dims is None or common is None else (*dims, *common)


def _categorical_dims(inputs: Any, attrs: Any) -> Dims:
    logits = inputs[0].shape.with_rank(2).tuple
    count = partial_value(inputs[1])
    if count is not None and count.item() is not None and count.item() < 0:
        raise ValueError(f"num_samples must be non-negative but is {count.item()}")
    return logits[0], None if count is None else count.item()


def _crop_dims(inputs: Any, attrs: Any) -> Dims:
    size, dims = partial_dims(inputs[1]), inputs[0].dims
    if size is not None and dims is not None and len(size) != len(dims):
        raise ValueError(f"size must have one item for each of the {len(dims)} dimensions of value, got {len(size)} items")
    return size


# Kernels


def _scaled(numbers: torch.Tensor, mean: torch.Tensor, stddev: torch.Tensor) -> torch.Tensor:
    return numbers * stddev + mean


def _uniform(numbers: _Numbers, node: Node, shape: torch.Tensor, low: torch.Tensor, high: torch.Tensor) -> torch.Tensor:
    return numbers.uniform(sizes(shape), low.dtype) * (high - low) + low


def _uniform_int(numbers: _Numbers, node: Node, shape: torch.Tensor, low: torch.Tensor, high: torch.Tensor) -> torch.Tensor:
    if low >= high:
        raise errors.InvalidArgumentError(None, node, f"Need minval < maxval, got {low.item()} >= {high.item()}")
    return numbers.uniform_int(sizes(shape), int(low), int(high), low.dtype)


def _uniform_steps(numbers: _Numbers, node: Node, steps: torch.Tensor, shape: torch.Tensor) -> torch.Tensor:
    return numbers.uniform_steps(sizes(steps[None])[0], sizes(shape), node.attrs["dtype"].torch)


def _normal(numbers: _Numbers, node: Node, shape: torch.Tensor, mean: torch.Tensor, stddev: torch.Tensor) -> torch.Tensor:
    return _scaled(numbers.normal(sizes(shape), mean.dtype), mean, stddev)


def _truncated(numbers: _Numbers, node: Node, shape: torch.Tensor, mean: torch.Tensor, stddev: torch.Tensor) -> torch.Tensor:
    return _scaled(numbers.truncated_normal(sizes(shape), mean.dtype), mean, stddev)


def _shuffle(numbers: _Numbers, node: Node, value: Any) -> Any:
    if value.ndim == 0 or 0 in value.shape:
        return value.copy() if isinstance(value, np.ndarray) else value.clone()
    order = numbers.permutation(len(value))
    return value[order.numpy() if isinstance(value, np.ndarray) else order]


def _categorical(numbers: _Numbers, node: Node, logits: torch.Tensor, count: torch.Tensor) -> torch.Tensor:
    if logits.ndim != 2 or logits.shape[1] == 0 or count < 0:
        raise errors.InvalidArgumentError(
            None, node, f"logits must be [batch, classes > 0] and num_samples at least 0, got {list(logits.shape)} and {count.item()}"
        )
    return numbers.categorical(logits, int(count), node.attrs["dtype"].torch)


def _crop(numbers: _Numbers, node: Node, value: Any, size: torch.Tensor) -> Any:
    wanted = sizes(size)
    if len(wanted) != value.ndim or any(w > s for w, s in zip(wanted, value.shape, strict=False)):
        raise errors.InvalidArgumentError(None, node, f"Need value.shape >= size, got {wanted} for value of shape {list(value.shape)}")
    draws = numbers.uniform_int([len(wanted)], 0, torch.iinfo(size.dtype).max, size.dtype).tolist()
    starts = [d % (s - w + 1) for d, s, w in zip(draws, value.shape, wanted, strict=True)]
    return value[tuple(slice(start, start + w) for start, w in zip(starts, wanted, strict=True))]


def _gamma(numbers: torch.Generator, node: Node, shape: torch.Tensor, alpha: torch.Tensor, beta: torch.Tensor) -> torch.Tensor:
    alpha, beta = torch.broadcast_tensors(alpha, beta)
    wide = alpha.expand(*sizes(shape), *alpha.shape).to(torch.promote_types(alpha.dtype, torch.float32))
    drawn = torch._standard_gamma(wide.contiguous(), generator=numbers).to(beta.dtype) / beta
    return drawn.clamp(min=torch.finfo(beta.dtype).tiny)


def _poisson(numbers: torch.Generator, node: Node, shape: torch.Tensor, lam: torch.Tensor) -> torch.Tensor:
    wide = lam.expand(*sizes(shape), *lam.shape).to(torch.promote_types(lam.dtype, torch.float32))
    return torch.poisson(wide, numbers).to(node.attrs["dtype"].torch)


def _row(type: str, signature: str, kernel: Any, shape: Any, numbers: Any = None, **types: frozenset[str]) -> Op:
    bind = drawing(kernel) if numbers is None else drawing(kernel, numbers)
    types = {"S": INDICES, **types}
    return Op(type, signature, None, shape, types=types, bind=bind, stateful=True)


UNIFORM = _row("RandomUniform", "shape:S minval:T maxval:T -> T", _uniform, _drawn_dims, T=FLOATS)
UNIFORM_INT = _row("RandomUniformInt", "shape:S minval:T maxval:T -> T", _uniform_int, _int_dims, T=INDICES)
UNIFORM_STEPS = _row("RandomUniformSteps", "steps:N shape:S -> @dtype", _uniform_steps, _steps_dims, N=INDICES)
NORMAL = _row("RandomStandardNormal", "shape:S mean:T stddev:T -> T", _normal, _drawn_dims, T=FLOATS)
TRUNCATED_NORMAL = _row("TruncatedNormal", "shape:S mean:T stddev:T -> T", _truncated, _drawn_dims, T=FLOATS)
SHUFFLE = Op("RandomShuffle", "value:T -> T", None, rules.same, differentiable=False, bind=drawing(_shuffle), stateful=True)
CATEGORICAL = _row("Multinomial", "logits:T num_samples:int32 -> @dtype", _categorical, _categorical_dims, T=REALS)
CROP = _row("RandomCrop", "value:T size:S -> T", _crop, _crop_dims)
GAMMA = _row("RandomGamma", "shape:S alpha:T beta:T -> T", _gamma, _samples_dims, generator, T=FLOATS)
POISSON = _row("RandomPoissonV2", "shape:S lam:T -> @dtype", _poisson, _samples_dims, generator, T=_ALL)


# Public functions


def sizes_tensor(shape: Any) -> Tensor:
    """Return a shape argument (sizes, a TensorShape, or an integer tensor) as a vector.

    Raises:
        ValueError: it is no vector, or a size that is known is negative.
    """
    tensor = shape_tensor(shape)
    if tensor.dims is not None and len(tensor.dims) != 1:
        raise ValueError(f"Shape must be rank 1 but is rank {len(tensor.dims)}: a shape must be a vector of sizes, got {shape!r}")
    known = constant_value(tensor) if tensor.dtype.is_integer else None
    if known is not None and (known < 0).any():
        raise ValueError(f"Invalid value in tensor used for shape: {known.min()}, in {known.tolist()}")
    return tensor


def _require(what: str, dtype: Any, allowed: frozenset[str]) -> DType:
    dtype = as_dtype(dtype).base_dtype
    if dtype.name not in allowed:
        raise ValueError(f"{what}: dtype must be one of {', '.join(sorted(allowed))}, got {dtype.name}")
    return dtype


@export("random_uniform", "random.uniform")
@atomic
def random_uniform(shape: Any, minval: Any = 0, maxval: Any = None, dtype: Any = float32, seed: int | None = None, name: str | None = None) -> Tensor:
    """Return numbers drawn uniformly from [minval, maxval).

    shape: the result's sizes; minval, maxval (default 1 for floats) broadcast against it. dtype: a float type, int32 or int64.

    Raises:
        ValueError: an integer dtype without maxval; another dtype. tf.errors.InvalidArgumentError, in run: an empty range of integers.

    Example:
        >>> import dynrnn.tf1 as tf
        >>> tf.random_uniform([2, 3], -0.1, 0.1).shape.as_list()
        [2, 3]
    """
    dtype = _require("random_uniform", dtype, _ALL)
    if maxval is None:
        if dtype.is_integer:
            raise ValueError(f"Must specify maxval for integer dtype {dtype!r}")
        maxval = 1
    row = UNIFORM_INT if dtype.is_integer else UNIFORM
    return _draw(row, "random_uniform", shape, {"min": minval, "max": maxval}, dtype, seed, name)


def _draw(row: Op, default_name: str, shape: Any, params: dict[str, Any], dtype: DType, seed: int | None, name: str | None) -> Tensor:
    graph = get_default_graph()
    with graph.name_scope(name or default_name) as scope:
        tensors = [convert_to_tensor(value, dtype, key) for key, value in params.items()]
        return apply(row, [sizes_tensor(shape), *tensors], {"seeds": graph.seeds(seed)}, scope)


@export("random_normal", "random.normal")
@atomic
def random_normal(shape: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = float32, seed: int | None = None, name: str | None = None) -> Tensor:
    """Return numbers from a normal distribution.

    shape: the result's sizes; mean and stddev broadcast against it. dtype: a float type.

    Example:
        >>> import dynrnn.tf1 as tf
        >>> tf.random_normal([2, 3], stddev=0.1).dtype
        tf.float32
    """
    dtype = _require("random_normal", dtype, FLOATS)
    return _draw(NORMAL, "random_normal", shape, {"mean": mean, "stddev": stddev}, dtype, seed, name)


@export("truncated_normal", "random.truncated_normal")
@atomic
def truncated_normal(shape: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = float32, seed: int | None = None, name: str | None = None) -> Tensor:
    """Return numbers from a normal distribution of which those two standard deviations or more away from the mean are drawn again.

    shape: the result's sizes; mean and stddev broadcast against it. dtype: a float type.
    """
    dtype = _require("truncated_normal", dtype, FLOATS)
    return _draw(TRUNCATED_NORMAL, "truncated_normal", shape, {"mean": mean, "stddev": stddev}, dtype, seed, name)


@atomic
def uniform_steps(steps: Any, shape: Any, *, dtype: Any = float32, seed: int | None = None, name: str | None = None) -> Tensor:
    """Return `[steps, *shape]`: what a uniform draw of `shape` returns in `steps` executions, one after the other.

    For the dropout masks of a whole sequence. steps: a size, known or an integer tensor. dtype: a float type.
    """
    attrs = {"dtype": _require("uniform_steps", dtype, FLOATS), "seeds": get_default_graph().seeds(seed)}
    return apply(UNIFORM_STEPS, [steps, sizes_tensor(shape)], attrs, name)


@export("random_shuffle", "random.shuffle")
@atomic
def random_shuffle(value: Any, seed: int | None = None, name: str | None = None) -> Tensor:
    """Return `value` with its rows, the items along its first dimension, in a random order. No gradient flows through it, as in TensorFlow."""
    return apply(SHUFFLE, [value], {"seeds": get_default_graph().seeds(seed)}, name)


@export("multinomial", "random.multinomial")
@atomic
def multinomial(logits: Any, num_samples: Any, seed: int | None = None, name: str | None = None, output_dtype: Any = None) -> Tensor:
    """Return classes drawn with probability softmax(logits): `[batch, num_samples]` for logits of shape `[batch, classes]`."""
    return _classes("multinomial", logits, num_samples, output_dtype, seed, name)


@export("random.categorical")
@atomic
def categorical(logits: Any, num_samples: Any, dtype: Any = None, seed: int | None = None, name: str | None = None) -> Tensor:
    """Return classes drawn with probability softmax(logits): `[batch, num_samples]` for logits of shape `[batch, classes]`."""
    return _classes("categorical", logits, num_samples, dtype, seed, name)


def _classes(what: str, logits: Any, num_samples: Any, dtype: Any, seed: int | None, name: str | None) -> Tensor:
    graph = get_default_graph()
    attrs = {"dtype": _require(what, int64 if dtype is None else dtype, INDICES), "seeds": graph.seeds(seed)}
    with graph.name_scope(name or what):
        return apply(CATEGORICAL, [logits, num_samples], attrs)


@export("random_gamma", "random.gamma")
@atomic
def random_gamma(
    shape: Any, alpha: Any, beta: Any = None, dtype: Any = float32, seed: int | None = None, name: str | None = None
) -> Tensor:
    """Return numbers from Gamma(alpha, rate beta), `[*shape, *broadcast shape of alpha and beta]`; seeded numbers repeat but are our own."""
    dtype = _require("random_gamma", dtype, FLOATS)
    return _draw(GAMMA, "random_gamma", shape, {"alpha": alpha, "beta": 1.0 if beta is None else beta}, dtype, seed, name)


@export("random_poisson", "random.poisson")
@atomic
def random_poisson(lam: Any, shape: Any, dtype: Any = float32, seed: int | None = None, name: str | None = None) -> Tensor:
    """Return numbers from Poisson(lam), `[*shape, *shape of lam]`; seeded numbers repeat but are our own."""
    graph = get_default_graph()
    attrs = {"dtype": _require("random_poisson", dtype, _ALL), "seeds": graph.seeds(seed)}
    with graph.name_scope(name or "random_poisson"):
        return apply(POISSON, [sizes_tensor(shape), convert_to_tensor(lam, name="lam")], attrs)


@export("random_crop", "image.random_crop")
@atomic
def random_crop(value: Any, size: Any, seed: int | None = None, name: str | None = None) -> Tensor:
    """Return a part of `value` of shape `size`, at a random place.

    Raises:
        ValueError: size has another length than value's rank. tf.errors.InvalidArgumentError, in run: value is smaller than size.
    """
    graph = get_default_graph()
    with graph.name_scope(name or "random_crop") as scope:
        return apply(CROP, [value, convert_to_tensor(size, preferred_dtype=int32, name="size")], {"seeds": graph.seeds(seed)}, scope)
