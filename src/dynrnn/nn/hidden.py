"""The initial states of the torch-like modules: `hx` held against what a call needs.

In these modules a state is torch's: `[layers * directions, batch, width]`, for the LSTM the pair `(h, c)`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torch import Tensor

from dynrnn.errors import dtype_name
from dynrnn.nn.state import LSTMState


def check_hx(
    owner: str, hx: Any, expected: dict[str, tuple[int, ...]], inputs: Tensor, *, cast: bool
) -> tuple[Tensor, ...]:
    """Return the tensors of `hx` once names, shapes, dtype and device fit; `expected` maps "h" (and "c") to a shape.

    A state must be on the device of `inputs` and have their dtype, or is brought to it with `cast` (under autocast).

    Raises TypeError for another structure or dtype, ValueError for another shape or device; where a transpose or the
    other order would fit, the message says so.
    """
    values = _tensors(owner, hx, tuple(expected))
    for index, (name, shape) in enumerate(expected.items()):
        value, label = values[index], "hx" if len(expected) == 1 else f"hx.{name}"
        if tuple(value.shape) != shape:
            hint = _shape_hint(values, list(expected.values()), index)
            raise ValueError(f"{owner}: {label} has shape {list(value.shape)}, expected {_layout(shape)}{hint}")
        if value.dtype != inputs.dtype and not (cast and value.is_floating_point()):
            got, wanted = dtype_name(value.dtype), dtype_name(inputs.dtype)
            raise TypeError(f"{owner}: {label} is {got}, but inputs are {wanted}; cast one")
        if value.device != inputs.device:
            raise ValueError(f"{owner}: {label} is on {value.device}, but inputs are on {inputs.device}")
    return tuple(value.to(inputs.dtype) for value in values)


def _tensors(owner: str, hx: Any, names: tuple[str, ...]) -> tuple[Tensor, ...]:
    if isinstance(hx, LSTMState):
        raise TypeError(
            f"{owner}: hx is an LSTMState, the (c, h) of a cell; this module takes torch's "
            f"{'(h, c)' if len(names) == 2 else 'h'}, each [layers * directions, batch, width]"
        )
    if len(names) == 1:
        if not isinstance(hx, Tensor):
            raise TypeError(f"{owner}: hx must be one tensor h, got {_kind(hx)}; only an LSTM has an (h, c)")
        return (hx,)
    if isinstance(hx, Tensor) or not isinstance(hx, Sequence):
        raise TypeError(f"{owner}: hx must be a pair of tensors (h, c), got {_kind(hx)}")
    if len(hx) != 2 or not all(isinstance(value, Tensor) for value in hx):
        raise TypeError(f"{owner}: hx must be a pair of tensors (h, c), got {_kind(hx)}")
    return tuple(hx)


def _layout(shape: tuple[int, ...]) -> str:
    axes = "[layers * directions, width]" if len(shape) == 2 else "[layers * directions, batch, width]"
    return f"{axes} = {list(shape)}"


def _shape_hint(values: tuple[Tensor, ...], shapes: list[tuple[int, ...]], index: int) -> str:
    found, wanted = tuple(values[index].shape), shapes[index]
    if len(shapes) == 2 and tuple(values[0].shape) == shapes[1] and tuple(values[1].shape) == shapes[0]:
        return "; the order is (h, c): these fit as (c, h)"
    if len(found) == 3 and (found[1], found[0], found[2]) == wanted:
        return "; transpose(0, 1) would fit: states are not batch-first, whatever batch_first says"
    if len(wanted) == 3 and wanted[0] == 1 and found == wanted[1:]:
        return "; unsqueeze(0) would fit"
    if len(wanted) == 2 and len(found) == 3 and (found[0], *found[2:]) == wanted and found[1] == 1:
        return "; squeeze(1) would fit: an input without batch has a state without batch"
    return ""


def _kind(value: Any) -> str:
    if isinstance(value, Tensor):
        return f"one tensor {list(value.shape)}"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return f"a {type(value).__name__} of {len(value)} ({', '.join(type(item).__name__ for item in value)})"
    return f"a {type(value).__name__}"
