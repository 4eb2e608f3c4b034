"""A layer by the fused kernels in stretches of time, of which backward computes each one again.

Only the inputs and the state before each stretch are kept. The reference loop has the like of it in `walk.py`; that a
call is kept by its arguments alone is done in `recompute.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import torch
from torch import Tensor

from dynrnn.cells.spec import State
from dynrnn.rnn.lengths import length_range
from dynrnn.rnn.recompute import recomputed
from dynrnn.rnn.stacking import pad_time

Results = tuple[Tensor, State, State, State]  # outputs, final state, states, gates
# inputs, state, the other tensors that want gradients, and the lengths and resets of the stretch
Pass = Callable[[Tensor, State, Sequence[Tensor], Tensor | None, Tensor | None], Results]


def trace_stretches(
    run: Pass,
    inputs: Tensor,
    state: State,
    others: Sequence[Tensor],
    *,
    lengths: Tensor | None,
    resets: Tensor | None,
    reset_state: State,
    every: int,
    time_major: bool,
    reverse: bool,
) -> Results:
    """Run a layer in stretches of `every` steps, and keep for backward only `inputs`, `others` and states in between.

    `run(inputs, state, others, lengths, resets)` runs a stretch, which may have rows of length 0. `resets` are bool
    `[batch, time]` on the CPU, or None; rows that begin anew between two stretches do so with `reset_state`. The other
    arguments are those of `trace_layer`. Returns `(outputs, final, states, gates)`, of which states are defined at
    valid steps only.

    Example:
        >>> def run(inputs, state, others, lengths, resets):  # a layer that adds its inputs up
        ...     outputs = inputs.cumsum(1) + state[0].unsqueeze(1)
        ...     return outputs, (outputs[:, -1].clone(),), (), ()
        >>> outputs, *_ = trace_stretches(run, torch.ones(1, 5, 1), (torch.zeros(1, 1),), [], lengths=None, resets=None,
        ...                               reset_state=(), every=2, time_major=False, reverse=False)
        >>> outputs.flatten().tolist()
        [1.0, 2.0, 3.0, 4.0, 5.0]
    """
    axis = 0 if time_major else 1
    batch, max_time = inputs.shape[1 - axis], inputs.shape[axis]
    longest = length_range(lengths, batch, max_time)[1]
    count = len(state)
    shape: list[int] = []  # how many states and gates a pass keeps besides its outputs

    def stretch(start: int, steps: int, chunk: Tensor, *tensors: Tensor) -> tuple[Tensor, ...]:
        part = None if lengths is None else (lengths - start).clamp(0, steps)
        cuts = None if resets is None else resets[:, start : start + steps]
        outputs, final, states, gates = run(chunk, tensors[:count], tensors[count:], part, cuts)
        own = [value for value in states if value is not outputs]
        shape[:] = [len(states), len(own)]
        return (*final, outputs, *own, *gates)

    pieces: list[tuple[Tensor, ...]] = []
    starts = range(0, max(longest, 1), every)
    for start in reversed(starts) if reverse else starts:
        steps = min(every, max(longest, 1) - start, max_time)
        end = start + steps
        if reverse and resets is not None and end < longest:
            state = _begun_anew(state, reset_state, resets[:, end], lengths, end)
        results = recomputed(partial(stretch, start, steps), [inputs.narrow(axis, start, steps), *state, *others])
        state, rest = results[:count], results[count:]
        pieces.append(rest)
    if reverse:
        pieces.reverse()
    columns = [pad_time(torch.cat(column, axis), max_time, axis) for column in zip(*pieces, strict=True)]
    num_states, num_own = shape
    states = (*columns[1 : 1 + num_own], columns[0])[:num_states]
    return columns[0], state, states, tuple(columns[1 + num_own :])


def _begun_anew(state: State, reset_state: State, cuts: Tensor, lengths: Tensor | None, time: int) -> State:
    """The state of rows that are cut before step `time` of theirs, which is walked last, is the one to begin with."""
    cuts = cuts if lengths is None else cuts & (lengths > time)
    mask = cuts.to(state[0].device).unsqueeze(1)
    return tuple([torch.where(mask, new, old) for new, old in zip(reset_state, state, strict=True)])
