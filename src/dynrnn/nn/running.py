"""Runs a cell of any kind over a sequence: layer by layer where the math is ours, else step by step."""

from __future__ import annotations

from typing import Any

from dynrnn.nn.compiled import uncompiled
from dynrnn.nn.kinds import kind_of, runs_whole
from dynrnn.nn.step import Step, own_step
from dynrnn.nn.steps import run_by_steps
from dynrnn.nn.walk import Pass, Walk


def step_of(cell: Any, inputs: Any) -> Step:
    """Return the step of a cell for sequences like `inputs`: its own, or one of ours with prepared weights."""
    cell = without_needless_compiler(cell)
    prepare = getattr(cell, "prepared_step", None)
    if prepare is None or not runs_whole(cell):
        return own_step(cell)
    call, product = prepare(inputs)
    return Step(cell, call, product)


def run_cell(cell: Any, inputs: Any, state: Any, walk: Walk) -> Pass:
    """Run `cell` over `inputs` from `state`, which has the cell's structure.

    Raises ValueError where gates are asked of a cell that keeps none.
    """
    cell = without_needless_compiler(cell)
    if runs_whole(cell):
        return cell.sequence(inputs, state, walk)
    if walk.keep_gates:
        raise ValueError(f"return_gates: {kind_of(cell)} has no gates that could be returned")
    return run_by_steps(own_step(cell), inputs, state, walk)


def without_needless_compiler(cell: Any) -> Any:
    """The module itself for a compiled cell that is ours, inner cells included: it is faster over whole sequences."""
    inner = uncompiled(cell)
    return inner if inner is not cell and _is_ours(cell) else cell


def _is_ours(cell: Any) -> bool:
    inner = uncompiled(cell)
    if not runs_whole(inner) or (inner is not cell and (cell._forward_hooks or cell._forward_pre_hooks)):
        return False
    return all(_is_ours(part) for part in inner.parts)
