"""`bidirectional_dynamic_rnn`: two cells over the same sequences, one from each end."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dynrnn.nn.call import prepare
from dynrnn.nn.short import run_short_cell


def bidirectional_dynamic_rnn(
    cell_fw: Callable[..., Any],
    cell_bw: Callable[..., Any],
    inputs: Any,
    *,
    sequence_length: Any = None,
    initial_state_fw: Any = None,
    initial_state_bw: Any = None,
    time_major: bool = False,
    parallel_iterations: int | None = None,
    swap_memory: bool = False,
    return_states: bool = False,
    return_gates: bool = False,
    resets: Any = None,
    reset_state_fw: Any = None,
    reset_state_bw: Any = None,
    checkpoint_every: int | None = None,
    implementation: str = "auto",
) -> tuple[tuple[Any, Any], ...]:
    """Run one cell over each row from its start, and another from its last valid step back to its start.

    Arguments are those of `dynamic_rnn`, with a state of each kind a direction. Only its `on_step` is left out, because
    the two walks have no common order of steps: call `dynamic_rnn` once with `reverse=True` and once without.

    Returns pairs (forward, backward), each as `dynamic_rnn` gives it: outputs `[batch, time, output_size]`, or time
    first with `time_major`; final states, nested as the cell's state is, `[batch, size]`; with `return_states` states
    at every step, nested so, `[batch, time, size]`, or time first; with `return_gates` the gates. Backward outputs
    stand at their inputs' places, so that the backward state is the backward output at time 0 where a cell's state is
    its output.

    Raises what `dynamic_rnn` raises, with a direction's own arguments named as here. Follows TF1's
    `tf.nn.bidirectional_dynamic_rnn`.

    Example:
        >>> import torch
        >>> from dynrnn import GRUCell, bidirectional_dynamic_rnn
        >>> (fw, bw), (state_fw, state_bw) = bidirectional_dynamic_rnn(
        ...     GRUCell(4), GRUCell(4), torch.ones(2, 3, 5), sequence_length=[3, 1])
        >>> torch.equal(bw[:, 0], state_bw), torch.cat((fw, bw), 2).shape
        (True, torch.Size([2, 3, 8]))
    """
    directions = (
        (cell_fw, initial_state_fw, reset_state_fw, "_fw", False),
        (cell_bw, initial_state_bw, reset_state_bw, "_bw", True),
    )
    results: list[tuple[Any, ...] | None] = [None, None]
    without_extras = (
        resets is reset_state_fw is reset_state_bw is checkpoint_every is parallel_iterations is None
        and swap_memory is return_states is return_gates is False
    )
    if without_extras and implementation in ("auto", "fused") and time_major.__class__ is bool:
        how = {"time_major": time_major}
        results = [
            run_short_cell(cell, inputs, state, sequence_length, reverse=reverse, **how)
            for cell, state, _, _, reverse in directions
        ]
    calls = [
        prepare(
            "bidirectional_dynamic_rnn",
            cell,
            inputs,
            suffix=suffix,
            sequence_length=sequence_length,
            initial_state=state,
            time_major=time_major,
            reverse=reverse,
            parallel_iterations=parallel_iterations,
            swap_memory=swap_memory,
            return_states=return_states,
            return_gates=return_gates,
            resets=resets,
            reset_state=reset_state,
            checkpoint_every=checkpoint_every,
            implementation=implementation,
        )
        if result is None
        else None
        for (cell, state, reset_state, suffix, reverse), result in zip(directions, results, strict=True)
    ]
    found = [result if call is None else call.run() for call, result in zip(calls, results, strict=True)]
    return tuple(zip(*found, strict=True))
