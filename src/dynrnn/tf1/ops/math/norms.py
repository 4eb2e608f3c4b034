"""Norms of vectors and matrices, and division by them."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from ....graph import rules
from ....graph.dtype import DType
from ....graph.op import FLOATS, INEXACT, Op
from ...export import export
from ...graph import Tensor, atomic
from ...scopes import name_scope
from ..apply import apply
from ..convert import convert_to_tensor
from . import derivatives
from .reduction import Axis, fixed_axis, one_of


def _norm(tensor: torch.Tensor, ord: Any, axis: Axis, keepdims: bool, dtype: DType) -> torch.Tensor:
    axes = tuple(range(tensor.ndim)) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    matrix = isinstance(axis, tuple) and len(axis) == 2
    if not axes:
        return torch.abs(tensor)
    if ord in ("fro", "euclidean") or (ord == 2 and not matrix):
        squares = tensor * tensor.conj()
        return torch.sqrt(torch.sum(squares.real if squares.is_complex() else squares, axes, keepdims))
    size = torch.abs(tensor)
    if not matrix:
        if ord == np.inf:
            return torch.amax(size, axes, keepdims)
        if ord == 1:
            return torch.sum(size, axes, keepdims)
        total = torch.sum(derivatives.power(size, torch.tensor(float(ord), dtype=size.dtype)), axes, keepdims)
        return derivatives.power(total, torch.tensor(1 / ord, dtype=size.dtype))
    if ord == 2:
        return torch.linalg.matrix_norm(tensor, 2, axes, keepdims)
    summed, greatest = (axes[0], axes[-1]) if ord == 1 else (axes[-1], axes[0])
    result = torch.amax(torch.sum(size, summed, True), greatest, True)
    return result if keepdims else result.squeeze(axes)


NORM = Op("Norm", "tensor:T -> @dtype", _norm, rules.reduce, {"T": INEXACT})


@export("norm", "linalg.norm")
@atomic
def norm(
    tensor: Any,
    ord: Any = "euclidean",
    axis: Any = None,
    keepdims: bool | None = None,
    name: str | None = None,
    keep_dims: bool | None = None,
) -> Tensor:
    """Return the norm of vectors or of matrices.

    axis: None: the whole tensor is one vector; an axis: vectors along it; two axes: matrices in them.
    ord: "euclidean" (of matrices also called "fro"), 1, 2, numpy.inf, and for vectors any positive number.
    The gradient of the Euclidean norm at 0 is NaN, as in TensorFlow.

    Raises:
        ValueError: an `ord` that the kind of norm does not have; more than two axes.
    """
    keepdims = bool(one_of("keepdims", keepdims, "keep_dims", keep_dims))
    where = fixed_axis(axis)
    matrix = isinstance(where, tuple) and len(where) == 2
    if isinstance(where, tuple) and len(where) not in (1, 2):
        raise ValueError(f"'axis' must be None, an integer, or a tuple of 2 unique integers, got {axis}")
    if matrix and ord not in ("fro", "euclidean", 1, 2, np.inf):
        raise ValueError(f"'ord' must be a supported matrix norm in ['euclidean', 'fro', 1, 2, inf], got {ord}")
    if not matrix and ord not in ("fro", "euclidean") and (isinstance(ord, str) or not ord > 0):
        raise ValueError(f"'ord' must be a supported vector norm, got {ord}")
    tensor = convert_to_tensor(tensor, name="tensor")
    attrs = {"ord": ord, "axis": where, "keepdims": keepdims, "dtype": tensor.dtype.base_dtype.real_dtype}
    with name_scope(name, "norm", [tensor]):
        return apply(NORM, [tensor], attrs, "Squeeze")


def _l2_normalize(x: torch.Tensor, axis: Axis, epsilon: float) -> torch.Tensor:
    axes = tuple(range(x.ndim)) if axis is None else axis
    squares = torch.sum(x * x, axes, keepdim=True) if axes != () else x * x
    return x * torch.rsqrt(derivatives.maximum(squares, torch.tensor(epsilon, dtype=x.dtype)))


L2_NORMALIZE = Op("L2Normalize", "x:T -> T", _l2_normalize, rules.same, {"T": FLOATS})


@export("nn.l2_normalize", "math.l2_normalize", "linalg.l2_normalize")
@atomic
def l2_normalize(x: Any, axis: Any = None, epsilon: float = 1e-12, name: str | None = None, dim: Any = None) -> Tensor:
    """Return x / sqrt(max(sum(x ** 2), epsilon)), the sum being taken along `axis` (an axis, a list, None for all).

    dim: `axis` under its old name.
    """
    axis = fixed_axis(one_of("axis", axis, "dim", dim))
    return apply(L2_NORMALIZE, [x], {"axis": axis, "epsilon": float(epsilon)}, name or "l2_normalize")
