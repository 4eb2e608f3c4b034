"""Layers of a torch-like module, one direction or both, one after the other. No choice and no dropout here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from dynrnn.rnn import run_torch_layer
from dynrnn.rnn.dispatch import Choice
from dynrnn.rnn.pieces import Pieces
from dynrnn.rnn.torch_weights import Cell, Weights

States = tuple[Tensor, ...]  # torch's names and order: (h, c) or (h,), each [layers * directions, batch, width]


def run_layers(
    cell: Cell,
    weights: Sequence[Weights],
    directions: int,
    inputs: Tensor,
    states: States | None,
    lengths: Tensor | None,
    *,
    time_major: bool = True,
    choice: Choice | None = None,
    packed: Sequence[Any] | None = None,
    pieces: Pieces | None = None,
) -> tuple[Tensor, States]:
    """Run layer after layer over `inputs` `[time, batch, input_size]`, or batch first without `time_major`.

    `weights` are those of layers * directions; `packed`, one item each, `choice` and `pieces` are as `run_torch_layer`
    takes them. `states` are `[layers * directions, batch, width]` (None: zeros), `lengths` as `run_layer` takes them.
    Returns the outputs `[..., directions * width]`, laid out as `inputs`, and the final states, laid out as `states`.

    Example:
        >>> from dynrnn.rnn.torch_weights import cell_of
        >>> weights = {"weight_ih": torch.ones(3, 2), "weight_hh": torch.zeros(3, 3)}
        >>> outputs, (h,) = run_layers(cell_of("RNN_TANH", 3, 0), [weights], 1, torch.ones(4, 1, 2),
        ...                            (torch.zeros(1, 1, 3),), torch.tensor([2]))
        >>> outputs.shape, torch.equal(outputs[1], h[0])
        (torch.Size([4, 1, 3]), True)
    """
    outputs, finals = [], []
    for row, row_weights in enumerate(weights):
        output, final = run_torch_layer(
            cell,
            row_weights,
            inputs,
            None if states is None else tuple([value[row] for value in states[::-1]]),  # ours is the order (c, h)
            lengths=lengths,
            time_major=time_major,
            reverse=row % directions == 1,
            choice=choice,
            packed=None if packed is None else packed[row],
            pieces=pieces,
        )
        outputs.append(output)
        finals.append(final[::-1])
        if len(outputs) == directions:
            inputs = torch.cat(outputs, 2) if directions > 1 else output
            outputs = []
    if len(finals) == 1:
        return inputs, tuple([value.unsqueeze(0) for value in finals[0]])
    return inputs, tuple([torch.stack(column) for column in zip(*finals, strict=True)])
