"""The reference loop for our own cells: one layer, one direction, a whole sequence, by torch's operators.

The step is cut at the input product (`CellSpec`): products of all valid steps are computed together, and only running
rows are stepped. The loop for a user's step is in `loop.py`. Nothing here knows an equation; arguments are checked in
`checks.py`, and the choice is made in `dispatch.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, NamedTuple

import torch
from torch import Tensor

from dynrnn.cells.spec import CellSpec, State
from dynrnn.rnn.lengths import Packing, hides_values, length_range, pack
from dynrnn.rnn.masked import refuse_for_hidden_lengths, run_layer_masked
from dynrnn.rnn.pieces import Pieces
from dynrnn.rnn.stacking import scatter_steps, stack_steps
from dynrnn.rnn.walk import Record, input_products, record_step, walk, walk_again_in_backward


class Traced(NamedTuple):
    """What a pass leaves, by whichever implementation.

    `outputs` `[batch, time, width]` are 0 in the padding. `final` holds the state's tensors `[batch, width]`, or a row
    for each piece. `states` are the state's tensors at every step, of which only valid steps are defined, and `gates`
    those of the spec, 0 in the padding; both are `()` where they were not asked for.
    """

    outputs: Tensor
    final: State
    states: State
    gates: State


def trace_reference(
    spec: CellSpec,
    params: Mapping[str, Tensor],
    inputs: Tensor,
    state: State,
    *,
    lengths: Tensor | None,
    options: Any,
    time_major: bool = False,
    reverse: bool = False,
    parallel_iterations: int | None = None,
    pieces: Pieces | None = None,
    checkpoint_every: int | None = None,
    keep_states: bool = False,
    keep_gates: bool = False,
) -> Traced:
    """Run a cell over `inputs` by torch's operators.

    Arguments are those of `dynrnn.rnn.trace_layer`, and have been checked. With `pieces` of rows, whose lengths count
    in place of `lengths`, `state` has one row for each piece, and so has the final state. Lengths whose values are
    hidden take the masked loop.

    Example:
        >>> from dynrnn.cells import BASIC_RNN, BasicRNNOptions
        >>> params = {"kernel": torch.full((3, 1), 0.5), "bias": torch.zeros(1)}
        >>> traced = trace_reference(BASIC_RNN, params, torch.ones(2, 3, 2), (torch.zeros(2, 1),),
        ...                          lengths=torch.tensor([3, 1]), options=BasicRNNOptions(1))
        >>> torch.equal(traced.outputs[1, 0], traced.final[0][1])
        True
    """
    if lengths is not None and hides_values(lengths):
        refuse_for_hidden_lengths("run_layer", {"resets": pieces, "checkpoint_every": checkpoint_every})
        how: dict[str, Any] = {"time_major": time_major, "reverse": reverse, "parallel_iterations": parallel_iterations}
        how |= {"keep_states": keep_states, "keep_gates": keep_gates}
        return Traced(*run_layer_masked(spec, params, inputs, state, lengths=lengths, options=options, **how))
    weights = spec.prepare(params, options)
    step = record_step(spec, weights, options, keep_states=keep_states, keep_gates=keep_gates)
    time_axis = 0 if time_major else 1
    batch, max_time = inputs.shape[1 - time_axis], inputs.shape[time_axis]
    every = checkpoint_every if torch.is_grad_enabled() else None
    shortest, longest = (0, 0) if pieces is not None else length_range(lengths, batch, max_time)
    if 0 < shortest == longest and every is None:
        rows = inputs.narrow(time_axis, 0, longest)
        rows = rows.flip(time_axis) if reverse else rows
        rows = (rows if time_major else rows.transpose(0, 1)).reshape(longest * batch, -1)
        records, final = walk(step, input_products(spec, weights, rows, [batch] * longest, parallel_iterations), state)
        if reverse:
            records.reverse()
        columns = _columns(records, partial(stack_steps, max_time=max_time, time_axis=time_axis))
    else:
        if lengths is None and pieces is None:
            lengths = torch.full((batch,), max_time if batch else 0, device="cpu")
        packing = _packing(inputs, lengths, pieces, time_major, reverse)
        begin = tuple(value.index_select(0, packing.order) for value in state)
        rows = inputs.reshape(batch * max_time, inputs.shape[2]).index_select(0, packing.source)
        sizes = packing.batch_sizes
        if every is None:
            records, final = walk(step, input_products(spec, weights, rows, sizes, parallel_iterations), begin)
        else:
            keep = {"keep_states": keep_states, "keep_gates": keep_gates, "parallel_iterations": parallel_iterations}
            records, final = walk_again_in_backward(spec, weights, options, rows, sizes, begin, every=every, **keep)
        final = tuple(value.index_select(0, packing.inverse) for value in final)
        columns = _columns(records, partial(scatter_steps, target=packing.target, layout=inputs.shape[:2]))
    count = 1 + (len(state) if keep_states else 0)
    return Traced(columns[0], final, tuple(columns[1:count]), tuple(columns[count:]))


def _packing(inputs: Tensor, lengths: Tensor | None, pieces: Pieces | None, time_major: bool, reverse: bool) -> Packing:
    """Lay out rows, or the pieces that they are cut into."""
    batch, max_time = (inputs.shape[1], inputs.shape[0]) if time_major else inputs.shape[:2]
    cuts = None
    if pieces is not None:
        lengths, cuts = pieces.length, (pieces.row, pieces.start, batch)
    assert lengths is not None
    return pack(lengths, max_time, time_major=time_major, reverse=reverse, device=inputs.device, pieces=cuts)


def _columns(records: list[Record], join: Any) -> list[Tensor]:
    """Join what the records hold, each kind over all steps; an LSTM's h, which is its output too, is joined once."""
    columns: list[Tensor] = []
    first = [record[0] for record in records]
    for column in zip(*records, strict=True):
        same = bool(columns) and all(one is other for one, other in zip(column, first, strict=True))
        columns.append(columns[0] if same else join(list(column)))
    return columns
