"""`tf.TensorArray`: an array of tensors that loops write to and read from. Its op rows are in `array_rows.py`."""

from __future__ import annotations

from typing import Any

from ...graph.constants import constant_value
from ...graph.dtype import DType, as_dtype, int32
from ...graph.shape import Dims, TensorShape, as_shape, merge_dims
from ..export import export
from ..graph import Operation, Tensor, atomic
from ..ops.apply import apply
from ..ops.array.making import range_ as make_range
from ..ops.array.placeholders import identity
from ..ops.array.sizing import shape
from ..ops.convert import convert_to_tensor
from ..scopes import name_scope
from .array_rows import CLOSE, CONCAT, GATHER, GRADIENT, LIKE, NEW, READ, SCATTER, SIZE, SPLIT, WRITE


class _Element:
    """What is known of the shape of one array's elements; shared by all TensorArray objects of that array.

    infer: what is written tells more of it.
    """

    def __init__(self, shape: Any, infer: bool):
        self.dims: Dims = None if shape is None else as_shape(shape).tuple
        self.infer = infer

    def join(self, dims: Dims, graph: Any) -> None:
        """Note the shape of an element that is written; ValueError where it contradicts what is known."""
        before = self.dims
        try:
            merged = merge_dims(before, dims)
        except ValueError:
            raise ValueError(
                f"Inconsistent shapes: saw {TensorShape(dims)} but expected {TensorShape(before)}: an element that is "
                "written to a TensorArray must fit element_shape and, with infer_shape=True, those written before"
            ) from None
        if self.infer:
            graph.on_undo(lambda: setattr(self, "dims", before))
            self.dims = merged


