"""Zoneout around a cell: entries of the state that keep their old value instead of taking the new one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import torch
from torch import Tensor

from dynrnn import _nest
from dynrnn.nn.dropout import check_rate
from dynrnn.nn.running import step_of
from dynrnn.nn.state import LSTMState
from dynrnn.nn.steps import run_by_steps
from dynrnn.nn.walk import Pass, Walk
from dynrnn.nn.wrappers import CellWrapper


class ZoneoutWrapper(CellWrapper):
    """A cell whose state keeps entries of the step before: each entry with probability `zoneout`, drawn every step.

        training:    s' = z * s + (1 - z) * cell's s',    z drawn from 0 and 1
        evaluation:  s' = zoneout * s + (1 - zoneout) * cell's s'    (the expectation)

    `cell_zoneout` is the probability for an LSTM's c, `zoneout` the one for its h and for the state of other cells.
    Where the cell's output is its h, the output is h with its old entries too. Draws come from torch's generator. A
    cell of ours is run step by step, up to the longest row. Raises ValueError for a probability outside 0..1. Krueger
    et al., arXiv:1606.01305.

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

    def forward(self, inputs: Any, state: Any = None) -> tuple[Any, Any]:
        """Run one step of the inner cell and keep entries of the state."""
        return self._step(self.cell, inputs, self.given_or_zero(inputs, state))

    def sequence(self, inputs: Any, state: Any, walk: Walk) -> Pass:
        """Run the inner cell step by step; see `dynrnn.dynamic_rnn`, which calls this."""
        if walk.keep_gates:
            raise ValueError("return_gates: ZoneoutWrapper runs its cell by steps and keeps no gates")
        step = step_of(self.cell, inputs)
        return run_by_steps(replace(step, call=partial(self._step, step.call)), inputs, state, walk)

    def why_by_steps(self) -> str | None:
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
        if isinstance(new, LSTMState):
            return LSTMState(self._keep(old[0], new.c, self.cell_zoneout), self._keep(old[1], new.h, self.zoneout))
        return _nest.map_structure(lambda one, two: self._keep(one, two, self.zoneout), old, new, check_types=False)

    def _keep(self, old: Tensor, new: Tensor, rate: float) -> Tensor:
        if not rate or not new.is_floating_point():
            return new
        if not self.training:
            return torch.lerp(new, old, rate)
        return torch.where(torch.rand_like(new) < rate, old, new)
