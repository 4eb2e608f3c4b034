"""What the torch-like modules may be called with, brought to one form and back: padded batches and single sequences.

The one form is a time-major padded batch and its lengths. PackedSequences, jagged tensors and lists of sequences are in
`ragged.py`.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from dynrnn.rnn import length_mask


class Layout:
    """A call's input as `inputs` `[time, batch, input_size]` and `lengths` (int64 `[batch]`, or None: all rows full).

    Subclasses bring results back into the caller's form: `outputs` `[time, batch, width]`, and `state_out` the states
    `[layers * directions, batch, width]`, of which `state_in` is the inverse. `state_batch` is the batch axis that the
    caller's states have.
    """

    inputs: Tensor
    lengths: Tensor | None
    state_batch: tuple[int, ...]

    def __init__(self, inputs: Tensor, lengths: Tensor | None) -> None:
        self.inputs = inputs
        self.lengths = lengths
        self.state_batch = (inputs.shape[1],)

    def outputs(self, outputs: Tensor, padding_value: float) -> Any:
        raise NotImplementedError

    def state_in(self, state: Tensor) -> Tensor:
        return state

    def state_out(self, state: Tensor) -> Tensor:
        return state


class Padded(Layout):
    """A padded batch, time first or batch first; the output keeps the full time axis."""

    def __init__(self, inputs: Tensor, lengths: Tensor | None, batch_first: bool) -> None:
        super().__init__(inputs.transpose(0, 1) if batch_first else inputs, lengths)
        self._batch_first = batch_first

    def outputs(self, outputs: Tensor, padding_value: float) -> Tensor:
        outputs = _fill_padding(outputs, self.lengths, padding_value)
        return outputs.transpose(0, 1) if self._batch_first else outputs


class Unbatched(Layout):
    """One sequence `[time, input_size]`, whose states are `[layers * directions, width]`."""

    def __init__(self, inputs: Tensor, lengths: Tensor | None) -> None:
        super().__init__(inputs.unsqueeze(1), lengths)
        self.state_batch = ()

    def outputs(self, outputs: Tensor, padding_value: float) -> Tensor:
        return _fill_padding(outputs, self.lengths, padding_value).squeeze(1)

    def state_in(self, state: Tensor) -> Tensor:
        return state.unsqueeze(1)

    def state_out(self, state: Tensor) -> Tensor:
        return state.squeeze(1)


def _fill_padding(outputs: Tensor, lengths: Tensor | None, value: float) -> Tensor:
    if lengths is None or value == 0:
        return outputs
    mask = length_mask(lengths.to(outputs.device), outputs.shape[0]).t().unsqueeze(2)
    return torch.where(mask, outputs, outputs.new_full((), value))
