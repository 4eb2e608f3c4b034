"""Sequences that arrive piece by piece: the state is carried from call to call."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence

from dynrnn import _nest
from dynrnn.errors import dtype_name
from dynrnn.nn.arguments import as_flag, check_inputs
from dynrnn.nn.arrange import batch_of
from dynrnn.nn.chunks import detached
from dynrnn.nn.compiled import uncompiled
from dynrnn.nn.dynamic import dynamic_rnn
from dynrnn.nn.kinds import check_cell, kind_of, zero_state_of
from dynrnn.nn.lengths import as_host_tensor


class Stream:
    """A cell, or a module such as `dynrnn.LSTM`, that goes on where its last call ended.

    A call takes the next piece of every row and returns its outputs; all pieces together give the numbers of one run
    over the whole. `time_major` is the layout for a cell; a module has its own `batch_first`. With `detach` no gradient
    goes back into earlier calls (truncated backpropagation), otherwise the graph grows with every call. Weights are
    read anew in every call; for inference in short pieces, `dynrnn.frozen(cell)` around the calls keeps them packed.

    Raises TypeError for what is neither, and ValueError for a bidirectional module, whose backward direction would need
    future inputs, and for `time_major` with a module.

    Example:
        >>> from dynrnn import GRUCell, dynamic_rnn
        >>> cell, inputs = GRUCell(4, 3), torch.ones(2, 5, 3)
        >>> stream = Stream(cell)
        >>> pieces = [stream(inputs[:, :2]), stream(inputs[:, 2:])]
        >>> torch.allclose(torch.cat(pieces, 1), dynamic_rnn(cell, inputs)[0], rtol=0, atol=1e-6)
        True
    """

    def __init__(self, cell: Callable[..., Any], *, time_major: bool = False, detach: bool = True) -> None:
        time_major, detach = as_flag("Stream", "time_major", time_major), as_flag("Stream", "detach", detach)
        module = uncompiled(cell)
        self._module = module if isinstance(module, nn.RNNBase) else None
        if self._module is None:
            check_cell("Stream", cell)
        else:
            if self._module.bidirectional:
                raise ValueError(
                    f"Stream: {kind_of(cell)} is bidirectional, and its backward direction would need future inputs"
                )
            if time_major:
                raise ValueError("Stream: time_major is for cells; a module has batch_first")
            time_major = not self._module.batch_first
            self._takes_lengths = "lengths" in inspect.signature(self._module.forward).parameters
        self.cell = cell
        self.time_major = time_major
        self._detach = detach
        self._state: Any = None
        self._batch: tuple[int, ...] | None = None  # of the state: () for one sequence without batch
        self._kind: tuple[torch.dtype, torch.device] | None = None  # of a cell's inputs

    @property
    def state(self) -> Any:
        """The state after the last call, as the cell or the module has it; None before the first."""
        return self._state

    @property
    def batch_size(self) -> int | None:
        """How many rows there are, 1 for a sequence without batch; None before the first call."""
        return None if self._batch is None else (*self._batch, 1)[0]

    def __call__(self, inputs: Any, *, sequence_length: Any = None) -> Any:
        """Run the next piece and return its outputs.

        For a cell, `inputs` and outputs are those of `dynamic_rnn`: `[batch, time, ...]`, or time first, or nested
        tensors of such. For a module they are what the module takes and gives, in any of its forms: a padded batch, one
        sequence `[time, input_size]`, a PackedSequence, a jagged tensor, a list of sequences; rows are the same ones in
        every call, and pieces of theirs may be of any length, also 0. `sequence_length` `[batch]`, integers within
        0..time, says how many steps of a padded batch are each row's (None: all). A row of length 0 stands still.

        Raises ValueError for another batch size than before; TypeError where a module of torch, which takes no lengths,
        is given some, or inputs that only ours take; and what `dynamic_rnn` or the module raises, where lengths are
        called `lengths`. The state then stays as it was.

        Example:
            >>> from dynrnn import LSTM
            >>> stream = Stream(LSTM(3, 4, batch_first=True))
            >>> stream(torch.ones(2, 5, 3), sequence_length=[5, 2]).shape, stream(torch.ones(2, 1, 3)).shape
            (torch.Size([2, 5, 4]), torch.Size([2, 1, 4]))
        """
        if self._module is None:
            inputs, rows, _ = check_inputs("Stream", self.cell, inputs, self.time_major)
            batch = (rows,)
        else:
            self._check_module_takes(inputs, sequence_length)
            batch = batch_of(inputs, self._module.batch_first)
        if self._batch is not None and batch is not None and batch != self._batch:
            got = f"have batch = {batch[0]}" if batch else "are one sequence without batch"
            carried = f"{self._batch[0]} rows" if self._batch else "one sequence without batch"
            raise ValueError(
                f"Stream: inputs {got}, but the stream carries the state of {carried}; call reset() to begin with "
                "other rows"
            )
        if self._module is None:
            outputs, state = dynamic_rnn(
                self.cell,
                inputs,
                sequence_length=sequence_length,
                initial_state=self._state,
                time_major=self.time_major,
            )
            first = inputs if isinstance(inputs, Tensor) else _nest.flatten(inputs)[0]
            self._kind = first.dtype, first.device
        else:
            lengths = {} if sequence_length is None else {"lengths": sequence_length}
            outputs, state = self.cell(inputs, self._state, **lengths)
        self._batch = batch
        self._state = detached(state) if self._detach else state
        return outputs

    def detach(self) -> None:
        """Cut the state off from the calls that led to it."""
        if self._state is not None:
            self._state = detached(self._state)

    def reset(self, rows: Any = None) -> None:
        """Begin anew, all rows or those that are given: indices (a list, an array, a tensor), or bools `[batch]`.

        Without `rows` the next call may have another batch size. Before the first call there is nothing to begin anew.
        Raises TypeError for what is neither, ValueError for bools of another size, IndexError for a row that is not
        there.

        Example:
            >>> from dynrnn import GRUCell
            >>> stream = Stream(GRUCell(4, 3))
            >>> _ = stream(torch.ones(2, 5, 3))
            >>> stream.reset([1])
            >>> stream.state.any(1).tolist()
            [True, False]
        """
        if rows is None:
            self._state = self._batch = self._kind = None
            return
        if self._batch is None:
            return
        chosen = self._chosen(rows)
        axis = 0 if self._module is None else 1

        def begin(value: Tensor, new: Tensor) -> Tensor:
            if not value.ndim:
                raise ValueError("Stream: a state of rank 0 belongs to no row, so no row of it can begin anew")
            shape = [1] * value.ndim
            shape[axis] = -1
            return torch.where(chosen.to(value.device).view(shape), new.to(value), value)

        self._state = _nest.map_structure(begin, self._state, self._fresh())

    def _check_module_takes(self, inputs: Any, sequence_length: Any) -> None:
        """Refuse what only our modules take where the module is one of torch's."""
        if self._takes_lengths:
            return
        assert self._module is not None
        kind = self._module.mode.partition("_")[0]
        advice = f"use dynrnn.{kind}, or dynrnn.convert(module)"
        if sequence_length is not None:
            raise TypeError(
                f"Stream: sequence_length must be None for a torch.nn.{kind}, which takes no lengths; {advice}"
            )
        if not isinstance(inputs, (Tensor, PackedSequence)) or (isinstance(inputs, Tensor) and inputs.is_nested):
            got = "a nested tensor" if isinstance(inputs, Tensor) else f"a {type(inputs).__name__}"
            raise TypeError(
                f"Stream: inputs must be a padded batch or a PackedSequence for a torch.nn.{kind}, got {got}; {advice}"
            )

    def _chosen(self, rows: Any) -> Tensor:
        """Bool `[batch]`: which rows are meant."""
        assert self.batch_size is not None
        count = self.batch_size
        values = as_host_tensor("Stream", "rows", rows, "indices or bools").cpu()
        if values.dtype == torch.bool:
            if tuple(values.shape) != (count,):
                raise ValueError(f"Stream: rows must have shape [{count}] (batch), got {list(values.shape)}")
            return values
        if values.numel() and (values.is_floating_point() or values.is_complex()):
            raise TypeError(f"Stream: rows must be indices or bools, got {dtype_name(values.dtype)}")
        values = values.flatten().long()
        missing = values[(values < -count) | (values >= count)]
        if len(missing):
            raise IndexError(f"Stream: rows must be within 0..{count - 1}, got {int(missing[0])}")
        chosen = torch.zeros(count, dtype=torch.bool, device="cpu")
        chosen[values] = True
        return chosen

    def _fresh(self) -> Any:
        if self._module is not None:
            return _nest.map_structure(torch.zeros_like, self._state)
        assert self.batch_size is not None and self._kind is not None
        dtype, device = self._kind
        dtype = dtype if dtype.is_floating_point else torch.get_default_dtype()
        return zero_state_of("Stream", self.cell, self.batch_size, dtype=dtype, device=device)
