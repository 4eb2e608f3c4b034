"""What is taken from a pass's outputs: each row's last valid one."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from dynrnn.nn.arguments import as_flag
from dynrnn.nn.lengths import check_lengths
from dynrnn.nn.values import as_tensor


def last_output(outputs: Tensor, lengths: Any = None, *, time_major: bool = False) -> Tensor:
    """Take each row's last valid output: `outputs[b, lengths[b] - 1]`, and zeros for a row of length 0.

    `outputs` is `[batch, time, ...]`, or time first; `lengths` is what `dynamic_rnn` takes (None: all rows are full).
    Returns `[batch, ...]`. For a plain cell these are the bits of its final h, but for rows of length 0. Raises
    TypeError for outputs that are no tensor (of nested ones, take each by itself), ValueError for outputs of fewer
    axes, and what `dynamic_rnn` raises for lengths.

    Example:
        >>> last_output(torch.tensor([[1, 2, 0], [3, 0, 0], [0, 0, 0]]), [2, 1, 0])
        tensor([2, 3, 0])
    """
    time_major = as_flag("last_output", "time_major", time_major)
    outputs = as_tensor(outputs, "last_output: outputs")
    if outputs.ndim < 2:
        axes = "[time, batch, ...]" if time_major else "[batch, time, ...]"
        raise ValueError(f"last_output: outputs must have shape {axes}, got {list(outputs.shape)}")
    rows = outputs.transpose(0, 1) if time_major else outputs
    batch, max_time = rows.shape[:2]
    if lengths is None:
        steps = torch.full((batch,), max_time, device=rows.device)
    else:
        steps = check_lengths("last_output", "lengths", lengths, batch, max_time).to(rows.device)
    padded = torch.cat((rows.new_zeros(batch, 1, *rows.shape[2:]), rows), 1)  # step 0 is what an empty row points at
    index = steps.view(-1, 1, *[1] * (rows.ndim - 2)).expand(-1, 1, *rows.shape[2:])
    return padded.gather(1, index).squeeze(1)
