"""What a TensorArray is while a graph runs: a list of tensors, written once each, and the rules of writing and reading it."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from ...errors import InvalidArgumentError
from ...graph.shape import Dims, TensorShape


class ArrayValue:
    """The elements of one TensorArray in one run.

    It is shared by all who hold its flow: a write fills an element that has none yet, so nobody sees an element change.
    """

    def __init__(self, size: int, dims: Dims, dtype: torch.dtype, *, dynamic: bool, clear: bool, name: str):
        self.elements: list[torch.Tensor | None] = [None] * size
        self.cleared: set[int] = set()
        self.dims = dims
        self.dtype = dtype
        self.dynamic = dynamic
        self.clear = clear
        self.name = name
        self.closed = False

    def _error(self, text: str) -> InvalidArgumentError:
        return InvalidArgumentError(None, None, f"TensorArray {self.name}: {text}")

    def _check_open(self) -> None:
        if self.closed:
            raise self._error("has already been closed.")

    def write(self, index: int, value: torch.Tensor) -> None:
        """Fill element `index`; a dynamic array grows up to it."""
        self._check_open()
        if index < 0:
            raise self._error(f"Tried to write to index {index}, which is negative")
        if index >= len(self.elements):
            if not self.dynamic:
                raise self._error(f"Tried to write to index {index} but array is not resizeable and size is: {len(self.elements)}")
            self.elements.extend([None] * (index + 1 - len(self.elements)))
        if index in self.cleared:
            raise self._error(f"Could not write to TensorArray index {index} because it has already been read.")
        if self.elements[index] is not None:
            raise self._error(f"Could not write to TensorArray index {index} because it has already been written to.")
        if not TensorShape(self.dims).is_compatible_with(tuple(value.shape)):
            raise self._error(f"Could not write to index {index}: the element has shape {TensorShape(tuple(value.shape))}, expected {TensorShape(self.dims)}")
        self.elements[index] = value

    def read(self, index: int) -> torch.Tensor:
        """The element `index`; zeros where it was never written and its shape is known."""
        self._check_open()
        if not 0 <= index < len(self.elements):
            raise self._error(f"Tried to read from index {index} but array size is: {len(self.elements)}")
        if index in self.cleared:
            raise self._error(
                f"Could not read index {index} twice because it was cleared after a previous read (perhaps try setting clear_after_read = false?)."
            )
        value = self.elements[index]
        if value is None:
            value = self._zeros(index)
        if self.clear:
            self.cleared.add(index)
            self.elements[index] = None
        return value

    def _zeros(self, index: int) -> torch.Tensor:
        known = self.dims
        if known is None or None in known:
            shapes = {tuple(value.shape) for value in self.elements if value is not None}
            known = shapes.pop() if len(shapes) == 1 else None
        if known is None:
            raise self._error(
                f"Could not read from TensorArray index {index}: it was never written, and the element shape is not fully defined: {TensorShape(self.dims)}. "
                "It is possible you are working with a resizeable TensorArray and stop_gradients is not allowing the gradients to be written."
            )
        return torch.zeros([size or 0 for size in known], dtype=self.dtype)

    def gather(self, indices: Sequence[int]) -> torch.Tensor:
        """Elements on top of each other, `[len(indices), ...]`."""
        if not len(indices):
            if self.dims is None or None in self.dims:
                raise self._error(f"has size zero, but element shape {TensorShape(self.dims)} is not fully defined. Currently only static shapes are supported when packing zero-size TensorArrays.")
            return torch.zeros([0, *[size or 0 for size in self.dims]], dtype=self.dtype)
        values = [self.read(index) for index in indices]
        shapes = {tuple(value.shape) for value in values}
        if len(shapes) > 1:
            raise self._error(f"has inconsistent shapes. Index 0 has shape: {list(values[0].shape)} but others have: {sorted(map(list, shapes))}")
        return torch.stack(values)

    def concat(self) -> tuple[torch.Tensor, torch.Tensor]:
        """All elements joined along their first axis, and the length of each."""
        if not self.elements:
            if self.dims is None or None in self.dims[1:]:
                raise self._error(f"has size zero, but element shape {TensorShape(self.dims)} is not fully defined past its first size")
            return torch.zeros([0, *[size or 0 for size in self.dims[1:]]], dtype=self.dtype), torch.zeros(0, dtype=torch.int64)
        values = [self.read(index) for index in range(len(self.elements))]
        if any(value.ndim == 0 for value in values):
            raise self._error("Concat saw a scalar shape at index 0 but requires at least vectors. Did you mean to call pack?")
        if len({tuple(value.shape[1:]) for value in values}) > 1:
            raise self._error(f"has inconsistent element shapes past the first axis: {[list(value.shape) for value in values]}")
        return torch.cat(values), torch.tensor([value.shape[0] for value in values])

    def scatter(self, indices: Sequence[int], values: torch.Tensor) -> None:
        """Write row k of `values` to element indices[k]."""
        if values.ndim == 0 or values.shape[0] != len(indices):
            raise self._error(f"Expected len(indices) == values.shape[0], but saw: {len(indices)} vs. {list(values.shape)[:1]}")
        if indices and max(indices) >= len(self.elements) and not self.dynamic:
            raise self._error(f"Max scatter index must be < array size ({max(indices)} vs. {len(self.elements)})")
        for index, value in zip(indices, values.unbind(0), strict=True):
            self.write(index, value)

    def split(self, values: torch.Tensor, lengths: Sequence[int]) -> None:
        """Write consecutive pieces of `values`, of the given lengths, to the elements."""
        if values.ndim == 0:
            raise self._error("Expected value to be at least a vector, but received shape: []")
        if sum(lengths) != values.shape[0]:
            raise self._error(f"Expected sum of lengths to be equal to values.shape[0], but sum of lengths is {sum(lengths)} and value's shape is: {list(values.shape)}")
        if len(lengths) != len(self.elements):
            if not self.dynamic:
                raise self._error(f"TensorArray's size is not equal to the size of lengths ({len(self.elements)} vs. {len(lengths)}), and the TensorArray is not marked as dynamically resizeable")
            self.elements.extend([None] * (len(lengths) - len(self.elements)))
        for index, value in enumerate(values.split(list(lengths))):
            self.write(index, value)


