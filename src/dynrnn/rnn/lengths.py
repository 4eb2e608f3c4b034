"""Lengths: ranges, masks, reversal, and where each valid step stands when a ragged batch is walked.

Index arithmetic only: the loops that use it are in `reference.py` and `loop.py`. Lengths here are int64 `[batch]`.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch._C import _functorch  # pyright: ignore[reportAttributeAccessIssue]


def clamp_lengths(lengths: Tensor, max_time: int) -> Tensor:
    """Bring integer lengths of any kind and device to what the loops take: int64, on the CPU, within 0..max_time.

    Example:
        >>> clamp_lengths(torch.tensor([-2, 1, 9], dtype=torch.int8), 3)
        tensor([0, 1, 3])
    """
    return lengths.to("cpu", torch.int64).clamp(0, max_time)


def length_mask(lengths: Tensor, max_time: int) -> Tensor:
    """Say which steps are valid: bool `[batch, max_time]`, True where `t < lengths[b]`.

    Example:
        >>> length_mask(torch.tensor([2, 0]), 3)
        tensor([[ True,  True, False],
                [False, False, False]])
    """
    return torch.arange(max_time, device=lengths.device) < lengths.unsqueeze(1)


def length_range(lengths: Tensor | None, batch: int, max_time: int) -> tuple[int, int]:
    """Return the shortest and the longest length; `(max_time, max_time)` for None, `(0, 0)` for a batch of no rows.

    Where the values are hidden, anything from 0 to max_time is possible, and that is what is returned.
    """
    if batch == 0:
        return 0, 0
    if lengths is None:
        return max_time, max_time
    if hides_values(lengths):
        return 0, max_time
    shortest, longest = torch.aminmax(lengths)
    return int(shortest), int(longest)


def hides_values(lengths: Tensor) -> bool:
    """Say whether a tensor's values cannot be read: `torch.func.vmap` maps over it, or the code is being compiled.

    Example:
        >>> torch.func.vmap(lambda lengths: lengths + hides_values(lengths))(torch.tensor([1, 2]))
        tensor([2, 3])
    """
    if torch.compiler.is_compiling():
        return True
    # torch offers no public question for this
    while _functorch.is_functorch_wrapped_tensor(lengths):
        if _functorch.is_batchedtensor(lengths):
            return True
        lengths = _functorch.get_unwrapped(lengths)
    return False


def check_lengths(owner: str, lengths: Tensor | None, batch: int, max_time: int) -> None:
    """Refuse lengths that would be silently wrong; `owner` is the function they were given to.

    TypeError unless `lengths` is None or an int64 tensor on the CPU; ValueError for a shape other than `[batch]` and
    for a value outside 0..max_time, naming the first such row. Hidden values pass, on any device.
    """
    if lengths is None:
        return
    hidden = isinstance(lengths, Tensor) and hides_values(lengths)
    on_cpu = isinstance(lengths, Tensor) and (lengths.device.type == "cpu" or hidden)
    if not on_cpu or lengths.dtype != torch.int64:
        got = f"{lengths.dtype} on {lengths.device}" if isinstance(lengths, Tensor) else type(lengths).__name__
        raise TypeError(f"{owner}: lengths must be an int64 tensor on the CPU, got {got}")
    if tuple(lengths.shape) != (batch,):
        raise ValueError(f"{owner}: lengths must have shape [batch] = [{batch}], got {list(lengths.shape)}")
    if hidden:
        return
    shortest, longest = length_range(lengths, batch, max_time)
    if shortest < 0 or longest > max_time:
        row = int(((lengths < 0) | (lengths > max_time)).nonzero()[0])
        raise ValueError(f"{owner}: lengths must be within 0..{max_time}, got lengths[{row}] = {int(lengths[row])}")


def reverse_sequence(inputs: Tensor, lengths: Tensor, *, time_axis: int = 1, batch_axis: int = 0) -> Tensor:
    """Turn each row's first `lengths[b]` steps around and leave the rest where it is (TF's `tf.reverse_sequence`).

    `inputs` has any dtype and at least the two axes; `lengths` is int64 `[batch]` on any device, within 0..time.
    Returns a new tensor of the same shape; the gradient is turned around in the same way.

    Example:
        >>> reverse_sequence(torch.tensor([[1, 2, 3], [4, 5, 6]]), torch.tensor([3, 2]))
        tensor([[3, 2, 1],
                [5, 4, 6]])
    """
    rows = inputs.movedim((batch_axis, time_axis), (0, 1))
    batch, max_time = rows.shape[:2]
    time = _mirrored(lengths.to(inputs.device), max_time)
    source = (torch.arange(batch, device=inputs.device).unsqueeze(1) * max_time + time).flatten()
    turned = rows.flatten(0, 1).index_select(0, source).view(rows.shape)
    return turned.movedim((0, 1), (batch_axis, time_axis))


def _mirrored(lengths: Tensor, max_time: int) -> Tensor:
    """`[batch, max_time]`: where step t of each row goes when its valid part is turned around; an involution."""
    time = torch.arange(max_time, device=lengths.device)
    return torch.where(time < lengths.unsqueeze(1), lengths.unsqueeze(1) - 1 - time, time)


@dataclass(frozen=True)
class Packing:
    """A ragged batch with its rows sorted longest first and its valid steps laid out step by step.

    This is the layout of torch's PackedSequence: step 0 of all running rows, then step 1, and so on; the running rows
    are always a prefix of the sorted ones. Tensors are int64 on the device that was asked for.
    """

    order: Tensor  # [batch]: which row stands at each sorted position
    inverse: Tensor  # [batch]: at which sorted position each row stands
    batch_sizes: list[int]  # how many rows run at each step; [0] where none ever runs
    source: Tensor  # [sum(lengths)]: where each packed step stands in the flattened padded tensor
    target: Tensor  # [batch * time]: where each padded step stands in the packed tensor, and its end for padding


def pack(
    lengths: Tensor,
    max_time: int,
    *,
    time_major: bool = False,
    reverse: bool = False,
    device: torch.device | str,
    pieces: tuple[Tensor, Tensor, int] | None = None,
) -> Packing:
    """Lay out the valid steps of a batch whose padded tensors are `[batch, time, ...]`, or time first.

    With `reverse`, a row's packed steps go from its last valid step to its first. `pieces` are given where `lengths`
    are those of pieces of rows: in which row each one stands and where it starts there, both int64 `[pieces]`, and
    how many rows there are; `order`, `inverse` and `batch_sizes` then speak of pieces.

    Example:
        >>> packing = pack(torch.tensor([1, 3]), 3, device="cpu")
        >>> packing.batch_sizes, packing.source.tolist(), packing.target.tolist()
        ([2, 1, 1], [3, 0, 4, 5], [1, 4, 4, 0, 2, 3])
    """
    longest_first, order = lengths.sort(descending=True, stable=True)
    steps = length_range(lengths, lengths.shape[0], max_time)[1]
    batch = lengths.shape[0] if pieces is None else pieces[2]
    running = longest_first > torch.arange(steps, device=lengths.device).unsqueeze(1)  # [steps, batch]
    step, position = running.nonzero(as_tuple=True)
    row = order[position]
    time = lengths[row] - 1 - step if reverse else step
    if pieces is not None:
        time = time + pieces[1][row]
        row = pieces[0][row]
    source = time * batch + row if time_major else row * max_time + time
    target = source.new_full((batch * max_time,), source.shape[0])
    target[source] = torch.arange(source.shape[0], device=source.device)
    return Packing(
        order=order.to(device),
        inverse=order.argsort().to(device),
        batch_sizes=running.sum(1).tolist() or [0],
        source=source.to(device),
        target=target.to(device),
    )


def step_source(
    lengths: Tensor, first: int, max_time: int, *, time_major: bool = False, reverse: bool = False
) -> Tensor:
    """Say which padded input each row is given at the steps from `first` up to the longest length.

    Past its end a row is given its last valid input again, in the order in which it is walked; an empty row is given
    what the longest row gets. Returns int64 `[steps, batch]`: places in the flattened padded tensor. Hidden lengths
    give max_time steps, and where all rows are empty each is given its first padded step.

    Example:
        >>> step_source(torch.tensor([3, 1, 0]), 1, 3)
        tensor([[1, 3, 1],
                [2, 3, 2]])
    """
    longest = lengths.argmax()
    row = torch.where(lengths > 0, torch.arange(lengths.shape[0], device=lengths.device), longest)
    length = lengths[row].clamp(min=1)
    steps = max_time if hides_values(lengths) else int(lengths[longest])
    step = torch.minimum(torch.arange(first, steps, device=lengths.device).unsqueeze(1), length - 1)
    time = length - 1 - step if reverse else step
    return time * lengths.shape[0] + row if time_major else row * max_time + time


def step_target(lengths: Tensor, max_time: int, *, time_major: bool = False, reverse: bool = False) -> Tensor:
    """Say where each padded output stands among the stacked steps `[longest * batch, ...]`, and their end for padding.

    The inverse of `step_source` from step 0. Returns int64 `[batch * max_time]`, or time first.

    Example:
        >>> step_target(torch.tensor([2, 1]), 3).tolist()
        [0, 2, 4, 1, 4, 4]
    """
    batch = lengths.shape[0]
    steps = length_range(lengths, batch, max_time)[1]
    time = torch.arange(max_time, device=lengths.device)
    step = _mirrored(lengths, max_time) if reverse else time.expand(batch, max_time)
    place = step * batch + torch.arange(batch, device=lengths.device).unsqueeze(1)
    place = torch.where(length_mask(lengths, max_time), place, steps * batch)
    return (place.t() if time_major else place).flatten()


def fill_padding(values: Tensor, fill: Tensor, lengths: Tensor, *, time_major: bool = False) -> Tensor:
    """Put each row's `fill` `[batch, width]` into its padding in `values` `[batch, time, width]`, or time first.

    What stands in the padding is not read. `lengths` is int64 `[batch]` on any device; its values may be hidden.

    Example:
        >>> values = torch.tensor([[[1.0], [2.0], [float("nan")]]])
        >>> fill_padding(values, torch.tensor([[7.0]]), torch.tensor([2])).flatten().tolist()
        [1.0, 2.0, 7.0]
    """
    time_axis = 0 if time_major else 1
    mask = length_mask(lengths.to(values.device), values.shape[time_axis])
    mask = (mask.t() if time_major else mask).unsqueeze(2)
    return torch.where(mask, values, fill.unsqueeze(time_axis))


def carry_states(
    states: Tensor, initial: Tensor, lengths: Tensor | None, *, time_major: bool = False, reverse: bool = False
) -> Tensor:
    """Fill the padding of states with what a loop over all steps would carry through it.

    `states` is `[batch, time, ...]`, or time first: the state after each valid step, anything past a row's end.
    `initial` is `[batch, ...]`. Past its end a row keeps its last valid state; an empty row, and with `reverse` (which
    comes through the padding first) every row, keeps its initial state there. `lengths` is int64 `[batch]` on the CPU,
    or None where there is no padding.

    Example:
        >>> carry_states(torch.tensor([[1, 2, 0], [0, 0, 0]]), torch.tensor([7, 8]), torch.tensor([2, 0]))
        tensor([[1, 2, 2],
                [8, 8, 8]])
    """
    if lengths is None:
        return states
    batch_axis, time_axis = (1, 0) if time_major else (0, 1)
    batch, max_time = states.shape[batch_axis], states.shape[time_axis]
    row = torch.arange(batch, device=lengths.device).unsqueeze(1)
    time = torch.arange(max_time, device=lengths.device)
    valid = length_mask(lengths, max_time)
    carried = torch.full_like(lengths, -1) if reverse else lengths - 1
    time = torch.where(valid, time, carried.unsqueeze(1))
    place = time * batch + row if time_major else row * max_time + time
    place = torch.where(time < 0, batch * max_time + row, place)
    place = (place.t() if time_major else place).flatten().to(states.device)
    return torch.cat((states.flatten(0, 1), initial)).index_select(0, place).unflatten(0, states.shape[:2])
