"""Runs a cell of any kind over a sequence: layer by layer where the math is ours, else step by step."""

from __future__ import annotations

from typing import Any

from dynrnn.nn.compiled import uncompiled
from dynrnn.nn.kinds import is_watched, kind_of, runs_whole
from dynrnn.nn.step import Step, own_step
from dynrnn.nn.steps import run_by_steps
from dynrnn.nn.walk import Pass, Walk


def step_of(cell: Any, like: Any, state: Any) -> Step:
    """Return the step of a cell for one pass: its own, or for one of ours a step for which all is prepared.

    `like` is nested and shaped as the inputs of a step, `state` as its state; None where nobody knows the inputs.
    """
    cell = without_needless_compiler(cell)
    if like is None or not runs_whole(cell):
        return own_step(cell)
    return cell._prepared_step(like, state)


def run_cell(cell: Any, inputs: Any, state: Any, walk: Walk) -> Pass:
    """Run `cell` over `inputs` from `state`, which has the cell's structure.

    Raises ValueError where gates are asked of a cell that keeps none.
    """
    cell = without_needless_compiler(cell)
    if runs_whole(cell):
        return cell._run_whole(inputs, state, walk)
    if walk.keep_gates:
        raise ValueError(f"return_gates: {kind_of(cell)} has no gates that could be returned")
    return run_by_steps(own_step(cell), inputs, state, walk)


def without_needless_compiler(cell: Any) -> Any:
    """The module itself for a compiled cell that is ours, inner cells included: it is faster over whole sequences."""
    inner = uncompiled(cell)
    return inner if inner is not cell and is_ours(cell) else cell


def is_ours(cell: Any) -> bool:
    """Say whether a cell and all cells inside it run over whole sequences.

    Example:
        >>> from dynrnn import GRUCell, MultiRNNCell
        >>> is_ours(MultiRNNCell([GRUCell(3)])), is_ours(MultiRNNCell([kind_of]))
        (True, False)
    """
    inner = uncompiled(cell)
    if not runs_whole(inner) or (inner is not cell and is_watched(cell)):
        return False
    return all(is_ours(part) for part in inner._inner_cells())
