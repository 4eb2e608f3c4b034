"""What a user's step is given at each step: rows of the inputs, or of products that are computed from them beforehand.

Every step is given the whole batch. Where rows have other lengths, a row that has ended is given its last valid input
again (an empty row: the longest row's), so that padding is never read. The loop itself is in `loop.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from dynrnn.rnn.lengths import hides_values, length_mask, step_source

Product = Callable[[list[Tensor]], Sequence[Tensor]]


@dataclass(frozen=True)
class Span:
    """Which steps of padded inputs are walked: lengths int64 `[batch]` or None, the range they are in, the layout."""

    lengths: Tensor | None
    batch: int
    max_time: int
    shortest: int
    longest: int
    time_major: bool
    reverse: bool

    @property
    def is_full(self) -> bool:
        """Whether all rows run equally long."""
        return self.lengths is None or self.shortest == self.longest

    def source(self) -> Tensor:
        """`[longest, batch]`: where what a row is given at each step stands in the flattened padded tensor."""
        assert self.lengths is not None
        return step_source(self.lengths, 0, self.max_time, time_major=self.time_major, reverse=self.reverse)


def step_inputs(inputs: Sequence[Tensor], span: Span) -> Iterator[tuple[Tensor, ...]]:
    """Iterate over the steps: at each one `[batch, ...]` of every input, contiguous, with the same strides always.

    Example:
        >>> span = Span(torch.tensor([2, 1]), 2, 2, 1, 2, time_major=False, reverse=False)
        >>> [rows.tolist() for (rows,) in step_inputs([torch.tensor([[1, 2], [3, 0]])], span)]
        [[1, 3], [2, 3]]
    """
    columns = [_rows(value, span).split(span.batch) for value in inputs]
    return zip(*columns, strict=True)


def step_products(
    product: Product, inputs: Sequence[Tensor], span: Span, *, at_once: int | None
) -> Iterator[tuple[Tensor, ...]]:
    """Iterate over the steps as `step_inputs` does, but over `product(rows)` of the inputs' rows.

    `product` takes `[n, ...]` of every input and returns tensors `[n, ...]`. It is called for `at_once` steps at a time
    (None: for all), on the valid steps only; from the second call on also on the last valid input of rows that have
    ended. Where lengths are hidden, it is called on every step's whole batch. Raises ValueError for a product of
    another number of rows.

    Example:
        >>> span = Span(torch.tensor([2, 1]), 2, 2, 1, 2, time_major=False, reverse=False)
        >>> products = step_products(lambda rows: [rows[0] * 10], [torch.tensor([[1, 2], [3, 0]])], span, at_once=None)
        >>> [rows.tolist() for (rows,) in products]
        [[10, 30], [20, 30]]
    """
    at_once = min(at_once or span.longest, span.longest)
    starts = range(0, span.longest, at_once)
    packing = None
    if span.lengths is not None and not span.is_full and not hides_values(span.lengths):
        packing = _pack_valid(span.lengths, span, at_once)
    sizes = [(min(start + at_once, span.longest) - start) * span.batch for start in starts]
    if packing is not None:
        sizes = packing.sizes
    # split, not slices: its backward is one concatenation, where each slice's would fill a whole tensor
    columns = [
        (_rows(value, span) if packing is None else _gather(value, packing.source)).split(sizes) for value in inputs
    ]
    for start, size, *rows in zip(starts, sizes, *columns, strict=True):
        products = _checked(product(rows), size)
        if packing is None:
            steps = [value.split(span.batch) for value in products]
        else:
            full = max(0, min(span.shortest - start, at_once))
            source = packing.within[start + full : start + at_once].flatten().to(inputs[0].device)
            steps = [_unpacked(value, full, span.batch, source) for value in products]
        yield from zip(*steps, strict=True)


def _rows(value: Tensor, span: Span) -> Tensor:
    """`[longest * batch, ...]`: what each step is given, one after the other."""
    if span.is_full:
        time_axis = 0 if span.time_major else 1
        steps = value.narrow(time_axis, 0, span.longest)
        steps = steps.flip(time_axis) if span.reverse else steps
        return (steps if span.time_major else steps.transpose(0, 1)).flatten(0, 1).contiguous()
    assert span.lengths is not None
    rows = _gather(value, span.source().flatten())
    if hides_values(span.lengths):  # where every row is empty, all that was there to gather is padding
        rows = torch.where((span.lengths > 0).any().to(value.device), rows, rows.new_zeros(()))
    return rows


def _gather(value: Tensor, source: Tensor) -> Tensor:
    return value.flatten(0, 1).index_select(0, source.to(value.device))


@dataclass(frozen=True)
class _Packing:
    """The valid steps of a ragged batch, step by step, in stretches; tensors are int64 on the CPU."""

    source: Tensor  # [packed]: where each packed row stands in the flattened padded tensor
    sizes: list[int]  # how many packed rows each stretch has
    within: Tensor  # [longest, batch]: which packed row of its stretch each row is given at each step


def _pack_valid(lengths: Tensor, span: Span, at_once: int) -> _Packing:
    longest = span.longest
    row = torch.where(lengths > 0, torch.arange(span.batch, device="cpu"), lengths.argmax())
    step = torch.arange(longest, device="cpu").unsqueeze(1)
    start = step - step % at_once
    taken = length_mask(lengths, longest).t() | ((step == start) & (step > 0) & (lengths > 0))
    place = taken.flatten().cumsum(0).view(taken.shape) - 1
    latest = torch.maximum(start, torch.minimum(step, lengths[row] - 1))
    before = torch.cat((place.new_zeros(1), taken.sum(1).cumsum(0)))  # packed rows before each step
    ends = [*range(at_once, longest, at_once), longest]
    return _Packing(
        source=span.source()[taken],
        sizes=before[[0, *ends]].diff().tolist(),
        within=place[latest, row] - before[start],
    )


def _unpacked(products: Tensor, full: int, batch: int, source: Tensor) -> tuple[Tensor, ...]:
    """The steps of a stretch: the first `full` ones as they lie, the others with rows that have ended filled in."""
    head = products.narrow(0, 0, full * batch).split(batch) if full else ()
    return (*head, *products.index_select(0, source).split(batch)) if len(source) else head


def _checked(products: Sequence[Tensor], size: int) -> list[Tensor]:
    """Products as they were returned, but contiguous, so that all steps get the same strides."""
    for index, value in enumerate(products):
        name = f"run_steps: product must return product[{index}]"
        if not isinstance(value, Tensor):
            raise TypeError(f"{name} as a tensor, got {type(value).__name__}")
        if not value.ndim or value.shape[0] != size:
            raise ValueError(f"{name} with a row for each of the {size} it was given, got {list(value.shape)}")
    return [value.contiguous() for value in products]
