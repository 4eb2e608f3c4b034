"""One call of `dynamic_rnn` or its kin: its arguments checked, then run.

Signatures and documentation are in `dynamic.py`, `bidirectional.py` and `chunks.py`; the checks are in `arguments.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from dynrnn import _nest
from dynrnn.cells.options import check_size
from dynrnn.nn.arguments import as_flag, beginning, check_inputs, refuse_where_followed
from dynrnn.nn.kinds import check_cell
from dynrnn.nn.lengths import check_lengths, check_resets
from dynrnn.nn.paths import find_obstacle
from dynrnn.nn.running import run_cell, without_needless_compiler
from dynrnn.nn.spec_cell import begins_with_zeros
from dynrnn.nn.walk import Pass, Walk
from dynrnn.rnn.dispatch import check_request
from dynrnn.rnn.lengths import length_range

OnStep = Callable[[int, Any, Any, Tensor], object]


@dataclass(slots=True)
class Call:
    """A call with nothing wrong: `cell` over `inputs` from `state`, which is None for a cell that begins with zeros."""

    cell: Any
    inputs: Any
    state: Any
    walk: Walk
    batch: int
    max_time: int
    from_zeros: bool
    swap_memory: bool
    return_states: bool
    return_gates: bool
    on_step: OnStep | None

    def run(self) -> tuple[Any, ...]:
        """Run it; returns what `dynamic_rnn` returns."""
        cell, inputs, walk = self.cell, self.inputs, self.walk
        if self.swap_memory and _are_on_an_accelerator(inputs):  # on a CPU there is nothing to move
            with torch.autograd.graph.save_on_cpu():
                result = run_cell(cell, inputs, self.state, walk)
        elif self.from_zeros:
            result = cell._run_whole(inputs, None, walk)
        else:
            result = run_cell(cell, inputs, self.state, walk)
        if self.on_step is not None:
            _tell(self.on_step, result, walk, self.batch, self.max_time)
        kept = (result.states,) if self.return_states else ()
        return (result.outputs, result.state, *kept, *((result.gates,) if self.return_gates else ()))


def prepare(
    owner: str,
    cell: Callable[..., Any],
    inputs: Any,
    *,
    suffix: str = "",
    sequence_length: Any = None,
    initial_state: Any = None,
    time_major: bool = False,
    reverse: bool = False,
    parallel_iterations: int | None = None,
    swap_memory: bool = False,
    return_states: bool = False,
    return_gates: bool = False,
    on_step: OnStep | None = None,
    resets: Any = None,
    reset_state: Any = None,
    checkpoint_every: int | None = None,
    implementation: str = "auto",
) -> Call:
    """Check the arguments of `dynamic_rnn` for `owner`, which may call its cell and its states by names with a suffix.

    Raises what `dynamic_rnn` raises before anything is computed.

    Example:
        >>> from dynrnn import GRUCell
        >>> prepare("both", GRUCell(2), torch.ones(3, 4, 5), suffix="_bw", initial_state=torch.ones(1, 2))
        Traceback (most recent call last):
        ValueError: both: initial_state_bw has shape [1, 2], expected [3, 2]...
    """
    time_major, reverse = as_flag(owner, "time_major", time_major), as_flag(owner, "reverse", reverse)
    check_cell(owner, cell, f"cell{suffix}")
    cell = without_needless_compiler(cell)
    inputs, batch, max_time = check_inputs(owner, cell, inputs, time_major)
    lengths = None
    if sequence_length is not None:
        lengths = check_lengths(owner, "sequence_length", sequence_length, batch, max_time)
    if resets is not None:
        resets = check_resets(owner, resets, batch, max_time, time_major=time_major)
    elif reset_state is not None:
        raise ValueError(f"{owner}: reset_state{suffix} has no effect without resets")
    for name, count in (("parallel_iterations", parallel_iterations), ("checkpoint_every", checkpoint_every)):
        if count is not None:
            check_size(owner, name, count)
    if on_step is not None and not callable(on_step):
        raise TypeError(f"{owner}: on_step must be a function (t, output, state, mask), got {type(on_step).__name__}")
    refuse_where_followed(owner, lengths, resets, checkpoint_every)
    state, from_zeros = None, initial_state is None and begins_with_zeros(cell)
    if not from_zeros:
        name = f"initial_state{suffix}"
        rows = lengths is not None
        state = beginning(owner, name, cell, inputs, initial_state, batch, time_major=time_major, rows=rows)
    if resets is not None:
        name = f"reset_state{suffix}"
        reset_state = beginning(owner, name, cell, inputs, reset_state, batch, time_major=time_major, rows=True)
    return_states = as_flag(owner, "return_states", return_states)
    return_gates = as_flag(owner, "return_gates", return_gates)
    swap_memory = as_flag(owner, "swap_memory", swap_memory)
    walk = Walk(
        lengths=lengths,
        time_major=time_major,
        reverse=reverse,
        parallel_iterations=parallel_iterations,
        checkpoint_every=checkpoint_every,
        resets=resets,
        reset_state=reset_state,
        keep_states=return_states or on_step is not None,
        keep_gates=return_gates,
        implementation=implementation,
    )
    check_request(implementation, find_obstacle, cell, inputs)
    kept = {"swap_memory": swap_memory, "return_states": return_states, "return_gates": return_gates}
    return Call(cell, inputs, state, walk, batch, max_time, from_zeros, on_step=on_step, **kept)


def _are_on_an_accelerator(inputs: Any) -> bool:
    return any(value.device.type != "cpu" for value in _nest.flatten(inputs))


def _tell(on_step: OnStep, result: Pass, walk: Walk, batch: int, max_time: int) -> None:
    longest = length_range(walk.lengths, batch, max_time)[1]
    lengths = torch.full((batch,), max_time, device="cpu") if walk.lengths is None else walk.lengths
    device = _nest.flatten(result.outputs)[0].device
    for t in reversed(range(longest)) if walk.reverse else range(longest):
        output, state = (
            _nest.map_structure(lambda value, t=t: value.select(walk.time_axis, t), nest)
            for nest in (result.outputs, result.states)
        )
        on_step(t, output, state, (t < lengths).to(device))
