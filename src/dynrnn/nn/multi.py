"""Layers of cells: one cell that holds several, each fed with the outputs of the one before."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from dynrnn.nn.cell import RNNCell
from dynrnn.nn.given_state import ExpectedState, parts_of_state
from dynrnn.nn.kinds import check_cell, given_state_of, kind_of, runs_whole, zero_state_of
from dynrnn.nn.running import run_cell, step_of
from dynrnn.nn.step import Step
from dynrnn.nn.walk import Pass, Walk


class MultiRNNCell(RNNCell):
    """Cells stacked into one: each layer's output is the next one's input; the state is a tuple, one item a layer.

    Cells of any kind will do. Over a sequence the layers run one after the other. The same cell object in two places
    shares its weights; that is refused unless `share` says that it is meant. Layers are the submodules `cell_0`,
    `cell_1` and so on. Raises TypeError for what is no cell, ValueError for no cells and for one that comes twice.
    Follows TF1's `tf.nn.rnn_cell.MultiRNNCell`.

    Example:
        >>> from dynrnn import GRUCell, LSTMCell
        >>> cell = MultiRNNCell([LSTMCell(4), GRUCell(3)])
        >>> output, (lstm, gru) = cell(torch.zeros(2, 5))
        >>> lstm.c.shape, gru.shape, output.shape
        (torch.Size([2, 4]), torch.Size([2, 3]), torch.Size([2, 3]))
    """

    def __init__(self, cells: Sequence[Callable[..., Any]], *, share: bool = False) -> None:
        super().__init__()
        cells = list(cells)
        if not cells:
            raise ValueError("MultiRNNCell: cells must hold at least one cell, got none")
        for index, cell in enumerate(cells):
            check_cell("MultiRNNCell", cell, f"cells[{index}]")
            same = next((other for other in range(index) if cells[other] is cell), None)
            if same is not None and not share:
                raise ValueError(
                    f"MultiRNNCell: the same cell object is used for layers {same} and {index}, so they would share "
                    "their weights; make one cell a layer, or pass share=True"
                )
        self._functions = {}
        for index, cell in enumerate(cells):
            if isinstance(cell, torch.nn.Module):
                self.add_module(f"cell_{index}", cell)
            else:
                self._functions[f"cell_{index}"] = cell
        self._count = len(cells)

    @property
    def cells(self) -> tuple[Any, ...]:
        """The layers, first to last."""
        names = (f"cell_{index}" for index in range(self._count))
        return tuple(self._functions[name] if name in self._functions else getattr(self, name) for name in names)

    @property
    def state_size(self) -> tuple[Any, ...]:
        """The layers' state sizes."""
        return tuple(cell.state_size for cell in self.cells)

    @property
    def output_size(self) -> Any:
        """The last layer's output size."""
        return self.cells[-1].output_size

    def zero_state(
        self, batch_size: int, *, dtype: torch.dtype | None = None, device: torch.device | str | None = None
    ) -> tuple[Any, ...]:
        """The layers' zero states."""
        like = next(self.parameters(), None)
        dtype = dtype or (torch.get_default_dtype() if like is None else like.dtype)
        where = torch.device(device or (torch.get_default_device() if like is None else like.device))
        return tuple(
            zero_state_of("MultiRNNCell", cell, batch_size, dtype=dtype, device=where, name=f"initial_state[{index}]")
            for index, cell in enumerate(self.cells)
        )

    def forward(self, inputs: Any, state: Any = None) -> tuple[Any, tuple[Any, ...]]:
        """Run one step through all layers; `state` is a tuple of their states (None: zeros)."""
        state = self._given_or_zero(inputs, state)
        if len(state) != self._count:
            raise ValueError(f"MultiRNNCell: state must have {self._count} items, one a layer, got {len(state)}")
        new_states = []
        for cell, part in zip(self.cells, state, strict=True):
            inputs, new = cell(inputs, part)
            new_states.append(new)
        return inputs, tuple(new_states)

    def _inner_cells(self) -> tuple[Any, ...]:
        """The layers."""
        return self.cells

    def _checked_state(self, state: Any, expected: ExpectedState) -> Any:
        """A tuple of what the layers take, unless a subclass has sizes of its own."""
        if type(self).state_size is not MultiRNNCell.state_size:
            return super()._checked_state(state, expected)
        parts = parts_of_state((None,) * self._count, state, expected.name)
        return tuple(
            given_state_of(cell, part, expected.of_part(f"[{index}]"))
            for index, (cell, part) in enumerate(zip(self.cells, parts, strict=True))
        )

    def _check_call_inputs(self, owner: str, inputs: Any, axes: tuple[str, ...]) -> None:
        """Refuse what the first layer refuses."""
        first = self.cells[0]
        if isinstance(first, RNNCell):
            first._check_call_inputs(owner, inputs, axes)

    def _run_whole(self, inputs: Any, state: Any, walk: Walk) -> Pass:
        """Run the layers one after the other; see `dynrnn.dynamic_rnn`, which calls this."""
        passes = []
        axes = ("time", "batch") if walk.time_major else ("batch", "time")
        for index, cell in enumerate(self.cells):
            if not runs_whole(cell) and walk.keep_gates:
                raise ValueError(f"return_gates: layer {index}, {kind_of(cell)}, has no gates that could be returned")
            if index and isinstance(cell, RNNCell):
                cell._check_call_inputs(f"MultiRNNCell: cells[{index}]", inputs, axes)
            passes.append(run_cell(cell, inputs, state[index], walk.of_part(index)))
            inputs = passes[-1].outputs
        return Pass(
            inputs,
            tuple(one.state for one in passes),
            tuple(one.states for one in passes) if walk.keep_states else None,
            tuple(one.gates for one in passes) if walk.keep_gates else None,
        )

    def _prepared_step(self, like: Any, state: Any) -> Step:
        steps = []
        for cell, part in zip(self.cells, state, strict=True):
            steps.append(step_of(cell, like, part))
            like = steps[-1].output_like
        first, later = steps[0], steps[1:]

        def call(given: Any, states: Any) -> tuple[Any, tuple[Any, ...]]:
            outputs, new = first.call(given, states[0])
            new_states = [new]
            for step, part in zip(later, states[1:], strict=True):
                outputs, new = step.run(outputs, part)
                new_states.append(new)
            return outputs, tuple(new_states)

        return Step(self, call, first.product, any(step.compiled for step in steps), like)
