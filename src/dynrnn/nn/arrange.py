"""Which form a torch-like module's input has, and whether it fits: refuses early, in one sentence.

The forms themselves are in `layouts.py` and `ragged.py`.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.nn.utils.rnn import PackedSequence

from dynrnn.errors import dtype_name
from dynrnn.nn.layouts import Layout, Padded, Unbatched
from dynrnn.nn.lengths import check_lengths
from dynrnn.nn.ragged import Jagged, Packed, Rows


def arrange(owner: str, input: Any, lengths: Any, batch_first: bool, like: Tensor, padding_value: float) -> Layout:
    """Find out what came in and bring it to the one form; `like` is the weight `[_, input_size]` that it meets.

    Raises TypeError for what is no floating point tensor or collection of such, ValueError for a shape, a device or
    lengths that do not fit.
    """
    if isinstance(input, PackedSequence):
        _check_input(owner, input.data, 2, like, "PackedSequence.data")
        _refuse_padding(owner, "a PackedSequence", lengths, padding_value)
        return Packed(input)
    if isinstance(input, (list, tuple)):
        for index, row in enumerate(input):
            _check_input(owner, row, 2, like, f"input[{index}]")
        _refuse_padding(owner, f"a {type(input).__name__} of sequences", lengths, padding_value)
        return Rows(input, like)
    if isinstance(input, Tensor) and input.is_nested:
        _refuse_padding(owner, "a nested tensor", lengths, padding_value)
        if input.layout != torch.jagged or input.dim() != 3 or not isinstance(input.shape[1], torch.SymInt):
            raise ValueError(
                f"{owner}: a nested input must have layout=torch.jagged and dimensions [batch, time, input_size], "
                f"ragged in time; got layout {input.layout} and {input.dim()} dimensions"
            )
        _check_input(owner, input.values(), 2, like, "input.values()")
        return Jagged(input)
    _check_input(owner, input, None, like, "input")
    if input.dim() == 2:
        return Unbatched(input, _one_length(owner, lengths, input.shape[0]))
    if lengths is not None:
        batch, max_time = input.shape[:2] if batch_first else input.shape[1::-1]
        _refuse_other_axis(owner, lengths, batch, max_time, batch_first)
        lengths = check_lengths(owner, "lengths", lengths, batch, max_time)
    return Padded(input, lengths, not batch_first)


def batch_of(input: Any, batch_first: bool) -> tuple[int, ...] | None:
    """The `state_batch` that `arrange` finds for an input, without arranging it: `()` for one sequence.

    None for what `arrange` refuses by its rank or its kind.

    Example:
        >>> [batch_of(input, False) for input in (torch.ones(5, 2, 3), [torch.ones(5, 3)] * 4, torch.ones(5, 3))]
        [(2,), (4,), ()]
    """
    if isinstance(input, PackedSequence):
        return (int(input.batch_sizes[0]),)
    if isinstance(input, (list, tuple)):
        return (len(input),)
    if not isinstance(input, Tensor) or input.dim() not in (2, 3):
        return None
    return () if input.dim() == 2 else (input.size(0 if batch_first or input.is_nested else 1),)


def _check_input(owner: str, value: Any, rank: int | None, like: Tensor, name: str) -> None:
    if not isinstance(value, Tensor):
        raise TypeError(
            f"{owner}: {name} must be a tensor, a PackedSequence or a list of [time, input_size] tensors, "
            f"got {type(value).__name__}"
        )
    if not value.dtype.is_floating_point:
        got, wanted = dtype_name(value.dtype), dtype_name(like.dtype)
        raise TypeError(f"{owner}: inputs are {got}; embed or cast them (the weights are {wanted})")
    size = like.shape[1]
    if value.dim() not in ((2, 3) if rank is None else (rank,)):
        shapes = f"[time, {size}] or a batch of such" if rank is None else f"[time, {size}]"
        raise ValueError(f"{owner}: {name} must have shape {shapes}, got {list(value.shape)}")
    if value.shape[-1] != size:
        raise ValueError(
            f"{owner}: {name} must have input_size = {size} as its last dimension, got {list(value.shape)}"
        )
    if value.device != like.device:
        raise ValueError(f"{owner}: {name} is on {value.device}, but the weights are on {like.device}")


def _refuse_padding(owner: str, kind: str, lengths: Any, padding_value: float) -> None:
    if lengths is not None:
        raise ValueError(f"{owner}: {kind} has its own lengths; leave lengths= out")
    if padding_value != 0:
        raise ValueError(f"{owner}: {kind} has no padding that padding_value = {padding_value} could fill")


def _one_length(owner: str, lengths: Any, max_time: int) -> Tensor | None:
    """Lengths for one sequence without batch: a number, or a vector of one."""
    if lengths is None:
        return None
    if isinstance(lengths, int):
        lengths = [lengths]
    elif getattr(lengths, "ndim", None) == 0:
        lengths = lengths.reshape(1)
    return check_lengths(owner, "lengths", lengths, 1, max_time)


def _refuse_other_axis(owner: str, lengths: Any, batch: int, max_time: int, batch_first: bool) -> None:
    """Say so when the lengths fit the axis that is time: the commonest slip of all."""
    count = len(lengths) if isinstance(lengths, (list, tuple)) else getattr(lengths, "shape", None)
    if count in (batch, (batch,)):  # compared first, so that compiled code learns nothing about the other axis
        return
    if count in (max_time, (max_time,)):
        fix = "batch_first=False" if batch_first else "batch_first=True"
        raise ValueError(
            f"{owner}: lengths must have shape [batch] = [{batch}], got [{max_time}], which fits the other axis; the "
            f"module has batch_first={batch_first}: make it with {fix}, or pass input.transpose(0, 1)"
        )


def check_dtype(owner: str, inputs: Tensor, like: Tensor) -> None:
    """Refuse inputs of another dtype than the weights."""
    if inputs.dtype != like.dtype:
        got, wanted = dtype_name(inputs.dtype), dtype_name(like.dtype)
        raise TypeError(
            f"{owner}: inputs are {got}, but the weights are {wanted}; cast the inputs, or the module with "
            f"module.to({inputs.dtype})"
        )
