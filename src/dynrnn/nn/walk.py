"""How a cell of any kind is run over a sequence: whole layers where the math is ours, else step by step.

Arguments are checked by then (`dynamic.py`). The loops themselves are in `dynrnn.rnn`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.utils.checkpoint import checkpoint

from dynrnn import _nest
from dynrnn.rnn import carry_states, reverse_sequence, run_steps
from dynrnn.rnn.lengths import length_mask

StepFunction = Callable[[Any, Any], tuple[Any, Any]]


@dataclass(frozen=True)
class Walk:
    """The facts of one pass over a sequence.

    `lengths` is int64 `[batch]` on the CPU or None; `resets` bool `[batch, time]` on the CPU or None, with the state
    `reset_state` that rows begin anew with (None: zeros). `fresh_state` makes that state where a row of the pass is
    cut, for one cell of several.
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

    @property
    def time_axis(self) -> int:
        """The axis of time in inputs and outputs."""
        return 0 if self.time_major else 1

    def part(self, reset_state: Any) -> Walk:
        """The same pass for a cell whose share of `reset_state` is given."""
        return replace(self, reset_state=reset_state)

    def mask(self, inputs: Tensor) -> Tensor | None:
        """Bool over the first two axes of `inputs`: which steps are valid. None: all."""
        if self.lengths is None:
            return None
        mask = length_mask(self.lengths.to(inputs.device), inputs.shape[self.time_axis])
        return mask.t() if self.time_major else mask


class Pass(NamedTuple):
    """What a pass leaves: outputs, the final state, and the states and gates where they were asked for, else None.

    States have the structure of the state, gates that of the cell, every tensor with the axis of time.
    """

    outputs: Any
    state: Any
    states: Any = None
    gates: Any = None


def runs_whole(cell: Any) -> bool:
    """Say whether `cell` runs over whole sequences: one of ours whose steps nobody has changed or watches by a hook."""
    owner = next((kind for kind in type(cell).__mro__ if "sequence" in vars(kind)), None)
    if owner is None:
        return False
    watched = cell._forward_hooks or cell._forward_pre_hooks or cell._backward_hooks or cell._backward_pre_hooks
    return type(cell).forward is owner.forward and not watched


def run_cell(cell: Any, inputs: Any, state: Any, walk: Walk) -> Pass:
    """Run any cell over `inputs`; `state` has the cell's structure."""
    if runs_whole(cell):
        return cell.sequence(inputs, state, walk)
    if walk.keep_gates:
        raise ValueError(f"return_gates: {kind_of(cell)} has no gates that could be returned")
    return run_by_steps(cell, inputs, state, walk)


def kind_of(cell: Any) -> str:
    """A cell's name for messages."""
    return getattr(cell, "__name__", type(cell).__name__)


def run_by_steps(step: StepFunction, inputs: Any, state: Any, walk: Walk, output_sizes: Any = None) -> Pass:
    """Call `step(inputs_t, state) -> (output, new_state)` for every step up to the longest row.

    `inputs` is a nest of tensors, `state` one too; outputs may be nested as well, in the same way at every step. Where
    no step runs, `step` is called once on zeros, to learn what its outputs are.
    """
    if walk.checkpoint_every is not None and torch.is_grad_enabled():
        return _run_stretches(step, inputs, state, walk)
    leaves, flat_state = _nest.flatten(inputs), _nest.flatten(state)
    caller = _Caller(step, inputs, state, walk)
    specs = None if _any_step(leaves[0], walk) else caller.probe(leaves, flat_state)
    outputs, final = run_steps(
        caller, leaves, flat_state, lengths=walk.lengths, output_specs=specs, time_major=walk.time_major,
        reverse=walk.reverse,
    )
    count = len(outputs) - len(caller.kept)
    states = None
    if walk.keep_states:
        kept = [outputs[index] if index >= 0 else outputs[count + ~index] for index in caller.places]
        filled = [
            carry_states(value, initial, walk.lengths, time_major=walk.time_major, reverse=walk.reverse)
            for value, initial in zip(kept, flat_state, strict=True)
        ]
        states = _nest.pack_sequence_as(state, filled)
    return Pass(_nest.pack_sequence_as(caller.like, outputs[:count]), _nest.pack_sequence_as(state, final), states)


def _any_step(inputs: Tensor, walk: Walk) -> bool:
    if not inputs.shape[0] or not inputs.shape[1]:
        return False
    return walk.lengths is None or bool(walk.lengths.any())


class _Caller:
    """A user's step as the loop calls it: nests outside, flat lists inside, states begun anew where rows are cut."""

    def __init__(self, step: StepFunction, inputs: Any, state: Any, walk: Walk) -> None:
        self._step = step
        self._inputs = inputs
        self._state = state
        self._walk = walk
        self._fresh = _restarts(_nest.flatten(inputs)[0], state, walk)
        self.like: Any = None  # the outputs' structure, once it is known
        self.kept: list[Tensor] = []
        self.places: list[int] = []
        self._index = 0

    def __call__(self, inputs: list[Tensor], state: list[Tensor]) -> tuple[list[Tensor], list[Tensor]]:
        if self._fresh is not None:
            state = self._fresh(self._index, state)
        self._index += 1
        result = self._step(_nest.pack_sequence_as(self._inputs, inputs), _nest.pack_sequence_as(self._state, state))
        if not isinstance(result, (tuple, list)) or len(result) != 2:
            raise TypeError(f"{kind_of(self._step)} must return (output, state), got {type(result).__name__}")
        output, new_state = result
        _same_structure(self._step, "state", self._state, new_state)
        if self.like is None:
            self.like = output
        else:
            _same_structure(self._step, "output", self.like, output)
        outputs, flat = _nest.flatten(output), _nest.flatten(new_state)
        return (outputs + self._keep(flat) if self._walk.keep_states else outputs), flat

    def _keep(self, state: list[Tensor]) -> list[Tensor]:
        for value in state:
            if isinstance(value, Tensor) and value.ndim == 0:
                raise ValueError("return_states: a state of rank 0 belongs to no row, so it has no state per row")
        self.kept, self.places = state, [~index for index in range(len(state))]
        return state

    def probe(self, leaves: list[Tensor], state: list[Tensor]) -> list[Any]:
        """Learn what the outputs are from a call on zeros, of which nothing else is kept."""
        axes = slice(1, None) if self._walk.time_major else slice(None)
        zeros = [value.new_zeros(value.shape[1:] if self._walk.time_major else (value.shape[0], *value.shape[2:])) for value in leaves]
        del axes
        with torch.no_grad():
            outputs, _ = self(zeros, state)
        self._index = 0
        return [(tuple(value.shape[1:]), value.dtype) for value in outputs]
