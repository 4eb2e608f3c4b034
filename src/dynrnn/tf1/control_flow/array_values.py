"""What a TensorArray is while a graph runs: a list of tensors, written once each, and the rules of writing and reading
it. The nodes that do so are in `array_rows.py`.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from ...errors import InvalidArgumentError, UnimplementedError
from ...graph.dtype import DType
from ...graph.shape import Dims, TensorShape

Value = Any  # a torch tensor; for strings an array of bytes


class ArrayValue:
    """The elements of one TensorArray in one run.

    It is shared by all who hold the array's flow: a write fills an element that has none yet, so nobody sees an element
    change. What is done to the flow itself, as if it were the scalar that it is in the graph, is done to a 0.

    dims: what the elements' shape must fit. identical: all elements have one shape, that of the first written.
    clear: an element is let go when it has been read. adds: writes to one element add up.
    """

    __slots__ = (
        "_gradients",
        "_shapes",
        "adds",
        "clear",
        "cleared",
        "closed",
        "dims",
        "dtype",
        "dynamic",
        "elements",
        "identical",
        "name",
        "written",
    )

    def __init__(
        self, size: int, dtype: DType, *, dims: Dims = None, identical: bool, dynamic: bool, clear: bool, name: str
    ):
        self.elements: list[Value | None] = [None] * size
        self.cleared: set[int] = set()
        self.dtype = dtype
        self.dims = dims
        self.identical = identical
        self.dynamic = dynamic
        self.clear = clear
        self.name = name
        self.adds = False
        self.closed = False
        self.written: tuple[int, ...] | None = dims if _known(dims) else None  # type: ignore[assignment]
        self._shapes: list[tuple[int, ...] | None] | None = None  # of each element, where they are given
        self._gradients: dict[str, ArrayValue] = {}

    # The flow as a tensor

    requires_grad = False
    grad_fn = None

    def view_as(self, other: Any) -> ArrayValue:
        return self

    def detach(self) -> torch.Tensor:
        return torch.zeros(())

    @classmethod
    def __torch_function__(cls, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return function(*_plain(args), **(kwargs or {}))

    # One element

    def _error(self, text: str) -> InvalidArgumentError:
        return InvalidArgumentError(None, None, f"TensorArray {self.name}: {text}")

    def _check_open(self) -> None:
        if self.closed:
            raise InvalidArgumentError(None, None, f"TensorArray {self.name} has already been closed.")

    def write(self, index: int, value: Value) -> None:
        """Fill element `index`; a dynamic array grows up to it."""
        self._check_open()
        elements = self.elements
        if not 0 <= index < len(elements):
            if index < 0 or not self.dynamic:
                raise self._error(
                    f"Tried to write to index {index} but array is not resizeable and size is: {len(elements)}"
                )
            elements.extend([None] * (index + 1 - len(elements)))
        if index in self.cleared:
            raise self._error(f"Could not write to TensorArray index {index} because it has already been read.")
        self._check_value(index, value)
        if elements[index] is None:
            elements[index] = value
        elif self.adds:
            elements[index] = elements[index] + value
        else:
            raise self._error(f"Could not write to TensorArray index {index} because it has already been written to.")

    def _check_value(self, index: int, value: Value) -> None:
        if not self.holds(value):
            got = "string" if isinstance(value, np.ndarray) else str(value.dtype).removeprefix("torch.")
            raise InvalidArgumentError(
                None,
                None,
                f"TensorArray dtype is {self.dtype.name} but Op is trying to write dtype {got} to {self.name}.",
            )
        shape = tuple(value.shape)
        if shape == self.written:
            return
        wanted: Any = self.written if self.identical and self.written is not None else self.dims
        if not TensorShape(wanted).is_compatible_with(shape):
            raise self._error(
                f"Could not write to TensorArray index {index} because the value shape is {list(shape)} which is "
                f"incompatible with the TensorArray's inferred element shape: {_text(wanted)} (consider setting "
                "infer_shape=False)."
            )
        if self.identical and self.written is None:
            self.written = shape

    def expect(self, shape: tuple[int, ...]) -> None:
        """Let all elements have `shape`, which is known before any is written."""
        self.written = shape

    def holds(self, value: Value) -> bool:
        """Whether `value` has the array's dtype."""
        if isinstance(value, torch.Tensor):
            return self.dtype.kind != "s" and value.dtype is self.dtype.torch
        return self.dtype.kind == "s" and isinstance(value, np.ndarray)

    def read(self, index: int, dims: Dims = None) -> Value:
        """The element `index`; zeros where it was never written and its shape is known, at the latest from `dims`."""
        self._check_open()
        if not 0 <= index < len(self.elements):
            raise self._error(f"Tried to read from index {index} but array size is: {len(self.elements)}")
        if index in self.cleared:
            raise self._error(
                f"Could not read index {index} twice because it was cleared after a previous read (perhaps try setting "
                "clear_after_read = false?)."
            )
        value = self.elements[index]
        if value is None:
            value = self._zeros(index, dims)
        if self.clear:
            self.cleared.add(index)
            self.elements[index] = None
        return value

    def _zeros(self, index: int, dims: Dims) -> Value:
        shape: Any = self.written if self._shapes is None else self._shapes[index]
        if shape is None and _known(dims):
            shape = dims
        if shape is None:
            raise self._error(
                f"Could not read from TensorArray index {index}. Furthermore, the element shape is not fully defined: "
                f"{_text(self.dims)}. Nothing was written there; zeros are read where element_shape says how many"
            )
        return self._empty(shape)

    def _empty(self, shape: Sequence[int]) -> Value:
        return np.full(shape, b"", object) if self.dtype.kind == "s" else torch.zeros(shape, dtype=self.dtype.torch)

    # Many elements

    def gather(self, indices: Sequence[int], dims: Dims) -> Value:
        """Elements on top of each other, `[len(indices), ...]`; `dims` is the shape of those that were not written."""
        if not indices:
            self._check_open()
            dims = dims if _known(dims) else self.written
            if not _known(dims):
                raise UnimplementedError(
                    None,
                    None,
                    f"TensorArray {self.name} has size zero, but element shape {_text(dims)} is not fully defined. "
                    "Currently only static shapes are supported when packing zero-size TensorArrays.",
                )
            return self._empty((0, *dims))  # type: ignore[misc]
        values = [self.read(index, dims) for index in indices]
        self._check_equal([tuple(value.shape) for value in values], "")
        return torch.stack(values) if isinstance(values[0], torch.Tensor) else np.stack(values)

    def concat(self, dims: Dims) -> Value:
        """All elements joined along their first axis; `dims` is the shape of those that were not written."""
        if not self.elements:
            self._check_open()
            dims = dims if _known(dims) else self.written or dims
            if dims is None or None in dims[1:]:
                raise UnimplementedError(
                    None,
                    None,
                    f"TensorArray {self.name} has size zero, but element_shape_except0 {_text(dims and dims[1:])} is "
                    "not fully defined. Currently only static shapes are supported when concatenating zero-size "
                    "TensorArrays.",
                )
            return self._empty((0, *dims[1:]))  # type: ignore[misc]
        values = [self.read(index, dims) for index in range(len(self.elements))]
        for index, value in enumerate(values):
            if value.ndim == 0:
                raise self._error(
                    f"Concat saw a scalar shape at index {index} but requires at least vectors. Did you mean to call "
                    "stack?"
                )
        self._check_equal([tuple(value.shape[1:]) for value in values], " (excepting dimension 0)")
        return torch.cat(values) if isinstance(values[0], torch.Tensor) else np.concatenate(values)

    def _check_equal(self, shapes: list[tuple[int, ...]], which: str) -> None:
        for index, shape in enumerate(shapes):
            if shape != shapes[0]:
                raise InvalidArgumentError(
                    None,
                    None,
                    f"TensorArray {self.name} has inconsistent shapes. Index 0 has{which} shape: {list(shapes[0])} but "
                    f"index {index} has{which} shape: {list(shape)}",
                )

    def scatter(self, indices: Sequence[int], values: Value) -> None:
        """Write row k of `values` to element indices[k]."""
        self._check_open()
        if values.ndim == 0 or values.shape[0] != len(indices):
            raise self._error(
                f"Expected len(indices) == values.shape[0], but saw: {len(indices)} vs. {list(values.shape)[:1]}"
            )
        if indices and max(indices) >= len(self.elements) and not self.dynamic:
            raise self._error(f"Max scatter index must be < array size ({max(indices)} vs. {len(self.elements)})")
        rows = values.unbind(0) if isinstance(values, torch.Tensor) else [np.asarray(row, object) for row in values]
        for index, value in zip(indices, rows, strict=True):
            self.write(index, value)

    def split(self, values: Value, lengths: Sequence[int]) -> None:
        """Write consecutive pieces of `values`, of the given lengths, to elements 0, 1, ..."""
        self._check_open()
        if values.ndim == 0:
            raise self._error("Expected value to be at least a vector, but received shape: []")
        if any(length < 0 for length in lengths):
            raise self._error(f"Expected lengths of at least 0, but saw: {list(lengths)}")
        if sum(lengths) != values.shape[0]:
            raise self._error(
                f"Expected sum of lengths to be equal to values.shape[0], but sum of lengths is {sum(lengths)} and "
                f"value's shape is: {list(values.shape)}"
            )
        missing = len(lengths) - len(self.elements)
        if missing and not (self.dynamic and missing > 0):
            raise self._error(
                f"TensorArray's size is not equal to the size of lengths ({len(self.elements)} vs. {len(lengths)}), "
                "and the TensorArray is not marked as dynamically resizeable"
            )
        self.elements.extend([None] * missing)
        if isinstance(values, torch.Tensor):
            pieces: Sequence[Value] = values.split(list(lengths))
        else:
            pieces = np.split(values, np.cumsum(lengths)[:-1])
        for index, value in enumerate(pieces):
            self.write(index, value)

    # The whole array

    def close(self) -> None:
        """Let all elements go and refuse to be written and read."""
        self.closed = True
        self.elements = [None] * len(self.elements)

    def detached(self) -> ArrayValue:
        """This array with its elements cut off from what they were computed from."""
        other = copy.copy(self)
        other.elements = [value.detach() if isinstance(value, torch.Tensor) else value for value in self.elements]
        return other

    def gradient(self, source: str) -> ArrayValue:
        """The array of gradients named `source`: it has this array's size, which stays as it is from now on, and
        elements of its elements' shapes; what is written to one element adds up.
        """
        self._check_open()
        self.dynamic = False
        if source not in self._gradients:
            found = ArrayValue(
                len(self.elements),
                self.dtype,
                dims=self.dims,
                identical=False,
                dynamic=False,
                clear=True,
                name=f"{self.name}@{source}",
            )
            found.adds = True
            found._shapes = [self.written if value is None else tuple(value.shape) for value in self.elements]
            self._gradients[source] = found
        return self._gradients[source]


def _plain(value: Any) -> Any:
    """Arguments of a torch function with a 0 in place of each array."""
    if isinstance(value, (tuple, list)):
        return [_plain(item) for item in value]
    return value.detach() if isinstance(value, ArrayValue) else value


def _known(dims: Dims) -> bool:
    return dims is not None and None not in dims


def _text(dims: Any) -> str:
    return "<unknown>" if dims is None else "[" + ",".join("?" if size is None else str(size) for size in dims) + "]"
