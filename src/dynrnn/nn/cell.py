"""What every cell of the native face is. Cells made from the table of cells are in `spec_cell.py` and `cells.py`."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from dynrnn import _nest
from dynrnn.nn.given_state import ExpectedState, checked_state
from dynrnn.nn.parameters import ParameterScope
from dynrnn.nn.state import zeros_like_sizes


class RNNCell(ParameterScope):
    """One step of a recurrent network as a module: `forward(inputs, state) -> (output, state)`.

    A cell of your own may inherit from this or be any module or function of that signature; what helps are the
    attributes `state_size` (an int or a `torch.Size`, or such nested as the state is) and `output_size`, from which
    `zero_state` follows.

    It is faster where its step can be cut in two, `recur(input_product(inputs), state) -> (output, state)`: loops then
    compute the products of many steps at once. `input_product` takes rows `[n, ...]` of the inputs, whose number has
    nothing to do with the batch, and returns tensors `[n, ...]`, nested as you like, each row from its own inputs.
    `recur` takes `[batch, ...]` of the products. A cell that has these two needs no `forward`; one that is no RNNCell
    may have them too, and its step must then be the same as the two.

    Example:
        >>> from dynrnn import dynamic_rnn
        >>> class Elman(RNNCell):
        ...     state_size = output_size = 4
        ...     def __init__(self):
        ...         super().__init__()
        ...         self.input_product, self.hidden = torch.nn.Linear(3, 4), torch.nn.Linear(4, 4, bias=False)
        ...     def recur(self, product, state):
        ...         new = torch.tanh(product + self.hidden(state))
        ...         return new, new
        >>> outputs, state = dynamic_rnn(Elman(), torch.ones(2, 5, 3), sequence_length=[5, 2])
        >>> torch.equal(outputs[1, 1], state[1])
        True
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

    def forward(self, inputs: Any, state: Any = None) -> tuple[Any, Any]:
        """Run one step, `recur(input_product(inputs), state)`, from a state of zeros where none is given."""
        input_product, recur = getattr(self, "input_product", None), getattr(self, "recur", None)
        if input_product is None or recur is None:
            raise NotImplementedError(f"{type(self).__name__} must have a forward, or an input_product and a recur")
        return recur(input_product(inputs), self._given_or_zero(inputs, state))

    def _given_or_zero(self, inputs: Any, state: Any) -> Any:
        """The state that a step was given, or zeros."""
        if state is not None:
            return state
        first = inputs if isinstance(inputs, Tensor) else _nest.flatten(inputs)[0]
        return self.zero_state(first.shape[0], device=first.device)

    # What loops ask of a cell. Cells of yours need none of it, and the names leave theirs alone. Cells that are run
    # over whole sequences also have `_run_whole(inputs, state, walk) -> Pass`, and for loops by steps
    # `_prepared_step(like, state) -> Step`.

    def _inner_cells(self) -> tuple[Any, ...]:
        """The cells inside, which are run as cells of their own."""
        return ()

    def _why_by_steps(self) -> str | None:
        """Why the cells inside are called step by step, in words that follow "because"; None where they need not be."""
        return None

    def _checked_state(self, state: Any, expected: ExpectedState) -> Any:
        """A state that somebody gives, in the cell's structure; raises where it does not fit."""
        return checked_state(self.state_size, state, expected)

    def _check_call_inputs(self, owner: str, inputs: Any, axes: tuple[str, ...]) -> None:
        """Refuse inputs that this cell cannot take, in the name of `owner`; cells that know nothing take all.

        `axes` are the names of the axes before the last one: ("batch",) for a step, ("batch", "time") for sequences.
        """
