"""Zoneout around a cell: entries of the state that keep their old value instead of taking the new one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import torch
from torch import Tensor

from dynrnn import _nest
from dynrnn.cells.options import check_rate
from dynrnn.nn.cell_wrapper import CellWrapper
from dynrnn.nn.kinds import kind_of
from dynrnn.nn.nesting import find_difference
from dynrnn.nn.running import is_ours, step_of
from dynrnn.nn.state import memories_in
from dynrnn.nn.step import Step
from dynrnn.nn.steps import run_by_steps
from dynrnn.nn.walk import Pass, Walk


class ZoneoutWrapper(CellWrapper):
    """A cell whose state keeps entries of the step before: each entry with probability `zoneout`, drawn every step.

        training:    s' = z * s + (1 - z) * cell's s',    z drawn from 0 and 1
        evaluation:  s' = zoneout * s + (1 - zoneout) * cell's s'    (the expectation)

    `cell_zoneout` is the probability for an LSTM's c, `zoneout` the one for its h and for the state of other cells.
    This holds for each LSTM inside a cell of several. Where the cell's output is its h, the output is h with its old
    entries too. Draws come from torch's generator. A cell of ours is run step by step, up to the longest row. Raises
    ValueError for a probability outside 0..1, and for a `cell_zoneout` where the state holds no LSTMState. Krueger et
    al., arXiv:1606.01305.

    Example:
        >>> from dynrnn import LSTMCell, dynamic_rnn
        >>> cell = ZoneoutWrapper(LSTMCell(4), zoneout=0.1, cell_zoneout=0.5)
        >>> outputs, state = dynamic_rnn(cell, torch.ones(2, 3, 5))
        >>> torch.equal(outputs[:, -1], state.h)
        True
    """

    def __init__(self, cell: Callable[..., Any], *, zoneout: float = 0.1, cell_zoneout: float = 0.0) -> None:
        super().__init__(cell)
        self.zoneout = check_rate("ZoneoutWrapper", "zoneout", zoneout)
        self.cell_zoneout = check_rate("ZoneoutWrapper", "cell_zoneout", cell_zoneout)
        if is_ours(cell):  # others are asked for their first new state
            self._check_effect(memories_in(self.state_size))

    def forward(self, inputs: Any, state: Any = None) -> tuple[Any, Any]:
        """Run one step of the inner cell and keep entries of the state."""
        return self._step(self.cell, inputs, self._given_or_zero(inputs, state))

    def _run_whole(self, inputs: Any, state: Any, walk: Walk) -> Pass:
        """Run the inner cell step by step; see `dynrnn.dynamic_rnn`, which calls this."""
        if walk.keep_gates:
            raise ValueError("return_gates: ZoneoutWrapper runs its cell by steps and keeps no gates")
        return run_by_steps(self._prepared_step(walk.one_step(inputs), state), inputs, state, walk)

    def _prepared_step(self, like: Any, state: Any) -> Step:
        step = step_of(self.cell, like, state)
        return replace(step, call=partial(self._step, step.call))

    def _why_by_steps(self) -> str | None:
        """Zoneout is in every step."""
        return "zoneout changes the state at every step"

    def _step(self, step: Callable[..., Any], inputs: Any, state: Any) -> tuple[Any, Any]:
        output, new = step(inputs, state)
        mixed = self._mixed(state, new)
        if isinstance(output, Tensor):  # an output that is a tensor of the state stays so
            for before, after in zip(_nest.flatten(new), _nest.flatten(mixed), strict=True):
                if before is output:
                    output = after
        return output, mixed

    def _mixed(self, old: Any, new: Any) -> Any:
        before, after, memories = _nest.flatten(old), _nest.flatten(new), memories_in(new)
        if len(before) != len(after):
            difference = find_difference(old, new, "state")
            raise ValueError(f"{kind_of(self.cell)} must return a state nested as before: {difference}")
        self._check_effect(memories)
        mixed = [
            self._keep(one, two, self.cell_zoneout if is_memory else self.zoneout)
            for one, two, is_memory in zip(before, after, memories, strict=True)
        ]
        return _nest.pack_sequence_as(new, mixed)

    def _check_effect(self, memories: list[bool]) -> None:
        if self.cell_zoneout and not any(memories):
            raise ValueError(
                f"ZoneoutWrapper: cell_zoneout={self.cell_zoneout} has no effect, because the state of "
                f"{kind_of(self.cell)} holds no LSTMState; pass zoneout"
            )

    def _keep(self, old: Tensor, new: Tensor, rate: float) -> Tensor:
        if not rate or not new.is_floating_point():
            return new
        if not self.training:
            return torch.lerp(new, old, rate)
        return torch.where(torch.rand_like(new) < rate, old, new)
