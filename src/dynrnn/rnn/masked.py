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
from dynrnn.rnn.walk import record_step


def refuse_for_hidden_lengths(owner: str, wanted: Mapping[str, Any]) -> None:
    """Raise ValueError where `wanted` holds anything but None, by the names of arguments of `dynamic_rnn`."""
    asked = [name for name, value in wanted.items() if value is not None]
    if asked:
        verb = "is" if len(asked) == 1 else "are"
        raise ValueError(
            f"{owner}: {' and '.join(asked)} {verb} not available where torch.vmap or torch.compile hides the lengths; "
            "let the function that is mapped close over the lengths, or leave them out"
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
    keep_states: bool = False,
    keep_gates: bool = False,
) -> tuple[Tensor, State, State, State]:
    """Run a cell over `inputs` as `run_layer` does, without reading the values of `lengths`; work follows max_time.

    Arguments are those of `trace_layer`; `lengths` is an integer tensor `[batch]` on any device and is taken to be
    within 0..time. A row of which nothing is valid any more is stepped on zeros, and what the step makes of them is
    dropped, so that neither padding nor an ended row reaches a result or a gradient.

    Returns `(outputs, final, states, gates)`; all but the final state are 0 in the padding, what is not kept is `()`.

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
    max_time = rows.shape[0]
    if not max_time:  # one step that nobody takes says what results look like
        rows = torch.cat((rows, rows.new_zeros(1, *rows.shape[1:])))
    lengths = lengths.to(inputs.device)
    mask = length_mask(lengths, rows.shape[0]).t().unsqueeze(2)  # [time, batch, 1]
    rows = torch.where(mask, rows, rows.new_zeros(()))
    if reverse:
        rows = reverse_sequence(rows, lengths, time_axis=0, batch_axis=1)
    weights = spec.prepare(params, options)
    step = record_step(spec, weights, options, keep_states=keep_states, keep_gates=keep_gates)
    chunks = rows.split(parallel_iterations or rows.shape[0])
    products = (product for chunk in chunks for product in spec.product(weights, chunk).unbind(0))
    records = []
    for valid, product in zip(mask.unbind(0), products, strict=True):
        record, new_state = step(product, tuple(torch.where(valid, value, value.new_zeros(())) for value in state))
        records.append(tuple(torch.where(valid, value, value.new_zeros(())) for value in record))
        state = tuple(torch.where(valid, new, old) for new, old in zip(new_state, state, strict=True))
    columns = [torch.stack(column) for column in zip(*records, strict=True)]
    if not max_time:
        columns = [column[:0] for column in columns]
    if reverse:
        columns = [reverse_sequence(column, lengths, time_axis=0, batch_axis=1) for column in columns]
    outputs, *kept = columns if time_major else [column.transpose(0, 1) for column in columns]
    count = len(state) if keep_states else 0
    return outputs, state, tuple(kept[:count]), tuple(kept[count:])
