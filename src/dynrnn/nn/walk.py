"""The facts of one pass over a sequence, and what it leaves.

A cell of ours has a method `_run_whole(inputs, state, walk) -> Pass`, by which `run_cell` in `running.py` runs it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from torch import Tensor

from dynrnn import _nest
from dynrnn.rnn import length_mask


@dataclass(slots=True)  # not frozen, which takes three times as long to make; nobody writes to it all the same
class Walk:
    """How a sequence is walked; all arguments have been checked by then.

    `lengths` is int64 `[batch]` on the CPU, or None. `resets` is bool `[batch, time]` on the CPU, or None: before
    these steps rows begin anew, with `reset_state` (a state like the cell's; None: zeros).
    """

    lengths: Tensor | None
    time_major: bool = False
    reverse: bool = False
    parallel_iterations: int | None = None
    checkpoint_every: int | None = None
    resets: Tensor | None = None
    reset_state: Any = None
    keep_states: bool = False
    keep_gates: bool = False
    implementation: str = "auto"

    @property
    def time_axis(self) -> int:
        """The axis of time in inputs and outputs."""
        return 0 if self.time_major else 1

    def one_step(self, inputs: Any) -> Any:
        """Tensors that are nested and shaped as the inputs of one step."""
        axis = self.time_axis
        return _nest.map_structure(lambda value: value.new_zeros(value.shape[:axis] + value.shape[axis + 1 :]), inputs)

    def of_part(self, key: Any) -> Walk:
        """The same pass for one of several cells, whose part of the states stands at `key`."""
        return self if self.reset_state is None else replace(self, reset_state=self.reset_state[key])

    def mask(self, inputs: Tensor) -> Tensor | None:
        """Bool over the first two axes of `inputs`: which steps are valid. None: all."""
        if self.lengths is None:
            return None
        mask = length_mask(self.lengths.to(inputs.device), inputs.shape[self.time_axis])
        return mask.t() if self.time_major else mask


class Pass(NamedTuple):
    """Outputs, the final state, and states and gates at every step where they were asked for, else None.

    States have the structure of the state, gates that of the cell; each of their tensors has the axis of time.
    """

    outputs: Any
    state: Any
    states: Any = None
    gates: Any = None
