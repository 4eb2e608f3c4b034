"""`tf.TensorArray`: an array of tensors that loops write to and read from."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from ...graph import rules
from ...graph.dtype import DType, as_dtype, float32, int32
from ...graph.op import INDICES, Op
from ...graph.constants import constant_value
from ...graph.shape import Dims, TensorShape, as_shape, merge_dims
from ..export import export
from ..graph import Operation, Tensor, atomic
from ..ops.apply import apply
from ..ops.convert import convert_to_tensor
from ..ops.array.making import range_ as make_range
from ..ops.array.sizing import shape
from ..scopes import name_scope
from .array_values import ArrayValue


def _bind_new(node: Operation, runtime: Any) -> Callable[..., ArrayValue]:
    attrs = node.attrs
    dtype = attrs["dtype"].torch

    def new(size: torch.Tensor) -> ArrayValue:
        return ArrayValue(int(size), attrs["element_dims"](), dtype, dynamic=attrs["dynamic"], clear=attrs["clear"], name=node.name)

    return new


def _write(flow: ArrayValue, index: torch.Tensor, value: torch.Tensor) -> ArrayValue:
    flow.write(int(index), value)
    return flow


def _read(flow: ArrayValue, index: torch.Tensor, dtype: DType) -> torch.Tensor:
    value = flow.read(int(index))
    return value.view_as(value)


def _gather(flow: ArrayValue, indices: torch.Tensor, dtype: DType, dims: Dims) -> torch.Tensor:
    return flow.gather(indices.tolist())


def _concat(flow: ArrayValue, dtype: DType, dims: Dims) -> torch.Tensor:
    return flow.concat()[0]


def _scatter(flow: ArrayValue, indices: torch.Tensor, value: torch.Tensor) -> ArrayValue:
    flow.scatter(indices.tolist(), value)
    return flow


def _split(flow: ArrayValue, value: torch.Tensor, lengths: torch.Tensor) -> ArrayValue:
    flow.split(value, lengths.tolist())
    return flow


def _close(flow: ArrayValue) -> None:
    flow.closed = True
    flow.elements.clear()


def _given_dims(inputs: Any, attrs: Any) -> Dims:
    return attrs["dims"]


NEW = Op("TensorArrayV3", "size:int32 -> float32", None, rules.scalar, bind=_bind_new, stateful=True)
WRITE = Op("TensorArrayWriteV3", "flow:float32 index:int32 value:T -> float32", _write, rules.scalar, stateful=True)
READ = Op("TensorArrayReadV3", "flow:float32 index:int32 -> @dtype", lambda flow, index, dtype, dims: _read(flow, index, dtype), _given_dims, stateful=True)
GATHER = Op("TensorArrayGatherV3", "flow:float32 indices:I -> @dtype", _gather, _given_dims, {"I": INDICES}, stateful=True)
CONCAT = Op("TensorArrayConcatV3", "flow:float32 -> @dtype", _concat, _given_dims, stateful=True)
SCATTER = Op("TensorArrayScatterV3", "flow:float32 indices:I value:T -> float32", _scatter, rules.scalar, {"I": INDICES}, stateful=True)
SPLIT = Op("TensorArraySplitV3", "flow:float32 value:T lengths:I -> float32", _split, rules.scalar, {"I": INDICES}, stateful=True)
SIZE = Op("TensorArraySizeV3", "flow:float32 -> int32", lambda flow: torch.tensor(len(flow.elements), dtype=torch.int32), rules.scalar, differentiable=False, stateful=True)
CLOSE = Op("TensorArrayCloseV3", "flow:float32 ->", _close, None, differentiable=False, stateful=True)
IDENTITY = Op("TensorArrayIdentity", "flow:float32 -> float32", lambda flow: flow, rules.scalar, stateful=True)


class _Element:
    """What is known of the shape of one array's elements; shared by all TensorArray objects of that array."""

    def __init__(self, shape: Any, infer: bool):
        self.dims: Dims = None if shape is None else as_shape(shape).tuple
        self.infer = infer

    def join(self, dims: Dims, graph: Any) -> None:
        """Note the shape of an element that is written; ValueError where it contradicts what is known."""
        before = self.dims
        if not self.infer:
            if not TensorShape(before).is_compatible_with(dims):
                raise ValueError(f"Inconsistent shapes: saw {TensorShape(dims)} but expected {TensorShape(before)}")
            return
        try:
            merged = merge_dims(before, dims)
        except ValueError:
            raise ValueError(f"Inconsistent shapes: saw {TensorShape(dims)} but expected {TensorShape(before)} (and infer_shape=True)") from None
        graph.on_undo(lambda: setattr(self, "dims", before))
        self.dims = merged


