"""`tf.SparseTensor`: three tensors that stand for one with few nonzero items, and its placeholder and fetched value.

What is computed with sparse tensors is in `ops/sparse/`; feeding and fetching them is in `session.py`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..graph.constants import partial_dims
from ..graph.dtype import DType, as_dtype, int64
from ..graph.shape import TensorShape, as_shape
from .export import export
from .graph import Graph, Operation, Tensor, atomic, get_default_graph
from .ops.array.placeholders import placeholder, placeholder_with_default
from .ops.convert import convert_to_tensor


@export("SparseTensorValue")
class SparseTensorValue(NamedTuple):
    """What a fetched SparseTensor gives, and what is fed to one: arrays of indices, values and the dense shape."""

    indices: Any
    values: Any
    dense_shape: Any


@export("SparseTensor", "sparse.SparseTensor")
class SparseTensor:
    """A tensor of `dense_shape` that holds `values[k]` at `indices[k]` and 0 (or "") everywhere else.

    indices: int64 `[count, rank]`, each row a place, in row-major order for most operations. values: any dtype
    `[count]`. dense_shape: int64 `[rank]`.

    Raises:
        ValueError: ranks or sizes do not fit. TypeError: indices or dense_shape are no integers.

    Example:
        >>> import dynrnn.tf1 as tf
        >>> sparse = tf.SparseTensor(indices=[[0, 1], [1, 0]], values=[5, 7], dense_shape=[2, 2])
        >>> tf.Session().run(tf.sparse_tensor_to_dense(sparse)).tolist()
        [[0, 5], [7, 0]]
    """

    def __init__(self, indices: Any, values: Any, dense_shape: Any):
        with get_default_graph().atomic(), get_default_graph().name_scope("SparseTensor"):
            self.indices: Tensor = convert_to_tensor(indices, int64, "indices")
            self.values: Tensor = convert_to_tensor(values, name="values")
            self.dense_shape: Tensor = convert_to_tensor(dense_shape, int64, "dense_shape")
        self._given_shape: TensorShape | None = None
        places = self.indices.shape.with_rank(2)
        count, sizes = self.values.shape.with_rank(1), self.dense_shape.shape.with_rank(1)
        places[0].assert_is_compatible_with(count[0])
        places[1].assert_is_compatible_with(sizes[0])

    @classmethod
    def from_value(cls, sparse_tensor_value: Any) -> SparseTensor:
        """Return a sparse tensor of a SparseTensorValue; a SparseTensor as it is.

        Raises:
            TypeError: it is neither.
        """
        if isinstance(sparse_tensor_value, cls):
            return sparse_tensor_value
        if not isinstance(sparse_tensor_value, SparseTensorValue):
            raise TypeError(
                f"Argument sparse_tensor_value={sparse_tensor_value!r} is neither a SparseTensor nor SparseTensorValue."
            )
        return cls(*sparse_tensor_value)

    @property
    def dtype(self) -> DType:
        return self.values.dtype

    @property
    def op(self) -> Operation:
        return self.values.op  # type: ignore[return-value]

    @property
    def graph(self) -> Graph:
        return self.values.graph  # type: ignore[return-value]

    @property
    def shape(self) -> TensorShape:
        """What is known of the dense shape while the graph is built."""
        return self._given_shape if self._given_shape is not None else TensorShape(partial_dims(self.dense_shape))

    def get_shape(self) -> TensorShape:
        return self.shape

    def consumers(self) -> list[Any]:
        return list(self.values.consumers())

    def eval(self, feed_dict: Any = None, session: Any = None) -> SparseTensorValue:
        """Run the default session (or `session`) for this sparse tensor and return its value."""
        parts = [part.eval(feed_dict, session) for part in (self.indices, self.values, self.dense_shape)]
        return SparseTensorValue(*parts)

    def __repr__(self) -> str:
        return f"SparseTensor(indices={self.indices!s}, values={self.values!s}, dense_shape={self.dense_shape!s})"


def as_sparse(value: Any, function: str, argument: str = "sp_input") -> SparseTensor:
    """Return a sparse tensor of one, or of its value.

    Raises:
        TypeError: it is neither.
    """
    if isinstance(value, SparseTensorValue):
        return SparseTensor.from_value(value)
    if not isinstance(value, SparseTensor):
        raise TypeError(f"{function}: {argument} must be a SparseTensor. Input must be a SparseTensor, got {value!r}.")
    return value


def with_values(sparse: SparseTensor, values: Any) -> SparseTensor:
    """The same places with other values."""
    made = SparseTensor(sparse.indices, values, sparse.dense_shape)
    made._given_shape = sparse._given_shape
    return made


@export("sparse_placeholder", "sparse.placeholder")
@atomic
def sparse_placeholder(dtype: Any, shape: Any = None, name: str | None = None) -> SparseTensor:
    """Return a sparse tensor whose value is fed: a SparseTensorValue or a tuple (indices, values, dense_shape).

    shape: the dense shape as far as it is known; None: not even its rank.

    Raises:
        TypeError: `dtype` is no type. ValueError: `shape` is no shape.

    Example:
        >>> import numpy as np
        >>> import dynrnn.tf1 as tf
        >>> sparse = tf.sparse_placeholder(tf.float32)
        >>> value = tf.SparseTensorValue(np.array([[0, 1]]), np.array([2.0]), np.array([2, 2]))
        >>> tf.Session().run(tf.sparse_tensor_to_dense(sparse), {sparse: value}).tolist()
        [[0.0, 2.0], [0.0, 0.0]]
    """
    part = (lambda what: None) if name is None else (lambda what: f"{name}/{what}")
    known = as_shape(shape)
    rank = known.ndims
    values = placeholder(as_dtype(dtype), [None], part("values"))
    indices = placeholder(int64, [None, rank], part("indices"))
    if rank is None:
        return SparseTensor(indices, values, placeholder(int64, [None], part("shape")))
    sizes = np.array([-1 if size is None else size for size in known.as_list()], np.int64)
    made = SparseTensor(indices, values, placeholder_with_default(sizes, [rank], part("shape")))
    made._given_shape = known
    return made


@export("convert_to_tensor_or_sparse_tensor")
@atomic
def convert_to_tensor_or_sparse_tensor(value: Any, dtype: Any = None, name: str | None = None) -> Any:
    """Return a sparse tensor of a SparseTensor or its value, and a tensor of anything else.

    Raises:
        RuntimeError: a sparse tensor of another dtype than asked for.
    """
    if not isinstance(value, (SparseTensor, SparseTensorValue)):
        return convert_to_tensor(value, dtype, name)
    sparse = SparseTensor.from_value(value)
    if dtype is not None and not as_dtype(dtype).is_compatible_with(sparse.dtype):
        raise RuntimeError(f"Sparse dtype: requested = {as_dtype(dtype).name}, actual = {sparse.dtype.name}")
    return sparse
