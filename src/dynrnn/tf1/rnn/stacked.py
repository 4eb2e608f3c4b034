"""`tf.contrib.rnn`'s stacks of bidirectional layers: each layer sees both directions of the one below."""

from __future__ import annotations

from typing import Any

from ..export import export
from ..graph import atomic
from ..ops.array.joining import concat
from ..variable_scope import variable_scope
from .bidirectional import bidirectional_dynamic_rnn, static_bidirectional_rnn


def _check(cells_fw: Any, cells_bw: Any, states_fw: Any, states_bw: Any) -> None:
    for name, cells in (("cells_fw", cells_fw), ("cells_bw", cells_bw)):
        if not isinstance(cells, list) or not cells:
            raise ValueError(f"{name} must be a list of RNNCells (one per layer), got {cells!r}.")
    if len(cells_fw) != len(cells_bw):
        raise ValueError(
            f"Forward and Backward cells must have the same depth, got {len(cells_fw)} and {len(cells_bw)}."
        )
    for name, states in (("initial_states_fw", states_fw), ("initial_states_bw", states_bw)):
        if states is not None and (not isinstance(states, list) or len(states) != len(cells_fw)):
            raise ValueError(
                f"{name} must be a list of state tensors (one per layer, here {len(cells_fw)}), got {states!r}."
            )


def _layer(states: Any, number: int) -> Any:
    return states[number] if states else None


@export("contrib.rnn.stack_bidirectional_dynamic_rnn")
@atomic
def stack_bidirectional_dynamic_rnn(
    cells_fw: Any,
    cells_bw: Any,
    inputs: Any,
    initial_states_fw: Any = None,
    initial_states_bw: Any = None,
    dtype: Any = None,
    sequence_length: Any = None,
    parallel_iterations: int | None = None,
    time_major: bool = False,
    scope: Any = None,
    swap_memory: bool = False,
) -> tuple[Any, tuple[Any, ...], tuple[Any, ...]]:
    """Run bidirectional layers on top of each other; a layer's input is both outputs of the layer below, joined on the
    last axis.

    cells_fw, cells_bw: lists of cells, one a layer. initial_states_fw, initial_states_bw: lists of states, or None. The
    other arguments are those of `bidirectional_dynamic_rnn`. scope: default "stack_bidirectional_rnn"; layer i's
    variables stand under `cell_i`.

    Returns:
        (outputs, states_fw, states_bw): the last layer's joined outputs, and tuples with each layer's final state.
    """
    _check(cells_fw, cells_bw, initial_states_fw, initial_states_bw)
    states_fw, states_bw = [], []
    with variable_scope(scope or "stack_bidirectional_rnn"):
        for number, (cell_fw, cell_bw) in enumerate(zip(cells_fw, cells_bw, strict=True)):
            with variable_scope(f"cell_{number}"):
                outputs, (state_fw, state_bw) = bidirectional_dynamic_rnn(
                    cell_fw,
                    cell_bw,
                    inputs,
                    sequence_length=sequence_length,
                    initial_state_fw=_layer(initial_states_fw, number),
                    initial_state_bw=_layer(initial_states_bw, number),
                    dtype=dtype,
                    parallel_iterations=parallel_iterations,
                    swap_memory=swap_memory,
                    time_major=time_major,
                )
                inputs = concat(outputs, 2)
            states_fw.append(state_fw)
            states_bw.append(state_bw)
    return inputs, tuple(states_fw), tuple(states_bw)


@export("contrib.rnn.stack_bidirectional_rnn")
@atomic
def stack_bidirectional_rnn(
    cells_fw: Any,
    cells_bw: Any,
    inputs: Any,
    initial_states_fw: Any = None,
    initial_states_bw: Any = None,
    dtype: Any = None,
    sequence_length: Any = None,
    scope: Any = None,
) -> tuple[list[Any], tuple[Any, ...], tuple[Any, ...]]:
    """Run bidirectional layers on top of each other over a list of steps; arguments and results as for the dynamic
    form, outputs as a list.
    """
    _check(cells_fw, cells_bw, initial_states_fw, initial_states_bw)
    states_fw, states_bw = [], []
    with variable_scope(scope or "stack_bidirectional_rnn"):
        for number, (cell_fw, cell_bw) in enumerate(zip(cells_fw, cells_bw, strict=True)):
            with variable_scope(f"cell_{number}") as cell_scope:
                inputs, state_fw, state_bw = static_bidirectional_rnn(
                    cell_fw,
                    cell_bw,
                    inputs,
                    initial_state_fw=_layer(initial_states_fw, number),
                    initial_state_bw=_layer(initial_states_bw, number),
                    sequence_length=sequence_length,
                    dtype=dtype,
                    scope=cell_scope,
                )
            states_fw.append(state_fw)
            states_bw.append(state_bw)
    return inputs, tuple(states_fw), tuple(states_bw)
