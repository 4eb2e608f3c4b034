"""Inputs of the torch-like modules that hold no padding: PackedSequences, jagged tensors, lists of sequences.

On the CPU, rows that lie one after the other are walked where they lie. Others are brought to a padded batch by one
index and back by another, both differentiable as often as one likes. Plain padded batches are in `layouts.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn.utils.rnn import PackedSequence

from dynrnn.nn.compiled import within_transform
from dynrnn.nn.layouts import Layout
from dynrnn.rnn.pieces import end_to_end


class EndToEnd(Layout):
    """Rows of `lengths` that lie one after the other in `values` `[sum(lengths), input_size]`.

    They are walked where they lie where that can be, and else laid out as a padded batch.
    """

    def __init__(self, values: Tensor, lengths: Tensor) -> None:
        if _walks_in_place(values):
            super().__init__(values.unsqueeze(0), None, time_major=False)
            self.pieces, self.state_batch = end_to_end(lengths), (lengths.shape[0],)
            return
        self._places = _row_places(lengths).to(values.device)
        longest = int(lengths.max()) if lengths.shape[0] else 0
        super().__init__(_spread(values, self._places, longest, lengths.shape[0]), lengths)

    def values_of(self, outputs: Tensor) -> Tensor:
        """Outputs as `values` are laid out."""
        if self.pieces is not None:
            return outputs.squeeze(0)
        return outputs.flatten(0, 1).index_select(0, self._places)


class Packed(EndToEnd):
    """A PackedSequence, whose rows stay sorted inside; states are in the user's order, as with torch."""

    def __init__(self, packed: PackedSequence) -> None:
        data, batch_sizes = packed.data, packed.batch_sizes
        self._packed = packed
        valid = torch.arange(int(batch_sizes[0]), device="cpu") < batch_sizes.unsqueeze(1)  # [time, batch]
        number = torch.empty_like(valid, dtype=torch.int64)
        number[valid] = torch.arange(data.shape[0], device="cpu")
        rows_first = number.t()[valid.t()]  # where each step stands in `data`
        self._back = rows_first.argsort().to(data.device)
        super().__init__(data.index_select(0, rows_first.to(data.device)), valid.sum(0))

    def outputs(self, outputs: Tensor, padding_value: float) -> PackedSequence:
        data = self.values_of(outputs).index_select(0, self._back)
        packed = self._packed
        return PackedSequence(data, packed.batch_sizes, packed.sorted_indices, packed.unsorted_indices)

    def state_in(self, state: Tensor) -> Tensor:
        order = self._packed.sorted_indices
        return state if order is None else state.index_select(1, order)

    def state_out(self, state: Tensor) -> Tensor:
        order = self._packed.unsorted_indices
        return state if order is None else state.index_select(1, order)


class Rows(EndToEnd):
    """A list or tuple of sequences `[time_i, input_size]`; the output is a list of `[time_i, width]`."""

    def __init__(self, rows: Sequence[Tensor], like: Tensor) -> None:
        self._sizes = [row.shape[0] for row in rows]
        values = torch.cat(list(rows)) if rows else like.new_zeros(0, like.shape[1])
        super().__init__(values, torch.tensor(self._sizes, dtype=torch.int64, device="cpu"))

    def outputs(self, outputs: Tensor, padding_value: float) -> list[Tensor]:
        return list(self.values_of(outputs).split(self._sizes)) if self._sizes else []


class Jagged(EndToEnd):
    """A nested tensor `[batch, time_i, input_size]` of jagged layout; the output has the same offsets."""

    def __init__(self, nested: Any) -> None:  # Tensor's stub does not know what a nested one has
        values, offsets, lengths = nested.values(), nested.offsets(), nested.lengths()
        self._offsets, self._lengths = offsets, lengths
        counts = (offsets.diff() if lengths is None else lengths).to("cpu", torch.int64)
        self._size = None
        if lengths is not None:  # rows may have holes between them: only what belongs to a row is taken
            starts = offsets[:-1].to("cpu", torch.int64)
            first = torch.repeat_interleave(starts - (counts.cumsum(0) - counts), counts)
            self._taken = (torch.arange(len(first), device="cpu") + first).to(values.device)
            self._size = values.shape[0]
            values = values.index_select(0, self._taken)
        super().__init__(values, counts)

    def outputs(self, outputs: Tensor, padding_value: float) -> Tensor:
        values = self.values_of(outputs)
        if self._size is not None:
            values = _spread(values, self._taken, self._size, 1).squeeze(1)
        return torch.nested.nested_tensor_from_jagged(values, self._offsets, self._lengths)


def _walks_in_place(values: Tensor) -> bool:
    """Whether the loops can walk pieces of one long row; compilers and transforms are given padded batches."""
    if torch.compiler.is_compiling() or within_transform() or torch.is_autocast_enabled("cpu"):
        return False
    return values.is_cpu and values.dtype in (torch.float32, torch.float64)


def _row_places(lengths: Tensor) -> Tensor:
    """Say where each step of rows laid end to end stands in a flattened `[time, batch]`."""
    batch = lengths.shape[0]
    row = torch.repeat_interleave(torch.arange(batch, device=lengths.device), lengths)
    time = torch.arange(row.shape[0], device=row.device) - (lengths.cumsum(0) - lengths)[row]
    return time * batch + row


def _spread(values: Tensor, places: Tensor, time: int, batch: int) -> Tensor:
    """Lay `values` `[n, size]` out at their places among zeros: `[time, batch, size]`."""
    source = torch.full((time * batch,), values.shape[0], device=values.device)
    source[places] = torch.arange(values.shape[0], device=values.device)
    padded = torch.cat((values, values.new_zeros(1, values.shape[1])))
    return padded.index_select(0, source).view(time, batch, values.shape[1])
