"""Inverses, factorizations, determinants and equations of square matrices in the last two axes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import torch

from ....errors import InvalidArgumentError
from ....graph import rules
from ....graph.op import INEXACT, Op
from ....graph.shape import Dims, TensorShape
from ...export import export
from ...graph import Tensor, atomic
from ..apply import apply
from ..declare import unary

_T = {"T": INEXACT & {"float32", "float64", "complex64", "complex128"}}


class LogMatrixDeterminant(NamedTuple):
    """What `tf.linalg.slogdet` returns."""

    sign: Any
    log_abs_determinant: Any


class Qr(NamedTuple):
    """What `tf.qr` returns."""

    q: Any
    r: Any


def _matrix_dims(inputs: rules.Inputs) -> Dims:
    dims = inputs[0].dims
    if dims is not None and len(dims) < 2:
        raise ValueError(
            f"Shape must be at least rank 2 but is rank {len(dims)}, for an input of shape {TensorShape(dims)}"
        )
    return dims


def _square(inputs: rules.Inputs, attrs: rules.Attrs) -> Dims:
    dims = _matrix_dims(inputs)
    if dims is None:
        return None
    if None not in dims[-2:] and dims[-1] != dims[-2]:
        raise ValueError(f"Dimensions must be equal, but are {dims[-2]} and {dims[-1]}: a square matrix is needed")
    size = dims[-1] if dims[-2] is None else dims[-2]
    return (*dims[:-2], size, size)


def _batch(inputs: rules.Inputs, attrs: rules.Attrs) -> Dims:
    dims = _square(inputs, attrs)
    return None if dims is None else dims[:-2]


def _sign_and_log(inputs: rules.Inputs, attrs: rules.Attrs) -> list[Dims]:
    return [_batch(inputs, attrs)] * 2


def _values_and_vectors(inputs: rules.Inputs, attrs: rules.Attrs) -> list[Dims]:
    dims = _square(inputs, attrs)
    return [None if dims is None else dims[:-1], dims]


def _eigenvalues(inputs: rules.Inputs, attrs: rules.Attrs) -> Dims:
    return _values_and_vectors(inputs, attrs)[0]


def _solve_dims(inputs: rules.Inputs, attrs: rules.Attrs) -> Dims:
    square, rhs = _square(inputs, attrs), _matrix_dims(inputs[1:])
    if square is None or rhs is None:
        return None
    if None not in (square[-1], rhs[-2]) and square[-1] != rhs[-2]:
        raise ValueError(f"Dimensions must be equal, but are {square[-1]} (the matrix) and {rhs[-2]} (rhs)")
    batch = rules.broadcast_dims(square[:-2], rhs[:-2])
    return None if batch is None else (*batch, rhs[-2] if square[-1] is None else square[-1], rhs[-1])


def _logdet(input: torch.Tensor) -> torch.Tensor:
    return torch.linalg.slogdet(input).logabsdet


def _slogdet(input: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    sign, logarithm = torch.linalg.slogdet(input)
    return sign, logarithm


def _eigh(input: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    values, vectors = torch.linalg.eigh(input)
    return values, vectors


@contextmanager
def _refusing(message: str) -> Iterator[None]:
    """Give torch's refusal of a matrix TensorFlow's words."""
    try:
        yield
    except torch.linalg.LinAlgError as error:  # type: ignore[attr-defined]
        raise InvalidArgumentError(None, None, f"{message} ({error})") from error


def _inverse(input: torch.Tensor, adjoint: bool) -> torch.Tensor:
    with _refusing("Input is not invertible."):
        return torch.linalg.inv(input.mH if adjoint else input)


def _solve(matrix: torch.Tensor, rhs: torch.Tensor, adjoint: bool) -> torch.Tensor:
    with _refusing("Input matrix is not invertible."):
        return torch.linalg.solve(matrix.mH if adjoint else matrix, rhs)


def _cholesky(input: torch.Tensor) -> torch.Tensor:
    with _refusing("Cholesky decomposition was not successful. The input might not be valid."):
        return torch.linalg.cholesky(input)


def _triangular_solve(matrix: torch.Tensor, rhs: torch.Tensor, lower: bool, adjoint: bool) -> torch.Tensor:
    matrix = matrix.mH if adjoint else matrix
    return torch.linalg.solve_triangular(matrix, rhs, upper=lower is adjoint)


def _cholesky_solve(chol: torch.Tensor, rhs: torch.Tensor) -> torch.Tensor:
    inner = torch.linalg.solve_triangular(chol, rhs, upper=False)
    return torch.linalg.solve_triangular(chol.mH, inner, upper=True)


def _qr(input: torch.Tensor, full_matrices: bool) -> tuple[torch.Tensor, torch.Tensor]:
    q, r = torch.linalg.qr(input, "complete" if full_matrices else "reduced")
    return q, r


def _qr_dims(inputs: rules.Inputs, attrs: rules.Attrs) -> list[Dims]:
    dims = _matrix_dims(inputs)
    if dims is None:
        return [None, None]
    rows, columns = dims[-2:]
    inner = rows if attrs["full_matrices"] else None if rows is None or columns is None else min(rows, columns)
    return [(*dims[:-2], rows, inner), (*dims[:-2], inner, columns)]


def _svd(tensor: torch.Tensor, full_matrices: bool) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    u, s, vh = torch.linalg.svd(tensor, full_matrices)
    return s, u, vh.mH


def _svd_dims(inputs: rules.Inputs, attrs: rules.Attrs) -> list[Dims]:
    dims = _matrix_dims(inputs)
    if dims is None:
        return [None, None, None]
    rows, columns = dims[-2:]
    inner = None if rows is None or columns is None else min(rows, columns)
    full = attrs["full_matrices"]
    u, v = (rows, columns) if full else (inner, inner)
    return [(*dims[:-2], inner), (*dims[:-2], rows, u), (*dims[:-2], columns, v)]


# public name: (op type, function, shape rule, what the docs say, more public names)
SINGLE: dict[str, tuple[str, Callable[..., Any], Any, str, tuple[str, ...]]] = {
    "matrix_determinant": ("MatrixDeterminant", torch.linalg.det, _batch, "the determinant", ("linalg.det",)),
    "linalg.logdet": (
        "LogDet",
        _logdet,
        _batch,
        "the logarithm of the determinant of a Hermitian positive definite matrix",
        (),
    ),
    "cholesky": (
        "Cholesky",
        _cholesky,
        _square,
        "the lower triangular matrix whose product with its adjoint is a Hermitian positive definite matrix",
        ("linalg.cholesky",),
    ),
    "self_adjoint_eigvals": (
        "SelfAdjointEigvals",
        torch.linalg.eigvalsh,
        _eigenvalues,
        "the eigenvalues, in ascending order, of a Hermitian matrix",
        ("linalg.eigvalsh",),
    ),
    "linalg.expm": ("MatrixExponential", torch.linalg.matrix_exp, _square, "e to the power of a square matrix", ()),
}


_REAL = {"T": frozenset(("float32", "float64"))}
INVERSE = Op("MatrixInverse", "input:T -> T", _inverse, _square, _T)
SLOGDET = Op("LogMatrixDeterminant", "input:T -> T T", _slogdet, _sign_and_log, _T)
EIGH = Op("SelfAdjointEigV2", "input:T -> T T", _eigh, _values_and_vectors, _REAL)
SOLVE = Op("MatrixSolve", "matrix:T rhs:T -> T", _solve, _solve_dims, _T)
TRIANGULAR_SOLVE = Op("MatrixTriangularSolve", "matrix:T rhs:T -> T", _triangular_solve, _solve_dims, _T)
CHOLESKY_SOLVE = Op("CholeskySolve", "chol:T rhs:T -> T", _cholesky_solve, _solve_dims, _T)
QR = Op("Qr", "input:T -> T T", _qr, _qr_dims, _T)
SVD = Op("Svd", "tensor:T -> T T T", _svd, _svd_dims, _REAL)
SINGULAR_VALUES = Op(
    "SingularValues",
    "tensor:T -> T",
    torch.linalg.svdvals,
    lambda inputs, attrs: _svd_dims(inputs, {"full_matrices": False})[0],
    _REAL,
)

for _name, (_type, _function, _rule, _what, _paths) in SINGLE.items():
    _row = Op(_type, "input:T -> T", _function, _rule, _REAL if _type == "SelfAdjointEigvals" else _T)
    unary(_row, _name.rpartition(".")[2], _name, *_paths, doc=f"Return {_what}, for every matrix of x [..., n, n].")


@export("matrix_inverse", "linalg.inv")
@atomic
def matrix_inverse(input: Any, adjoint: bool = False, name: str | None = None) -> Tensor:
    """Return the inverses of the matrices [..., n, n], or of their adjoints.

    Raises:
        ValueError: matrices that are not square. tf.errors.InvalidArgumentError, in run: a singular matrix.
    """
    return apply(INVERSE, [input], {"adjoint": bool(adjoint)}, name)


@export("linalg.slogdet")
@atomic
def slogdet(input: Any, name: str | None = None) -> LogMatrixDeterminant:
    """Return the signs of the determinants of matrices [..., n, n], and the logarithms of their sizes."""
    return LogMatrixDeterminant(*apply(SLOGDET, [input], name=name))


@export("self_adjoint_eig", "linalg.eigh")
@atomic
def self_adjoint_eig(tensor: Any, name: str | None = None) -> tuple[Tensor, Tensor]:
    """Return eigenvalues [..., n], in ascending order, and eigenvectors (columns) of symmetric matrices [..., n, n]."""
    values, vectors = apply(EIGH, [tensor], name=name)
    return values, vectors


@export("matrix_solve", "linalg.solve")
@atomic
def matrix_solve(matrix: Any, rhs: Any, adjoint: bool = False, name: str | None = None) -> Tensor:
    """Return x with matrix x = rhs, for matrices [..., n, n] (or their adjoints) and rhs [..., n, k].

    Raises:
        ValueError: sizes that do not fit. tf.errors.InvalidArgumentError, in run: a singular matrix.
    """
    return apply(SOLVE, [matrix, rhs], {"adjoint": bool(adjoint)}, name)


@export("matrix_triangular_solve", "linalg.triangular_solve")
@atomic
def matrix_triangular_solve(
    matrix: Any, rhs: Any, lower: bool = True, adjoint: bool = False, name: str | None = None
) -> Tensor:
    """Return x with matrix x = rhs, for lower (or upper) triangular matrices [..., n, n] and rhs [..., n, k]."""
    attrs = {"lower": bool(lower), "adjoint": bool(adjoint)}
    return apply(TRIANGULAR_SOLVE, [matrix, rhs], attrs, name)


@export("cholesky_solve", "linalg.cholesky_solve")
@atomic
def cholesky_solve(chol: Any, rhs: Any, name: str | None = None) -> Tensor:
    """Return x with (chol chol^T) x = rhs, given Cholesky factors [..., n, n] and rhs [..., n, k]."""
    return apply(CHOLESKY_SOLVE, [chol, rhs], name=name or "cholesky_solve")


@export("qr", "linalg.qr")
@atomic
def qr(input: Any, full_matrices: bool = False, name: str | None = None) -> Qr:
    """Return q with orthonormal columns and upper triangular r with q r = input, for matrices [..., m, n].

    full_matrices: give q [..., m, m] and r [..., m, n]; else their inner size is min(m, n).
    """
    return Qr(*apply(QR, [input], {"full_matrices": bool(full_matrices)}, name))


@export("svd", "linalg.svd")
@atomic
def svd(tensor: Any, full_matrices: bool = False, compute_uv: bool = True, name: str | None = None) -> Any:
    """Return s, u, v with u diag(s) v^T = tensor, for matrices [..., m, n]; the singular values s fall.

    full_matrices: give all columns of u and v, else min(m, n) of them. compute_uv=False: return s alone.
    """
    if not compute_uv:
        return apply(SINGULAR_VALUES, [tensor], name=name or "Svd")
    return tuple(apply(SVD, [tensor], {"full_matrices": bool(full_matrices)}, name))
