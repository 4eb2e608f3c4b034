"""Mapping a layer over an axis, for `torch.vmap`: the axis is folded into the batch, or its entries go one by one.

Folding needs weights that all entries share, and no gradient that must be kept apart for each of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from dynrnn.kernels.derivatives import Layer, Results

Dims = Sequence[int | None]  # the mapped axis of each operand, None: it is the same for all entries


class Fold:
    """`size` entries of a layer as one layer of `size * batch` rows."""

    def __init__(self, layer: Layer, size: int, inputs: Tensor, dim: int | None, pieces: int | None) -> None:
        self.setting = layer.setting
        self.size = size
        self.axis = 1 if self.setting.time_major else 0
        self.batch = [side for axis, side in enumerate(inputs.shape) if axis != dim][self.axis]
        self.pieces = self.batch if pieces is None else pieces

    def wide(self, value: Tensor | None, dim: int | None) -> Tensor | None:
        """Fold what is laid out as inputs are."""
        return self.folded(value, dim, self.axis)

    def narrow(self, value: Tensor | None, dim: int | None) -> Tensor | None:
        """Fold what has rows or pieces first, such as a state."""
        return self.folded(value, dim, 0)

    def indices(self, indices: Sequence[Tensor | None], dims: Dims) -> list[Tensor | None]:
        """Fold row, start and length; each entry's rows follow those of the entry before it."""
        row, start, length = (self._spread(value, dim, 0) for value, dim in zip(indices, dims, strict=True))
        if row is not None:
            row = row + self.batch * torch.arange(self.size).unsqueeze(1)
        return [None if value is None else value.flatten() for value in (row, start, length)]

    def results(self, values: Sequence[Tensor]) -> tuple[tuple[Tensor, ...], tuple[int, ...]]:
        """Unfold what `call.forward` returns, and say where the mapped axis of each result is."""
        axes = self.result_axes(len(values))
        first = 1 + self.setting.num_states
        rows = [self.pieces if 0 < index < first else self.batch for index in range(len(values))]
        unfolded = [
            value.unflatten(axis, (self.size, many)) for value, axis, many in zip(values, axes, rows, strict=True)
        ]
        return tuple(unfolded), axes

    def gradients(self, values: Sequence[Tensor], wanted: Sequence[bool]) -> tuple[tuple[Tensor, ...], tuple[int, ...]]:
        """Unfold the gradients that are wanted of inputs and state, and say where the mapped axis of each one is."""
        kinds = [(self.axis, self.batch), *((0, self.pieces) for _ in range(self.setting.num_states))]
        kinds = [kind for kind, want in zip(kinds, wanted, strict=False) if want]
        unfolded = [value.unflatten(axis, (self.size, many)) for value, (axis, many) in zip(values, kinds, strict=True)]
        return tuple(unfolded), tuple(axis for axis, _ in kinds)

    def result_axes(self, count: int) -> tuple[int, ...]:
        """The folded axis of each of `count` results: outputs, final states, then what is laid out as outputs are."""
        return tuple(0 if 0 < index <= self.setting.num_states else self.axis for index in range(count))

    def layer(self, layer: Layer, lengths: Tensor | None) -> Layer:
        """The folded layer; its reference is the given one, mapped. `lengths` are those all entries share, if any."""

        def reference(inputs: Tensor, state: Any, weights: Any, folded: Tensor | None) -> Results:
            inputs = inputs.unflatten(self.axis, (self.size, self.batch))
            state = tuple(value.unflatten(0, (self.size, self.pieces)) for value in state)
            each, dim = lengths, None
            if lengths is None and folded is not None:
                each, dim = folded.unflatten(0, (self.size, self.batch)), 0

            def entry(inputs: Tensor, state: Any, each: Tensor | None) -> tuple[Tensor, ...]:
                return layer.flat(each, inputs, *state, *weights.values())

            found = torch.vmap(entry, in_dims=(self.axis, 0, dim), out_dims=0)(inputs, state, each)
            axes = self.result_axes(len(found))
            found = [value.movedim(0, axis).flatten(axis, axis + 1) for value, axis in zip(found, axes, strict=True)]
            return layer.named(found)

        return Layer(layer.setting, layer.names, reference)

    def folded(self, value: Tensor | None, dim: int | None, axis: int) -> Tensor | None:
        """Fold the mapped axis into `axis`."""
        value = self._spread(value, dim, axis)
        return None if value is None else value.flatten(axis, axis + 1)

    def _spread(self, value: Tensor | None, dim: int | None, axis: int) -> Tensor | None:
        """The mapped axis before `axis`, also where all entries share a value."""
        if value is None:
            return None
        if dim is not None:
            return value.movedim(dim, axis)
        value = value.unsqueeze(axis)
        return value.expand(*value.shape[:axis], self.size, *value.shape[axis + 1 :])


def one_by_one(
    run: Callable[..., Sequence[Tensor]], size: int, dims: Dims, operands: Sequence[Any]
) -> tuple[tuple[Tensor, ...], int]:
    """Call `run` for each entry of the mapped axis; return the results stacked, and their mapped axis."""

    def entry(value: Any, dim: int | None, index: int) -> Any:
        if dim is None:
            return value
        # of no entries one is run all the same, because it has the shapes of the results
        return value.select(dim, index) if size else value.new_zeros(value.shape[:dim] + value.shape[dim + 1 :])

    found = [
        run(*(entry(value, dim, index) for value, dim in zip(operands, dims, strict=True)))
        for index in range(max(size, 1))
    ]
    return tuple(torch.stack(column)[:size] for column in zip(*found, strict=True)), 0
