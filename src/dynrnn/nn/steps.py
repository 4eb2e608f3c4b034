"""A cell of which nothing is known, called step by step over a nest of sequences.

The loop itself is `dynrnn.rnn.run_steps`, on flat lists; here are the nests, rows that begin anew, the states that are
kept, and stretches that backward computes again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import count
from typing import Any

import torch
from torch import Tensor

from dynrnn import _nest
from dynrnn.nn.compiled import alike_for_all_steps, within_transform
from dynrnn.nn.kinds import kind_of
from dynrnn.nn.nesting import Nesting
from dynrnn.nn.step import Step
from dynrnn.nn.walk import Pass, Walk
from dynrnn.rnn import carry_states, reverse_sequence, run_steps
from dynrnn.rnn.lengths import length_mask, length_range
from dynrnn.rnn.recompute import captured_tensors, recomputed
from dynrnn.rnn.stacking import pad_time

_FlatStep = Callable[[list[Tensor], list[Tensor]], tuple[list[Tensor], list[Tensor]]]


def run_by_steps(step: Step, inputs: Any, state: Any, walk: Walk) -> Pass:
    """Call `step` for every step up to the longest row; its input product, if it has one, for many steps at once.

    `inputs` and `state` are nests of tensors; outputs may be nested too, in the same way at every step. Where no step
    runs, `step` is called once on zeros, to learn what its outputs are and which tensors it takes gradients for: those
    get gradients of zeros, as DistributedDataParallel wants it of a process whose rows are all empty.
    """
    leaves, flat_state = _nest.flatten(inputs), _nest.flatten(state)
    batch_axis = 1 - walk.time_axis
    longest = length_range(walk.lengths, leaves[0].shape[batch_axis], leaves[0].shape[walk.time_axis])[1]
    if longest and walk.checkpoint_every is not None and torch.is_grad_enabled():
        return _run_stretches(step, inputs, state, walk, longest)
    if step.compiled:
        flat_state = alike_for_all_steps(flat_state, leaves, step.cell)
    caller = _Caller(step, inputs, state, walk)
    outputs, final = run_steps(
        _beginning_anew(caller.one_step, inputs, state, walk),
        leaves,
        flat_state,
        lengths=walk.lengths,
        output_specs=None if longest else caller.learn_from_zeros(leaves, flat_state),
        time_major=walk.time_major,
        reverse=walk.reverse,
        product=None if step.product is None else caller.product,
        parallel_iterations=walk.parallel_iterations,
    )
    if caller.captured:
        outputs, final = ([_hung_on(value, caller.captured) for value in values] for values in (outputs, final))
    assert caller.output is not None
    width = len(_nest.flatten(caller.output.like))
    states = None
    if walk.keep_states:
        states = _nest.pack_sequence_as(state, _carried(outputs[width:], flat_state, walk))
    return Pass(caller.output.pack(outputs[:width]), _nest.pack_sequence_as(state, final), states)


def _carried(states: list[Tensor], initial: list[Tensor], walk: Walk) -> list[Tensor]:
    return [
        carry_states(value, first, walk.lengths, time_major=walk.time_major, reverse=walk.reverse)
        for value, first in zip(states, initial, strict=True)
    ]


class _Caller:
    """A step as the loop calls it: nests outside, flat lists inside; states may be kept as outputs."""

    def __init__(self, step: Step, inputs: Any, state: Any, walk: Walk) -> None:
        self._step = step
        self._call = step.call
        self._inputs = Nesting(inputs)
        self._given = self._inputs if step.product is None else None  # what the step is given in place of inputs
        self._state = Nesting(state)
        self.output: Nesting | None = None  # how outputs are nested, once there is one
        self.captured: list[Tensor] | None = None  # what a step takes gradients for, where it had to be learnt
        self._keep_states = walk.keep_states
        self._time_axis = walk.time_axis

    def product(self, rows: list[Tensor]) -> list[Tensor]:
        assert self._step.product is not None
        found = self._step.product(self._inputs.pack(rows))
        if self._given is None:
            self._given = Nesting(found)
        return self._taken_apart("an", "input_product", self._given, found)

    def one_step(self, inputs: list[Tensor], state: list[Tensor]) -> tuple[list[Tensor], list[Tensor]]:
        assert self._given is not None
        result = self._call(self._given.pack(inputs), self._state.pack(state))
        if not isinstance(result, (tuple, list)) or len(result) != 2:
            got = f"a {type(result).__name__} of {len(result)}" if isinstance(result, tuple) else type(result).__name__
            raise TypeError(f"{kind_of(self._step.cell)} must return (output, state), got {got}")
        output, new = result
        flat_state = self._taken_apart("a", "state", self._state, new)
        if self.output is None:
            self.output = Nesting(output)
        flat = self._taken_apart("an", "output", self.output, output)
        return [*flat, *self._kept(flat_state)] if self._keep_states else flat, flat_state

    def _taken_apart(self, article: str, what: str, nesting: Nesting, found: Any) -> list[Tensor]:
        try:
            return nesting.take_apart(found, what)
        except ValueError as error:
            kind = kind_of(self._step.cell)
            raise ValueError(f"{kind} must return {article} {what} nested as before: {error}") from None

    def _kept(self, state: list[Tensor]) -> list[Tensor]:
        if any(isinstance(value, Tensor) and value.ndim == 0 for value in state):
            raise ValueError(
                f"return_states: the state of {kind_of(self._step.cell)} has a tensor of rank 0, which belongs to no "
                "row; keep such a count as [batch]"
            )
        return state

    def learn_from_zeros(self, leaves: list[Tensor], state: list[Tensor]) -> list[tuple[tuple[int, ...], torch.dtype]]:
        """Return what one call on zeros says of the outputs; set `captured`."""
        specs = []

        def results_of(*tensors: Tensor) -> tuple[Tensor, ...]:
            inputs = list(tensors[: len(leaves)])
            given = inputs if self._step.product is None else self.product(inputs)
            outputs, new = self.one_step(given, list(tensors[len(leaves) :]))
            specs[:] = [(tuple(value.shape[1:]), value.dtype) for value in outputs]
            return (*outputs, *new)

        axis = self._time_axis
        zeros = [value.new_zeros(value.shape[:axis] + value.shape[axis + 1 :]) for value in leaves]
        if torch.is_grad_enabled() and not within_transform():
            self.captured = captured_tensors(results_of, [*zeros, *state])
            if self.captured is None:  # those are further back; what the step returns leads there
                results = results_of(*zeros, *(value.detach() for value in state))
                self.captured = [value for value in results if value.requires_grad]
        else:
            with torch.no_grad():
                results_of(*zeros, *state)
        return specs


def _hung_on(value: Tensor, others: list[Tensor]) -> Tensor:
    """The same bits as `value`, whose backward gives the others gradients of zeros."""
    if not value.is_floating_point():
        return value
    nothing = [other.flatten()[:0].to(value) for other in others]
    return torch.cat([value.flatten(), *nothing]).view(value.shape)


def _beginning_anew(step: _FlatStep, inputs: Any, state: Any, walk: Walk) -> _FlatStep:
    """The same step, but rows that are cut before it get the state that they begin anew with."""
    if walk.resets is None:
        return step
    device = _nest.flatten(inputs)[0].device
    cuts = _cuts_as_walked(walk.resets, walk).t().to(device)  # [time, batch]
    fresh = [value.new_zeros(()) for value in _nest.flatten(state)]
    if walk.reset_state is not None:
        fresh = _nest.flatten(walk.reset_state)
    if any(value.ndim == 0 for value in _nest.flatten(state)):
        raise ValueError("resets: a state of rank 0 belongs to no row, so no row's can begin anew")

    def begin(index: int, current: list[Tensor]) -> list[Tensor]:
        mask = cuts[index]
        return [
            torch.where(mask.view(-1, *[1] * (value.ndim - 1)), new, value)
            for value, new in zip(current, fresh, strict=True)
        ]

    any_cut, calls = cuts.any(1).tolist(), count()

    def step_anew(inputs_t: list[Tensor], current: list[Tensor]) -> tuple[list[Tensor], list[Tensor]]:
        index = next(calls)
        return step(inputs_t, begin(index, current) if any_cut[index] else current)

    return step_anew


def _cuts_as_walked(resets: Tensor, walk: Walk) -> Tensor:
    """`[batch, time]`: before which of its walked steps each row begins anew. A cut is the same both ways."""
    batch, max_time = resets.shape
    lengths = torch.full((batch,), max_time, device="cpu") if walk.lengths is None else walk.lengths
    cuts = resets & length_mask(lengths, max_time)
    if not walk.reverse:
        return cuts
    after = torch.cat((cuts[:, 1:], cuts.new_zeros(batch, min(1, max_time))), 1)
    return reverse_sequence(after, lengths)


def _run_stretches(step: Step, inputs: Any, state: Any, walk: Walk, longest: int) -> Pass:
    """Run stretches of steps of which only inputs and first states are kept; backward computes each one again."""
    leaves, flat_state, axis = _nest.flatten(inputs), _nest.flatten(state), walk.time_axis
    batch, max_time = leaves[0].shape[1 - axis], leaves[0].shape[axis]
    size = walk.checkpoint_every or longest
    lengths = torch.full((batch,), longest, device="cpu") if walk.lengths is None else walk.lengths
    turn = _turner(lengths, axis) if walk.reverse else lambda value: value
    resets = None if walk.resets is None else _cuts_as_walked(walk.resets, walk)
    leaves = [turn(value) for value in leaves]
    found: list[Any] = []  # an output, for its structure

    def stretch(start: int, steps: int, *tensors: Tensor) -> tuple[Tensor, ...]:
        values, rest = list(tensors[: len(leaves)]), list(tensors[len(leaves) :])
        current, anew = rest[: len(flat_state)], rest[len(flat_state) :]
        part = replace(
            walk,
            lengths=None if walk.lengths is None else (lengths - start).clamp(0, steps),
            resets=None if resets is None else resets[:, start : start + steps],
            reset_state=_nest.pack_sequence_as(state, anew) if anew else None,
            reverse=False,
            checkpoint_every=None,
        )
        outputs, final, states, _ = run_by_steps(
            step, _nest.pack_sequence_as(inputs, values), _nest.pack_sequence_as(state, current), part
        )
        found[:] = [outputs]
        results = *_nest.flatten(outputs), *(_nest.flatten(states) if walk.keep_states else ()), *_nest.flatten(final)
        return tuple(value.view_as(value) for value in results)  # a state may be handed back as it came

    first = [value.narrow(axis, 0, 1) for value in leaves]
    anew = [] if walk.reset_state is None else _nest.flatten(walk.reset_state)
    captured = captured_tensors(partial(stretch, 0, 1), [*first, *flat_state, *anew])
    current, pieces = flat_state, []
    for start in range(0, longest, size):
        steps = min(size, longest - start)
        values = [value.narrow(axis, start, steps) for value in leaves]
        results = recomputed(partial(stretch, start, steps), [*values, *current, *anew], captured)
        current = results[len(results) - len(flat_state) :]
        pieces.append(results[: len(results) - len(flat_state)])
    columns = [turn(pad_time(torch.cat(column, axis), max_time, axis)) for column in zip(*pieces, strict=True)]
    width = len(_nest.flatten(found[0]))
    states = None
    if walk.keep_states:
        carried = replace(walk, lengths=lengths)
        states = _nest.pack_sequence_as(state, _carried(columns[width:], flat_state, carried))
    return Pass(_nest.pack_sequence_as(found[0], columns[:width]), _nest.pack_sequence_as(state, current), states)


def _turner(lengths: Tensor, axis: int) -> Callable[[Tensor], Tensor]:
    return lambda value: reverse_sequence(value, lengths, time_axis=axis, batch_axis=1 - axis)
