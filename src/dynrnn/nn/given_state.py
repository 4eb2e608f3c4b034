"""States that somebody gives, held against what is known of the cell: its structure of sizes, or little else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

from dynrnn import _nest
from dynrnn.errors import dtype_name
from dynrnn.nn.sizes import children_of, dims_of, is_size, labelled_leaves, part_names, rebuilt
from dynrnn.nn.state import LSTMState
from dynrnn.nn.values import as_tensor, describe_value


class ExpectedState(NamedTuple):
    """What is expected of a state that somebody gives, besides the cell's structure.

    `name` is what messages call it; any `dtype` will do where it is None. `time` and `time_major` are those of the
    inputs, for a hint where only the batch size is wrong. With `rows` a state of unknown structure too must have a row
    for each of the batch.
    """

    batch_size: int
    dtype: torch.dtype | None
    device: torch.device
    name: str
    time: int | None = None
    time_major: bool = False
    rows: bool = False

    def of_part(self, label: str) -> ExpectedState:
        """The same for a part of the state, such as ".c" or "[0]"."""
        return self._replace(name=self.name + label)


def checked_state(sizes: Any, state: Any, expected: ExpectedState, *, floating: bool = False) -> Any:
    """Hold a state against the structure `sizes`; return it in that structure.

    A tuple, a list or a named tuple is taken for an LSTMState or a tuple, in the order `(c, h)` or by its names; arrays
    become tensors. A tensor of integers has whichever dtype it likes, or is refused with `floating`.

    Raises ValueError for another structure or shape and TypeError for what is no tensor or of another dtype, in words
    like `initial_state.h has shape [3, 2], expected [2, 2]`.

    Example:
        >>> given = [torch.zeros(2, 4), torch.zeros(2, 4)]
        >>> expected = ExpectedState(2, torch.float32, torch.device("cpu"), "initial_state")
        >>> checked_state(LSTMState(4, 4), given, expected)._fields
        ('c', 'h')
    """
    if is_size(sizes):
        return _checked_leaf(sizes, state, expected, floating)
    parts = parts_of_state(sizes, state, expected.name)
    _refuse_swapped(sizes, parts, expected.batch_size, expected.name)
    checked = [
        checked_state(size, part, expected.of_part(label), floating=floating)
        for size, part, label in zip(children_of(sizes), parts, part_names(sizes), strict=True)
    ]
    return rebuilt(sizes, checked)


def checked_rows(state: Any, expected: ExpectedState) -> Any:
    """Hold a state of which no sizes are known against what is known; return it with arrays as tensors.

    Raises TypeError for what is no tensor, and ValueError where one has other rows than `expected` says; a tensor of
    rank 0 belongs to no row.
    """
    checked = []
    for name, value in labelled_leaves(state, expected.name):
        value = as_tensor(value, name)
        if expected.rows and value.ndim and value.shape[0] != expected.batch_size:
            raise ValueError(
                f"{name} has shape {list(value.shape)}, expected [{expected.batch_size}, ...], a row for each "
                f"of the batch{_layout_hint(expected)}"
            )
        checked.append(value)
    return _nest.pack_sequence_as(state, checked)


def parts_of_state(sizes: Any, state: Any, name: str) -> list[Any]:
    """The parts of a given state in the order of the structure `sizes`; ValueError where it has others."""
    labels = ", ".join(label.lstrip(".") for label in part_names(sizes))
    article = "an" if isinstance(sizes, LSTMState) else "a"
    expected = f"{article} {type(sizes).__name__} of {len(sizes)} ({labels})"
    if isinstance(sizes, Mapping):
        if not isinstance(state, Mapping) or state.keys() != sizes.keys():
            got = f"the keys {list(state)}" if isinstance(state, Mapping) else describe_value(state)
            raise ValueError(f"{name} must be a dict with the keys {list(sizes)}, got {got}")
        return [state[key] for key in sizes]
    fields = getattr(sizes, "_fields", None)
    if fields and set(getattr(state, "_fields", ())) == set(fields):
        return [getattr(state, field) for field in fields]
    if not isinstance(state, Sequence) or len(state) != len(sizes):
        raise ValueError(f"{name} must be {expected}, got {describe_value(state)}")
    return list(state)


def _refuse_swapped(sizes: Any, parts: list[Any], batch_size: int, name: str) -> None:
    """Say so where torch's order (h, c), or torch's shape [layers, batch, units], is the obvious mistake."""
    if not isinstance(sizes, LSTMState) or not all(isinstance(part, Tensor) for part in parts):
        return
    found = [list(part.shape) for part in parts]
    wanted = [[batch_size, sizes.c], [batch_size, sizes.h]]
    if found != wanted and found == wanted[::-1]:
        raise ValueError(
            f"{name}.c has shape {found[0]}, expected {wanted[0]}: this looks like torch's (h, c), where (c, h) is "
            "meant; pass LSTMState(c=..., h=...)"
        )
    if [shape[1:] for shape in found] in (wanted, wanted[::-1]):
        raise ValueError(
            f"{name}.c has shape {found[0]}, expected {wanted[0]}: this looks like torch's (h, c) of [layers, batch, "
            "units]; pass LSTMState(c=c[layer], h=h[layer])"
        )


def _checked_leaf(size: Any, value: Any, expected: ExpectedState, floating: bool) -> Tensor:
    shape, name = [expected.batch_size, *dims_of(size)], expected.name
    if not isinstance(value, Tensor) and _nest.is_nested(value):
        raise ValueError(f"{name} must be one tensor {shape}, got {describe_value(value)}")
    value = as_tensor(value, name)
    counts = len(shape) == 1 and value.ndim == 0  # belongs to no row
    if list(value.shape) != shape and not counts:
        only_batch = value.ndim > 1 and list(value.shape[1:]) == shape[1:]
        hint = _layout_hint(expected) if only_batch else ""
        raise ValueError(f"{name} has shape {list(value.shape)}, expected {shape}{_transposed(value, shape)}{hint}")
    if floating and not value.is_floating_point():
        wanted = "a floating point dtype" if expected.dtype is None else dtype_name(expected.dtype)
        raise TypeError(f"{name} is {dtype_name(value.dtype)}, expected {wanted}, as inputs and weights are; cast it")
    if expected.dtype is not None and value.is_floating_point() and value.dtype != expected.dtype:
        wanted, got = (dtype_name(kind) for kind in (expected.dtype, value.dtype))
        raise TypeError(f"{name} is {got}, expected {wanted}, as inputs and weights are; cast it")
    if value.device != expected.device:
        raise ValueError(f"{name} must be on {expected.device}, as inputs are, got {value.device}")
    return value


def _layout_hint(expected: ExpectedState) -> str:
    """What may be the matter where a state has other rows: batch and time of the inputs were taken for each other."""
    if expected.time in (None, expected.batch_size):
        return ""
    layout = "batch-major, pass time_major=False" if expected.time_major else "time-major, pass time_major=True"
    return f"; inputs have batch = {expected.batch_size} and time = {expected.time}: if they are {layout}"


def _transposed(value: Tensor, expected: list[int]) -> str:
    if value.ndim == 3 and list(value.shape[1:]) == expected:
        return "; a cell's state has no axis of layers, so pass state[layer]"
    return "; its transpose would fit" if list(value.shape) == expected[::-1] else ""