@export("TensorArray")
class TensorArray:
    """An array of tensors of one dtype, each written once.

    dtype: of the elements. size: an int or an int32 scalar tensor. dynamic_size: let writes past the end make it
    longer. clear_after_read: forget an element when it has been read (default: yes). tensor_array_name: what error
    texts call it. handle, flow: those of an array that exists, for another object of it. infer_shape: require elements
    of one shape, that of the first. element_shape: that shape, as far as it is known.
    colocate_with_first_write_call: accepted; there is one device.
    Methods that write return a new object, which is to be used from then on.

    Gradients pass from what is read to what was written there; what was never read gets zeros. An element that was
    never written reads as zeros where its shape is known.

    Raises:
        ValueError, TypeError: an argument that is missing or one too many; an element that contradicts the shape.
        tf.errors.InvalidArgumentError: in run, an element of another dtype, an index out of range, an element written
        twice, or read after it was forgotten.

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
        given = {
            "size": size,
            "tensor_array_name": tensor_array_name,
            "dynamic_size": dynamic_size,
            "clear_after_read": clear_after_read,
            "element_shape": element_shape,
        }
        _check_arguments(handle, flow, given)
        self._dtype = as_dtype(dtype).base_dtype
        self._dynamic = bool(dynamic_size)
        self._element = _Element(element_shape, infer_shape)
        self._size = None if self._dynamic else size
        if handle is not None:
            self._handle, self._flow = handle, flow
            return
        with name_scope(name, "TensorArray") as scope:
            attrs = {
                "dtype": self._dtype,
                "dims": self._element.dims,
                "identical": bool(infer_shape),
                "dynamic": self._dynamic,
                "clear": clear_after_read is not False,
                "array_name": tensor_array_name,
            }
            size = convert_to_tensor(size, None if isinstance(size, Tensor) else int32, name="size")
            self._handle = self._flow = apply(NEW, [size], attrs, scope)

    @property
    def dtype(self) -> DType:
        return self._dtype

    @property
    def flow(self) -> Tensor:
        """The tensor by which operations on the array are ordered; a scalar, which is of no meaning as a number."""
        return self._flow

    @property
    def handle(self) -> Tensor:
        """The tensor that says which array this is."""
        return self._handle

    @property
    def op(self) -> Operation:
        return self._handle.op  # type: ignore[return-value]

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
        other.__dict__.update(self.__dict__, _flow=flow)
        return other

    def with_elements_like(self, element: Tensor) -> TensorArray:
        """The array, still empty, whose elements will have the shape that `element` has in a run."""
        return self.with_flow(apply(LIKE, [self._flow, element]))

    def _value(self, value: Any) -> Tensor:
        """What is to be written; Python numbers become the array's dtype. Another dtype is an error of the run."""
        return convert_to_tensor(value, preferred_dtype=self._dtype, name="value")

    @atomic
    def identity(self) -> TensorArray:
        """The same array, after the control dependencies that are in force."""
        return self.with_flow(identity(self._flow))

    @atomic
    def grad(self, source: str, flow: Any = None, name: str | None = None) -> TensorArray:
        """Return the array for gradients of this one's elements that goes by the name of `source`.

        The first call in a run makes it, with this array's size, which is fixed from then on. What is written to one
        element adds up; what was not written reads as zeros. It holds what the program writes to it: `tf.gradients`
        does not use it. flow: what the making waits for (default: this array's flow).
        """
        if not isinstance(source, str):
            raise TypeError(f"grad: source must be a string, got {source!r}")
        with name_scope(name, "TensorArrayGrad"):
            graded = apply(GRADIENT, [self._flow if flow is None else flow], {"source": source})
            other = self.with_flow(identity(graded, name="gradient_flow"))
        other._handle, other._dynamic, other._size = graded, False, None
        other._element = _Element(self.element_shape, self._element.infer)
        return other

    @atomic
    def write(self, index: Any, value: Any, name: str | None = None) -> TensorArray:
        """Write `value` to element `index`, an int or an int32 scalar."""
        with name_scope(name, "TensorArrayWrite"):
            tensor = self._value(value)
            self._element.join(tensor.dims, tensor.graph)
            return self.with_flow(apply(WRITE, [self._flow, index, tensor], name=name))

    @atomic
    def read(self, index: Any, name: str | None = None) -> Tensor:
        """Return element `index`."""
        return apply(READ, [self._flow, index], {"dtype": self._dtype, "dims": self._element.dims}, name)

    @atomic
    def stack(self, name: str | None = None) -> Tensor:
        """Return all elements on top of each other, `[size, ...]`."""
        with name_scope(name, "TensorArrayStack"):
            return self.gather(make_range(0, self.size()), name=name)

    @atomic
    def gather(self, indices: Any, name: str | None = None) -> Tensor:
        """Return the elements of `indices`, a vector, on top of each other, `[len(indices), ...]`."""
        return apply(GATHER, [self._flow, indices], {"dtype": self._dtype, "dims": self._element.dims}, name)

    @atomic
    def concat(self, name: str | None = None) -> Tensor:
        """Return all elements joined along their first axis; they may differ in its size."""
        known = constant_value(self._size) if isinstance(self._size, Tensor) else self._size
        attrs = {"dtype": self._dtype, "dims": self._element.dims, "size": None if known is None else int(known)}
        return apply(CONCAT, [self._flow], attrs, name)

    @atomic
    def unstack(self, value: Any, name: str | None = None) -> TensorArray:
        """Write the rows of `value` to elements 0, 1, ..."""
        with name_scope(name, "TensorArrayUnstack"):
            tensor = self._value(value)
            return self.scatter(make_range(0, _first_size(tensor)), tensor, name=name)

    @atomic
    def scatter(self, indices: Any, value: Any, name: str | None = None) -> TensorArray:
        """Write row k of `value` to element indices[k]."""
        with name_scope(name, "TensorArrayScatter"):
            tensor = self._value(value)
            if tensor.dims:
                self._element.join(tensor.dims[1:], tensor.graph)
            return self.with_flow(apply(SCATTER, [self._flow, indices, tensor], name=name))

    @atomic
    def split(self, value: Any, lengths: Any, name: str | None = None) -> TensorArray:
        """Write consecutive pieces of `value`, of the given lengths, to elements 0, 1, ...

        A `value` of another dtype than the array's is a ValueError.
        """
        with name_scope(name, "TensorArraySplit"):
            tensor = convert_to_tensor(value, self._dtype, name="value")
            lengths = convert_to_tensor(lengths, name="lengths")
            known = constant_value(lengths)
            if tensor.dims and known is not None and known.size and (known == known.flat[0]).all():
                self._element.join((int(known.flat[0]), *tensor.dims[1:]), tensor.graph)
            return self.with_flow(apply(SPLIT, [self._flow, tensor, lengths], name=name))

    @atomic
    def size(self, name: str | None = None) -> Tensor:
        """Return the number of elements, an int32 scalar."""
        if self._size is not None:
            return convert_to_tensor(self._size, int32)
        return apply(SIZE, [self._flow], name=name)

    @atomic
    def close(self, name: str | None = None) -> Operation:
        """Return an operation that lets all elements go; the array is of no use after it."""
        return apply(CLOSE, [self._flow], name=name)


def _check_arguments(handle: Any, flow: Any, given: dict[str, Any]) -> None:
    """The arguments that make an array do not go with those of one that exists."""
    if handle is None:
        if given["size"] is None:
            raise ValueError("TensorArray: size must be declared if handle is not provided")
        return
    for name, value in given.items():
        if value is not None:
            raise ValueError(f"TensorArray: cannot provide both a handle and {name} at the same time")
    if not isinstance(handle, Tensor):
        raise TypeError(f"TensorArray: handle must be a tensor, got {handle!r}")
    if flow is None:
        raise ValueError("TensorArray: flow must not be None if handle is not None")


def _first_size(tensor: Tensor) -> Any:
    return tensor.dims[0] if tensor.dims and tensor.dims[0] is not None else shape(tensor)[0]
