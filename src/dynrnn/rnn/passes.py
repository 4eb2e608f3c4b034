"""A pass over a layer by either implementation: whole rows, rows that are cut into pieces, stretches of time.

All functions take a cell's parameters, inputs, a state and lengths and give `(outputs, final, states, gates)`, as
`Traced` describes them, with one final state for each row or piece. `layer.py` checks and calls them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from dynrnn import kernels
from dynrnn.cells.spec import CellSpec, State
from dynrnn.rnn.lengths import hides_values
from dynrnn.rnn.masked import refuse_for_hidden_lengths
from dynrnn.rnn.pieces import Pieces, beginnings, cut_rows
from dynrnn.rnn.reference import Traced, trace_reference
from dynrnn.rnn.stretches import Results, trace_stretches

Run = Callable[[Mapping[str, Tensor], Tensor, State | None, Tensor | None, Pieces | None], Results]


def run_fused(
    spec: CellSpec,
    how: dict[str, Any],
    packed: Any,
    params: Mapping[str, Tensor],
    inputs: Tensor,
    state: State | None,
    lengths: Tensor | None,
    pieces: Pieces | None,
) -> Results:
    """Run rows, or the pieces they are cut into, by the kernels; `how` is what else `trace_layer` was told."""

    def reference(inputs: Tensor, state: State, params: Mapping[str, Tensor], lengths: Tensor | None) -> Traced:
        return trace_reference(spec, params, inputs, state, lengths=lengths, pieces=pieces, **how)

    return kernels.run_layer(
        spec, params, inputs, state, lengths=lengths, pieces=pieces, reference=reference, packed=packed, **how
    )


def run_reference(
    spec: CellSpec,
    how: dict[str, Any],
    every: int | None,
    params: Mapping[str, Tensor],
    inputs: Tensor,
    state: State | None,
    lengths: Tensor | None,
    pieces: Pieces | None,
) -> Results:
    """Run rows, or the pieces they are cut into, by the reference loop; it keeps every `every`-th state (None: all)."""
    if state is None:
        rows = inputs.shape[1 if how["time_major"] else 0] if pieces is None else len(pieces.row)
        state = tuple([inputs.new_zeros(rows, size) for size in spec.state_sizes(how["options"])])
    return trace_reference(spec, params, inputs, state, lengths=lengths, pieces=pieces, checkpoint_every=every, **how)


def run_pieces(
    run: Run,
    params: Mapping[str, Tensor],
    inputs: Tensor,
    state: State | None,
    lengths: Tensor | None,
    resets: Tensor,
    reset_state: State | None,
    how: dict[str, Any],
) -> Results:
    """Run rows that begin anew at `resets`."""
    batch, max_time = inputs.shape[:2] if not how["time_major"] else inputs.shape[1::-1]
    if lengths is None:
        lengths = torch.full((batch,), max_time if batch else 0, device="cpu")
    elif hides_values(lengths):
        refuse_for_hidden_lengths("run_layer", {"resets": resets})
    pieces = cut_rows(resets, lengths, reverse=how["reverse"])
    begin = None if state is None and reset_state is None else beginnings(pieces, state, reset_state)
    outputs, final, states, gates = run(params, inputs, begin, None, pieces)
    last = pieces.last.to(inputs.device)
    return outputs, tuple([value.index_select(0, last) for value in final]), states, gates


def run_stretches(
    run: Run,
    spec: CellSpec,
    params: Mapping[str, Tensor],
    inputs: Tensor,
    state: State | None,
    lengths: Tensor | None,
    resets: Tensor | None,
    reset_state: State | None,
    every: int,
    how: dict[str, Any],
) -> Results:
    """Run stretches of time of which backward computes each one again."""
    if lengths is not None and hides_values(lengths):
        refuse_for_hidden_lengths("run_layer", {"checkpoint_every": every})
    batch = inputs.shape[1 if how["time_major"] else 0]
    zeros = tuple([inputs.new_zeros(batch, size) for size in spec.state_sizes(how["options"])])
    names = list(params)

    def stretch(
        inputs: Tensor, state: State, others: Sequence[Tensor], lengths: Tensor | None, resets: Tensor | None
    ) -> Results:
        params, anew = dict(zip(names, others, strict=False)), tuple(others[len(names) :])
        if resets is None:
            return run(params, inputs, state, lengths, None)
        return run_pieces(run, params, inputs, state, lengths, resets, anew, how)

    anew = zeros if reset_state is None else reset_state
    layout = {"time_major": how["time_major"], "reverse": how["reverse"]}
    return trace_stretches(
        stretch,
        inputs,
        zeros if state is None else state,
        [*params.values(), *anew],
        lengths=lengths,
        resets=resets,
        reset_state=anew,
        every=every,
        **layout,
    )
