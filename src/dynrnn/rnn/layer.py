"""The reference loop for our own cells: one layer, one direction, a whole sequence.

The step is cut at the input product (`CellSpec`): products of all valid steps are computed together, and only running
rows are stepped. The loop for a user's step is in `loop.py`; nothing here knows an equation.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, NamedTuple

import torch
from torch import Tensor

from dynrnn.cells.spec import CellSpec, State
from dynrnn.errors import describe
from dynrnn.rnn.lengths import Packing, carry_states, check_lengths, hides_values, length_range, pack
from dynrnn.rnn.masked import refuse_for_hidden_lengths, run_layer_masked
from dynrnn.rnn.pieces import Pieces, cut_rows
from dynrnn.rnn.walk import Record, input_products, record_step, walk, walk_again_in_backward


class LayerTrace(NamedTuple):
    """What a layer's pass leaves: see `trace_layer`."""

    outputs: Tensor
    state: State
    states: State
    gates: State


def run_layer(
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
) -> tuple[Tensor, State]:
    """Run a cell over `inputs`, each row for its own length; work follows `sum(lengths)`.

    `params` are exactly the tensors that `spec.params` lists; `inputs` is `[batch, time, input_size]`, or time first
    with `time_major`; `state` holds `[batch, width]` tensors in the cell's order; all have one floating dtype and one
    device. `lengths` is None (all rows full) or int64 `[batch]` on the CPU, within 0..time. With `reverse`, each row is
    walked from its last valid step to its first, and outputs stay at their inputs' places. `parallel_iterations` says
    how many steps' input products are computed at once (None: all): fewer take less memory and more time.

    Returns `(outputs, final_state)`: outputs `[batch, time, output_size]` in the layout of the inputs, exactly 0 past a
    row's end, and each row's state after its last step (for an empty row its initial state, bit for bit). Padding is
    never read. Follows TF1's `tf.nn.dynamic_rnn`.

    Raises TypeError or ValueError, naming the argument, where a dtype, a shape or a length does not fit.

    Example:
        >>> from dynrnn.cells import BASIC_RNN, BasicRNNOptions
        >>> params = {"kernel": torch.full((3, 1), 0.5), "bias": torch.zeros(1)}
        >>> inputs = torch.arange(12.0).reshape(2, 3, 2) / 10
        >>> outputs, (h,) = run_layer(BASIC_RNN, params, inputs, (torch.zeros(2, 1),), lengths=torch.tensor([3, 1]),
        ...                           options=BasicRNNOptions(1))
        >>> [round(value, 4) for value in outputs[1, :, 0].tolist()], bool(h[0] == outputs[0, 2])
        ([0.5717, 0.0, 0.0], True)
    """
    trace = trace_layer(
        spec,
        params,
        inputs,
        state,
        lengths=lengths,
        options=options,
        time_major=time_major,
        reverse=reverse,
        parallel_iterations=parallel_iterations,
    )
    return trace.outputs, trace.state


