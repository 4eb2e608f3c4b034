"""Products of matrices and of tensors. Factorizations and inverses are in `matrix.py`, norms in `norms.py`."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import torch

from ....errors import InvalidArgumentError
from ....graph import rules
from ....graph.op import COMPLEX, FLOATS, NUMBERS, REALS, Op
from ....graph.shape import Dims
from ...export import export
from ...graph import Tensor, atomic
from ...scopes import name_scope
from ..apply import apply
from ..convert import convert_to_tensor
from .cast import conj
from .reduction import fixed_axis

# Products of matrices


def _matmul(a: torch.Tensor, b: torch.Tensor, transpose_a: bool, transpose_b: bool) -> torch.Tensor:
    if a.ndim < 2 or b.ndim < 2:
        raise InvalidArgumentError(None, None, f"In[0] and In[1] must be matrices: {list(a.shape)}, {list(b.shape)}")
    return torch.matmul(a.mT if transpose_a else a, b.mT if transpose_b else b)


_MATRIX_TYPES = {"T": FLOATS | COMPLEX | {"int32", "int64"}}
MATMUL = Op("MatMul", "a:T b:T -> T", _matmul, rules.matmul, _MATRIX_TYPES)
BATCH_MATMUL = Op("BatchMatMulV2", "x:T y:T -> T", _matmul, rules.matmul, _MATRIX_TYPES)


@export("matmul", "linalg.matmul")
@atomic
def matmul(
    a: Any,
    b: Any,
    transpose_a: bool = False,
    transpose_b: bool = False,
    adjoint_a: bool = False,
    adjoint_b: bool = False,
    a_is_sparse: bool = False,
    b_is_sparse: bool = False,
    name: str | None = None,
) -> Tensor:
    """Return the product of matrices, a [..., n, m] and b [..., m, k]: [..., n, k].

    Axes before the last two are batch axes and broadcast. transpose_a, adjoint_a: take the transpose of a, or its
    conjugate transpose. a_is_sparse, b_is_sparse: hints that many elements are 0; the product is the same.

    Raises:
        ValueError: ranks below 2, sizes that do not fit, both transpose and adjoint. TypeError: different dtypes.

    Example:
        >>> import dynrnn.tf1 as tf
        >>> with tf.Session() as sess:
        ...     print(sess.run(tf.matmul([[1.0, 2.0]], [[3.0], [4.0]])))
        [[11.]]
    """
    for letter, transpose, adjoint in (("a", transpose_a, adjoint_a), ("b", transpose_b, adjoint_b)):
        if transpose and adjoint:
            raise ValueError(f"Only one of transpose_{letter} and adjoint_{letter} can be True.")
    a = convert_to_tensor(a, dtype_hint=_dtype_of(b), name="a")
    b = convert_to_tensor(b, dtype_hint=a.dtype.base_dtype, name="b")
    plain = a.shape.ndims == 2 and b.shape.ndims == 2
    inputs = [conj(a) if adjoint_a else a, conj(b) if adjoint_b else b]
    attrs = {"transpose_a": bool(transpose_a or adjoint_a), "transpose_b": bool(transpose_b or adjoint_b)}
    return apply(MATMUL if plain else BATCH_MATMUL, inputs, attrs, name or "MatMul")


def _dtype_of(value: Any) -> Any:
    return value.dtype.base_dtype if isinstance(value, Tensor) else None


# Products over any axes


def _tensordot(a: torch.Tensor, b: torch.Tensor, axes: int | tuple[tuple[int, ...], tuple[int, ...]]) -> torch.Tensor:
    return torch.tensordot(a, b, axes)  # type: ignore[arg-type]


def _tensordot_dims(inputs: rules.Inputs, attrs: rules.Attrs) -> Dims:
    a, b, axes = inputs[0].dims, inputs[1].dims, attrs["axes"]
    if a is None or b is None:
        return None
    if isinstance(axes, int):
        if axes > len(a) or axes > len(b):
            raise ValueError(f"tensordot: axes must not be larger than the ranks {len(a)} and {len(b)}, got {axes}")
        axes = (tuple(range(len(a) - axes, len(a))), tuple(range(axes)))
    axes_a = [rules.normal_axis(axis, len(a), "axes: axis of a") for axis in axes[0]]
    axes_b = [rules.normal_axis(axis, len(b), "axes: axis of b") for axis in axes[1]]
    for i, j in zip(axes_a, axes_b, strict=True):
        if a[i] is not None and b[j] is not None and a[i] != b[j]:
            raise ValueError(f"Dimensions must be equal, but are {a[i]} and {b[j]}, axes {i} of a and {j} of b")
    rest_a = [size for i, size in enumerate(a) if i not in axes_a]
    return (*rest_a, *(size for j, size in enumerate(b) if j not in axes_b))


TENSORDOT = Op("Tensordot", "a:T b:T -> T", _tensordot, _tensordot_dims, {"T": NUMBERS})


@export("tensordot", "linalg.tensordot")
@atomic
def tensordot(a: Any, b: Any, axes: Any, name: str | None = None) -> Tensor:
    """Return the sum of products of a and b over pairs of axes; the other axes of a, then those of b remain.

    axes: how many last axes of a and first axes of b are paired, or a list of axes of a and one of axes of b.

    Raises:
        ValueError: axes that do not fit.
    """
    if isinstance(axes, (int, np.integer)):
        pairs: Any = int(axes)
        if pairs < 0:
            raise ValueError(f"'axes' must be at least 0, got {axes}")
    else:
        if len(axes) != 2:
            raise ValueError(f"'axes' must be an integer or have length 2, got {axes!r}")
        first, second = (fixed_axis(part, "axes") for part in axes)
        first, second = ((part,) if isinstance(part, int) else part or () for part in (first, second))
        if len(first) != len(second):
            raise ValueError(f"Different number of contraction axes 'a' and 'b', {len(first)} != {len(second)}.")
        pairs = (first, second)
    return apply(TENSORDOT, [a, b], {"axes": pairs}, name or "Tensordot")


def _einsum(*inputs: torch.Tensor, equation: str) -> torch.Tensor:
    result = torch.einsum(equation, *inputs)
    return result.view_as(result) if any(result is value for value in inputs) else result


def _einsum_dims(inputs: rules.Inputs, attrs: rules.Attrs) -> Dims:
    terms, output = _einsum_terms(attrs["equation"])
    sizes: dict[str, int | None] = {}
    batch: Dims = ()
    for tensor, term in zip(inputs, terms, strict=True):
        dims = tensor.dims
        labels = term.replace("...", "")
        if dims is None:
            batch = None if "..." in term else batch
            sizes.update({label: sizes.get(label) for label in labels})
            continue
        if len(dims) < len(labels) or (len(dims) != len(labels) and "..." not in term):
            raise ValueError(f"einsum: {tensor.name} has rank {len(dims)}, expected the rank of {term!r}")
        before = term.index("...") if "..." in term else len(labels)
        after = len(dims) - (len(labels) - before)
        if "..." in term:
            batch = rules.broadcast_dims(batch, dims[before:after])
        for label, size in zip(labels, dims[:before] + dims[after:], strict=True):
            known = sizes.get(label)
            if known is not None and size is not None and known != size and 1 not in (known, size):
                raise ValueError(f"Dimensions must be equal, but are {known} and {size} for {label!r} of {tensor.name}")
            sizes[label] = size if known in (None, 1) and size is not None else known
    if "..." in output and batch is None:
        return None
    before = output.index("...") if "..." in output else len(output)
    after = output[before:].replace("...", "")
    middle = batch if "..." in output and batch is not None else ()
    return (*(sizes[label] for label in output[:before]), *middle, *(sizes[label] for label in after))


def _einsum_terms(equation: str) -> tuple[list[str], str]:
    left, arrow, output = equation.partition("->")
    if not arrow:  # as numpy does: the letters that stand once, in alphabetical order
        letters = left.replace(",", "").replace(".", "")
        once = sorted(letter for letter in set(letters) if letters.count(letter) == 1)
        output = ("..." if "..." in left else "") + "".join(once)
    return left.split(","), output


EINSUM = Op("Einsum", "*inputs:T -> T", _einsum, _einsum_dims, {"T": NUMBERS})
_EQUATION = re.compile(r"[A-Za-z.,]*(->[A-Za-z.]*)?")


@export("einsum", "linalg.einsum")
@atomic
def einsum(equation: str, *inputs: Any, name: str | None = None) -> Tensor:
    """Return a sum of products over the axes that an equation such as `"bij,bjk->bik"` leaves out at its right.

    One term a tensor, one letter an axis; `...` stands for any axes. Without `->` the letters that stand once remain,
    in alphabetical order.

    Raises:
        ValueError: an equation that cannot be read or does not fit the tensors.
    """
    equation = equation.replace(" ", "")
    if not _EQUATION.fullmatch(equation):
        raise ValueError(f"Indices have incorrect format: {equation}")
    terms, output = _einsum_terms(equation)
    if len(terms) != len(inputs):
        raise ValueError(f"Incorrect number of arguments: expected {len(terms)} for {equation!r}, got {len(inputs)}")
    missing = set(output) - set("".join(terms)) - {"."}
    if missing:
        raise ValueError(f"Output labels {''.join(sorted(missing))} of {equation!r} appear in no input")
    with name_scope(name, "einsum", inputs):
        return apply(EINSUM, [list(inputs)], {"equation": equation})


def _cross_dims(inputs: rules.Inputs, attrs: rules.Attrs) -> Dims:
    dims = rules.merged(inputs, attrs)
    if dims is not None and (not dims or dims[-1] not in (3, None)):
        raise ValueError(f"Cross-products are only defined for 3-element vectors, got a last axis of {dims[-1:]}")
    return dims


CROSS = Op("Cross", "a:T b:T -> T", torch.linalg.cross, _cross_dims, {"T": REALS})


@export("cross", "linalg.cross")
@atomic
def cross(a: Any, b: Any, name: str | None = None) -> Tensor:
    """Return the cross products of the vectors of three in the last axes of two tensors of one shape."""
    return apply(CROSS, [a, b], name=name)


def _trace(x: torch.Tensor) -> torch.Tensor:
    return torch.diagonal(x, dim1=-2, dim2=-1).sum(-1, dtype=x.dtype)


def _trace_dims(inputs: rules.Inputs, attrs: rules.Attrs) -> Dims:
    dims = inputs[0].dims
    if dims is not None and len(dims) < 2:
        raise ValueError(f"Shape must be at least rank 2 but is rank {len(dims)} for 'Trace'")
    return None if dims is None else dims[:-2]


TRACE = Op("Trace", "x:T -> T", _trace, _trace_dims, {"T": NUMBERS})


@export("trace", "linalg.trace")
@atomic
def trace(x: Any, name: str | None = None) -> Tensor:
    """Return the sums of the main diagonals of the matrices in the last two axes."""
    return apply(TRACE, [x], name=name)
