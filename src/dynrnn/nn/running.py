"""Runs a cell of any kind over a sequence: layer by layer where the math is ours, else step by step."""

from __future__ import annotations

from typing import Any

from dynrnn.nn.kinds import kind_of, runs_whole
from dynrnn.nn.steps import run_by_steps
from dynrnn.nn.walk import Pass, Walk


def step_of(cell: Any, inputs: Any) -> Any:
    """Return what to call for each step of sequences like `inputs`: the cell, or its step with prepared weights."""
    prepare = getattr(cell, "prepared_step", None)
    return prepare(inputs) if prepare is not None and runs_whole(cell) else cell


def run_cell(cell: Any, inputs: Any, state: Any, walk: Walk) -> Pass:
    """Run `cell` over `inputs` from `state`, which has the cell's structure.

    Raises ValueError where gates are asked of a cell that keeps none.
    """
    if runs_whole(cell):
        return cell.sequence(inputs, state, walk)
    if walk.keep_gates:
        raise ValueError(f"return_gates: {kind_of(cell)} has no gates that could be returned")
    return run_by_steps(cell, inputs, state, walk)
