"""The residual connection around a cell: its inputs added to its outputs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from dynrnn import _nest
from dynrnn.nn.cell_wrapper import CellWrapper
from dynrnn.nn.running import run_cell, step_of
from dynrnn.nn.step import Step
from dynrnn.nn.walk import Pass, Walk
from dynrnn.rnn.lengths import hides_values


class ResidualWrapper(CellWrapper):
    """A cell whose inputs are added to its outputs, or joined with them by `residual_fn(inputs, outputs)`.

    Outputs past a row's end stay exactly 0, and the state is the inner cell's. `residual_fn` is called with rows
    `[n, size]` of valid steps and returns `[n, size]`. Raises ValueError where inputs and outputs have other widths
    and no `residual_fn` is given. Follows TF1's `tf.nn.rnn_cell.ResidualWrapper`; He et al., arXiv:1512.03385.

    Example:
        >>> from dynrnn import BasicRNNCell
        >>> output, _ = ResidualWrapper(BasicRNNCell(3, initializer=torch.nn.init.zeros_))(torch.ones(1, 3))
        >>> output
        tensor([[1., 1., 1.]], grad_fn=<AddBackward0>)
    """

    def __init__(self, cell: Callable[..., Any], *, residual_fn: Callable[[Any, Any], Any] | None = None) -> None:
        super().__init__(cell)
        self.residual_fn = residual_fn

    def forward(self, inputs: Any, state: Any = None) -> tuple[Any, Any]:
        """Run one step of the inner cell and join its output with the inputs."""
        output, new_state = self.cell(inputs, self._given_or_zero(inputs, state))
        return self._join(inputs, output), new_state

    def _run_whole(self, inputs: Any, state: Any, walk: Walk) -> Pass:
        """Run the inner cell over the sequence and join once."""
        inner = run_cell(self.cell, inputs, state, walk)
        if self.residual_fn is None and isinstance(inputs, Tensor) and isinstance(inner.outputs, Tensor):
            _check_sum(inputs, inner.outputs, 2)
            mask, total = walk.mask(inputs), inputs + inner.outputs
            return inner._replace(outputs=total if mask is None else _masked(total, mask))
        first = _nest.flatten(inputs)[0]
        mask = walk.mask(first)
        hidden = walk.lengths is not None and hides_values(walk.lengths)  # then nobody can say which rows are valid
        places = None if mask is None or hidden else mask.flatten().nonzero().squeeze(1)

        def rows(value: Tensor) -> Tensor:
            value = value.flatten(0, 1)
            return value if places is None else value.index_select(0, places)

        def spread(value: Tensor) -> Tensor:
            if places is not None:  # lay the rows out among zeros
                value = value.new_zeros(first.shape[:2].numel(), *value.shape[1:]).index_copy(0, places, value)
            return value.unflatten(0, first.shape[:2])

        if hidden:
            inputs = _nest.map_structure(lambda value: _masked(value, mask), inputs)
        joined = self._join(_nest.map_structure(rows, inputs), _nest.map_structure(rows, inner.outputs))
        outputs = _nest.map_structure(spread, joined)
        return inner._replace(outputs=_nest.map_structure(lambda v: _masked(v, mask), outputs) if hidden else outputs)

    def _prepared_step(self, like: Any, state: Any) -> Step:
        step = step_of(self.cell, like, state)

        def joined(inputs_t: Any, state_t: Any) -> tuple[Any, Any]:
            output, new = step.run(inputs_t, state_t)
            return self._join(inputs_t, output), new

        output_like = step.output_like if self.residual_fn is None else None
        return Step(self, joined, compiled=step.compiled, output_like=output_like)

    def _join(self, inputs: Any, outputs: Any) -> Any:
        if self.residual_fn is not None:
            return self.residual_fn(inputs, outputs)
        if isinstance(inputs, Tensor) and isinstance(outputs, Tensor):
            _check_sum(inputs, outputs, 1)
            return inputs + outputs
        for one, other in zip(_nest.flatten(inputs), _nest.flatten(outputs), strict=True):
            _check_sum(one, other, 1)
        return _nest.map_structure(torch.add, inputs, outputs)


def _check_sum(one: Tensor, other: Tensor, axes: int) -> None:
    """Refuse inputs and outputs that differ; the first `axes` axes are those of batch and time."""
    if one.shape != other.shape:
        raise ValueError(
            f"ResidualWrapper: inputs of size {list(one.shape[axes:])} and outputs of size {list(other.shape[axes:])} "
            "cannot be added; give the cell as many units, or a residual_fn"
        )


def _masked(value: Tensor, mask: Any) -> Tensor:
    return torch.where(mask.view(*mask.shape, *[1] * (value.ndim - 2)), value, value.new_zeros(()))