def trace_layer(
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
    resets: Tensor | None = None,
    reset_state: State | None = None,
    checkpoint_every: int | None = None,
    keep_states: bool = False,
    keep_gates: bool = False,
) -> LayerTrace:
    """Run a cell as `run_layer` does, and keep what happens inside, start anew inside rows, or compute steps again.

    `resets` is bool `[batch, time]` on the CPU, whatever the layout of the inputs: each row is cut before every valid
    step that it marks, and the pieces are walked as rows of their own, in both directions; a piece that does not carry
    the row's `state` on begins with `reset_state` (tensors like those of `state`; None: zeros). With `checkpoint_every`
    only the inputs and every that-many-th state are kept for backward, which computes the steps between them again.

    Returns `(outputs, state, states, gates)`. With `keep_states`, `states` are the state's tensors after every step,
    `[batch, time, width]` in the layout of the inputs; past its end a row keeps the state that is carried through
    (`carry_states`), so that the last one (the first one with `reverse`) is the final state. With `keep_gates`,
    `gates` are those of `spec.gate_names`, exactly 0 past a row's end. What is not kept is `()`.

    Raises what `run_layer` raises.

    Example:
        >>> from dynrnn.cells import GRU, GRUOptions
        >>> params = {param.name: torch.ones(param.shape) for param in GRU.params(2, GRUOptions(1))}
        >>> trace = trace_layer(GRU, params, torch.ones(2, 3, 2), (torch.zeros(2, 1),), lengths=torch.tensor([3, 1]),
        ...                     options=GRUOptions(1), keep_states=True, keep_gates=True)
        >>> torch.equal(trace.states[0][:, -1], trace.state[0]), len(trace.gates)
        (True, 3)
    """
    _check(spec, params, inputs, state, lengths, options, time_major, parallel_iterations)
    if lengths is not None and hides_values(lengths):
        wanted = {"resets": resets, "checkpoint_every": checkpoint_every, "states": keep_states, "gates": keep_gates}
        refuse_for_hidden_lengths("run_layer", wanted)
        layout = {"time_major": time_major, "reverse": reverse, "parallel_iterations": parallel_iterations}
        masked = run_layer_masked(spec, params, inputs, state, lengths=lengths, options=options, **layout)
        return LayerTrace(*masked, (), ())
    weights = spec.prepare(params, options)
    step = record_step(spec, weights, options, keep_states=keep_states, keep_gates=keep_gates)
    time_axis = 0 if time_major else 1
    batch, max_time = inputs.shape[1 - time_axis], inputs.shape[time_axis]
    every = checkpoint_every if torch.is_grad_enabled() else None
    shortest, longest = length_range(lengths, batch, max_time)
    if 0 < shortest == longest and resets is None and every is None:
        rows = inputs.narrow(time_axis, 0, longest)
        rows = rows.flip(time_axis) if reverse else rows
        rows = (rows if time_major else rows.transpose(0, 1)).reshape(longest * batch, -1)
        records, final = walk(step, input_products(spec, weights, rows, [batch] * longest, parallel_iterations), state)
        if reverse:
            records.reverse()
        columns = _columns(records, partial(_stack, max_time=max_time, time_axis=time_axis))
    else:
        if lengths is None:
            lengths = torch.full((batch,), max_time if batch else 0)
        pieces = None if resets is None else cut_rows(resets, lengths, reverse=reverse)
        packing, begin = _layout(inputs, state, lengths, pieces, reset_state, time_major, reverse)
        rows = inputs.reshape(batch * max_time, inputs.shape[2]).index_select(0, packing.source)
        sizes = packing.batch_sizes
        if every is None:
            records, final = walk(step, input_products(spec, weights, rows, sizes, parallel_iterations), begin)
        else:
            keep = {"keep_states": keep_states, "keep_gates": keep_gates, "parallel_iterations": parallel_iterations}
            records, final = walk_again_in_backward(spec, weights, options, rows, sizes, begin, every=every, **keep)
        last = packing.inverse if pieces is None else packing.inverse[pieces.last.to(inputs.device)]
        final = tuple(value.index_select(0, last) for value in final)
        columns = _columns(records, partial(_scatter, target=packing.target, layout=inputs.shape[:2]))
    kept = columns[1 : 1 + len(state)] if keep_states else ()
    states = [
        carry_states(value, initial, lengths, time_major=time_major, reverse=reverse)
        for value, initial in zip(kept, state, strict=bool(kept))
    ]
    return LayerTrace(columns[0], final, tuple(states), tuple(columns[1 + len(kept) :]))


def _layout(
    inputs: Tensor,
    state: State,
    lengths: Tensor,
    pieces: Pieces | None,
    reset_state: State | None,
    time_major: bool,
    reverse: bool,
) -> tuple[Packing, State]:
    """Lay out rows, or the pieces that they are cut into; return also the state that each sorted one begins with."""
    max_time = inputs.shape[0 if time_major else 1]
    layout = {"time_major": time_major, "reverse": reverse, "device": inputs.device}
    if pieces is None:
        packing = pack(lengths, max_time, **layout)
        return packing, tuple(value.index_select(0, packing.order) for value in state)
    packing = pack(pieces.length, max_time, **layout, pieces=(pieces.row, pieces.start, lengths.shape[0]))
    row = pieces.row.to(inputs.device).index_select(0, packing.order)
    carried = pieces.carried.to(inputs.device).index_select(0, packing.order).unsqueeze(1)
    anew = [value.new_zeros(()) for value in state] if reset_state is None else reset_state
    anew = [value.index_select(0, row) if value.ndim else value for value in anew]
    given = [value.index_select(0, row) for value in state]
    return packing, tuple(torch.where(carried, one, other) for one, other in zip(given, anew, strict=True))


