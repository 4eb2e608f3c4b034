"""IndexedSlices as tensors: what they stand for, and functions of their values alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from ....graph import rules
from ....graph.constants import partial_dims
from ....graph.gradients import IndexedSlices
from ....graph.op import INDICES, NUMBERS, Op
from ....graph.shape import Dims, merge_dims
from ...graph import Tensor
from ..apply import apply
from ..convert import convert_to_tensor


def _to_dense(values: torch.Tensor, indices: torch.Tensor, dense_shape: torch.Tensor) -> torch.Tensor:
    return values.new_zeros(dense_shape.tolist()).index_add(0, indices.reshape(-1), values)


def _dense_dims(inputs: rules.Inputs, attrs: rules.Attrs) -> Dims:
    dims, rows = partial_dims(inputs[2]), inputs[0].dims
    return dims if rows is None else merge_dims(dims, (None, *rows[1:]))


TO_DENSE = Op(
    "IndexedSlicesToDense",
    "values:T indices:I dense_shape:S -> T",
    _to_dense,
    _dense_dims,
    {"T": NUMBERS, "I": INDICES, "S": INDICES},
)


def dense(slices: IndexedSlices) -> Tensor:
    """Return the tensor that the slices stand for: zeros, with the values added at their indices.

    Raises:
        ValueError: their `dense_shape` is not known.
    """
    if slices.dense_shape is None:
        raise ValueError(f"Tensor conversion requested for IndexedSlices without dense_shape: {slices}")
    return apply(TO_DENSE, [slices.values, slices.indices, slices.dense_shape])


IndexedSlices._to_dense = dense  # type: ignore[method-assign]


def of_values(value: Any, function: Callable[[Tensor], Tensor]) -> Any:
    """Return `function` of a tensor; of an IndexedSlices, slices with the function of its values."""
    if isinstance(value, IndexedSlices):
        return IndexedSlices(function(values_of(value)), value.indices, value.dense_shape)
    return function(convert_to_tensor(value))


def values_of(value: Any) -> Tensor:
    """The tensor itself, or the values of an IndexedSlices."""
    return convert_to_tensor(value.values if isinstance(value, IndexedSlices) else value)
