"""What lengths mean where a cell is called step by step: what a finished row is given, and how its state is held."""

from __future__ import annotations

from typing import Any

import torch

from ... import _nest
from ...errors import InvalidArgumentError
from ...graph import rules
from ...graph.op import Op
from ...graph.shape import as_shape
from ...rnn.lengths import reverse_sequence
from ..control_flow.branches import cond
from ..control_flow.structure import as_leaves
from ..control_flow.tensor_array import TensorArray
from ..graph import Tensor
from ..ops.apply import apply
from ..ops.array.joining import concat, stack
from ..ops.array.making import zeros
from ..ops.array.sizing import shape
from ..ops.array.splitting import unstack
from ..ops.math.reduction import reduce_any


def _valid_steps(inputs: torch.Tensor, lengths: torch.Tensor, *, reverse: bool) -> torch.Tensor:
    """`[time, batch, ...]` with each row's last valid step in place of its padding; an empty row is given the longest
    row's steps.
    """
    time, batch = inputs.shape[:2]
    lengths = lengths.long().clamp(0, time)
    if batch == 0 or not lengths.any():
        return torch.zeros_like(inputs)
    row = torch.where(lengths > 0, torch.arange(batch), lengths.argmax())
    step = torch.minimum(torch.arange(time).unsqueeze(1), lengths[row] - 1)
    place = lengths[row] - 1 - step if reverse else step
    return inputs[place, row]


def _turned(inputs: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
    return reverse_sequence(inputs, lengths.long().clamp(0, inputs.shape[0]), time_axis=0, batch_axis=1)


def _running(lengths: torch.Tensor, new: torch.Tensor, *old: torch.Tensor, time: int) -> torch.Tensor:
    """`new` for rows that still run at `time`; else `old`, or 0 where there is none. A scalar moves on while any row
    runs.
    """
    mask = lengths > time
    mask = mask.any() if new.ndim == 0 else mask.view(-1, *[1] * (new.ndim - 1))
    return torch.where(mask, new, old[0] if old else new.new_zeros(()))


def _fit(lengths: torch.Tensor, inputs: torch.Tensor, *, time: int) -> torch.Tensor:
    batch = inputs.shape[0]
    if lengths.shape == (batch,):
        return lengths.view_as(lengths)
    if lengths.ndim == 1 and bool((lengths >= time).all()):
        return lengths.new_full((batch,), time)
    raise InvalidArgumentError(
        None, None, f"Expected shape for Tensor sequence_length is [{batch}] but saw shape: {list(lengths.shape)}"
    )


FIT_LENGTHS = Op(
    "FitLengths",
    "lengths:L inputs:T -> L",
    _fit,
    lambda inputs, attrs: (inputs[1].dims or (None,))[:1],
    differentiable=False,
)
VALID_STEPS = Op("ValidSteps", "inputs:T lengths:L -> T", _valid_steps, rules.same)
TURNED = Op("TurnedSteps", "inputs:T lengths:L -> T", _turned, rules.same)
RUNNING = Op(
    "SelectRunning", "lengths:L new:T *old:T -> T", _running, lambda inputs, attrs: rules.merged(inputs[1:], attrs)
)


def fit_lengths(lengths: Tensor | None, steps: list[Any]) -> Tensor | None:
    """Lengths that have one entry a row when the graph runs. As in TensorFlow's unrolled loops, full lengths may be of
    any number.
    """
    if lengths is None:
        return None
    return apply(FIT_LENGTHS, [lengths, _nest.flatten(steps[0])[0]], {"time": len(steps)})


def select_valid(steps: list[Any], lengths: Tensor | None, reverse: bool) -> list[Any]:
    """The steps in the order in which they are walked, without their padding."""
    if lengths is None:
        return steps[::-1] if reverse else steps
    return _over_time(steps, lambda value: apply(VALID_STEPS, [value, lengths], {"reverse": reverse}))


def in_input_order(outputs: list[Any], lengths: Tensor | None) -> list[Any]:
    """Outputs of a backward walk at the places of their inputs."""
    if lengths is None:
        return outputs[::-1]
    return _over_time(outputs, lambda value: apply(TURNED, [value, lengths]))


def _over_time(steps: list[Any], function: Any) -> list[Any]:
    columns = zip(*[_nest.flatten(step) for step in steps], strict=True)
    changed = [unstack(function(stack(list(column), axis=0)), num=len(steps), axis=0) for column in columns]
    return [_nest.pack_sequence_as(steps[0], list(step)) for step in zip(*changed, strict=True)]


def call_while_running(time: int, lengths: Any, cell: Any, step: Any, state: Any) -> tuple[Any, Any]:
    """One call of `cell`. Where its state holds TensorArrays, it is not made at all once every row has ended: what is
    written cannot be taken back.
    """
    if lengths is None or not any(isinstance(leaf, TensorArray) for leaf in _nest.flatten(state)):
        return cell(step, state)
    made: list[Any] = []
    batch = shape(_nest.flatten(step)[0])[:1]

    def call() -> list[Any]:
        output, new_state = cell(step, state)
        _nest.assert_same_structure(state, new_state, check_types=False)
        made.extend((output, new_state))
        return [*_nest.flatten(output), *_nest.flatten(new_state)]

    def skip() -> list[Any]:
        sizes = [as_shape(size).as_list() for size in _nest.flatten(cell.output_size)]
        outputs = zip(_nest.flatten(made[0]), sizes, strict=True)
        return [*(zeros(concat([batch, size], 0), tensor.dtype) for tensor, size in outputs), *_nest.flatten(state)]

    results = cond(reduce_any(lengths > time), call, skip, strict=True)
    count = len(_nest.flatten(made[0]))
    return _nest.pack_sequence_as(made[0], results[:count]), _nest.pack_sequence_as(made[1], results[count:])


def freeze(time: int, lengths: Tensor, output: Any, new_state: Any, state: Any) -> tuple[Any, Any]:
    """Zero the output and keep the old state of rows that have ended before step `time`."""
    attrs = {"time": time}
    output = _nest.map_structure(lambda value: apply(RUNNING, [lengths, value, []], attrs), output)
    _nest.assert_same_structure(state, new_state, check_types=False)
    held = [
        new if isinstance(new, TensorArray) else apply(RUNNING, [lengths, new, [before]], attrs)
        for new, before in zip(_nest.flatten(new_state), as_leaves(state, "state"), strict=True)
    ]
    return output, _nest.pack_sequence_as(new_state, held)