def _products(
    spec: CellSpec, weights: Any, parallel_iterations: int | None, rows: Tensor, batch_sizes: list[int]
) -> Any:
    return input_products(spec, weights, rows, batch_sizes, parallel_iterations)


def _columns(records: list[Record], join: Any) -> list[Tensor]:
    """Join what the records hold, each kind over all steps; an LSTM's h, which is its output too, is joined once."""
    columns: list[Tensor] = []
    first = [record[0] for record in records]
    for column in zip(*records, strict=True):
        same = bool(columns) and all(one is other for one, other in zip(column, first, strict=True))
        columns.append(columns[0] if same else join(list(column)))
    return columns


def _stack(column: list[Tensor], *, max_time: int, time_axis: int) -> Tensor:
    """Stack the steps of rows that all run equally long."""
    if len(column) < max_time:
        column += [torch.zeros_like(column[0])] * (max_time - len(column))
    return torch.stack(column, time_axis)


def _scatter(column: list[Tensor], *, target: Tensor, layout: torch.Size) -> Tensor:
    """Bring packed steps to their padded places; padding is given a row of zeros after the last step."""
    column.append(column[0].new_zeros(1, column[0].shape[1]))
    padded = torch.cat(column).index_select(0, target)
    return padded.view(*layout, padded.shape[1])


def _check(
    spec: CellSpec,
    params: Mapping[str, Tensor],
    inputs: Tensor,
    state: State,
    lengths: Tensor | None,
    options: Any,
    time_major: bool,
    parallel_iterations: int | None,
) -> None:
    """Refuse what would fail late, broadcast, or be silently wrong."""
    if inputs.ndim != 3:
        layout = "[time, batch, input_size]" if time_major else "[batch, time, input_size]"
        raise ValueError(f"run_layer: inputs must have shape {layout}, got {list(inputs.shape)}")
    if not inputs.dtype.is_floating_point:
        raise TypeError(f"run_layer: inputs must be floating point, got {_describe('inputs', inputs)}")
    expected = {param.name: param.shape for param in spec.params(inputs.shape[2], options)}
    if params.keys() != expected.keys():
        raise ValueError(f"run_layer: params of {spec.name} must be {list(expected)}, got {list(params)}")
    batch, max_time = (inputs.shape[1], inputs.shape[0]) if time_major else inputs.shape[:2]
    sizes = dict(zip(spec.state_names(options), spec.state_sizes(options), strict=True))
    if len(state) != len(sizes):
        raise ValueError(f"run_layer: state of {spec.name} must be ({', '.join(sizes)}), got {len(state)} tensors")
    named = [(f"params[{name!r}]", params[name], shape) for name, shape in expected.items()]
    named += [(f"state.{name}", value, (batch, sizes[name])) for name, value in zip(sizes, state, strict=True)]
    for name, value, shape in named:
        if value.shape != shape:
            raise ValueError(f"run_layer: {name} must have shape {list(shape)}, got {list(value.shape)}")
        if value.dtype != inputs.dtype:
            raise TypeError(f"run_layer: {name} must be {inputs.dtype}, as inputs are, got {_describe(name, value)}")
    check_lengths("run_layer", lengths, batch, max_time)
    if parallel_iterations is not None and parallel_iterations < 1:
        raise ValueError(f"run_layer: parallel_iterations must be at least 1, got {parallel_iterations}")


def _describe(name: str, value: Tensor) -> str:
    return describe(name, value.shape, value.dtype)
