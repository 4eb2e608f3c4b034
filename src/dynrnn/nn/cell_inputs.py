"""What is wrong with inputs that a cell made from the table of cells cannot take, in words."""

from __future__ import annotations

from typing import Any

from torch import Tensor

from dynrnn.errors import dtype_name
from dynrnn.nn.precision import autocast_dtype


def explain_inputs(
    owner: str,
    kind: str,
    inputs: Any,
    axes: tuple[str, ...],
    weight: Tensor,
    input_size: int | None,
    hidden_size: int,
) -> None:
    """Raise TypeError or ValueError for inputs of another dtype, rank, width or device than `weight`.

    `owner` is the function they were given to, `kind` the cell's class, which has these sizes, and `axes` are the names
    of the axes before the last one. Nothing is wrong where only the dtype is another one, and autocast changes it.

    Example:
        >>> import torch
        >>> explain_inputs("f", "GRUCell", torch.ones(2, 3), ("batch",), torch.ones(5, 6), 2, 4)
        Traceback (most recent call last):
        ValueError: f: inputs have shape [2, 3], expected a last dimension of 2, the input_size of GRUCell
    """
    word = dtype_name(weight.dtype)
    if not isinstance(inputs, Tensor):
        raise TypeError(f"{owner}: inputs must be one tensor for {kind}, got {type(inputs).__name__}")
    got = dtype_name(inputs.dtype)
    if not inputs.is_floating_point():
        raise TypeError(f"{owner}: inputs are {got}; embed or cast them (cell weights are {word})")
    if inputs.dtype != weight.dtype and autocast_dtype(inputs) is None:
        raise TypeError(f"{owner}: inputs are {got}, but cell weights are {word}; cast the inputs or the cell")
    if inputs.ndim != len(axes) + 1:
        raise ValueError(f"{owner}: inputs must have shape [{', '.join(axes)}, input_size], got {list(inputs.shape)}")
    if input_size is not None and inputs.shape[-1] != input_size:
        hint = ""
        if inputs.shape[-1] == hidden_size:
            hint = (
                f"; its hidden_size would fit: sizes are (hidden_size, input_size) here and the other way round in "
                f"torch.nn; if they are swapped, make {kind}({input_size}, {hidden_size})"
            )
        raise ValueError(
            f"{owner}: inputs have shape {list(inputs.shape)}, expected a last dimension of {input_size}, the "
            f"input_size of {kind}{hint}"
        )
    if inputs.device != weight.device:
        raise ValueError(f"{owner}: inputs are on {inputs.device}, but cell weights are on {weight.device}")
