"""What wrappers do, applied to whole sequences: a residual sum, and dropout with the masks that the steps would draw
one by one.
"""

from __future__ import annotations

from typing import Any

import torch

from ...graph import rules
from ...graph.op import FLOATS, Op
from ...rnn import length_mask
from ...rnn.lengths import reverse_sequence
from ..graph import Tensor
from ..ops.apply import apply
from ..ops.array.sizing import shape
from ..ops.nn.dropout import rate_of
from ..ops.random.distributions import uniform_steps


def _time_axis(time_major: bool) -> int:
    return 0 if time_major else 1


def _without_padding(inputs: torch.Tensor, lengths: torch.Tensor, *, time_major: bool) -> torch.Tensor:
    mask = length_mask(lengths.long(), inputs.shape[_time_axis(time_major)])
    mask = (mask.t() if time_major else mask).unsqueeze(2)
    return torch.where(mask, inputs, inputs.new_zeros(()))


def _residual(inputs: torch.Tensor, outputs: torch.Tensor, *lengths: torch.Tensor, time_major: bool) -> torch.Tensor:
    return (_without_padding(inputs, *lengths, time_major=time_major) if lengths else inputs) + outputs


def _dropout(
    inputs: torch.Tensor, noise: torch.Tensor, *rest: torch.Tensor, rate: float | None, time_major: bool, reverse: bool
) -> torch.Tensor:
    """noise: `[steps, batch, width]` in the order in which steps are walked; one step's noise may stand for all.

    rest: the rate, where it is a tensor (`rate` is None then), and the lengths, where there are any.
    """
    lengths = rest[1:] if rate is None else rest
    time = inputs.shape[_time_axis(time_major)]
    if noise.shape[0] == 1:
        noise = noise.expand(time, -1, -1)
    elif noise.shape[0] < time:  # no step runs there, so its noise matters to nobody
        noise = torch.cat([noise, noise.new_zeros(time - noise.shape[0], *noise.shape[1:])])
    if reverse:
        noise = (
            reverse_sequence(noise, lengths[0].long().clamp(0, time), time_axis=0, batch_axis=1)
            if lengths
            else noise.flip(0)
        )
    noise = noise if time_major else noise.transpose(0, 1)
    if rate is None:
        keep, scaled = noise >= rest[0], inputs / (1 - rest[0])
    else:
        keep, scaled = noise >= inputs.new_tensor(rate), inputs * inputs.new_tensor(1 / (1 - rate))
    return torch.where(keep, scaled, inputs.new_zeros(()))


def _steps(inputs: torch.Tensor, *lengths: torch.Tensor, time_axis: int) -> torch.Tensor:
    """How many steps TensorFlow's loop runs: up to the longest row, and at least one where there is one."""
    time = inputs.shape[time_axis]
    longest = int(lengths[0].max()) if lengths and lengths[0].numel() else time
    return torch.tensor(min(time, max(1, longest)), dtype=torch.int32)


ZERO_PADDING = Op("ZeroPadding", "inputs:T lengths:L -> T", _without_padding, rules.same)
RESIDUAL = Op(
    "SequenceResidual",
    "inputs:T outputs:T *lengths:L -> T",
    _residual,
    lambda inputs, attrs: rules.merged(inputs[:2], attrs),
)
DROPOUT = Op("SequenceDropout", "inputs:T noise:T *rate:T *lengths:L -> T", _dropout, rules.same, {"T": FLOATS})
STEPS = Op("SequenceSteps", "inputs:T *lengths:L -> int32", _steps, rules.scalar, differentiable=False)


def _lengths(walk: Any) -> list[Tensor]:
    return [] if walk.lengths is None else [walk.lengths]


def without_padding(inputs: Tensor, walk: Any) -> Tensor:
    """Inputs with 0 past each row's end, for what takes a gradient through all of them."""
    if walk.lengths is None:
        return inputs
    return apply(ZERO_PADDING, [inputs, walk.lengths], {"time_major": walk.time_major})


def add_residual(inputs: Tensor, outputs: Tensor, walk: Any) -> Tensor:
    """Add the sum of a layer's inputs and outputs, exactly 0 past each row's end."""
    return apply(RESIDUAL, [inputs, outputs, _lengths(walk)], {"time_major": walk.time_major}, "add")


def add_dropout(inputs: Tensor, keep_prob: Any, seed: int | None, walk: Any) -> Tensor:
    """Add dropout on a layer's inputs or outputs, with the masks that one random operation draws step by step.

    keep_prob: a Python float or a scalar tensor. In an unrolled loop each step has an operation of its own, so with a
    seed all draw one mask.
    """
    sizes, batch, time = shape(inputs), walk.batch_axis, 1 - walk.batch_axis
    once = walk.static and seed is not None
    steps = 1 if once else apply(STEPS, [inputs, _lengths(walk)], {"time_axis": time})
    noise = uniform_steps(steps, [sizes[batch], sizes[2]], dtype=inputs.dtype.base_dtype, seed=seed)
    rate = rate_of(keep_prob, None, "DropoutWrapper")
    given = isinstance(rate, float)
    attrs = {"rate": rate if given else None, "time_major": walk.time_major, "reverse": walk.reverse}
    return apply(DROPOUT, [inputs, noise, [] if given else [rate], _lengths(walk)], attrs, "dropout")
