"""`MultiRNNCell`: cells on top of each other."""

from __future__ import annotations

from typing import Any

from ... import _nest
from ...graph.shape import as_shape
from ..export import export
from ..graph import Tensor
from ..ops.array.joining import concat
from ..ops.array.splitting import split
from ..ops.convert import convert_to_tensor
from ..scopes import name_scope
from ..variable_scope import variable_scope
from .base import RNNCell, check_cell
from .config import described, made


@export("nn.rnn_cell.MultiRNNCell")
class MultiRNNCell(RNNCell):
    """Cells stacked so that each one's output is the next one's input.

    cells: a list of cells. state_is_tuple: whether the state is a tuple with one entry a cell, or all of them side by
    side in one tensor.

    Raises:
        ValueError: no cells; or cells with tuple states under `state_is_tuple=False`. TypeError: not a list, or an item
        that is no cell.

    Example:
        >>> import dynrnn.tf1 as tf
        >>> cell = tf.nn.rnn_cell.MultiRNNCell([tf.nn.rnn_cell.GRUCell(4), tf.nn.rnn_cell.LSTMCell(3)])
        >>> cell.state_size
        (4, LSTMStateTuple(c=3, h=3))
    """

    def __init__(self, cells: Any, state_is_tuple: bool = True):
        super().__init__()
        if not isinstance(cells, (list, tuple)):
            raise TypeError(f"cells must be a list or tuple, but saw: {cells}.")
        if not cells:
            raise ValueError("Must specify at least one cell for MultiRNNCell.")
        for number, cell in enumerate(cells):
            check_cell(f"cells[{number}]", cell)
        self._cells = list(cells)
        self._state_is_tuple = state_is_tuple
        if not state_is_tuple and any(_nest.is_nested(cell.state_size) for cell in cells):
            raise ValueError(
                "Some cells return tuples of states, but the flag state_is_tuple is not set. State sizes are: "
                f"{[cell.state_size for cell in cells]}"
            )

    @property
    def cells(self) -> list[Any]:
        return list(self._cells)

    @property
    def state_size(self) -> Any:
        sizes = tuple(cell.state_size for cell in self._cells)
        return sizes if self._state_is_tuple else sum(sizes)

    @property
    def output_size(self) -> Any:
        return self._cells[-1].output_size

    def _all_variables(self) -> list[Any]:
        found = {id(variable): variable for cell in self._cells for variable in getattr(cell, "weights", [])}
        found.update((id(variable), variable) for variable in self._variables)
        return list(found.values())

    def get_config(self) -> dict[str, Any]:
        """The cells, described, and how the state is held; `from_config` takes them."""
        return {"cells": [described(cell) for cell in self._cells], "state_is_tuple": self._state_is_tuple}

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: dict[str, Any] | None = None) -> Any:
        """The stack that `get_config` described."""
        return cls(**{**config, "cells": [made(cell, custom_objects) for cell in config["cells"]]})

    def zero_state(self, batch_size: Any, dtype: Any) -> Any:
        """Return zeros as a state; each cell's own `zero_state` makes its part."""
        if not self._state_is_tuple:
            return super().zero_state(batch_size, dtype)
        with name_scope(type(self).__name__ + "ZeroState", "ZeroState"):
            dtypes = dtype if _nest.is_nested(dtype) else [dtype] * len(self._cells)
            return tuple(cell.zero_state(batch_size, kind) for cell, kind in zip(self._cells, dtypes, strict=True))

    def call(self, inputs: Any, state: Any) -> tuple[Any, Any]:
        """Run one step through all cells; returns the last one's output and all new states."""
        return self._through(inputs, state, lambda cell, value, part: cell(value, part))

    def _run_whole(self, inputs: Any, state: Any, walk: Any) -> tuple[Any, Any]:
        """Run layer by layer over whole sequences."""
        with self.stepping(walk.step_shape(inputs), inputs.dtype.base_dtype):
            return self._through(inputs, state, walk.run)

    def _through(self, inputs: Any, state: Any, run: Any) -> tuple[Any, Any]:
        new_states = []
        for number, (cell, part) in enumerate(zip(self._cells, self._split(state), strict=True)):
            with variable_scope(f"cell_{number}"):
                try:
                    inputs, new_state = run(cell, inputs, part)
                except (ValueError, TypeError) as error:
                    raise self._explained(error, number) from error
            new_states.append(new_state)
        return inputs, tuple(new_states) if self._state_is_tuple else concat(new_states, 1)

    def _explained(self, error: Exception, number: int) -> Exception:
        """Add to an error that one cell object stands for several layers, where that may be its cause."""
        twins = [i for i, cell in enumerate(self._cells) if cell is self._cells[number]]
        if len(twins) < 2:
            return error
        layers = ", ".join(map(str, twins[:-1])) + f" and {twins[-1]}"
        return type(error)(
            f"MultiRNNCell: the same cell object is used for layers {layers}, so they share one set of variables; "
            f"make one cell a layer. {error}"
        )

    def _split(self, state: Any) -> list[Any]:
        if self._state_is_tuple:
            if not isinstance(state, (list, tuple)) or len(state) != len(self._cells):
                raise ValueError(f"Expected state to be a tuple of length {len(self._cells)}, but received: {state}")
            return list(state)
        whole = convert_to_tensor(state)
        sizes = [cell.state_size for cell in self._cells]
        if not whole.shape.is_compatible_with(as_shape([None, sum(sizes)])):
            raise ValueError(
                f"MultiRNNCell: state must have shape [batch, {sum(sizes)}] (all states side by side), got "
                f"{whole.shape}"
            )
        parts: list[Tensor] = split(whole, sizes, axis=1)
        return parts
