"""Layers of a torch-like module, one direction or both, by the reference loop. No choice and no dropout here."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from dynrnn.nn.weights_layout import Cell, Weights, cell_params
from dynrnn.rnn import run_layer

States = tuple[Tensor, ...]  # torch's names and order: (h, c) or (h,), each [layers * directions, batch, width]


def run_layers(
    cell: Cell, weights: Sequence[Weights], directions: int, inputs: Tensor, states: States, lengths: Tensor | None
) -> tuple[Tensor, States]:
    """Run layer after layer over `inputs` `[time, batch, input_size]`; `weights` are those of layers * directions.

    `states` are `[layers * directions, batch, width]`, `lengths` as `run_layer` takes them. Returns the outputs
    `[time, batch, directions * width]` and the final states, laid out as `states` are.

    Example:
        >>> from dynrnn.nn.weights_layout import cell_of
        >>> weights = {"weight_ih": torch.ones(3, 2), "weight_hh": torch.zeros(3, 3)}
        >>> outputs, (h,) = run_layers(cell_of("RNN_TANH", 3, 0), [weights], 1, torch.ones(4, 1, 2),
        ...                            (torch.zeros(1, 1, 3),), torch.tensor([2]))
        >>> outputs.shape, torch.equal(outputs[1], h[0])
        (torch.Size([4, 1, 3]), True)
    """
    names = cell.spec.state_names(cell.options)
    given = dict(zip(cell.state_sizes, states, strict=True))
    outputs, finals = [], []
    for row, row_weights in enumerate(weights):
        output, final = run_layer(
            cell.spec,
            cell_params(cell.mode, row_weights),
            inputs,
            tuple(given[name][row] for name in names),
            lengths=lengths,
            options=cell.options,
            time_major=True,
            reverse=row % directions == 1,
        )
        outputs.append(output)
        finals.append(dict(zip(names, final, strict=True)))
        if len(outputs) == directions:
            inputs = torch.cat(outputs, 2) if directions > 1 else outputs[0]
            outputs = []
    return inputs, tuple(torch.stack([final[name] for final in finals]) for name in given)
