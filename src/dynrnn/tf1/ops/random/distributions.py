"""Random numbers: uniform and normal ones, and integers. Shuffles, classes and other distributions are in
`sampling.py`.

With a `seed`, uniform numbers, integers and shuffles are TensorFlow's own bits, normal numbers within 2e-6; with only a
graph-level seed the numbers repeat from run to run of a program; with neither they are fresh in every session.
"""

from __future__ import annotations

from typing import Any

import torch

from .... import errors
from ....graph import rules
from ....graph.constants import constant_value, partial_dims, partial_value
from ....graph.dtype import DType, as_dtype, float32
from ....graph.node import Node
from ....graph.op import FLOATS, INDICES, Op
from ....graph.shape import Dims
from ...export import export
from ...graph import Tensor, atomic, get_default_graph
from ..apply import apply
from ..arguments import shape_tensor
from ..convert import convert_to_tensor
from .draws import Numbers, random_row, sizes

ALL_NUMBERS = FLOATS | INDICES


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
            raise ValueError(
                f"Shape must be rank 0 but is rank {len(tensor.dims)}: {name} of RandomUniformInt has {tensor.shape}"
            )
    return partial_dims(inputs[0])


def _steps_dims(inputs: Any, attrs: Any) -> Dims:
    dims, steps = partial_dims(inputs[1]), partial_value(inputs[0])
    return None if dims is None else (None if steps is None else steps.item(), *dims)


# Kernels


def _scaled(numbers: torch.Tensor, mean: torch.Tensor, stddev: torch.Tensor) -> torch.Tensor:
    return numbers * stddev + mean


def _uniform(numbers: Numbers, node: Node, shape: torch.Tensor, low: torch.Tensor, high: torch.Tensor) -> torch.Tensor:
    return numbers.uniform(sizes(shape), low.dtype) * (high - low) + low


def _uniform_int(
    numbers: Numbers, node: Node, shape: torch.Tensor, low: torch.Tensor, high: torch.Tensor
) -> torch.Tensor:
    if low >= high:
        raise errors.InvalidArgumentError(None, node, f"Need minval < maxval, got {low.item()} >= {high.item()}")
    return numbers.uniform_int(sizes(shape), int(low), int(high), low.dtype)


def _uniform_steps(numbers: Numbers, node: Node, steps: torch.Tensor, shape: torch.Tensor) -> torch.Tensor:
    return numbers.uniform_steps(sizes(steps[None])[0], sizes(shape), node.attrs["dtype"].torch)


def _normal(
    numbers: Numbers, node: Node, shape: torch.Tensor, mean: torch.Tensor, stddev: torch.Tensor
) -> torch.Tensor:
    return _scaled(numbers.normal(sizes(shape), mean.dtype), mean, stddev)


def _truncated(
    numbers: Numbers, node: Node, shape: torch.Tensor, mean: torch.Tensor, stddev: torch.Tensor
) -> torch.Tensor:
    return _scaled(numbers.truncated_normal(sizes(shape), mean.dtype), mean, stddev)


UNIFORM = random_row("RandomUniform", "shape:S minval:T maxval:T -> T", _uniform, _drawn_dims, T=FLOATS)
UNIFORM_INT = random_row("RandomUniformInt", "shape:S minval:T maxval:T -> T", _uniform_int, _int_dims, T=INDICES)
UNIFORM_STEPS = random_row("RandomUniformSteps", "steps:N shape:S -> @dtype", _uniform_steps, _steps_dims, N=INDICES)
NORMAL = random_row("RandomStandardNormal", "shape:S mean:T stddev:T -> T", _normal, _drawn_dims, T=FLOATS)
TRUNCATED_NORMAL = random_row("TruncatedNormal", "shape:S mean:T stddev:T -> T", _truncated, _drawn_dims, T=FLOATS)


# Public functions


def sizes_tensor(shape: Any) -> Tensor:
    """Return a shape argument (sizes, a TensorShape, or an integer tensor) as a vector.

    Raises:
        ValueError: it is no vector, or a size that is known is negative.
    """
    tensor = shape_tensor(shape)
    if tensor.dims is not None and len(tensor.dims) != 1:
        raise ValueError(
            f"Shape must be rank 1 but is rank {len(tensor.dims)}: a shape must be a vector of sizes, got {shape!r}"
        )
    known = constant_value(tensor) if tensor.dtype.is_integer else None
    if known is not None and (known < 0).any():
        raise ValueError(f"Invalid value in tensor used for shape: {known.min()}, in {known.tolist()}")
    return tensor


