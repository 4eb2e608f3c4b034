"""From the steps of a loop, one after the other, to one tensor with the axis of time."""

from __future__ import annotations

import torch
from torch import Tensor


def stack_steps(column: list[Tensor], max_time: int, *, time_axis: int) -> Tensor:
    """Stack the steps of rows that all begin at time 0, with zeros up to `max_time` steps.

    Example:
        >>> stack_steps([torch.ones(1), torch.ones(1)], 3, time_axis=1)
        tensor([[1., 1., 0.]])
    """
    missing = [torch.zeros_like(column[0])] * (max_time - len(column))
    return torch.stack([*column, *missing], time_axis)


def scatter_steps(column: list[Tensor], target: Tensor, layout: torch.Size) -> Tensor:
    """Bring the rows of all steps, one after the other, to the places `target` of a padded tensor `[*layout, ...]`.

    Padding points behind the last of them, where a row of zeros is.

    Example:
        >>> scatter_steps([torch.tensor([3, 4]), torch.tensor([5])], torch.tensor([0, 2, 1, 3]), torch.Size([2, 2]))
        tensor([[3, 5],
                [4, 0]])
    """
    rows = torch.cat([*column, column[0].new_zeros(1, *column[0].shape[1:])])
    return rows.index_select(0, target).unflatten(0, layout)


def pad_time(values: Tensor, max_time: int, time_axis: int) -> Tensor:
    """Append zeros along the axis of time until there are `max_time` steps.

    Example:
        >>> pad_time(torch.ones(1, 2), 3, 1)
        tensor([[1., 1., 0.]])
    """
    missing = max_time - values.shape[time_axis]
    if not missing:
        return values
    shape = list(values.shape)
    shape[time_axis] = missing
    return torch.cat((values, values.new_zeros(shape)), time_axis)
