"""One layer of one of our cells, in one direction, over a whole sequence: what both faces call.

Arguments are checked, rows are cut where they begin anew, an implementation is chosen (`dispatch.py`) and run, and what
it leaves is brought to the caller's rows. The reference loop is in `reference.py`, the other one in `dynrnn.kernels`;
weights as torch's modules keep them come in by `torch_layer.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
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
from dynrnn.rnn.stretches import Results, trace_stretches


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
    packed: Any = None,
) -> LayerTrace:
    """Run a cell as `run_layer` does, and keep what happens inside, start anew inside rows, or compute steps again.

    `resets` is bool `[batch, time]` on the CPU, whatever the layout of the inputs: each row is cut before every valid
    step that it marks, and the pieces are walked as rows of their own, in both directions; a piece that does not carry
    the row's `state` on begins with `reset_state` (tensors like those of `state`; None: zeros). With `checkpoint_every`
    only the inputs and every that-many-th state are kept for backward, which computes the steps between them again.
    `packed` is what `pack_layer` gave for these `params`.

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
    how: dict[str, Any] = {
        "options": options,
        "time_major": time_major,
        "reverse": reverse,
        "keep_states": keep_states,
        "keep_gates": keep_gates,
    }
    choice = choose(spec, options, inputs, implementation=implementation)
    plain = resets is None and checkpoint_every is None and parallel_iterations is None
    if choice.fused and plain and not torch.compiler.is_compiling():
        # the door to the kernels makes the same checks in the same words, and short calls need not be checked twice
        outputs, final, states, gates = _run_fused(spec, how, packed, params, inputs, state, lengths, None)
    else:
        check_layer(
            spec,
            params,
            inputs,
            state,
            lengths,
            options,
            time_major=time_major,
            parallel_iterations=parallel_iterations,
        )
        every = checkpoint_every if torch.is_grad_enabled() else None
        if choice.fused:
            run = partial(_run_fused, spec, how, None)
        else:
            run = partial(_run_reference, spec, {**how, "parallel_iterations": parallel_iterations}, every)
        if choice.fused and every is not None:
            results = _run_stretches(run, spec, params, inputs, state, lengths, resets, reset_state, every, how)
        elif resets is not None:
            results = _run_pieces(run, params, inputs, state, lengths, resets, reset_state, how)
        else:
            results = run(params, inputs, state, lengths, None)
        outputs, final, states, gates = results
    if keep_states and lengths is not None:
        carried = final
        if reverse:  # the padding comes first
            carried = state or tuple([value.new_zeros(1, 1) for value in final])
        pairs = zip(states, carried, strict=True)
        states = tuple([fill_padding(value, end, lengths, time_major=time_major) for value, end in pairs])
    return LayerTrace(outputs, final, states, gates)


def pack_layer(spec: CellSpec, params: Mapping[str, Tensor], input_size: int, options: Any) -> Any:
    """Pack a layer's parameters for `trace_layer`, which then need not do it in every call; None without kernels.

    Who keeps them sees to it that the parameters do not change meanwhile.

    Example:
        >>> from dynrnn.cells import LAYER_NORM_LSTM, LayerNormLSTMOptions
        >>> options = LayerNormLSTMOptions(1)
        >>> params = {param.name: torch.ones(param.shape) for param in LAYER_NORM_LSTM.params(2, options)}
        >>> pack_layer(LAYER_NORM_LSTM, params, 2, options) is None
        True
    """
    like = next(iter(params.values()))
    if not choose(spec, options, like).fused:
        return None
    return kernels.pack_layer(spec, params, input_size, options)


Run = Callable[[Mapping[str, Tensor], Tensor, State | None, Tensor | None, Pieces | None], Results]


def _run_fused(
    spec: CellSpec,
    how: dict[str, Any],
    packed: Any,
    params: Mapping[str, Tensor],
    inputs: Tensor,
    state: State | None,
    lengths: Tensor | None,
    pieces: Pieces | None,
) -> Results:
    def reference(inputs: Tensor, state: State, params: Mapping[str, Tensor], lengths: Tensor | None) -> Traced:
        return trace_reference(spec, params, inputs, state, lengths=lengths, pieces=pieces, **how)

    return kernels.run_layer(
        spec, params, inputs, state, lengths=lengths, pieces=pieces, reference=reference, packed=packed, **how
    )


def _run_reference(
    spec: CellSpec,
    how: dict[str, Any],
    every: int | None,
    params: Mapping[str, Tensor],
    inputs: Tensor,
    state: State | None,
    lengths: Tensor | None,
    pieces: Pieces | None,
) -> Results:
    if state is None:
        rows = inputs.shape[1 if how["time_major"] else 0] if pieces is None else len(pieces.row)
        state = tuple([inputs.new_zeros(rows, size) for size in spec.state_sizes(how["options"])])
    return trace_reference(spec, params, inputs, state, lengths=lengths, pieces=pieces, checkpoint_every=every, **how)


def _run_pieces(
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
        lengths = torch.full((batch,), max_time if batch else 0)
    elif hides_values(lengths):
        refuse_for_hidden_lengths("run_layer", {"resets": resets})
    pieces = cut_rows(resets, lengths, reverse=how["reverse"])
    begin = None if state is None and reset_state is None else beginnings(pieces, state, reset_state)
    outputs, final, states, gates = run(params, inputs, begin, None, pieces)
    last = pieces.last.to(inputs.device)
    return outputs, tuple([value.index_select(0, last) for value in final]), states, gates


def _run_stretches(
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
        return _run_pieces(run, params, inputs, state, lengths, resets, anew, how)

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
