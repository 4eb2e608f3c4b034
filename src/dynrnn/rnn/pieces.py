"""Pieces of rows, each of which is walked as a row of its own: where a state starts anew, or where rows share memory.

Index arithmetic only; how the pieces are walked is in `passes.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from dynrnn.cells.spec import State
from dynrnn.rnn.lengths import length_mask


@dataclass(frozen=True)
class Pieces:
    """The pieces that all rows are cut into, row by row and in the order of time; tensors on the CPU.

    `row`, `start` and `length` are int64 `[pieces]`: a piece is `length` steps of `row` from `start` on. `carried` is
    bool `[pieces]`: whether the piece that is walked first begins with the state that the row was given; others begin
    anew. `last` is int64 `[batch]`: the piece that leaves each row's final state.
    """

    row: Tensor
    start: Tensor
    length: Tensor
    carried: Tensor
    last: Tensor


def cut_rows(resets: Tensor, lengths: Tensor, *, reverse: bool = False) -> Pieces:
    """Cut each row before every valid step at which `resets` is True.

    `resets` is bool `[batch, time]` and `lengths` int64 `[batch]`, both on the CPU. An empty row is one piece of no
    steps. The cuts are the same with `reverse`, but then a row's last piece is walked first, and ends at the cut.

    Example:
        >>> resets = torch.tensor([[False, False, True, False], [True, False, False, True]])
        >>> pieces = cut_rows(resets, torch.tensor([4, 3]))
        >>> pieces.row.tolist(), pieces.start.tolist(), pieces.length.tolist(), pieces.carried.tolist()
        ([0, 0, 1], [0, 2, 0], [2, 2, 3], [True, False, False])
    """
    batch, max_time = resets.shape
    cuts = resets & length_mask(lengths, max_time)
    starts = torch.cat((cuts.new_ones(batch, 1), cuts[:, 1:]), 1)  # one column at least, also where there is no time
    row, start = starts.nonzero(as_tuple=True)
    is_first = start == 0
    first = is_first.nonzero().flatten()
    last = torch.cat((first[1:], first.new_tensor([row.shape[0]]))) - 1 if batch else first
    end = lengths[row]
    inner = torch.ones_like(is_first)
    inner[last] = False
    end[inner] = start.roll(-1)[inner]
    if reverse:
        carried = ~inner
        first, last = last, first
    else:
        carried = is_first
        if max_time:
            carried = carried & ~cuts[row, 0]
    return Pieces(row=row, start=start, length=end - start, carried=carried, last=last)


def end_to_end(lengths: Tensor) -> Pieces:
    """The pieces of one long row in which rows of `lengths` stand one after the other, each with a state of its own.

    `lengths` is int64 `[pieces]` on the CPU.

    Example:
        >>> pieces = end_to_end(torch.tensor([2, 0, 3]))
        >>> pieces.row.tolist(), pieces.start.tolist()
        ([0, 0, 0], [0, 2, 2])
    """
    count = lengths.shape[0]
    return Pieces(
        row=torch.zeros_like(lengths),
        start=lengths.cumsum(0) - lengths,
        length=lengths,
        carried=torch.ones_like(lengths, dtype=torch.bool),
        last=lengths.new_tensor([count - 1]),
    )


def beginnings(pieces: Pieces, state: State | None, reset_state: State | None) -> State:
    """The state that each piece begins with: its row's `state` where that is carried on, else anew.

    `state` and `reset_state` hold `[batch, width]` tensors; one of them may be None, for zeros. Returns
    `[pieces, width]` each.

    Example:
        >>> pieces = cut_rows(torch.tensor([[False, True], [False, False]]), torch.tensor([2, 2]))
        >>> beginnings(pieces, (torch.tensor([[1.0], [2.0]]),), None)[0].flatten().tolist()
        [1.0, 0.0, 2.0]
    """
    like = state or reset_state or ()
    zeros = [value.new_zeros(()).expand(1, 1) for value in like]

    def of_pieces(values: Sequence[Tensor] | None) -> Sequence[Tensor]:
        return zeros if values is None else [value.index_select(0, pieces.row.to(value.device)) for value in values]

    pairs = zip(of_pieces(state), of_pieces(reset_state), strict=True)
    return tuple([torch.where(pieces.carried.to(one.device).unsqueeze(1), one, other) for one, other in pairs])