def require_dtype(what: str, dtype: Any, allowed: frozenset[str]) -> DType:
    """Return a dtype argument; ValueError where it is none of `allowed`."""
    dtype = as_dtype(dtype).base_dtype
    if dtype.name not in allowed:
        raise ValueError(f"{what}: dtype must be one of {', '.join(sorted(allowed))}, got {dtype.name}")
    return dtype


@export("random_uniform", "random.uniform")
@atomic
def random_uniform(
    shape: Any,
    minval: Any = 0,
    maxval: Any = None,
    dtype: Any = float32,
    seed: int | None = None,
    name: str | None = None,
) -> Tensor:
    """Return numbers drawn uniformly from [minval, maxval).

    shape: the result's sizes; minval, maxval (default 1 for floats) broadcast against it. dtype: a float type, int32 or
    int64.

    Raises:
        ValueError: an integer dtype without maxval; another dtype. tf.errors.InvalidArgumentError, in run: an empty
        range of integers.

    Example:
        >>> import dynrnn.tf1 as tf
        >>> tf.random_uniform([2, 3], -0.1, 0.1).shape.as_list()
        [2, 3]
    """
    dtype = require_dtype("random_uniform", dtype, ALL_NUMBERS)
    if maxval is None:
        if dtype.is_integer:
            raise ValueError(f"Must specify maxval for integer dtype {dtype!r}")
        maxval = 1
    row = UNIFORM_INT if dtype.is_integer else UNIFORM
    return draw(row, "random_uniform", shape, {"min": minval, "max": maxval}, dtype, seed, name)


def draw(
    row: Op, default_name: str, shape: Any, params: dict[str, Any], dtype: DType, seed: int | None, name: str | None
) -> Tensor:
    """Add a row whose inputs are a shape and the parameters of a distribution, under the scope `name` or
    `default_name`.
    """
    graph = get_default_graph()
    with graph.name_scope(name or default_name) as scope:
        tensors = [convert_to_tensor(value, dtype, key) for key, value in params.items()]
        return apply(row, [sizes_tensor(shape), *tensors], {"seeds": graph.seeds(seed)}, scope)


@export("random_normal", "random.normal")
@atomic
def random_normal(
    shape: Any,
    mean: Any = 0.0,
    stddev: Any = 1.0,
    dtype: Any = float32,
    seed: int | None = None,
    name: str | None = None,
) -> Tensor:
    """Return numbers from a normal distribution.

    shape: the result's sizes; mean and stddev broadcast against it. dtype: a float type.

    Example:
        >>> import dynrnn.tf1 as tf
        >>> tf.random_normal([2, 3], stddev=0.1).dtype
        tf.float32
    """
    dtype = require_dtype("random_normal", dtype, FLOATS)
    return draw(NORMAL, "random_normal", shape, {"mean": mean, "stddev": stddev}, dtype, seed, name)


@export("truncated_normal", "random.truncated_normal")
@atomic
def truncated_normal(
    shape: Any,
    mean: Any = 0.0,
    stddev: Any = 1.0,
    dtype: Any = float32,
    seed: int | None = None,
    name: str | None = None,
) -> Tensor:
    """Return numbers from a normal distribution of which those two standard deviations or more away from the mean are
    drawn again.

    shape: the result's sizes; mean and stddev broadcast against it. dtype: a float type.
    """
    dtype = require_dtype("truncated_normal", dtype, FLOATS)
    return draw(TRUNCATED_NORMAL, "truncated_normal", shape, {"mean": mean, "stddev": stddev}, dtype, seed, name)


@atomic
def uniform_steps(
    steps: Any, shape: Any, *, dtype: Any = float32, seed: int | None = None, name: str | None = None
) -> Tensor:
    """Return `[steps, *shape]`: what a uniform draw of `shape` returns in `steps` executions, one after the other.

    For the dropout masks of a whole sequence. steps: a size, known or an integer tensor. dtype: a float type.
    """
    attrs = {"dtype": require_dtype("uniform_steps", dtype, FLOATS), "seeds": get_default_graph().seeds(seed)}
    return apply(UNIFORM_STEPS, [steps, sizes_tensor(shape)], attrs, name)
