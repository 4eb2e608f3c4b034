"""Long sequences in pieces: lengths cut up, and truncated backpropagation through time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import torch
from torch import Tensor

from dynrnn import _nest
from dynrnn.nn.dynamic import check_inputs, dynamic_rnn
from dynrnn.nn.kinds import check_cell
from dynrnn.nn.lengths import check_lengths


class Chunk(NamedTuple):
    """One piece of a pass: `outputs` of the steps from `start` on, the `state` after them, and the piece's `lengths`.

    `lengths` is None where the pass had none.
    """

    outputs: Any
    state: Any
    lengths: Tensor | None
    start: int


def chunk_lengths(lengths: Any, size: int, *, max_time: int | None = None) -> list[Tensor]:
    """Cut lengths up as `inputs.split(size, time_axis)` cuts inputs: how many steps of each piece are each row's.

    Returns one int64 tensor `[batch]` a piece, as many as the longest row needs, or as `max_time` steps need. With the
    state carried from piece to piece, the pieces of a pass give the numbers of the whole. Raises ValueError for a size
    below 1 and what `dynamic_rnn` raises for lengths.

    Example:
        >>> chunk_lengths([6, 2], 4)
        [tensor([4, 2]), tensor([2, 0])]
    """
    _check_size("chunk_lengths", size)
    values = torch.as_tensor(lengths)
    batch = values.shape[0] if values.ndim else 0
    longest = max_time
    if longest is None:
        longest = int(values.max()) if values.numel() and values.dtype != torch.bool else 0
    whole = check_lengths("chunk_lengths", "lengths", lengths, batch, longest)
    return [(whole - start).clamp(0, size) for start in range(0, longest, size)]


def truncated_bptt(
    cell: Callable[..., Any],
    inputs: Any,
    size: int,
    *,
    sequence_length: Any = None,
    initial_state: Any = None,
    time_major: bool = False,
) -> Iterator[Chunk]:
    """Run `dynamic_rnn` over pieces of `size` steps, carrying the state but no gradient from one to the next.

    Take a loss of each piece's outputs and call its backward before asking for the next. All pieces together give the
    outputs and the final state of one run over the whole. Arguments are those of `dynamic_rnn`. Raises what
    `dynamic_rnn` raises, and ValueError for a size below 1, when it is called.

    Example:
        >>> from dynrnn import LSTMCell
        >>> cell = LSTMCell(4, 3)
        >>> for chunk in truncated_bptt(cell, torch.ones(2, 5, 3), 2, sequence_length=[5, 1]):
        ...     chunk.outputs.sum().backward()
        ...     print(chunk.start, chunk.lengths.tolist())
        0 [2, 1]
        2 [2, 0]
        4 [1, 0]
    """
    owner = "truncated_bptt"
    _check_size(owner, size)
    check_cell(owner, cell)
    inputs, batch, max_time = check_inputs(owner, cell, inputs, time_major)
    lengths: list[Tensor] | None = None
    if sequence_length is not None:
        whole = check_lengths(owner, "sequence_length", sequence_length, batch, max_time)
        lengths = chunk_lengths(whole, size, max_time=max_time)
    axis = 0 if time_major else 1
    return _chunks(cell, inputs, size, lengths, initial_state, max_time, axis)


def _chunks(
    cell: Callable[..., Any],
    inputs: Any,
    size: int,
    lengths: list[Tensor] | None,
    state: Any,
    max_time: int,
    axis: int,
) -> Iterator[Chunk]:
    for index, start in enumerate(range(0, max_time, size)):
        steps = min(size, max_time - start)
        piece = _nest.map_structure(lambda value, start=start, steps=steps: value.narrow(axis, start, steps), inputs)
        part = None if lengths is None else lengths[index]
        outputs, state = dynamic_rnn(cell, piece, sequence_length=part, initial_state=state, time_major=axis == 0)
        yield Chunk(outputs, state, part, start)
        state = detached(state)


def detached(state: Any) -> Any:
    """The same state, through which no gradient goes back."""
    return _nest.map_structure(lambda value: value.detach() if value.requires_grad else value, state)


def _check_size(owner: str, size: int) -> None:
    if isinstance(size, bool) or not isinstance(size, int):
        raise TypeError(f"{owner}: size must be an int, got {size!r}")
    if size < 1:
        raise ValueError(f"{owner}: size must be at least 1, got {size}")
