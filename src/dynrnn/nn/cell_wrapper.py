"""What wrappers of one cell share; each of them is in a file of its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from dynrnn.nn.cell import RNNCell
from dynrnn.nn.given_state import ExpectedState
from dynrnn.nn.kinds import check_cell, given_state_of, zero_state_of


class CellWrapper(RNNCell):
    """A cell around another one, `cell`, whose state and sizes it has."""

    def __init__(self, cell: Callable[..., Any]) -> None:
        super().__init__()
        check_cell(type(self).__name__, cell)
        self.cell = cell

    @property
    def state_size(self) -> Any:
        """The inner cell's state size."""
        return self.cell.state_size  # type: ignore[attr-defined]

    @property
    def output_size(self) -> Any:
        """The inner cell's output size."""
        return self.cell.output_size  # type: ignore[attr-defined]

    def zero_state(
        self, batch_size: int, *, dtype: torch.dtype | None = None, device: torch.device | str | None = None
    ) -> Any:
        """The inner cell's zero state."""
        like = next(self.parameters(), None)
        dtype = dtype or (torch.get_default_dtype() if like is None else like.dtype)
        where = torch.device(device or (torch.get_default_device() if like is None else like.device))
        return zero_state_of(type(self).__name__, self.cell, batch_size, dtype=dtype, device=where)

    def _inner_cells(self) -> tuple[Any, ...]:
        """The inner cell."""
        return (self.cell,)

    def _checked_state(self, state: Any, expected: ExpectedState) -> Any:
        """The state, as the inner cell takes it, unless a subclass has sizes of its own."""
        if type(self).state_size is not CellWrapper.state_size:
            return super()._checked_state(state, expected)
        return given_state_of(self.cell, state, expected)

    def _check_call_inputs(self, owner: str, inputs: Any, axes: tuple[str, ...]) -> None:
        """Refuse what the inner cell refuses."""
        if isinstance(self.cell, RNNCell):
            self.cell._check_call_inputs(owner, inputs, axes)
