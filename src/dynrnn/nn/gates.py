"""What `return_gates` returns: the gates of a cell over a whole sequence."""

from __future__ import annotations

from typing import Any, NamedTuple

from torch import Tensor

from dynrnn.nn.state import name_for_export


class LSTMGates(NamedTuple):
    """What enters an LSTM's new state, `[batch, time, units]` each: i, f and o after their sigmoid, j after tanh."""

    i: Tensor
    j: Tensor
    f: Tensor
    o: Tensor


class GRUGates(NamedTuple):
    """What enters a GRU's new state, `[batch, time, units]` each: r and u after their sigmoid, c after tanh."""

    r: Tensor
    u: Tensor
    c: Tensor


for _kind in (LSTMGates, GRUGates):
    name_for_export(_kind)

GATES: dict[tuple[str, ...], Any] = {kind._fields: kind for kind in (LSTMGates, GRUGates)}
