"""One layer of one of our cells, in one direction, over a whole sequence: what both faces call.

An implementation is chosen (`dispatch.py`), arguments are checked, and the layer is run (`passes.py`). The reference
loop is in `reference.py`, the other one in `dynrnn.kernels`; weights as torch's modules keep them come in by
`torch_layer.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, NamedTuple

import torch
from torch import Tensor

from dynrnn import kernels
from dynrnn.cells.spec import CellSpec, State
from dynrnn.rnn.checks import check_layer
from dynrnn.rnn.dispatch import choose
from dynrnn.rnn.lengths import fill_padding
from dynrnn.rnn.passes import run_fused, run_pieces, run_reference, run_stretches


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
    "fused" where it is not available (RuntimeError where there are no kernels).

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
    seen_through = torch.compiler.is_compiling() or torch._C._are_functorch_transforms_active()
    if choice.fused and plain and not seen_through:
        # the door to the kernels makes the same checks in the same words, and short calls need not be checked twice
        outputs, final, states, gates = run_fused(spec, how, packed, params, inputs, state, lengths, None)
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
            run = partial(run_fused, spec, how, None)
        else:
            run = partial(run_reference, spec, {**how, "parallel_iterations": parallel_iterations}, every)
        if choice.fused and every is not None:
            results = run_stretches(run, spec, params, inputs, state, lengths, resets, reset_state, every, how)
        elif resets is not None:
            results = run_pieces(run, params, inputs, state, lengths, resets, reset_state, how)
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
