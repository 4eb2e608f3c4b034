"""Sparse tensors to dense ones and back, and their product with dense matrices."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from .... import errors
from ....graph.constants import partial_dims
from ....graph.dtype import int64
from ....graph.op import INDICES, NUMBERS, Op
from ....graph.shape import Dims
from ...export import export
from ...graph import Tensor, atomic, get_default_graph
from ...sparse_tensor import SparseTensor, as_sparse
from ..apply import apply
from ..array.choosing import where
from ..array.gathering import gather_nd
from ..array.sizing import shape
from ..convert import convert_to_tensor
from ..math.comparison import not_equal
from ..moving import moves


def _to_dense(
    indices: torch.Tensor, dense_shape: torch.Tensor, values: torch.Tensor, default: torch.Tensor, validate: bool
) -> torch.Tensor:
    sizes = dense_shape.tolist()
    if indices.ndim < 2:
        indices = indices.reshape(-1, 1) if len(sizes) == 1 else indices.reshape(1, -1)
    if indices.shape[1] != len(sizes):
        raise _refused(f"dense_shape has {len(sizes)} items, but a place in indices has {indices.shape[1]}")
    if validate:
        _check_order(indices, sizes)
    places = tuple(indices.long().unbind(1))
    rows = values if values.ndim else values.expand(len(indices))
    if len(rows) != len(indices):
        raise _refused(f"{len(rows)} values for {len(indices)} places")
    result = default.expand(sizes).clone()
    return result.index_put(places, rows) if places else (rows[0] if len(rows) else result).clone()


def _check_order(indices: torch.Tensor, sizes: list[int]) -> None:
    """Refuse places that are outside, repeated or not in row-major order; the first one is named."""
    wrong = ((indices < 0) | (indices >= torch.tensor(sizes, dtype=indices.dtype))).any(1).nonzero()
    if len(wrong):
        k = int(wrong[0])
        raise _refused(f"indices[{k}] = {_place(indices[k])} is out of bounds: need 0 <= index < {_place(sizes)}")
    flat = indices.long() @ torch.tensor(_strides(sizes)) if sizes else indices.new_zeros(len(indices)).long()
    steps = flat[1:] - flat[:-1]
    if len(steps) and int(steps.min()) <= 0:
        k = int((steps <= 0).nonzero()[0]) + 1
        reason = "is repeated" if steps[k - 1] == 0 else "is out of order. Many sparse ops require sorted indices: "
        hint = "" if steps[k - 1] == 0 else "use tf.sparse_reorder to make them so, or validate_indices=False"
        raise _refused(f"indices[{k}] = {_place(indices[k])} {reason}{hint}")


def _strides(sizes: list[int]) -> list[int]:
    return [int(np.prod(sizes[i + 1 :], dtype=np.int64)) for i in range(len(sizes))]


def _place(index: Any) -> str:
    return f"[{','.join(map(str, index if isinstance(index, list) else index.tolist()))}]"


def _refused(message: str) -> errors.InvalidArgumentError:
    return errors.InvalidArgumentError(None, None, message)


def _dense_dims(inputs: Any, attrs: Any) -> Dims:
    return partial_dims(inputs[1])


def _matmul(
    indices: torch.Tensor, values: torch.Tensor, dense_shape: torch.Tensor, b: torch.Tensor,
    adjoint_a: bool, adjoint_b: bool,
) -> torch.Tensor:  # fmt: skip
    sizes = dense_shape.tolist()
    rows, columns = indices[:, 0].long(), indices[:, 1].long()
    if adjoint_a:
        rows, columns, sizes, values = columns, rows, sizes[::-1], values.conj()
    if adjoint_b:
        b = b.mH
    if sizes[1] != b.shape[0]:
        raise _refused(
            f"Cannot multiply A and B because inner dimension does not match: {sizes[1]} vs. {b.shape[0]}. Did you "
            "forget a transpose?"
        )
    products = values[:, None] * b[columns]
    return b.new_zeros((sizes[0], b.shape[1])).index_add(0, rows, products)


def _matmul_dims(inputs: Any, attrs: Any) -> Dims:
    sizes, dims = partial_dims(inputs[2]), inputs[3].dims
    rows = None if sizes is None else sizes[1 if attrs["adjoint_a"] else 0]
    columns = None if dims is None else dims[0 if attrs["adjoint_b"] else 1]
    return (rows, columns)


_TO_DENSE = moves(
    "SparseToDense", "indices:I dense_shape:I values:T default:T -> T", _to_dense, _dense_dims, types={"I": INDICES}
)
_MATMUL = Op(
    "SparseTensorDenseMatMul", "indices:I values:T dense_shape:int64 b:T -> T", _matmul, _matmul_dims,
    {"T": NUMBERS, "I": INDICES},
)  # fmt: skip


@export("sparse_to_dense")
@atomic
def sparse_to_dense(
    sparse_indices: Any,
    output_shape: Any,
    sparse_values: Any,
    default_value: Any = 0,
    validate_indices: bool = True,
    name: str | None = None,
) -> Tensor:
    """Return a tensor of shape `output_shape` with `sparse_values` at `sparse_indices` and `default_value` elsewhere.

    sparse_indices: int32 or int64, a scalar or `[count]` for a vector, else `[count, rank]`. sparse_values: `[count]`,
    or a scalar for all. validate_indices: refuse places that are repeated or not in row-major order.

    Raises:
        tf.errors.InvalidArgumentError: in run, a place is outside, repeated or out of order.

    Example:
        >>> import dynrnn.tf1 as tf
        >>> tf.Session().run(tf.sparse_to_dense([1, 3], [5], [7, 8])).tolist()
        [0, 7, 0, 8, 0]
    """
    indices = convert_to_tensor(sparse_indices, name="sparse_indices")
    values = convert_to_tensor(sparse_values, name="sparse_values")
    sizes = convert_to_tensor(output_shape, indices.dtype.base_dtype, name="output_shape")
    return _dense(indices, sizes, values, default_value, validate_indices, name)


def _dense(indices: Any, sizes: Any, values: Any, default: Any, validate: bool, name: str | None) -> Tensor:
    if values.dtype.kind == "s" and not isinstance(default, (str, bytes, Tensor)):
        default = ""
    return apply(_TO_DENSE, [indices, sizes, values, default], {"validate": bool(validate)}, name)


@export("sparse_tensor_to_dense", "sparse.to_dense")
@atomic
def sparse_tensor_to_dense(
    sp_input: Any, default_value: Any = None, validate_indices: bool = True, name: str | None = None
) -> Tensor:
    """Return the dense tensor that a sparse one stands for, with `default_value` (0, or "") where it has no items.

    Raises:
        TypeError: `sp_input` is no SparseTensor. tf.errors.InvalidArgumentError: in run, a place is outside, repeated
        or out of order; validate_indices=False lets the last two pass.
    """
    sparse = as_sparse(sp_input, "sparse_tensor_to_dense")
    default = 0 if default_value is None else default_value
    return _dense(sparse.indices, sparse.dense_shape, sparse.values, default, validate_indices, name)


@export("sparse.from_dense", "contrib.layers.dense_to_sparse")
@atomic
def from_dense(tensor: Any, eos_token: Any = None, name: str | None = None) -> SparseTensor:
    """Return the sparse tensor of the items of `tensor` that are not 0 ("" for strings), or not `eos_token`.

    Example:
        >>> import dynrnn.tf1 as tf
        >>> tf.Session().run(tf.sparse.from_dense([[0, 5], [7, 0]])).indices.tolist()
        [[0, 1], [1, 0]]
    """
    with get_default_graph().name_scope(name or "dense_to_sparse"):
        tensor = convert_to_tensor(tensor, name="tensor")
        nothing = eos_token if eos_token is not None else ("" if tensor.dtype.kind == "s" else 0)
        places = where(not_equal(tensor, nothing))
        return SparseTensor(places, gather_nd(tensor, places), shape(tensor, out_type=int64))


@export("sparse_tensor_dense_matmul", "sparse.matmul", "sparse.sparse_dense_matmul")
@atomic
def sparse_tensor_dense_matmul(
    sp_a: Any, b: Any, adjoint_a: bool = False, adjoint_b: bool = False, name: str | None = None
) -> Tensor:
    """Return the product of a sparse matrix and a dense one, each conjugated and transposed first where told.

    Raises:
        TypeError: `sp_a` is no SparseTensor, or dtypes differ. tf.errors.InvalidArgumentError: in run, sizes differ.
    """
    sparse = as_sparse(sp_a, "sparse_tensor_dense_matmul", "sp_a")
    attrs = {"adjoint_a": bool(adjoint_a), "adjoint_b": bool(adjoint_b)}
    with get_default_graph().name_scope(name or "SparseTensorDenseMatMul"):
        return apply(_MATMUL, [sparse.indices, sparse.values, sparse.dense_shape, b], attrs)


def _times(self: SparseTensor, other: Any) -> SparseTensor:
    return _combine(self, other, lambda first, second: first * second)


def _divided(self: SparseTensor, other: Any) -> SparseTensor:
    return _combine(self, other, lambda first, second: first / second)


def _combine(sparse: SparseTensor, other: Any, function: Any) -> SparseTensor:
    """Combine a sparse tensor's items with those of a dense one, broadcast to its shape, at the same places."""
    dense = convert_to_tensor(other, sparse.dtype.base_dtype)
    at_places = apply(_AT_PLACES, [dense, sparse.indices, sparse.dense_shape])
    return SparseTensor(sparse.indices, function(sparse.values, at_places), sparse.dense_shape)


def _at_places(dense: torch.Tensor, indices: torch.Tensor, dense_shape: torch.Tensor) -> torch.Tensor:
    return dense.expand(dense_shape.tolist())[tuple(indices.unbind(1))]


def _count_dims(inputs: Any, attrs: Any) -> Dims:
    return (None,) if inputs[1].dims is None else (inputs[1].dims[0],)


_AT_PLACES = Op("SparseDenseAt", "dense:T indices:int64 dense_shape:int64 -> T", _at_places, _count_dims)
SparseTensor.__mul__ = _times  # type: ignore[attr-defined]
SparseTensor.__truediv__ = SparseTensor.__div__ = _divided  # type: ignore[attr-defined]
