"""What the loops of the native face may be called with: each check refuses before anything is computed.

Lengths and resets have theirs in `lengths.py`, states in `given_state.py`. `owner` is always the function that
messages name.
"""

from __future__ import annotations

from numbers import Real
from typing import Any

import torch
from torch import Tensor

from dynrnn import _nest
from dynrnn.nn.cell import RNNCell
from dynrnn.nn.compiled import within_transform
from dynrnn.nn.given_state import ExpectedState
from dynrnn.nn.kinds import given_state_of, zero_state_of
from dynrnn.nn.precision import autocast_dtype
from dynrnn.nn.values import as_tensor
from dynrnn.rnn.lengths import hides_values


def as_flag(owner: str, name: str, value: Any) -> bool:
    """Return a bool, or a bool of numpy, as a bool; TypeError for anything else.

    Example:
        >>> as_flag("dynamic_rnn", "time_major", 1)
        Traceback (most recent call last):
        TypeError: dynamic_rnn: time_major must be a bool, got 1
    """
    if isinstance(value, bool):
        return value
    kind = type(value)
    if kind.__module__ == "numpy" and kind.__name__ in ("bool", "bool_"):  # numpy 1 has the longer name
        return bool(value)
    raise TypeError(f"{owner}: {name} must be a bool, got {value!r}")


def check_padding_value(owner: str, value: Any) -> None:
    """Refuse what cannot be written into padding, with TypeError."""
    if not isinstance(value, Real):
        raise TypeError(f"{owner}: padding_value must be a number, got {value!r}")


def check_inputs(owner: str, cell: Any, inputs: Any, time_major: bool) -> tuple[Any, int, int]:
    """Return inputs as tensors, and their batch size and number of steps.

    Raises TypeError for what is no tensor and no array, ValueError for a shape that does not fit.
    """
    leaves = [inputs]
    if not isinstance(inputs, Tensor):
        inputs = _nest.map_structure(lambda value: as_tensor(value, f"{owner}: inputs"), inputs)
        leaves = _nest.flatten(inputs)
        if not leaves:
            raise ValueError(f"{owner}: inputs must hold at least one tensor, got an empty {type(inputs).__name__}")
    if isinstance(cell, RNNCell):
        cell._check_call_inputs(owner, inputs, ("time", "batch") if time_major else ("batch", "time"))
    shape = leaves[0].shape
    for value in leaves:
        axes = "[time, batch, ...]" if time_major else "[batch, time, ...]"
        if value.ndim < 2:
            raise ValueError(f"{owner}: inputs must have shape {axes}, got {list(value.shape)}")
        if value is not leaves[0] and value.shape[:2] != shape[:2]:
            shapes = [list(leaf.shape) for leaf in leaves]
            raise ValueError(f"{owner}: inputs must all have the same {axes}, got the shapes {shapes}")
    return inputs, *((shape[1], shape[0]) if time_major else (shape[0], shape[1]))


def beginning(
    owner: str, name: str, cell: Any, inputs: Any, state: Any, batch: int, *, time_major: bool, rows: bool
) -> Any:
    """Return the state to begin with over checked `inputs`: the given one once it fits the cell, else its zero state.

    `name` is the argument that `state` was; with `rows` it must have a row for each of the batch, also where the cell
    says nothing of its state. Raises ValueError for another structure or shape, or where the cell has no
    zero state; TypeError for what is no tensor or of another dtype.
    """
    first = inputs if isinstance(inputs, Tensor) else _nest.flatten(inputs)[0]
    dtype = first.dtype if first.is_floating_point() else torch.get_default_dtype()
    autocast = autocast_dtype(first)
    if state is None:
        return zero_state_of(owner, cell, batch, dtype=autocast or dtype, device=first.device, name=name)
    time = first.shape[0 if time_major else 1]
    dtype, name = None if autocast else dtype, f"{owner}: {name}"
    return given_state_of(cell, state, ExpectedState(batch, dtype, first.device, name, time, time_major, rows))


def refuse_where_followed(
    owner: str, lengths: Tensor | None, resets: Tensor | None, checkpoint_every: int | None
) -> None:
    """Refuse what needs the values of lengths where they are hidden, and what records gradients where others do.

    Raises ValueError.
    """
    recorded = checkpoint_every is not None and torch.is_grad_enabled()
    if recorded and (torch.compiler.is_compiling() or within_transform()):
        raise ValueError(
            f"{owner}: checkpoint_every is not available in compiled code and inside torch.func's transforms, which "
            "record gradients in their own way; leave it out"
        )
    if resets is not None and lengths is not None and hides_values(lengths):
        raise ValueError(
            f"{owner}: resets is not available where torch.func.vmap or torch.compile hides sequence_length; let the "
            "function that is mapped close over the lengths, or leave resets out"
        )
