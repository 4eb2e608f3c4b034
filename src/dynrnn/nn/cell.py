"""What every cell of the native face is. Cells made from the table of cells are in `spec_cell.py` and `cells.py`."""

from __future__ import annotations

from typing import Any

import torch

from dynrnn.nn.parameters import ParameterScope
from dynrnn.nn.state import zeros_like_sizes


class RNNCell(ParameterScope):
    """One step of a recurrent network as a module: `forward(inputs, state) -> (output, state)`.

    A cell of your own may inherit from this or be any module or function of that signature; what helps are the
    attributes `state_size` (an int or a `torch.Size`, or such nested as the state is) and `output_size`, from which
    `zero_state` follows.
    """

    is_rnn_cell = True

    @property
    def state_size(self) -> Any:
        """Width of each state tensor, nested as the state is."""
        raise NotImplementedError(f"{type(self).__name__} must have a state_size")

    @property
    def output_size(self) -> Any:
        """Width of the output, nested as the output is."""
        raise NotImplementedError(f"{type(self).__name__} must have an output_size")

    def zero_state(
        self, batch_size: int, *, dtype: torch.dtype | None = None, device: torch.device | str | None = None
    ) -> Any:
        """Make a state of zeros: `[batch_size, size]` for every size in `state_size`, by default like the weights.

        Example:
            >>> from dynrnn import LSTMCell
            >>> LSTMCell(4, 3).zero_state(2).c.shape
            torch.Size([2, 4])
        """
        like = next(self.parameters(), None)
        if like is not None:
            dtype, device = dtype or like.dtype, device or like.device
        return zeros_like_sizes(self.state_size, batch_size, dtype, device)

    def fitting_state(self, state: Any, batch_size: int, dtype: torch.dtype, device: torch.device) -> Any:
        """A given state in the cell's structure, if it can be seen at once that it fits; None leaves it to be checked.

        Cells that know nothing see nothing.
        """
        return None

    def check_inputs(self, owner: str, inputs: Any, axes: tuple[str, ...]) -> None:
        """Refuse inputs that this cell cannot take, in the name of `owner`; cells that know nothing take all.

        `axes` are the names of the axes before the last one: ("batch",) for a step, ("batch", "time") for sequences.
        """
