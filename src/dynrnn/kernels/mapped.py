"""Mapping a layer over an axis, for `torch.vmap`: the axis is folded into the batch, or its entries go one by one.

Folding needs weights that all entries share, and no gradient that must be kept apart for each of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from dynrnn.kernels.derivatives import Layer, Results

Dims = Sequence[int | None]  # the mapped axis of each operand, None: all entries share it
Mapped = tuple[tuple[Tensor, ...], tuple[int, ...]]  # results, and the mapped axis of each


class Fold:
    """`size` entries of a layer as one layer of `size * batch` rows: `layer`, with its `indices` and `inputs`.

    `operands` are row, start, length and inputs.
    """

    def __init__(self, layer: Layer, size: int, operands: Sequence[Any], dims: Dims) -> None:
        self.size = size
        self._setting = layer.setting
        self._axis = 1 if layer.setting.time_major else 0
        row, start, length = (self._spread(value, dim, 0) for value, dim in zip(operands[:3], dims[:3], strict=True))
        inputs = self._spread(operands[3], dims[3], self._axis)
        self._batch = inputs.shape[1 + self._axis]
        self._pieces = self._batch if row is None else row.shape[1]
        if row is not None:  # each entry's rows follow those of the entry before it
            row = row + self._batch * torch.arange(size, device=row.device).unsqueeze(1)
        self.indices = [None if value is None else value.flatten() for value in (row, start, length)]
        self.inputs = inputs.flatten(self._axis, self._axis + 1)
        self.layer = Layer(layer.setting, layer.names, self._reference(layer, operands[2], shared=dims[2] is None))

    def state(self, values: Sequence[Tensor | None], dims: Dims) -> list[Tensor | None]:
        """Fold the state's tensors."""
        return [self._folded(value, dim, 0) for value, dim in zip(values, dims, strict=True)]

    def like_results(self, values: Sequence[Tensor | None], dims: Dims) -> list[Tensor | None]:
        """Fold what has the shapes of the results, or of the first ones."""
        return [
            self._folded(value, dim, self._place(index)[0])
            for index, (value, dim) in enumerate(zip(values, dims, strict=True))
        ]

    def results(self, values: Sequence[Tensor]) -> Mapped:
        """Unfold what `call.forward` returns."""
        return self._unfolded(values, [self._place(index) for index in range(len(values))])

    def gradients(self, values: Sequence[Tensor], wanted: Sequence[bool]) -> Mapped:
        """Unfold the gradients that are wanted of inputs and state, which are placed as outputs and final state are."""
        return self._unfolded(values, [self._place(index) for index, want in enumerate(wanted) if want])

    def _place(self, index: int) -> tuple[int, int]:
        """The axis of rows in a result, and how many an entry has: outputs, final states, then again as outputs."""
        return (0, self._pieces) if 0 < index <= self._setting.num_states else (self._axis, self._batch)

    def _unfolded(self, values: Sequence[Tensor], places: Sequence[tuple[int, int]]) -> Mapped:
        unfolded = [
            value.unflatten(axis, (self.size, rows)) for value, (axis, rows) in zip(values, places, strict=True)
        ]
        return tuple(unfolded), tuple(axis for axis, _ in places)

    def _folded(self, value: Tensor | None, dim: int | None, axis: int) -> Tensor | None:
        return None if value is None else self._spread(value, dim, axis).flatten(axis, axis + 1)

    def _spread(self, value: Any, dim: int | None, axis: int) -> Any:
        """The mapped axis before `axis`, also where all entries share a value."""
        if value is None:
            return None
        if dim is not None:
            return value.movedim(dim, axis)
        value = value.unsqueeze(axis)
        return value.expand(*value.shape[:axis], self.size, *value.shape[axis + 1 :])

    def _reference(self, layer: Layer, lengths: Tensor | None, *, shared: bool) -> Any:
        """The folded layer's reference loop: that of `layer`, mapped. Lengths that entries share stay readable."""

        def reference(inputs: Tensor, state: Any, weights: Any, folded: Tensor | None) -> Results:
            inputs = inputs.unflatten(self._axis, (self.size, self._batch))
            state = tuple(value.unflatten(0, (self.size, self._pieces)) for value in state)
            each, dim = None, None
            if folded is not None:
                each, dim = (lengths, None) if shared else (folded.unflatten(0, (self.size, self._batch)), 0)

            def entry(inputs: Tensor, state: Any, each: Tensor | None) -> tuple[Tensor, ...]:
                return layer.flat(each, inputs, *state, *weights.values())

            found = torch.vmap(entry, in_dims=(self._axis, 0, dim), out_dims=0)(inputs, state, each)
            axes = [self._place(index)[0] for index in range(len(found))]
            found = [value.movedim(0, axis).flatten(axis, axis + 1) for value, axis in zip(found, axes, strict=True)]
            return layer.named(found)

        return reference


def one_by_one(run: Callable[..., Sequence[Tensor]], size: int, dims: Dims, operands: Sequence[Any]) -> Any:
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
