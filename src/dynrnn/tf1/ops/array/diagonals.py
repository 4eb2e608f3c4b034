"""Diagonals and bands of matrices, and the identity matrix."""

from __future__ import annotations

import math
from typing import Any

import torch

from .... import errors
from ....graph.constants import constant_value, partial_dims
from ....graph.dtype import DType, as_dtype, float32
from ....graph.op import INDICES, Op
from ....graph.shape import Dims, merge_dims
from ...export import export
from ...graph import Tensor, atomic, get_default_graph
from ..apply import apply
from ..arguments import known_sizes, part_name, shape_tensor


def _diag(value: torch.Tensor) -> torch.Tensor:
    return torch.diag_embed(value.reshape(-1)).reshape(value.shape * 2)


def _diag_dims(inputs: Any, attrs: Any) -> Dims:
    dims = inputs[0].dims
    return None if dims is None else dims * 2


def _diag_part(value: torch.Tensor) -> torch.Tensor:
    sizes = value.shape[: value.ndim // 2]
    if value.ndim % 2 or value.shape != sizes * 2:
        raise errors.InvalidArgumentError(None, None, f"Dimensions must be equal in pairs, got {list(value.shape)}")
    count = math.prod(sizes)
    return value.reshape(count, count).diagonal().reshape(sizes)


def _diag_part_dims(inputs: Any, attrs: Any) -> Dims:
    dims = inputs[0].dims
    if dims is None:
        return None
    if not dims or len(dims) % 2:
        raise ValueError(f"diag_part: Input must have even and non-zero rank, got {inputs[0].shape}")
    try:
        return merge_dims(dims[: len(dims) // 2], dims[len(dims) // 2 :])
    except ValueError:
        raise ValueError(f"diag_part: Dimensions must be equal in pairs, got {inputs[0].shape}") from None


def _matrix_diag_dims(inputs: Any, attrs: Any) -> Dims:
    dims = inputs[0].dims
    if dims == ():
        raise ValueError("matrix_diag: diagonal: Shape must be at least rank 1 but is rank 0")
    return None if dims is None else (*dims, dims[-1])


def _matrix_diag_part(value: torch.Tensor) -> torch.Tensor:
    return value.diagonal(dim1=-2, dim2=-1)


def _matrix(function: str, dims: Dims) -> None:
    if dims is not None and len(dims) < 2:
        raise ValueError(f"{function}: input: Shape must be at least rank 2 but is rank {len(dims)}")


def _matrix_diag_part_dims(inputs: Any, attrs: Any) -> Dims:
    dims = inputs[0].dims
    _matrix("matrix_diag_part", dims)
    if dims is None:
        return None
    return (*dims[:-2], None if None in dims[-2:] else min(dims[-2:]))


def _matrix_set_diag(value: torch.Tensor, diagonal: torch.Tensor) -> torch.Tensor:
    return torch.diagonal_scatter(value, diagonal, 0, -2, -1)


def _matrix_set_diag_dims(inputs: Any, attrs: Any) -> Dims:
    dims, diagonal = inputs[0].dims, inputs[1].dims
    _matrix("matrix_set_diag", dims)
    if dims is not None and diagonal is not None:
        merge_dims(_matrix_diag_part_dims(inputs, attrs), diagonal)
    return dims


def _band_part(value: torch.Tensor, lower: torch.Tensor, upper: torch.Tensor) -> torch.Tensor:
    below, above = lower.item(), upper.item()
    result = value.view_as(value) if below < 0 else value.triu(-int(below))
    return result if above < 0 else result.tril(int(above))


def _band_part_dims(inputs: Any, attrs: Any) -> Dims:
    _matrix("matrix_band_part", inputs[0].dims)
    return inputs[0].dims


def _eye(rows: torch.Tensor, columns: torch.Tensor, batch: torch.Tensor, dtype: DType) -> torch.Tensor:
    matrix = torch.eye(int(rows), int(columns), dtype=dtype.torch)
    return matrix.expand(*batch.tolist(), *matrix.shape)


def _eye_dims(inputs: Any, attrs: Any) -> Dims:
    rows, columns = (_scalar(tensor) for tensor in inputs[:2])
    batch = partial_dims(inputs[2])
    return None if batch is None else (*batch, rows, columns)


def _scalar(tensor: Tensor) -> int | None:
    value = constant_value(tensor)
    return None if value is None else int(value)


_DIAG = Op("Diag", "diagonal:T -> T", _diag, _diag_dims)
_DIAG_PART = Op("DiagPart", "input:T -> T", _diag_part, _diag_part_dims)
_MATRIX_DIAG = Op("MatrixDiag", "diagonal:T -> T", torch.diag_embed, _matrix_diag_dims)
_MATRIX_DIAG_PART = Op("MatrixDiagPart", "input:T -> T", _matrix_diag_part, _matrix_diag_part_dims)
_MATRIX_SET_DIAG = Op("MatrixSetDiag", "input:T diagonal:T -> T", _matrix_set_diag, _matrix_set_diag_dims)
_BAND_PART = Op("MatrixBandPart", "input:T num_lower:I num_upper:I -> T", _band_part, _band_part_dims, {"I": INDICES})
_EYE = Op(
    "Eye",
    "num_rows:I num_columns:J batch_shape:K -> @dtype",
    _eye,
    _eye_dims,
    dict.fromkeys("IJK", INDICES),
    differentiable=False,
)


@export("diag", "linalg.tensor_diag")
@atomic
def diag(diagonal: Any, name: str | None = None) -> Tensor:
    """Return a tensor of shape `diagonal.shape * 2` that has `diagonal` on its diagonal and zeros elsewhere."""
    return apply(_DIAG, [diagonal], name=name)


@export("diag_part", "linalg.tensor_diag_part")
@atomic
def diag_part(input: Any, name: str | None = None) -> Tensor:
    """Return the diagonal of a tensor whose shape is some shape twice."""
    return apply(_DIAG_PART, [input], name=name)


@export("matrix_diag", "linalg.diag")
@atomic
def matrix_diag(diagonal: Any, name: str = "diag") -> Tensor:
    """Return square matrices `[..., n, n]` with the vectors `diagonal` `[..., n]` on their diagonals."""
    return apply(_MATRIX_DIAG, [diagonal], name=name)


@export("matrix_diag_part", "linalg.diag_part")
@atomic
def matrix_diag_part(input: Any, name: str = "diag_part") -> Tensor:
    """Return the diagonals `[..., min(m, n)]` of matrices `[..., m, n]`."""
    return apply(_MATRIX_DIAG_PART, [input], name=name)


@export("matrix_set_diag", "linalg.set_diag")
@atomic
def matrix_set_diag(input: Any, diagonal: Any, name: str = "set_diag") -> Tensor:
    """Return the matrices `input` with `diagonal` on their diagonals."""
    return apply(_MATRIX_SET_DIAG, [input, diagonal], name=name)


@export("matrix_band_part", "linalg.band_part")
@atomic
def matrix_band_part(input: Any, num_lower: Any, num_upper: Any, name: str | None = None) -> Tensor:
    """Return matrices with zeros outside of a band: `num_lower` diagonals below the main one and `num_upper` above it;
    a negative number keeps all.
    """
    return apply(_BAND_PART, [input, num_lower, num_upper], name=name)


@export("eye", "linalg.eye")
@atomic
def eye(
    num_rows: Any, num_columns: Any = None, batch_shape: Any = None, dtype: Any = float32, name: str | None = None
) -> Tensor:
    """Return an identity matrix `[num_rows, num_columns]` (square by default), or `batch_shape` of them; all sizes may
    be tensors.

    Example:
        >>> import dynrnn.tf1 as tf
        >>> with tf.Graph().as_default():
        ...     tf.eye(2, 3, batch_shape=[5])
        <tf.Tensor 'eye/set_diag:0' shape=(5, 2, 3) dtype=float32>
    """
    sizes = [
        num_rows,
        num_rows if num_columns is None else num_columns,
        shape_tensor([] if batch_shape is None else batch_shape, part_name(name, "eye", "batch_shape")),
    ]
    square = num_columns is None or (
        known_sizes([num_rows]) is not None and known_sizes([num_rows]) == known_sizes([num_columns])
    )
    with get_default_graph().name_scope(name or "eye"):
        return apply(_EYE, sizes, {"dtype": as_dtype(dtype)}, "diag" if square else "set_diag")
