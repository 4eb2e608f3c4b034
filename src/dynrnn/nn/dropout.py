"""Dropout around a cell: masks for whole sequences, one a step or one a sequence."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from dynrnn import _nest
from dynrnn.nn.running import run_cell, step_of
from dynrnn.nn.state import LSTMState
from dynrnn.nn.steps import run_by_steps
from dynrnn.nn.walk import Pass, Walk
from dynrnn.nn.wrappers import CellWrapper


def check_rate(owner: str, name: str, rate: float) -> float:
    """Refuse a rate that is not within 0..1.

    Example:
        >>> check_rate("DropoutWrapper", "output_dropout", 0.5)
        0.5
    """
    if isinstance(rate, bool) or not isinstance(rate, (int, float)):
        raise TypeError(f"{owner}: {name} must be a number, got {rate!r}")
    if not 0 <= rate <= 1:
        raise ValueError(f"{owner}: {name} must be within 0..1, got {rate}: it is the share that is dropped")
    return float(rate)


class DropoutWrapper(CellWrapper):
    """A cell with dropout on its inputs, its outputs and the state it hands to its next step, in training only.

    Each rate is the share that is dropped (TensorFlow 1's keep_prob is 1 minus it); what is left is scaled up. Every
    step draws a mask of its own, or with `variational` each row draws one for all steps of a call of `dynamic_rnn`
    (Gal and Ghahramani, arXiv:1512.05287). An LSTM's c is not dropped, as in TensorFlow 1. Masks come from torch's
    generator. With dropout on the state a cell of ours is run step by step, up to the longest row. Raises ValueError
    for a rate outside 0..1. Follows TF1's `tf.nn.rnn_cell.DropoutWrapper`.

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
        state = self.given_or_zero(inputs, state)
        if not self.training:
            return self.cell(inputs, state)
        if self.variational and (self.input_dropout or self.output_dropout or self.state_dropout):
            raise RuntimeError(
                "DropoutWrapper: variational dropout keeps one mask for all steps of a sequence, so a single step "
                "cannot draw it; run the cell by dynamic_rnn"
            )
        output, new = self.cell(_drop(inputs, self.input_dropout), state)
        return _drop(output, self.output_dropout), _drop_state(new, self.state_dropout)

    def sequence(self, inputs: Any, state: Any, walk: Walk) -> Pass:
        """Run the inner cell over the sequence, with masks drawn for all steps at once."""
        if not self.training:
            return run_cell(self.cell, inputs, state, walk)
        axis = walk.time_axis if self.variational else None
        inputs = _drop(inputs, self.input_dropout, axis)
        if self.state_dropout:
            inner = self._with_state_dropout(inputs, state, walk)
        else:
            inner = run_cell(self.cell, inputs, state, walk)
        return inner._replace(outputs=_drop(inner.outputs, self.output_dropout, axis))

    def why_by_steps(self) -> str | None:
        """Dropout on the state is in every step."""
        drops = self.training and self.state_dropout
        return "dropout changes the state at every step" if drops else None

    def _with_state_dropout(self, inputs: Any, state: Any, walk: Walk) -> Pass:
        if walk.keep_gates:
            raise ValueError("return_gates: DropoutWrapper with dropout on the state runs by steps and keeps no gates")
        step = step_of(self.cell, inputs)
        rate = self.state_dropout
        scales: list[Tensor] | None = None
        if self.variational:
            scales = [functional.dropout(torch.ones_like(value), rate) for value in _dropped_leaves(state)]

        def dropped(inputs_t: Any, state_t: Any) -> tuple[Any, Any]:
            output, new = step.call(inputs_t, state_t)
            return output, _drop_state(new, rate, scales)

        return run_by_steps(replace(step, call=dropped), inputs, state, walk)


def _may_drop(state: Any) -> list[bool]:
    """Say of each leaf of a state whether it is dropped: floating tensors are, but for an LSTM's c."""
    if isinstance(state, LSTMState):
        return [False, True]
    if isinstance(state, Mapping):
        return [flag for key in sorted(state) for flag in _may_drop(state[key])]
    if _nest.is_nested(state):
        return [flag for part in state for flag in _may_drop(part)]
    return [state.is_floating_point()]


def _dropped_leaves(state: Any) -> list[Tensor]:
    return [leaf for leaf, may in zip(_nest.flatten(state), _may_drop(state), strict=True) if may]


def _drop_state(state: Any, rate: float, scales: list[Tensor] | None = None) -> Any:
    """Drop entries of a state by fresh masks, or scale by those that were drawn."""
    if not rate:
        return state
    changed = iter(
        [functional.dropout(leaf, rate) for leaf in _dropped_leaves(state)]
        if scales is None
        else [leaf * scale for leaf, scale in zip(_dropped_leaves(state), scales, strict=True)]
    )
    leaves = [next(changed) if may else leaf for leaf, may in zip(_nest.flatten(state), _may_drop(state), strict=True)]
    return _nest.pack_sequence_as(state, leaves)


def _drop(values: Any, rate: float, shared_axis: int | None = None) -> Any:
    """Drop entries of floating tensors; with `shared_axis`, the same ones all along it."""
    if not rate:
        return values

    def drop(value: Tensor) -> Tensor:
        if not value.is_floating_point():
            return value
        if shared_axis is None:
            return functional.dropout(value, rate)
        shape = [1 if axis == shared_axis else size for axis, size in enumerate(value.shape)]
        return value * functional.dropout(value.new_ones(shape), rate)

    return drop(values) if isinstance(values, Tensor) else _nest.map_structure(drop, values)
