"""Stepping the rows of a batch that is sorted longest first, at once or in stretches that backward computes again.

What the rows are, and where their steps come from and go to, is in `reference.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

import torch
from torch import Tensor

from dynrnn import _nest
from dynrnn.cells.spec import CellSpec, State
from dynrnn.rnn.recompute import captured_tensors, recomputed

Record = tuple[Tensor, ...]
Piece = tuple[int, Tensor]  # how many rows run, and what the step reads for them


def record_step(
    spec: CellSpec, weights: Any, options: Any, *, keep_states: bool, keep_gates: bool
) -> Callable[[Tensor, State], tuple[Record, State]]:
    """Make a cell's step from an input product and a state to a record and the new state.

    A record is the output, then the new state's tensors with `keep_states`, then the gates with `keep_gates`.
    """
    gated = spec.gated

    def step(product: Tensor, state: State) -> tuple[Record, State]:
        output, state, gates = gated(weights, product, state, options)
        return (output, *(state if keep_states else ()), *(gates if keep_gates else ())), state

    return step


def input_products(
    spec: CellSpec, weights: Any, rows: Tensor, batch_sizes: list[int], parallel_iterations: int | None
) -> Iterator[Piece]:
    """Yield each step's input product `[running rows, k]`, computed for `parallel_iterations` steps at a time."""
    for chunk, sizes in stretches(rows, batch_sizes, parallel_iterations):
        yield from zip(sizes, spec.product(weights, chunk).split(sizes), strict=True)


def stretches(rows: Tensor, batch_sizes: list[int], steps: int | None) -> Iterator[tuple[Tensor, list[int]]]:
    """Cut packed rows every `steps` steps (None: nowhere); yield each stretch with its batch sizes."""
    at_once = steps or len(batch_sizes)
    chunks = [batch_sizes[start : start + at_once] for start in range(0, len(batch_sizes), at_once)]
    # split, not slices: its backward is one concatenation, where each slice's would fill a whole tensor
    return zip(rows.split([sum(sizes) for sizes in chunks]), chunks, strict=True)


def walk(
    step: Callable[[Any, State], tuple[Record, State]], pieces: Iterable[tuple[int, Any]], state: State
) -> tuple[list[Record], State]:
    """Step the running rows, a shrinking prefix of `state`; return each step's record and all rows' final state.

    Where no row ever runs, the caller still gives one piece of no rows, so that records have their width and dtype
    and hang on params, inputs and state as they always do.
    """
    records, finished = [], []
    running = state[0].shape[0]
    for rows, value in pieces:
        if rows < running:
            parts = [tensor.split((rows, running - rows)) for tensor in state]
            state = tuple(part[0] for part in parts)
            finished.append([part[1] for part in parts])
            running = rows
        record, state = step(value, state)
        records.append(record)
    if not finished:
        return records, state
    finished.append(state)
    return records, tuple(torch.cat(parts[::-1]) for parts in zip(*finished, strict=True))


def walk_again_in_backward(
    spec: CellSpec,
    weights: Any,
    options: Any,
    rows: Tensor,
    batch_sizes: list[int],
    state: State,
    *,
    every: int,
    parallel_iterations: int | None,
    keep_states: bool,
    keep_gates: bool,
) -> tuple[list[Record], State]:
    """Walk stretches of `every` steps of which only rows and states are kept; backward computes each one again.

    `rows` `[sum(batch_sizes), input_size]` are packed, and so are the records, one a stretch.
    """
    leaves = _nest.flatten(weights)
    tensors = [leaf for leaf in leaves if isinstance(leaf, Tensor)]

    def stretch(sizes: list[int], chunk: Tensor, *rest: Tensor) -> tuple[Tensor, ...]:
        begin, given = rest[: len(state)], iter(rest[len(state) :])
        same = _nest.pack_sequence_as(weights, [next(given) if isinstance(leaf, Tensor) else leaf for leaf in leaves])
        step = record_step(spec, same, options, keep_states=keep_states, keep_gates=keep_gates)
        records, final = walk(step, input_products(spec, same, chunk, sizes, parallel_iterations), begin)
        return (*(torch.cat(column) for column in zip(*records, strict=True)), *final)

    # an activation with weights of its own is found by a step of no rows
    captured = captured_tensors(partial(stretch, [0]), [rows[:0], *(value[:0] for value in state), *tensors])

    def again(value: tuple[Tensor, list[int]], begin: State) -> tuple[Record, State]:
        chunk, sizes = value
        results = recomputed(partial(stretch, sizes), [chunk, *begin, *tensors], captured)
        return results[: len(results) - len(begin)], results[len(results) - len(begin) :]

    pieces: Any = ((sizes[0], (chunk, sizes)) for chunk, sizes in stretches(rows, batch_sizes, every))
    return walk(again, pieces, state)
