"""The checks before addresses go to the compiled module: nothing that passes here lets it leave a buffer.

Shapes, dtypes, devices, strides and lengths of what a call reads; what it writes is made in `call.py`, from the same
sizes. Errors are worded as the reference loop words them.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from dynrnn.errors import describe
from dynrnn.kernels.availability import DTYPES, has_own_dispatch
from dynrnn.kernels.layouts import Layout

_FEW = 256  # lengths of which a list is read faster than a tensor is reduced
_INT64, _STRIDED = torch.int64, torch.strided
_PLAIN = frozenset((Tensor, torch.nn.Parameter))


class Setting(NamedTuple):
    """What a call is, besides its tensors."""

    layout: Layout
    time_major: bool = False
    reverse: bool = False
    keep_states: bool = False
    keep_gates: bool = False
    isa: int = -1  # index into isas(), -1: the best one

    @property
    def num_states(self) -> int:
        """How many tensors the state has."""
        return 2 if self.layout.has_cell_state else 1

    @property
    def keeps_cell_states(self) -> bool:
        """Whether c of every step is a result of its own; h of every step is the outputs."""
        return self.keep_states and self.layout.has_cell_state

    @property
    def num_results(self) -> int:
        """How many results a call has: outputs, the final state, and what is kept."""
        gates = self.layout.gates if self.keep_gates else 0
        return 1 + self.num_states + self.keeps_cell_states + gates


class Rows(NamedTuple):
    """Which steps are walked: int64 `[pieces]` on the CPU each, or None.

    A piece is `length` steps of `row` from `start` on. Without `row` there is a piece a row, from its first step on;
    without `length` all steps are walked.
    """

    row: Tensor | None
    start: Tensor | None
    length: Tensor | None


def address_of(label: str, value: Tensor, shape: tuple[int, ...], dtype: torch.dtype, alive: list[Tensor]) -> int:
    """The address of a tensor's elements, one after the other, once it is of this shape and dtype.

    Elements that lie otherwise are copied; the copy is put into `alive`, which must outlive the call. Raises TypeError
    or ValueError, naming `label`.
    """
    if (
        value.shape != shape
        or value.dtype is not dtype
        or not value.is_cpu
        or value.layout is not _STRIDED
        or type(value) not in _PLAIN
    ):
        _check_tensor(label, value, shape, dtype)
    if not value.is_contiguous() or value.is_neg():
        _check_extent(label, value)
        value = value.resolve_neg().contiguous()
        alive.append(value)
    elif (value.storage_offset() + value.numel()) * dtype.itemsize > value.untyped_storage().nbytes():
        _check_extent(label, value)
    return value.data_ptr()


def rowwise(label: str, value: Tensor, shape: tuple[int, ...], dtype: torch.dtype, alive: list[Tensor]) -> Tensor:
    """A tensor of three axes of which the last one is contiguous: the given one, or else a copy, put into `alive`.

    Raises what `address_of` raises.
    """
    if value.shape != shape or value.dtype is not dtype:
        _check_tensor(label, value, shape, dtype)
    _check_memory(label, value)
    _check_extent(label, value)
    if (value.stride(2) != 1 and shape[2] > 1) or value.is_neg():
        value = value.resolve_neg().contiguous()
        alive.append(value)
    return value


def check_inputs(inputs: Tensor, time_major: bool) -> None:
    """Refuse inputs of another rank than three, or of a dtype in which the kernels do not compute."""
    if inputs.ndim != 3:
        layout = "[time, batch, input_size]" if time_major else "[batch, time, input_size]"
        raise ValueError(f"run_layer: inputs must have shape {layout}, got {list(inputs.shape)}")
    if inputs.dtype not in DTYPES:
        got = describe("inputs", inputs.shape, inputs.dtype)
        raise TypeError(f"run_layer: inputs must be float32 or float64, got {got}")


def check_rows(rows: Rows, batch: int, time: int) -> int:
    """Refuse rows and lengths that leave the inputs, leave steps out or share steps; return how many pieces there are.

    Pieces stand row by row and in the order of time; each begins where the one before it in its row ends.
    """
    row, start, length = rows
    if length is None:
        return batch
    _check_indices("lengths" if row is None else "pieces.length", length)
    if row is None or start is None:
        if length.shape != (batch,):
            raise ValueError(f"run_layer: lengths must have shape [batch] = [{batch}], got {list(length.shape)}")
        shortest, longest = _range(length)
        if shortest < 0 or longest > time:
            index = int(((length < 0) | (length > time)).nonzero()[0])
            raise ValueError(
                f"run_layer: lengths must be within 0..{time}, got lengths[{index}] = {int(length[index])}"
            )
        return batch
    for name, value in (("row", row), ("start", start)):
        _check_indices(f"pieces.{name}", value)
        if value.shape != length.shape:
            raise ValueError(f"run_layer: pieces.{name} must have shape {list(length.shape)}, got {list(value.shape)}")
    inside = (row >= 0) & (row < batch) & (start >= 0) & (length >= 0) & (length <= time) & (start <= time - length)
    end = start + length
    same_row = row[1:] == row[:-1]
    follows = torch.where(same_row, start[1:] == end[:-1], (row[1:] > row[:-1]) & (start[1:] == 0))
    if not bool(inside.all()) or not bool(follows.all()) or bool((start[:1] != 0).any()):
        raise ValueError(
            f"run_layer: pieces must cover each of {batch} rows of {time} steps from its first step on, row by row and "
            "in the order of time"
        )
    return length.shape[0]


def _check_tensor(label: str, value: Tensor, shape: tuple[int, ...], dtype: torch.dtype) -> None:
    if value.shape != shape:
        raise ValueError(f"run_layer: {label} must have shape {list(shape)}, got {list(value.shape)}")
    if value.dtype is not dtype:
        got = describe(label, value.shape, value.dtype)
        raise TypeError(f"run_layer: {label} must be {dtype}, as inputs are, got {got}")
    _check_memory(label, value)


def _check_memory(label: str, value: Tensor) -> None:
    """Refuse a tensor whose elements do not lie in this machine's memory."""
    if not value.is_cpu:
        raise ValueError(f"run_layer: {label} must be on the CPU, got {value.device}")
    if value.layout is not _STRIDED or has_own_dispatch(value):
        got = f"{type(value).__name__} of layout {value.layout}"
        raise TypeError(f"run_layer: {label} must be a strided tensor, got {got}")


def _check_extent(label: str, value: Tensor) -> None:
    """Refuse a tensor that reaches beyond its memory, as it does where its storage was given back."""
    elements = value.numel()
    if not elements:
        return
    if not value.is_contiguous():
        elements = 1 + sum((side - 1) * stride for side, stride in zip(value.shape, value.stride(), strict=True))
    memory = value.untyped_storage().nbytes()
    if (value.storage_offset() + elements) * value.itemsize > memory:
        raise ValueError(f"run_layer: {label} {list(value.shape)} reaches beyond its memory of {memory} bytes")


def _check_indices(label: str, value: Tensor) -> None:
    if value.dtype is not _INT64 or not value.is_cpu:
        raise TypeError(f"run_layer: {label} must be an int64 tensor on the CPU, got {value.dtype} on {value.device}")
    if value.ndim != 1:
        raise ValueError(f"run_layer: {label} must have one axis, got {list(value.shape)}")
    _check_memory(label, value)


def _range(values: Tensor) -> tuple[int, int]:
    count = values.shape[0]
    if count == 0:
        return 0, 0
    if count <= _FEW:
        listed = values.tolist()
        return min(listed), max(listed)
    shortest, longest = torch.aminmax(values)
    return int(shortest), int(longest)
