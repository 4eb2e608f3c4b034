"""The loop over hidden lengths: a reference path that never looks at the values of `lengths`.

Inside `torch.vmap`, and while code is compiled, no Python code can see the lengths' values (`hides_values`). Here every
row is stepped over the whole time axis, and masks decide what counts. The loops that follow the lengths are in
`reference.py` and `loop.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from dynrnn.cells.spec import CellSpec, State
from dynrnn.rnn.lengths import length_mask, reverse_sequence


def refuse_for_hidden_lengths(owner: str, wanted: Mapping[str, Any]) -> None:
    """Raise ValueError where `wanted` holds anything but None and False: it cannot be done for hidden lengths."""
    asked = [name for name, value in wanted.items() if value is not None and value is not False]
    if asked:
        raise ValueError(
            f"{owner}: {', '.join(asked)} cannot be had where torch.vmap or torch.compile hides the lengths; let the "
            "function that is mapped close over them, or leave them out"
        )


def run_layer_masked(
    spec: CellSpec,
    params: Mapping[str, Tensor],
    inputs: Tensor,
    state: State,
    *,
    lengths: Tensor,
    options: Any,
    time_major: bool = False,
    reverse: bool = False,
    parallel_iterations: int | None = None,
) -> tuple[Tensor, State]:
    """Run a cell over `inputs` as `run_layer` does, without reading the values of `lengths`; work follows max_time.

    Arguments and results are those of `run_layer`; `lengths` is an integer tensor `[batch]` on any device and is
    taken to be within 0..time. A row of which nothing is valid any more is stepped on zeros, and what the step
    makes of them is dropped, so that neither padding nor an ended row reaches a result or a gradient.

    Example:
        >>> from dynrnn.cells import BASIC_RNN, BasicRNNOptions
        >>> params = {"kernel": torch.full((3, 1), 0.5), "bias": torch.zeros(1)}
        >>> inputs = torch.arange(12.0).reshape(2, 3, 2) / 10
        >>> run = lambda row, length: run_layer_masked(BASIC_RNN, params, row[None], (torch.zeros(1, 1),),
        ...                                            lengths=length[None], options=BasicRNNOptions(1))[1][0]
        >>> [round(h, 4) for h in torch.vmap(run)(inputs, torch.tensor([3, 1])).flatten().tolist()]
        [0.5257, 0.5717]
    """
    rows = inputs if time_major else inputs.transpose(0, 1)
    max_time, batch = rows.shape[:2]
    lengths = lengths.to(inputs.device)
    mask = length_mask(lengths, max_time).t().unsqueeze(2)  # [time, batch, 1]
    rows = torch.where(mask, rows, rows.new_zeros(()))
    if reverse:
        rows = reverse_sequence(rows, lengths, time_axis=0, batch_axis=1)
    weights = spec.prepare(params, options)
    chunks = rows.split(parallel_iterations or max(max_time, 1))
    products = (product for chunk in chunks for product in spec.product(weights, chunk).unbind(0))
    outputs = []
    for valid, product in zip(mask.unbind(0), products, strict=True):
        running = tuple(torch.where(valid, value, value.new_zeros(())) for value in state)
        output, new_state = spec.recur(weights, product, running, options)
        outputs.append(torch.where(valid, output, output.new_zeros(())))
        state = tuple(torch.where(valid, new, old) for new, old in zip(new_state, state, strict=True))
    if not outputs:
        size = spec.output_size(options)
        return inputs.new_zeros((0, batch, size) if time_major else (batch, 0, size)), state
    padded = torch.stack(outputs)
    if reverse:
        padded = reverse_sequence(padded, lengths, time_axis=0, batch_axis=1)
    return padded if time_major else padded.transpose(0, 1), state