@export("TensorArray")
class TensorArray:
    """An array of tensors of one dtype, each written once.

    dtype: of the elements. size: an int or an int32 scalar tensor. dynamic_size: let writes past the end make it longer. clear_after_read: forget an element when
    it has been read (default: yes). infer_shape: let the first element written fix the shape of all. element_shape: that shape, where it is known.
    Methods that write return a new object, which is to be used from then on.

    Raises:
        ValueError, TypeError: while building, an element that contradicts the shape or the dtype. tf.errors.InvalidArgumentError: in run, an index out
        of range, an element written twice, or read after it was forgotten.

    Example:
        >>> import dynrnn.tf1 as tf
        >>> array = tf.TensorArray(tf.float32, size=2).write(0, [1.0]).write(1, [2.0])
        >>> with tf.Session() as sess:
        ...     print(sess.run(array.stack()).tolist())
        [[1.0], [2.0]]
    """

    def __init__(
        self,
        dtype: Any,
        size: Any = None,
        dynamic_size: bool | None = None,
        clear_after_read: bool | None = None,
        tensor_array_name: str | None = None,
        handle: Any = None,
        flow: Any = None,
        infer_shape: bool = True,
        element_shape: Any = None,
        colocate_with_first_write_call: bool = True,
        name: str | None = None,
    ):
        if handle is not None and (size is not None or tensor_array_name is not None or dynamic_size is not None):
            raise ValueError("Cannot provide both a handle and size, dynamic_size or tensor_array_name")
        if handle is None and size is None:
            raise ValueError("Size must be declared if handle is not provided")
        self._dtype = as_dtype(dtype).base_dtype
        self._dynamic = bool(dynamic_size)
        self._element = _Element(element_shape, infer_shape or element_shape is not None)
        if handle is not None:
            self._flow = handle if flow is None else flow
            return
        element = self._element
        with name_scope(name, "TensorArray"):
            attrs = {"dtype": self._dtype, "dynamic": self._dynamic, "clear": clear_after_read is not False, "element_dims": lambda: element.dims}
            self._flow = apply(NEW, [size], attrs, tensor_array_name or "TensorArrayV3")

    @property
    def dtype(self) -> DType:
        return self._dtype

    @property
    def flow(self) -> Tensor:
        """The tensor by which operations on the array are ordered."""
        return self._flow

    @property
    def handle(self) -> Tensor:
        return self._flow

    @property
    def op(self) -> Operation:
        return self._flow.op  # type: ignore[return-value]

    @property
    def graph(self) -> Any:
        return self._flow.graph

    @property
    def dynamic_size(self) -> bool:
        return self._dynamic

    @property
    def element_shape(self) -> TensorShape:
        """What is known of the shape of the elements."""
        return TensorShape(self._element.dims)

    def with_flow(self, flow: Tensor) -> TensorArray:
        """The same array as it is after `flow`."""
        other = object.__new__(TensorArray)
        other._dtype, other._dynamic, other._element, other._flow = self._dtype, self._dynamic, self._element, flow
        return other

    def _value(self, value: Any, what: str) -> Tensor:
        tensor = convert_to_tensor(value, None if hasattr(value, "dtype") and isinstance(value, Tensor) else self._dtype, name="value")
        if tensor.dtype.base_dtype is not self._dtype:
            raise TypeError(f"TensorArray dtype is {self._dtype.name} but {what} is trying to write dtype {tensor.dtype.name} ({tensor.name})")
        return tensor

    @atomic
    def identity(self) -> TensorArray:
        """The same array, after the control dependencies that are in force."""
        return self.with_flow(apply(IDENTITY, [self._flow]))

    @atomic
    def write(self, index: Any, value: Any, name: str | None = None) -> TensorArray:
        """Write `value` to element `index`, an int or an int32 scalar."""
        tensor = self._value(value, "Op")
        self._element.join(tensor.dims, tensor.graph)
        return self.with_flow(apply(WRITE, [self._flow, index, tensor], name=name or "TensorArrayWriteV3"))

    @atomic
    def read(self, index: Any, name: str | None = None) -> Tensor:
        """Return element `index`."""
        return apply(READ, [self._flow, index], {"dtype": self._dtype, "dims": self._element.dims}, name or "TensorArrayReadV3")

    def stack(self, name: str | None = None) -> Tensor:
        """Return all elements on top of each other, `[size, ...]`."""
        with name_scope(name, "TensorArrayStack"):
            return self.gather(make_range(0, self.size()))

    @atomic
    def gather(self, indices: Any, name: str | None = None) -> Tensor:
        """Return the elements of `indices`, a vector, on top of each other, `[len(indices), ...]`."""
        indices = convert_to_tensor(indices, name="indices")
        count = indices.dims[0] if indices.dims else None
        dims = None if self._element.dims is None else (count, *self._element.dims)
        return apply(GATHER, [self._flow, indices], {"dtype": self._dtype, "dims": dims}, name or "TensorArrayGatherV3")

    @atomic
    def concat(self, name: str | None = None) -> Tensor:
        """Return all elements joined along their first axis; they may differ in its size."""
        dims = None if self._element.dims is None else (None, *self._element.dims[1:])
        return apply(CONCAT, [self._flow], {"dtype": self._dtype, "dims": dims}, name or "TensorArrayConcatV3")

    def unstack(self, value: Any, name: str | None = None) -> TensorArray:
        """Write the rows of `value` to elements 0, 1, ..."""
        with name_scope(name, "TensorArrayUnstack"):
            tensor = self._value(value, "Op")
            from_rows = make_range(0, _first_size(tensor))
            return self.scatter(from_rows, tensor)

    @atomic
    def scatter(self, indices: Any, value: Any, name: str | None = None) -> TensorArray:
        """Write row k of `value` to element indices[k]."""
        tensor = self._value(value, "Op")
        if tensor.dims is not None and not tensor.dims:
            raise ValueError(f"TensorArray.scatter: value must have rank at least 1, got a scalar, {tensor.name}")
        self._element.join(None if tensor.dims is None else tensor.dims[1:], tensor.graph)
        return self.with_flow(apply(SCATTER, [self._flow, indices, tensor], name=name or "TensorArrayScatterV3"))

    @atomic
    def split(self, value: Any, lengths: Any, name: str | None = None) -> TensorArray:
        """Write consecutive pieces of `value`, of the given lengths, to elements 0, 1, ..."""
        tensor = self._value(value, "Op")
        lengths = convert_to_tensor(lengths, name="lengths")
        known = constant_value(lengths)
        if tensor.dims:
            same = known is not None and known.size and (known == known.flat[0]).all()
            self._element.join((int(known.flat[0]) if same and known is not None else None, *tensor.dims[1:]), tensor.graph)
        return self.with_flow(apply(SPLIT, [self._flow, tensor, lengths], name=name or "TensorArraySplitV3"))

    @atomic
    def size(self, name: str | None = None) -> Tensor:
        """Return the number of elements, an int32 scalar."""
        return apply(SIZE, [self._flow], name=name or "TensorArraySizeV3")

    @atomic
    def close(self, name: str | None = None) -> Operation:
        """Return an operation that lets all elements go; the array is of no use after it."""
        return apply(CLOSE, [self._flow], name=name or "TensorArrayCloseV3")


def _first_size(tensor: Tensor) -> Any:
    return tensor.dims[0] if tensor.dims and tensor.dims[0] is not None else shape(tensor)[0]
