"""Sequences that arrive piece by piece: the state is carried from call to call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from dynrnn import _nest
from dynrnn.nn.chunks import detached
from dynrnn.nn.dynamic import check_inputs, dynamic_rnn
from dynrnn.nn.kinds import kind_of, zero_state_of


class Stream:
    """A cell, or a module such as `dynrnn.LSTM`, that goes on where its last call ended.

    A call takes the next piece of every row and returns its outputs; all pieces together give the numbers of one run
    over the whole. `time_major` is the layout for a cell; a module has its own `batch_first`. With `detach` no gradient
    goes back into earlier calls (truncated backpropagation), otherwise the graph grows with every call. Weights are
    read anew in every call; for inference in short pieces, `dynrnn.frozen(cell)` around the calls keeps them packed.

    Raises ValueError for a bidirectional module, which would have to know the future.

    Example:
        >>> from dynrnn import GRUCell, dynamic_rnn
        >>> cell, inputs = GRUCell(4, 3), torch.ones(2, 5, 3)
        >>> stream = Stream(cell)
        >>> pieces = [stream(inputs[:, :2]), stream(inputs[:, 2:])]
        >>> torch.allclose(torch.cat(pieces, 1), dynamic_rnn(cell, inputs)[0], rtol=0, atol=1e-6)
        True
    """

    def __init__(self, cell: Callable[..., Any], *, time_major: bool = False, detach: bool = True) -> None:
        self._is_module = isinstance(cell, nn.RNNBase)
        if isinstance(cell, nn.RNNBase):
            if cell.bidirectional:
                raise ValueError(
                    f"Stream: {kind_of(cell)} is bidirectional, and its backward direction would begin in the future"
                )
            if time_major:
                raise ValueError("Stream: time_major is for cells; a module has batch_first")
            time_major = not cell.batch_first
        self.cell = cell
        self.time_major = time_major
        self._detach = detach
        self._state: Any = None
        self._batch: int | None = None
        self._kind: tuple[torch.dtype, torch.device] | None = None  # of the inputs

    @property
    def state(self) -> Any:
        """The state after the last call, as the cell or the module has it; None before the first."""
        return self._state

    @property
    def batch_size(self) -> int | None:
        """How many rows there are, None before the first call."""
        return self._batch

    def __call__(self, inputs: Any, *, sequence_length: Any = None) -> Any:
        """Run the next piece: inputs and lengths as `dynamic_rnn` or the module takes them; returns its outputs.

        A row of length 0 stands still. Raises ValueError for another batch size than before, and what `dynamic_rnn` or
        the module raises; the state then stays as it was.
        """
        inputs, batch, _ = check_inputs("Stream", self.cell, inputs, self.time_major)
        if self._batch is not None and batch != self._batch:
            raise ValueError(
                f"Stream: inputs have batch = {batch}, but the stream carries the state of {self._batch} rows; "
                "call reset() to begin with other rows"
            )
        if self._is_module:
            lengths = {} if sequence_length is None else {"lengths": sequence_length}
            outputs, state = self.cell(inputs, self._state, **lengths)
        else:
            outputs, state = dynamic_rnn(
                self.cell,
                inputs,
                sequence_length=sequence_length,
                initial_state=self._state,
                time_major=self.time_major,
            )
        first = inputs if isinstance(inputs, Tensor) else _nest.flatten(inputs)[0]
        self._batch, self._kind = batch, (first.dtype, first.device)
        self._state = detached(state) if self._detach else state
        return outputs

    def detach(self) -> None:
        """Cut the state off from the calls that led to it."""
        if self._state is not None:
            self._state = detached(self._state)

    def reset(self, rows: Any = None) -> None:
        """Begin anew, all rows or those that are given: indices, or a bool for every row.

        Without `rows` the next call may have another batch size. Raises ValueError for a bool tensor of another size,
        IndexError for a row that is not there.
        """
        if rows is None:
            self._state = self._batch = self._kind = None
            return
        if self._batch is None or self._kind is None:
            return
        chosen = self._chosen(torch.as_tensor(rows)).to(self._kind[1])
        axis = 1 if self._is_module else 0
        fresh = self._fresh()

        def begin(value: Tensor, new: Tensor) -> Tensor:
            if not value.ndim:
                raise ValueError("Stream: a state of rank 0 belongs to no row, so no row of it can begin anew")
            shape = [1] * value.ndim
            shape[axis] = -1
            return torch.where(chosen.view(shape), new, value)

        self._state = _nest.map_structure(begin, self._state, fresh)

    def _chosen(self, rows: Tensor) -> Tensor:
        assert self._batch is not None
        if rows.dtype == torch.bool:
            if tuple(rows.shape) != (self._batch,):
                raise ValueError(f"Stream: rows must have shape [{self._batch}] (batch), got {list(rows.shape)}")
            return rows
        chosen = torch.zeros(self._batch, dtype=torch.bool)
        chosen[rows.long().cpu()] = True
        return chosen

    def _fresh(self) -> Any:
        assert self._batch is not None and self._kind is not None
        if self._is_module:
            return _nest.map_structure(torch.zeros_like, self._state)
        dtype, device = self._kind
        dtype = dtype if dtype.is_floating_point else torch.get_default_dtype()
        return zero_state_of("Stream", self.cell, self._batch, dtype=dtype, device=device)
