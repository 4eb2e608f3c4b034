"""What the torch-like modules may be called with, brought to one form and back: padded batches and single sequences.

The one form is a padded batch and its lengths. PackedSequences, jagged tensors and lists of sequences are in
`ragged.py`.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from dynrnn.rnn import length_mask
from dynrnn.rnn.pieces import Pieces


class Layout:
    """A call's input as a padded batch: `inputs`, and `lengths` (int64 `[batch]`, or None: all rows full).

    `inputs` is `[time, batch, input_size]` with `time_major`, else `[batch, time, input_size]`. With `pieces` it is one
    long row in which the caller's rows stand one after the other, and there are no lengths. Subclasses bring results
    back into the caller's form. `state_batch` is the batch axis that the caller's states have: `(batch,)`, or `()` for
    one sequence.
    """

    inputs: Tensor
    lengths: Tensor | None
    pieces: Pieces | None = None
    time_major: bool
    state_batch: tuple[int, ...]

    def __init__(self, inputs: Tensor, lengths: Tensor | None, time_major: bool = True) -> None:
        self.inputs = inputs
        self.lengths = lengths
        self.time_major = time_major
        self.state_batch = (inputs.shape[1 if time_major else 0],)

    def outputs(self, outputs: Tensor, padding_value: float) -> Any:
        """Bring outputs `[time, batch, width]`, or batch first as `inputs` are, into the form of the caller's input.

        `padding_value` takes the place of the zeros past a row's end; forms without padding have none.
        """
        raise NotImplementedError

    def state_in(self, state: Tensor) -> Tensor:
        """Bring the caller's state `[layers * directions, *state_batch, width]` to the batch of `inputs`."""
        return state

    def state_out(self, state: Tensor) -> Tensor:
        """Bring a state `[layers * directions, batch, width]` back into the caller's form; undoes `state_in`."""
        return state


class Padded(Layout):
    """A padded batch, time first or batch first; the output keeps the full time axis."""

    def outputs(self, outputs: Tensor, padding_value: float) -> Tensor:
        return _fill_padding(outputs, self.lengths, padding_value, self.time_major)


class Unbatched(Layout):
    """One sequence `[time, input_size]`, whose states are `[layers * directions, width]`."""

    def __init__(self, inputs: Tensor, lengths: Tensor | None) -> None:
        super().__init__(inputs.unsqueeze(1), lengths)
        self.state_batch = ()

    def outputs(self, outputs: Tensor, padding_value: float) -> Tensor:
        return _fill_padding(outputs, self.lengths, padding_value, self.time_major).squeeze(1)

    def state_in(self, state: Tensor) -> Tensor:
        return state.unsqueeze(1)

    def state_out(self, state: Tensor) -> Tensor:
        return state.squeeze(1)


def _fill_padding(outputs: Tensor, lengths: Tensor | None, value: float, time_major: bool) -> Tensor:
    if lengths is None or value == 0:
        return outputs
    mask = length_mask(lengths.to(outputs.device), outputs.shape[0 if time_major else 1])
    mask = (mask.t() if time_major else mask).unsqueeze(2)
    return torch.where(mask, outputs, outputs.new_full((), value))
