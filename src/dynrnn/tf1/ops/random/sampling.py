"""Random choices among given things, and distributions that torch draws: shuffles, crops, classes, gamma and Poisson
numbers.

Shuffles, crops and classes with a `seed` are TensorFlow's own; the numbers of gamma and Poisson repeat with a seed, but
are ours.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from .... import errors
from ....graph import rules
from ....graph.constants import partial_dims, partial_value
from ....graph.dtype import float32, int32, int64
from ....graph.node import Node
from ....graph.op import FLOATS, INDICES, REALS, Op
from ....graph.shape import Dims
from ...export import export
from ...graph import Tensor, atomic, get_default_graph
from ..apply import apply
from ..convert import convert_to_tensor
from .distributions import ALL_NUMBERS, draw, require_dtype, sizes_tensor
from .draws import Numbers, drawing, generator, random_row, sizes


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
        raise ValueError(
            f"size must have one item for each of the {len(dims)} dimensions of value, got {len(size)} items"
        )
    return size


def _shuffle(numbers: Numbers, node: Node, value: Any) -> Any:
    if value.ndim == 0 or 0 in value.shape:
        return value.copy() if isinstance(value, np.ndarray) else value.clone()
    order = numbers.permutation(len(value))
    return value[order.numpy() if isinstance(value, np.ndarray) else order]


def _categorical(numbers: Numbers, node: Node, logits: torch.Tensor, count: torch.Tensor) -> torch.Tensor:
    if logits.ndim != 2 or logits.shape[1] == 0 or count < 0:
        raise errors.InvalidArgumentError(
            None,
            node,
            f"logits must be [batch, classes > 0] and num_samples at least 0, got {list(logits.shape)} and "
            f"{count.item()}",
        )
    return numbers.categorical(logits, int(count), node.attrs["dtype"].torch)


def _crop(numbers: Numbers, node: Node, value: Any, size: torch.Tensor) -> Any:
    wanted = sizes(size)
    if len(wanted) != value.ndim or any(w > s for w, s in zip(wanted, value.shape, strict=False)):
        raise errors.InvalidArgumentError(
            None, node, f"Need value.shape >= size, got {wanted} for value of shape {list(value.shape)}"
        )
    draws = numbers.uniform_int([len(wanted)], 0, torch.iinfo(size.dtype).max, size.dtype).tolist()
    starts = [d % (s - w + 1) for d, s, w in zip(draws, value.shape, wanted, strict=True)]
    return value[tuple(slice(start, start + w) for start, w in zip(starts, wanted, strict=True))]


def _gamma(
    numbers: torch.Generator, node: Node, shape: torch.Tensor, alpha: torch.Tensor, beta: torch.Tensor
) -> torch.Tensor:
    alpha, beta = torch.broadcast_tensors(alpha, beta)
    wide = alpha.expand(*sizes(shape), *alpha.shape).to(torch.promote_types(alpha.dtype, torch.float32))
    drawn = torch._standard_gamma(wide.contiguous(), generator=numbers)  # pyright: ignore[reportPrivateImportUsage]
    return (drawn.to(beta.dtype) / beta).clamp(min=torch.finfo(beta.dtype).tiny)


def _poisson(numbers: torch.Generator, node: Node, shape: torch.Tensor, lam: torch.Tensor) -> torch.Tensor:
    wide = lam.expand(*sizes(shape), *lam.shape).to(torch.promote_types(lam.dtype, torch.float32))
    return torch.poisson(wide, numbers).to(node.attrs["dtype"].torch)


SHUFFLE = Op(
    "RandomShuffle", "value:T -> T", None, rules.same, differentiable=False, bind=drawing(_shuffle), stateful=True
)
CATEGORICAL = random_row(
    "Multinomial", "logits:T num_samples:int32 -> @dtype", _categorical, _categorical_dims, T=REALS
)
CROP = random_row("RandomCrop", "value:T size:S -> T", _crop, _crop_dims)
GAMMA = random_row("RandomGamma", "shape:S alpha:T beta:T -> T", _gamma, _samples_dims, generator, T=FLOATS)
POISSON = random_row("RandomPoissonV2", "shape:S lam:T -> @dtype", _poisson, _samples_dims, generator, T=ALL_NUMBERS)


@export("random_shuffle", "random.shuffle")
@atomic
def random_shuffle(value: Any, seed: int | None = None, name: str | None = None) -> Tensor:
    """Return `value` with its rows, the items along its first dimension, in a random order. No gradient flows through
    it, as in TensorFlow.
    """
    return apply(SHUFFLE, [value], {"seeds": get_default_graph().seeds(seed)}, name)


@export("multinomial", "random.multinomial")
@atomic
def multinomial(
    logits: Any, num_samples: Any, seed: int | None = None, name: str | None = None, output_dtype: Any = None
) -> Tensor:
    """Return classes drawn with probability softmax(logits): `[batch, num_samples]` for logits of shape `[batch,
    classes]`.
    """
    return _classes("multinomial", logits, num_samples, output_dtype, seed, name)


@export("random.categorical")
@atomic
def categorical(
    logits: Any, num_samples: Any, dtype: Any = None, seed: int | None = None, name: str | None = None
) -> Tensor:
    """Return classes drawn with probability softmax(logits): `[batch, num_samples]` for logits of shape `[batch,
    classes]`.
    """
    return _classes("categorical", logits, num_samples, dtype, seed, name)


def _classes(what: str, logits: Any, num_samples: Any, dtype: Any, seed: int | None, name: str | None) -> Tensor:
    graph = get_default_graph()
    attrs = {"dtype": require_dtype(what, int64 if dtype is None else dtype, INDICES), "seeds": graph.seeds(seed)}
    with graph.name_scope(name or what):
        return apply(CATEGORICAL, [logits, num_samples], attrs)


@export("random_gamma", "random.gamma")
@atomic
def random_gamma(
    shape: Any, alpha: Any, beta: Any = None, dtype: Any = float32, seed: int | None = None, name: str | None = None
) -> Tensor:
    """Return numbers from Gamma(alpha, rate beta), `[*shape, *broadcast shape of alpha and beta]`; seeded numbers
    repeat but are our own.
    """
    dtype = require_dtype("random_gamma", dtype, FLOATS)
    return draw(
        GAMMA, "random_gamma", shape, {"alpha": alpha, "beta": 1.0 if beta is None else beta}, dtype, seed, name
    )


@export("random_poisson", "random.poisson")
@atomic
def random_poisson(
    lam: Any, shape: Any, dtype: Any = float32, seed: int | None = None, name: str | None = None
) -> Tensor:
    """Return numbers from Poisson(lam), `[*shape, *shape of lam]`; seeded numbers repeat but are our own."""
    graph = get_default_graph()
    attrs = {"dtype": require_dtype("random_poisson", dtype, ALL_NUMBERS), "seeds": graph.seeds(seed)}
    with graph.name_scope(name or "random_poisson"):
        return apply(POISSON, [sizes_tensor(shape), convert_to_tensor(lam, name="lam")], attrs)


@export("random_crop", "image.random_crop")
@atomic
def random_crop(value: Any, size: Any, seed: int | None = None, name: str | None = None) -> Tensor:
    """Return a part of `value` of shape `size`, at a random place.

    Raises:
        ValueError: size has another length than value's rank. tf.errors.InvalidArgumentError, in run: value is smaller
        than size.
    """
    graph = get_default_graph()
    with graph.name_scope(name or "random_crop") as scope:
        return apply(
            CROP,
            [value, convert_to_tensor(size, preferred_dtype=int32, name="size")],
            {"seeds": graph.seeds(seed)},
            scope,
        )
