"""The checks before addresses go to the compiled module: nothing that passes here lets it leave a buffer.

Shapes, dtypes, devices and lengths of what a call reads; what it writes is made in `call.py`, from the same sizes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from dynrnn.errors import describe
from dynrnn.kernels.availability import DTYPES, has_own_dispatch
from dynrnn.kernels.weights import Layout, Places, places_of

_FEW = 256  # lengths of which a list is read faster than a tensor is reduced
_INT64 = torch.int64


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


class Rows(NamedTuple):
    """Which steps are walked: int64 `[pieces]` on the CPU each, or None.

    A piece is `length` steps of `row` from `start` on. Without `row` there is a piece a row, from its first step on;
    without `length` all steps are walked.
    """

    row: Tensor | None
    start: Tensor | None
    length: Tensor | None


class Sizes(NamedTuple):
    """What a check finds out."""

    places: Places
    batch: int
    time: int
    pieces: int


def check(
    setting: Setting, rows: Rows, inputs: Tensor, state: Sequence[Tensor | None], weights: Sequence[Tensor]
) -> Sizes:
    """Refuse what the kernels must not be given, in the words of the reference loop.

    TypeError for a dtype or a kind of tensor, ValueError for a shape, a device or a length.
    """
    shape, dtype = inputs.shape, inputs.dtype
    if len(shape) != 3:
        layout = "[time, batch, input_size]" if setting.time_major else "[batch, time, input_size]"
        raise ValueError(f"run_layer: inputs must have shape {layout}, got {list(shape)}")
    if dtype not in DTYPES:
        raise TypeError(f"run_layer: inputs must be float32 or float64, got {describe('inputs', shape, dtype)}")
    time, batch = (shape[0], shape[1]) if setting.time_major else (shape[1], shape[0])
    places = places_of(setting.layout, shape[2], dtype.itemsize)
    pieces = check_rows(rows, batch, time)
    check_memory("inputs", inputs)
    if len(weights) != len(places.names):
        raise ValueError(f"run_layer: {places.group} must be {list(places.names)}, got {len(weights)} tensors")
    for index, value in enumerate(weights):
        if value.shape != places.shapes[index] or value.dtype is not dtype:
            check_tensor(f"{places.group}[{places.names[index]!r}]", value, places.shapes[index], dtype)
        check_memory(places.names[index], value)
    if len(state) != len(places.state_sizes):
        names = ", ".join(places.state_sizes)
        raise ValueError(f"run_layer: state must be ({names}), got {len(state)} tensors")
    for (name, width), value in zip(places.state_sizes.items(), state, strict=True):
        if value is not None:
            check_tensor(f"state.{name}", value, (pieces, width), dtype)
            check_memory(name, value)
    return Sizes(places, batch, time, pieces)


def check_tensor(name: str, value: Tensor, shape: tuple[int, ...], dtype: torch.dtype) -> None:
    """Refuse another shape and another dtype."""
    if value.shape != shape:
        raise ValueError(f"run_layer: {name} must have shape {list(shape)}, got {list(value.shape)}")
    if value.dtype is not dtype:
        raise TypeError(
            f"run_layer: {name} must be {dtype}, as inputs are, got {describe(name, value.shape, value.dtype)}"
        )


def check_memory(name: str, value: Tensor) -> None:
    """Refuse a tensor whose elements do not lie in this machine's memory."""
    if not value.is_cpu:
        raise ValueError(f"run_layer: {name} must be on the CPU, got {value.device}")
    if value.layout is not torch.strided or has_own_dispatch(value):
        raise TypeError(f"run_layer: {name} must be a strided tensor, got {type(value).__name__} of {value.layout}")


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
    end = start + length
    same_row = row[1:] == row[:-1]
    follows = torch.where(same_row, start[1:] == end[:-1], (row[1:] > row[:-1]) & (start[1:] == 0))
    inside = (row >= 0) & (row < batch) & (start >= 0) & (length >= 0) & (length <= time) & (end <= time)
    if not bool(inside.all()) or not bool(follows.all()) or bool((start[:1] != 0).any()):
        raise ValueError(
            f"run_layer: pieces must cover each of {batch} rows of {time} steps from its first step on, row by row and "
            "in the order of time"
        )
    return length.shape[0]


def _check_indices(name: str, value: Tensor) -> None:
    if value.dtype is not _INT64 or not value.is_cpu:
        raise TypeError(f"run_layer: {name} must be an int64 tensor on the CPU, got {value.dtype} on {value.device}")
    if value.ndim != 1:
        raise ValueError(f"run_layer: {name} must have one axis, got {list(value.shape)}")
    check_memory(name, value)


def _range(values: Tensor) -> tuple[int, int]:
    count = values.shape[0]
    if count == 0:
        return 0, 0
    if count <= _FEW:
        listed = values.tolist()
        return min(listed), max(listed)
    shortest, longest = torch.aminmax(values)
    return int(shortest), int(longest)
