"""One layer of one of our cells, in one direction, over a whole sequence: what both faces call.

Arguments are checked, rows are cut where they begin anew, an implementation is chosen (`dispatch.py`) and run, and what
it leaves is brought to the caller's rows. The reference loop is in `reference.py`, the other one in `dynrnn.kernels`;
weights as torch's modules keep them come in by `torch_layer.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import torch
from torch import Tensor

from dynrnn import kernels
from dynrnn.cells.spec import CellSpec, State
from dynrnn.rnn.checks import check_layer
from dynrnn.rnn.dispatch import choose
from dynrnn.rnn.lengths import fill_padding, hides_values
from dynrnn.rnn.masked import refuse_for_hidden_lengths
from dynrnn.rnn.pieces import Pieces, beginnings, cut_rows
from dynrnn.rnn.reference import Traced, trace_reference


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
    state: State | None,
    *,
    lengths: Tensor | None,
    options: Any,
    time_major: bool = False,
    reverse: bool = False,
    parallel_iterations: int | None = None,
    implementation: str = "auto",
) -> tuple[Tensor, State]:
    """Run a cell over `inputs`, each row for its own length; work follows `sum(lengths)`.

    `params` are exactly the tensors that `spec.params` lists; `inputs` is `[batch, time, input_size]`, or time first
    with `time_major`; `state` holds `[batch, width]` tensors in the cell's order (None: zeros); all have one floating
    dtype and one device. `lengths` is None (all rows full) or int64 `[batch]` on the CPU, within 0..time. With
    `reverse`, each row is walked from its last valid step to its first, and outputs stay at their inputs' places.
    `parallel_iterations` says how many steps' input products the reference loop computes at once (None: all): fewer
    take less memory and more time; the fused kernels keep no such products. `implementation` is "fused", "reference",
    or "auto" for the fused kernels wherever they apply.

    Returns `(outputs, final_state)`: outputs `[batch, time, output_size]` in the layout of the inputs, exactly 0 past a
    row's end, and each row's state after its last step (for an empty row its initial state, bit for bit). Padding is
    never read. Follows TF1's `tf.nn.dynamic_rnn`.

    Raises TypeError or ValueError, naming the argument, where a dtype, a shape or a length does not fit, and for
    "fused" where it cannot be had (RuntimeError where there are no kernels).

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
        implementation=implementation,
    )
    return trace.outputs, trace.state


def trace_layer(
    spec: CellSpec,
    params: Mapping[str, Tensor],
    inputs: Tensor,
    state: State | None,
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
    implementation: str = "auto",
) -> LayerTrace:
    """Run a cell as `run_layer` does, and keep what happens inside, start anew inside rows, or compute steps again.

    `resets` is bool `[batch, time]` on the CPU, whatever the layout of the inputs: each row is cut before every valid
    step that it marks, and the pieces are walked as rows of their own, in both directions; a piece that does not carry
    the row's `state` on begins with `reset_state` (tensors like those of `state`; None: zeros). With `checkpoint_every`
    only the inputs and every that-many-th state are kept for backward, which computes the steps between them again.

    Returns `(outputs, state, states, gates)`. With `keep_states`, `states` are the state's tensors after every step,
    `[batch, time, width]` in the layout of the inputs; past its end a row keeps its final state (with `reverse`, which
    comes through the padding first, its initial state), so that the last one (the first one with `reverse`) is the
    final state. With `keep_gates`, `gates` are those of `spec.gate_names`, exactly 0 past a row's end. What is not kept
    is `()`.

    Raises what `run_layer` raises.

    Example:
        >>> from dynrnn.cells import GRU, GRUOptions
        >>> params = {param.name: torch.ones(param.shape) for param in GRU.params(2, GRUOptions(1))}
        >>> trace = trace_layer(GRU, params, torch.ones(2, 3, 2), (torch.zeros(2, 1),), lengths=torch.tensor([3, 1]),
        ...                     options=GRUOptions(1), keep_states=True, keep_gates=True)
        >>> torch.equal(trace.states[0][:, -1], trace.state[0]), len(trace.gates)
        (True, 3)
    """
    check_layer(
        spec, params, inputs, state, lengths, options, time_major=time_major, parallel_iterations=parallel_iterations
    )
    choice = choose(spec, options, inputs, implementation=implementation, checkpoint_every=checkpoint_every)
    pieces, begin = None, state
    if resets is not None:
        pieces, begin = _cut(spec, options, inputs, state, resets, reset_state, lengths, time_major, reverse)
    keep = {"keep_states": keep_states, "keep_gates": keep_gates}
    layout = {"time_major": time_major, "reverse": reverse, "pieces": pieces}
    if choice.fused:

        def reference(inputs: Tensor, state: State, params: Mapping[str, Tensor], lengths: Tensor | None) -> Traced:
            return trace_reference(spec, params, inputs, state, lengths=lengths, options=options, **layout, **keep)

        traced = kernels.run_layer(
            spec,
            params,
            inputs,
            begin,
            lengths=lengths if pieces is None else None,
            options=options,
            reference=reference,
            **layout,
            **keep,
        )
    else:
        if begin is None:
            begin = _zeros(spec, options, inputs, inputs.shape[1 if time_major else 0] if pieces is None else len(pieces.row))
        traced = trace_reference(
            spec,
            params,
            inputs,
            begin,
            lengths=lengths,
            options=options,
            parallel_iterations=parallel_iterations,
            checkpoint_every=checkpoint_every,
            **layout,
            **keep,
        )
    outputs, final, states, gates = traced
    if pieces is not None:
        last = pieces.last.to(inputs.device)
        final = tuple(value.index_select(0, last) for value in final)
    if keep_states and lengths is not None:
        if reverse and state is None:
            carried = tuple(value.new_zeros(1, 1) for value in final)
        else:
            carried = state if reverse else final
        states = tuple(fill_padding(one, two, lengths, time_major=time_major) for one, two in zip(states, carried, strict=True))
    return LayerTrace(outputs, final, states, gates)


def _zeros(spec: CellSpec, options: Any, inputs: Tensor, rows: int) -> State:
    return tuple(inputs.new_zeros(rows, size) for size in spec.state_sizes(options))


def _cut(
    spec: CellSpec,
    options: Any,
    inputs: Tensor,
    state: State | None,
    resets: Tensor,
    reset_state: State | None,
    lengths: Tensor | None,
    time_major: bool,
    reverse: bool,
) -> tuple[Pieces, State | None]:
    """The pieces of all rows, and the state that each begins with."""
    batch, max_time = (inputs.shape[1], inputs.shape[0]) if time_major else inputs.shape[:2]
    if lengths is None:
        lengths = torch.full((batch,), max_time if batch else 0)
    elif hides_values(lengths):
        refuse_for_hidden_lengths("run_layer", {"resets": resets})
    pieces = cut_rows(resets, lengths, reverse=reverse)
    if state is None and reset_state is None:
        return pieces, None
    return pieces, beginnings(pieces, _zeros(spec, options, inputs, batch) if state is None else state, reset_state)
