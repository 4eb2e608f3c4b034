"""Axes in another order: transpose and matrix_transpose."""

from __future__ import annotations

from typing import Any

import torch

from ....graph.constants import constant_value
from ....graph.op import INDICES
from ....graph.shape import Dims
from ...export import export
from ...graph import Tensor, atomic, get_default_graph
from ..apply import apply
from ..arguments import part_name, static_ints
from ..convert import convert_to_tensor
from ..moving import moves


def _permute(value: torch.Tensor, perm: tuple[int, ...]) -> torch.Tensor:
    return value.permute(perm)


def _permute_by(value: torch.Tensor, perm: torch.Tensor) -> torch.Tensor:
    return value.permute(perm.tolist())


def _reversed(value: torch.Tensor) -> torch.Tensor:
    return value.permute(tuple(range(value.ndim - 1, -1, -1)))


def _conjugate(value: torch.Tensor, perm: tuple[int, ...] | None) -> torch.Tensor:
    turned = _reversed(value) if perm is None else value.permute(perm)
    return turned.conj() if value.is_complex() else turned


def _permute_dims(inputs: Any, attrs: Any) -> Dims:
    dims, perm = inputs[0].dims, attrs.get("perm")
    if perm is None:
        return None if dims is None else dims[::-1]
    if dims is None:
        return (None,) * len(perm)
    if len(perm) != len(dims):
        raise ValueError(
            f"transpose: perm: Dimension must be {len(dims)} but is {len(perm)}: {inputs[0].name} has shape "
            f"{inputs[0].shape}, perm is {list(perm)}"
        )
    for axis in perm:
        if not -len(dims) <= axis < len(dims):
            raise ValueError(f"transpose: perm: perm dim {axis} is out of range of input rank {len(dims)}")
    missing = sorted(set(range(len(dims))) - {axis % len(dims) for axis in perm})
    if missing:
        raise ValueError(f"transpose: perm: {missing[0]} is missing from {list(perm)}")
    return tuple(dims[axis] for axis in perm)


def _permute_by_dims(inputs: Any, attrs: Any) -> Dims:
    dims, lengths = inputs[0].dims, inputs[1].dims
    rank = len(dims) if dims is not None else lengths[0] if lengths else None
    return None if rank is None else (None,) * rank


def _swap(value: torch.Tensor) -> torch.Tensor:
    return value.transpose(-1, -2)


def _swap_conjugate(value: torch.Tensor) -> torch.Tensor:
    return value.transpose(-1, -2).conj() if value.is_complex() else value.transpose(-1, -2)


def _swap_dims(inputs: Any, attrs: Any) -> Dims:
    dims = inputs[0].dims
    if dims is not None and len(dims) < 2:
        raise ValueError(
            f"matrix_transpose: Argument `a` should be a (batch) matrix with rank >= 2, got {inputs[0].name} with "
            f"shape {inputs[0].shape}"
        )
    return None if dims is None else (*dims[:-2], dims[-1], dims[-2])


_I = {"I": INDICES}
_TRANSPOSE = moves("Transpose", "x:T -> T", _permute, _permute_dims)
_TRANSPOSE_BY = moves("Transpose", "x:T perm:I -> T", _permute_by, _permute_by_dims, types=_I)
_TRANSPOSE_ALL = moves("Transpose", "x:T -> T", _reversed, _permute_dims)
_CONJUGATE = moves("ConjugateTranspose", "x:T -> T", _conjugate, _permute_dims)
_SWAP = moves("Transpose", "x:T -> T", _swap, _swap_dims)
_SWAP_CONJUGATE = moves("ConjugateTranspose", "x:T -> T", _swap_conjugate, _swap_dims)


@export("transpose", "linalg.transpose")
@atomic
def transpose(a: Any, perm: Any = None, name: str = "transpose", conjugate: bool = False) -> Tensor:
    """Return `a` with its axes in the order `perm` (reversed by default): axis i of the result is axis `perm[i]` of
    `a`.

    perm: ints, or an integer vector, which need not be known before the run. conjugate: also take the complex
    conjugate.

    Raises:
        ValueError: `perm` is no permutation of the axes.
    """
    a = convert_to_tensor(a, name=part_name(name, "transpose", "a"))
    if perm is None:
        return apply(_CONJUGATE, [a], {"perm": None}, name) if conjugate else apply(_TRANSPOSE_ALL, [a], name=name)
    order = constant_value(convert_to_tensor(perm)) if isinstance(perm, Tensor) else None
    if isinstance(perm, Tensor) and order is None and not conjugate:
        return apply(_TRANSPOSE_BY, [a, perm], name=name)
    axes = static_ints("transpose", "perm", perm if order is None else order)
    return apply(_CONJUGATE if conjugate else _TRANSPOSE, [a], {"perm": axes}, name)


@export("matrix_transpose", "linalg.matrix_transpose")
@atomic
def matrix_transpose(a: Any, name: str = "matrix_transpose", conjugate: bool = False) -> Tensor:
    """Return `a` with its last two axes exchanged; with `conjugate`, of its complex conjugate.

    Raises:
        ValueError: the rank of `a` is less than 2.
    """
    with get_default_graph().name_scope(name):
        return apply(_SWAP_CONJUGATE if conjugate else _SWAP, [a], name="transpose")
