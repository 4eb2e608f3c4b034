"""Long sequences in chunks: lengths that are split, and truncated backpropagation through time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import torch
from torch import Tensor

from dynrnn import _nest
from dynrnn.cells.options import check_size
from dynrnn.nn.call import Call, prepare
from dynrnn.nn.dynamic import dynamic_rnn
from dynrnn.nn.lengths import as_host_tensor, check_lengths
from dynrnn.rnn.lengths import length_range

_ANY_TIME = torch.iinfo(torch.int64).max


class Chunk(NamedTuple):
    """One chunk of a run: `outputs` of the steps from `start` on, the `state` after them, and the chunk's `lengths`.

    `lengths` is None where the run had none.
    """

    outputs: Any
    state: Any
    lengths: Tensor | None
    start: int


def chunk_lengths(lengths: Any, size: int, *, max_time: int | None = None) -> list[Tensor]:
    """Split lengths as `inputs.split(size, time_axis)` splits inputs: how many steps each row has in each chunk.

    `lengths` `[batch]` are what `dynamic_rnn` takes. Returns one int64 tensor `[batch]` a chunk, as many as the longest
    row needs, or as `max_time` steps need; where there are no steps it is one, as with `split`. With the state carried
    from chunk to chunk, they give the numbers of one run over the whole. Raises TypeError for a size or a `max_time`
    that is no int, ValueError for a size below 1 or a `max_time` below 0, and what `dynamic_rnn` raises for lengths.

    Example:
        >>> chunk_lengths([6, 2], 4)
        [tensor([4, 2]), tensor([2, 0])]
    """
    owner = "chunk_lengths"
    check_size(owner, "size", size)
    values = as_host_tensor(owner, "lengths", lengths, "integers")
    if values.ndim != 1:
        raise ValueError(f"{owner}: lengths must have shape [batch], got {list(values.shape)}")
    if max_time is not None and (isinstance(max_time, bool) or not isinstance(max_time, int)):
        raise TypeError(f"{owner}: max_time must be an int or None, got {max_time!r}")
    if max_time is not None and max_time < 0:
        raise ValueError(f"{owner}: max_time must be at least 0, got {max_time}")
    batch, bound = values.shape[0], _ANY_TIME if max_time is None else max_time
    whole = check_lengths(owner, "lengths", values, batch, bound)
    longest = length_range(whole, batch, bound)[1] if max_time is None else max_time
    return [(whole - start).clamp(0, size) for start in range(0, max(longest, 1), size)]


def truncated_bptt(
    cell: Callable[..., Any],
    inputs: Any,
    size: int,
    *,
    sequence_length: Any = None,
    initial_state: Any = None,
    time_major: bool = False,
) -> Iterator[Chunk]:
    """Run `dynamic_rnn` over chunks of `size` steps, carrying the state but no gradient from one to the next.

    Take a loss of each chunk's outputs and call its backward before asking for the next. All chunks together give the
    outputs and the final state of one run over the whole; inputs of no time give one chunk of no time. Arguments are
    those of `dynamic_rnn`. Raises what `dynamic_rnn` raises for them, TypeError for a size that is no int and
    ValueError for a size below 1, when it is called.

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
    check_size(owner, "size", size)
    call = prepare(
        owner, cell, inputs, sequence_length=sequence_length, initial_state=initial_state, time_major=time_major
    )
    lengths = None if call.walk.lengths is None else chunk_lengths(call.walk.lengths, size, max_time=call.max_time)
    return _chunks(cell, call, size, lengths)


def _chunks(cell: Callable[..., Any], call: Call, size: int, lengths: list[Tensor] | None) -> Iterator[Chunk]:
    axis, max_time, state = call.walk.time_axis, call.max_time, call.state
    for index, start in enumerate(range(0, max(max_time, 1), size)):
        steps = min(size, max_time - start)
        piece = _nest.map_structure(
            lambda value, start=start, steps=steps: value.narrow(axis, start, steps), call.inputs
        )
        part = None if lengths is None else lengths[index]
        outputs, state = dynamic_rnn(
            cell, piece, sequence_length=part, initial_state=state, time_major=call.walk.time_major
        )
        yield Chunk(outputs, state, part, start)
        state = detached(state)


def detached(state: Any) -> Any:
    """The same state, through which no gradient goes back."""
    return _nest.map_structure(lambda value: value.detach() if value.requires_grad else value, state)
