"""Clipping of values, of norms, and of the norm of many tensors at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from ....graph import rules
from ....graph.op import FLOATS, Op
from ...export import export
from ...graph import Tensor, atomic
from ...scopes import name_scope
from ..apply import apply
from ..convert import convert_to_tensor
from . import derivatives
from .elementwise import maximum, minimum, multiply
from .reduction import Axis, fixed_axis
from .slices import of_values, values_of


@export("clip_by_value")
@atomic
def clip_by_value(t: Any, clip_value_min: Any, clip_value_max: Any, name: str | None = None) -> Any:
    """Return max(min(t, clip_value_max), clip_value_min) for every element of t.

    Elements inside the bounds, and on them, get their gradient; those outside get none, the bound does.
    t: a tensor, or an `IndexedSlices`, whose values are clipped. The bounds: scalars, or of a shape that does not
    change t's.

    Raises:
        ValueError: the bounds' shapes do not fit.
    """
    with name_scope(name, "clip_by_value", [values_of(t)]) as scope:

        def clip(values: Tensor) -> Tensor:
            below = minimum(values, clip_value_max)
            values.shape.assert_is_compatible_with(below.shape)
            result = maximum(below, clip_value_min, name=scope)
            values.shape.assert_is_compatible_with(result.shape)
            return result

        return of_values(t, clip)


def _clip_by_norm(t: torch.Tensor, clip_norm: torch.Tensor, axes: Axis) -> torch.Tensor:
    over = tuple(range(t.ndim)) if axes is None else axes
    squares = torch.sum(t * t, over, keepdim=True) if over != () else t * t
    positive = squares > 0
    # The root's derivative is infinite at 0, so that a zero never enters it.
    norm = torch.where(positive, torch.sqrt(torch.where(positive, squares, 1)), squares)
    return t * clip_norm / derivatives.maximum(norm, clip_norm)


CLIP_BY_NORM = Op("ClipByNorm", "t:T clip_norm:T -> T", _clip_by_norm, rules.same, {"T": FLOATS})


@export("clip_by_norm")
@atomic
def clip_by_norm(t: Any, clip_norm: Any, axes: Any = None, name: str | None = None) -> Any:
    """Return t * clip_norm / max(norm, clip_norm), the norm being t's Euclidean norm over `axes` (default: all).

    t: a tensor, or an `IndexedSlices`, whose values are clipped. clip_norm: a positive scalar.
    """
    attrs = {"axes": fixed_axis(axes, "axes")}
    name = name or "clip_by_norm"
    return of_values(t, lambda values: apply(CLIP_BY_NORM, [values, clip_norm], attrs, name))


def _clip_by_average_norm(t: torch.Tensor, clip_norm: torch.Tensor) -> torch.Tensor:
    inverse = torch.rsqrt(torch.sum(t * t)) * t.numel()
    return t * clip_norm * derivatives.minimum(inverse, 1 / clip_norm)


CLIP_BY_AVERAGE_NORM = Op("ClipByAverageNorm", "t:T clip_norm:T -> T", _clip_by_average_norm, rules.same, {"T": FLOATS})


@export("clip_by_average_norm")
@atomic
def clip_by_average_norm(t: Any, clip_norm: Any, name: str | None = None) -> Tensor:
    """Return t, scaled down such that its Euclidean norm divided by its number of elements is at most `clip_norm`."""
    return apply(CLIP_BY_AVERAGE_NORM, [t, clip_norm], name=name or "clip_by_average_norm")


def _global_norm(*t_list: torch.Tensor) -> torch.Tensor:
    halves = torch.stack([torch.sum(t * t) / 2 for t in t_list])
    return torch.sqrt(torch.sum(halves) * 2)


GLOBAL_NORM = Op("GlobalNorm", "*t_list:T -> T", _global_norm, rules.scalar, {"T": FLOATS})


def _checked(t_list: Any) -> Sequence[Any]:
    if isinstance(t_list, str) or not isinstance(t_list, Sequence):
        raise TypeError(f"t_list should be a sequence of tensors, got {t_list!r}")
    return t_list


@export("global_norm", "linalg.global_norm")
@atomic
def global_norm(t_list: Any, name: str | None = None) -> Tensor:
    """Return sqrt(sum of squares of all elements of all tensors), a scalar.

    t_list: tensors, `IndexedSlices` (their values count) and None (left out).

    Raises:
        TypeError: not a list. ValueError: nothing but None in it.
    """
    values = [values_of(t) for t in _checked(t_list) if t is not None]
    if not values:
        raise ValueError("global_norm: t_list must hold at least one tensor, got none")
    with name_scope(name, "global_norm", values):
        return apply(GLOBAL_NORM, [values], name="global_norm")


def _scale(clip_norm: torch.Tensor, use_norm: torch.Tensor) -> torch.Tensor:
    scale = clip_norm * derivatives.minimum(1 / use_norm, 1 / clip_norm)
    return scale + (use_norm - use_norm)  # NaN where the norm is not finite


SCALE = Op("GlobalNormScale", "clip_norm:T use_norm:T -> T", _scale, rules.scalar, {"T": FLOATS})


@export("clip_by_global_norm")
@atomic
def clip_by_global_norm(
    t_list: Any, clip_norm: Any, use_norm: Any = None, name: str | None = None
) -> tuple[list[Any], Tensor]:
    """Scale all tensors by clip_norm / max(norm, clip_norm), the norm being that of all of them together.

    t_list: tensors, `IndexedSlices` and None, which stay what they are. use_norm: the norm, if it is known already.

    Returns:
        The list of scaled tensors, and the norm. If the norm is not finite, all of them are NaN.

    Raises:
        TypeError: not a list.

    Example:
        >>> import dynrnn.tf1 as tf
        >>> (clipped,), norm = tf.clip_by_global_norm([tf.constant([3.0, 4.0])], 1.0)
        >>> with tf.Session() as sess:
        ...     print(sess.run(norm), sess.run(clipped))
        5.0 [0.6 0.8]
    """
    t_list = _checked(t_list)
    norm = global_norm(t_list) if use_norm is None else use_norm
    values = [values_of(t) for t in t_list if t is not None]
    with name_scope(name, "clip_by_global_norm", values) as scope:
        norm = convert_to_tensor(norm, dtype_hint=values[0].dtype.base_dtype if values else None)
        scale = apply(SCALE, [clip_norm, norm])
        clipped: list[Any] = []
        for i, t in enumerate(t_list):
            label = f"{scope}_{i}"
            clipped.append(None if t is None else of_values(t, lambda v, label=label: multiply(v, scale, label)))
    return clipped, norm
