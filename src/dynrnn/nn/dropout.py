"""Dropout around a cell: masks for whole sequences, one a step or one a sequence."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from dynrnn import _nest
from dynrnn.cells.options import check_rate
from dynrnn.nn.cell_wrapper import CellWrapper
from dynrnn.nn.kinds import kind_of
from dynrnn.nn.running import run_cell, step_of
from dynrnn.nn.state import memories_in
from dynrnn.nn.step import Step
from dynrnn.nn.steps import run_by_steps
from dynrnn.nn.walk import Pass, Walk


class DropoutWrapper(CellWrapper):
    """A cell with dropout on its inputs, its outputs and the state it hands to its next step, in training only.

    Each rate is the share that is dropped (TensorFlow 1's keep_prob is 1 minus it); what is left is scaled up. Every
    step draws a mask of its own, or with `variational` each row draws one for all steps of a call of `dynamic_rnn`
    (Gal and Ghahramani, arXiv:1512.05287). An LSTM's c is not dropped, as in TensorFlow 1. Masks come from torch's
    generator. With dropout on the state a cell of ours is run step by step, up to the longest row. Raises ValueError
    for a rate outside 0..1, and RuntimeError, when it runs, where a `variational` mask cannot be drawn for all steps at
    once. Follows TF1's `tf.nn.rnn_cell.DropoutWrapper`.

    Example:
        >>> from dynrnn import GRUCell, dynamic_rnn
        >>> cell = DropoutWrapper(GRUCell(4), output_dropout=0.5).eval()
        >>> outputs, state = dynamic_rnn(cell, torch.ones(2, 3, 5))
        >>> torch.equal(outputs[:, -1], state)
        True
    """

    def __init__(
        self,
        cell: Callable[..., Any],
        *,
        input_dropout: float = 0.0,
        output_dropout: float = 0.0,
        state_dropout: float = 0.0,
        variational: bool = False,
    ) -> None:
        super().__init__(cell)
        self.input_dropout = check_rate("DropoutWrapper", "input_dropout", input_dropout)
        self.output_dropout = check_rate("DropoutWrapper", "output_dropout", output_dropout)
        self.state_dropout = check_rate("DropoutWrapper", "state_dropout", state_dropout)
        self.variational = variational

    def forward(self, inputs: Any, state: Any = None) -> tuple[Any, Any]:
        """Run one step; `variational` dropout, which is one mask for many steps, needs `dynamic_rnn`."""
        state = self._given_or_zero(inputs, state)
        if not self.training:
            return self.cell(inputs, state)
        if self.variational and (self.input_dropout or self.output_dropout or self.state_dropout):
            raise RuntimeError(
                "DropoutWrapper: variational dropout keeps one mask for all steps of a sequence, which a call for a "
                "single step cannot draw; let dynamic_rnn run the wrapper, by itself or inside wrappers and layers of "
                "dynrnn, without hooks and not behind a cell of your own"
            )
        output, new = self.cell(_drop(inputs, self.input_dropout), state)
        return _drop(output, self.output_dropout), _drop_state(new, self.state_dropout)

    def _run_whole(self, inputs: Any, state: Any, walk: Walk) -> Pass:
        """Run the inner cell over the sequence, with masks drawn for all steps at once."""
        if not self.training:
            return run_cell(self.cell, inputs, state, walk)
        inputs = self._drop_over_time(inputs, self.input_dropout, walk)
        if self.state_dropout:
            inner = self._with_state_dropout(inputs, state, walk)
        else:
            inner = run_cell(self.cell, inputs, state, walk)
        return inner._replace(outputs=self._drop_over_time(inner.outputs, self.output_dropout, walk))

    def _why_by_steps(self) -> str | None:
        """Dropout on the state is in every step."""
        drops = self.training and self.state_dropout
        return "dropout changes the state at every step" if drops else None

    def _drop_over_time(self, values: Any, rate: float, walk: Walk) -> Any:
        if not rate or not self.variational:
            return _drop(values, rate)
        axis = walk.time_axis
        like = [value.new_empty((*value.shape[:axis], 1, *value.shape[axis + 1 :])) for value in _nest.flatten(values)]
        return _drop(values, rate, _scales(like, rate))

    def _with_state_dropout(self, inputs: Any, state: Any, walk: Walk) -> Pass:
        if walk.keep_gates:
            raise ValueError("return_gates: DropoutWrapper with dropout on the state runs by steps and keeps no gates")
        step = step_of(self.cell, walk.one_step(inputs), state)
        scales = self._state_scales(state)

        def dropped(inputs_t: Any, state_t: Any) -> tuple[Any, Any]:
            output, new = step.call(inputs_t, state_t)
            return output, _drop_state(new, self.state_dropout, scales)

        return run_by_steps(replace(step, call=dropped), inputs, state, walk)

    def _prepared_step(self, like: Any, state: Any) -> Step:
        """The step with all that is dropped, by masks that are drawn now where they are for all steps."""
        step = step_of(self.cell, like, state)
        if not self.training:
            return step
        draws_once = self.variational and self.input_dropout
        of_inputs = _scales(_nest.flatten(like), self.input_dropout) if draws_once else None
        of_outputs, of_state = self._output_scales(step), self._state_scales(state)

        def dropped(given: Any, state_t: Any) -> tuple[Any, Any]:
            if self.input_dropout:
                output, new = step.run(_drop(given, self.input_dropout, of_inputs), state_t)
            else:
                output, new = step.call(given, state_t)
            return _drop(output, self.output_dropout, of_outputs), _drop_state(new, self.state_dropout, of_state)

        return replace(step, call=dropped, product=None if self.input_dropout else step.product)

    def _output_scales(self, step: Step) -> list[Tensor | None] | None:
        if not self.variational or not self.output_dropout:
            return None
        if step.output_like is None:
            raise RuntimeError(
                "DropoutWrapper: variational dropout keeps one mask for all steps of a sequence, but a wrapper around "
                f"it runs it step by step, where nobody knows the shape of {kind_of(step.cell)}'s outputs beforehand; "
                "put DropoutWrapper around that wrapper"
            )
        return _scales([step.output_like], self.output_dropout)

    def _state_scales(self, state: Any) -> list[Tensor | None] | None:
        if not self.variational or not self.state_dropout:
            return None
        return _scales(_dropped_leaves(state), self.state_dropout)


def _may_drop(state: Any) -> list[bool]:
    """Say of each leaf of a state whether it is dropped: floating tensors are, but for an LSTM's c."""
    pairs = zip(_nest.flatten(state), memories_in(state), strict=True)
    return [leaf.is_floating_point() and not is_memory for leaf, is_memory in pairs]


def _dropped_leaves(state: Any) -> list[Tensor]:
    return [leaf for leaf, may in zip(_nest.flatten(state), _may_drop(state), strict=True) if may]


def _drop_state(state: Any, rate: float, scales: list[Tensor | None] | None = None) -> Any:
    """Drop entries of a state by fresh masks, or scale by those that were drawn."""
    if not rate:
        return state
    changed = iter(_drop(_dropped_leaves(state), rate, scales))
    leaves = [next(changed) if may else leaf for leaf, may in zip(_nest.flatten(state), _may_drop(state), strict=True)]
    return _nest.pack_sequence_as(state, leaves)


def _drop(values: Any, rate: float, scales: list[Tensor | None] | None = None) -> Any:
    """Drop entries of floating tensors by fresh masks, or scale by those that were drawn."""
    if not rate:
        return values
    leaves = [values] if isinstance(values, Tensor) else _nest.flatten(values)
    if scales is None:
        dropped = [functional.dropout(leaf, rate) if leaf.is_floating_point() else leaf for leaf in leaves]
    else:
        dropped = [
            leaf if scale is None else leaf * scale.to(leaf.dtype) for leaf, scale in zip(leaves, scales, strict=True)
        ]
    return dropped[0] if isinstance(values, Tensor) else _nest.pack_sequence_as(values, dropped)


def _scales(like: list[Tensor], rate: float) -> list[Tensor | None]:
    """Draw what tensors like these are multiplied by to drop entries; None for those that hold integers."""
    return [functional.dropout(torch.ones_like(one), rate) if one.is_floating_point() else None for one in like]
