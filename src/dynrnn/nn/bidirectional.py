"""`bidirectional_dynamic_rnn`: two cells over the same sequences, one from each end."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dynrnn.nn.dynamic import dynamic_rnn


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
    checkpoint_every: int | None = None,
    implementation: str = "auto",
) -> tuple[tuple[Any, Any], ...]:
    """Run one cell over each row from its start, and another from its last valid step back to its start.

    Arguments are those of `dynamic_rnn`. Returns pairs (forward, backward): outputs, states, then states at every step
    with `return_states`, then gates with `return_gates`. Backward outputs stand at their inputs' places, so that the
    backward state is the backward output at time 0 where a cell's state is its output. Raises what `dynamic_rnn`
    raises. Follows TF1's `tf.nn.bidirectional_dynamic_rnn`.

    Example:
        >>> import torch
        >>> from dynrnn import GRUCell, bidirectional_dynamic_rnn
        >>> (fw, bw), (state_fw, state_bw) = bidirectional_dynamic_rnn(
        ...     GRUCell(4), GRUCell(4), torch.ones(2, 3, 5), sequence_length=[3, 1])
        >>> torch.equal(bw[:, 0], state_bw), torch.cat((fw, bw), 2).shape
        (True, torch.Size([2, 3, 8]))
    """
    results = [
        dynamic_rnn(
            cell,
            inputs,
            sequence_length=sequence_length,
            initial_state=state,
            time_major=time_major,
            reverse=reverse,
            parallel_iterations=parallel_iterations,
            swap_memory=swap_memory,
            return_states=return_states,
            return_gates=return_gates,
            resets=resets,
            checkpoint_every=checkpoint_every,
            implementation=implementation,
        )
        for cell, state, reverse in ((cell_fw, initial_state_fw, False), (cell_bw, initial_state_bw, True))
    ]
    return tuple(zip(*results, strict=True))
