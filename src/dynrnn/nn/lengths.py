"""Lengths as the native face takes them: anything that holds integers, and nothing that is surely a mistake."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from dynrnn.errors import dtype_name
from dynrnn.rnn.lengths import hides_values, length_range


def check_lengths(owner: str, name: str, lengths: Any, batch: int, max_time: int) -> Tensor:
    """Return lengths as an int64 tensor `[batch]` on the CPU once they are within 0..max_time.

    `lengths` is a list, a tuple, an array or a tensor of any integer dtype on any device, or of floats that are whole
    numbers. `owner` and `name` are the function and the argument that messages name. Under `torch.func.vmap` over
    lengths, whose values cannot be read, they come back unread and on their device.

    Raises TypeError for bools (a mask?) and fractions, ValueError for another shape and for a value below 0 or above
    max_time; each names the first such row and its value.

    Example:
        >>> check_lengths("dynamic_rnn", "sequence_length", [2.0, 1], 2, 3)
        tensor([2, 1])
    """
    if _are_right(lengths, batch, max_time):
        return torch.tensor(lengths, dtype=torch.int64, device="cpu")
    values = as_host_tensor(owner, name, lengths, "integers")
    if values.dtype == torch.bool or values.is_complex():
        hint = "; did you pass a mask? then pass mask.sum(1)" if values.dtype == torch.bool else ""
        got = f"{dtype_name(values.dtype)} {list(values.shape)}"
        raise TypeError(f"{owner}: {name} must hold integers, got {got}{hint}")
    if tuple(values.shape) != (batch,):
        hint = _shape_hint(name, values, batch, max_time)
        raise ValueError(f"{owner}: {name} must have shape [{batch}] (batch), got {list(values.shape)}{hint}")
    if hides_values(values):
        return values.to(torch.int64)
    values = values.to("cpu")
    if values.is_floating_point():
        broken = (values != values.round()) | ~values.isfinite()
        if broken.any():
            row = int(broken.nonzero()[0])
            found = f"{name}[{row}]={values[row].item():g}"
            raise TypeError(f"{owner}: {found} is not a whole number; {name} must hold integers")
    whole = values.to(torch.int64)
    shortest, longest = length_range(whole, batch, max_time)
    if shortest < 0 or longest > max_time:
        row = int(((whole < 0) | (whole > max_time)).nonzero()[0])
        value = int(whole[row])
        what = "is negative" if value < 0 else f"exceeds max_time={max_time}"
        raise ValueError(f"{owner}: {name}[{row}]={value} {what}")
    return whole


def check_resets(owner: str, resets: Any, batch: int, max_time: int, *, time_major: bool) -> Tensor:
    """Return resets as a bool tensor `[batch, time]` on the CPU; they come in the layout of the inputs.

    Raises TypeError for another dtype and for what holds no bools at all, ValueError for another shape.

    Example:
        >>> check_resets("dynamic_rnn", [[False, True]], 1, 2, time_major=False)
        tensor([[False,  True]])
    """
    values = as_host_tensor(owner, "resets", resets, "bools")
    if not isinstance(resets, Tensor) and not values.numel():
        values = values.to(torch.bool)  # a list of nothing says nothing of what it would hold
    shape = (max_time, batch) if time_major else (batch, max_time)
    if values.dtype != torch.bool:
        raise TypeError(f"{owner}: resets must be bool, got {dtype_name(values.dtype)}")
    if tuple(values.shape) != shape:
        axes = "[time, batch]" if time_major else "[batch, time]"
        raise ValueError(f"{owner}: resets must have shape {axes} = {list(shape)}, got {list(values.shape)}")
    if hides_values(values):
        raise TypeError(
            f"{owner}: resets must have values that can be read, because rows are cut by them, but torch.func.vmap or "
            "torch.compile hides them"
        )
    return (values.t() if time_major else values).to("cpu")


def _are_right(lengths: Any, batch: int, max_time: int) -> bool:
    """Say whether lengths are a list of ints with nothing wrong: then there is no need for a tensor to find out."""
    if not isinstance(lengths, (list, tuple)) or len(lengths) != batch or not set(map(type, lengths)) <= {int}:
        return False
    return not lengths or (min(lengths) >= 0 and max(lengths) <= max_time)


def as_host_tensor(owner: str, name: str, values: Any, kind: str) -> Tensor:
    """A tensor as it is, and anything like an array of some `kind` as a tensor on the CPU."""
    if isinstance(values, Tensor):
        return values
    if isinstance(values, (list, tuple)) and any(isinstance(one, Tensor) for one in values):
        values = [one.item() if isinstance(one, Tensor) and one.numel() == 1 else one for one in values]
    if isinstance(values, (str, bytes)):
        raise TypeError(f"{owner}: {name} must be a list, an array or a tensor of {kind}, got {values!r}")
    try:
        return torch.as_tensor(values, device="cpu")
    except (TypeError, ValueError, RuntimeError) as error:
        raise TypeError(
            f"{owner}: {name} must be a list, an array or a tensor of {kind}, got {type(values).__name__}: {error}"
        ) from error


def _shape_hint(name: str, values: Tensor, batch: int, max_time: int) -> str:
    shape = tuple(values.shape)
    if shape == (batch, max_time) and not hides_values(values) and bool(((values == 0) | (values == 1)).all()):
        return "; this looks like a mask, use mask.sum(1)"
    if shape == (max_time,):
        return "; it fits the inputs' time axis: is time_major right?"
    if shape == (batch, 1):
        return f"; use {name}.squeeze(1)" if batch else ""
    return ""
