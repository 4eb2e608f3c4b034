"""Arguments of array functions that are not plain tensors: shapes given as lists, axes that must be known while the
graph is built.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from ...graph.constants import constant_value
from ...graph.dtype import DType, as_dtype, int32
from ...graph.shape import Dimension, TensorShape
from ..graph import Tensor
from .convert import convert_to_tensor, make_array


def whole_numbers(value: Any) -> Any:
    """Return NumPy numbers of any type as int64, cut towards 0; anything else as it is.

    TensorFlow does so, silently, for each argument whose integer type has a default: shapes, axes, lengths, indices of
    `one_hot`. Python floats it refuses.
    """
    if not isinstance(value, (np.ndarray, np.generic)) or value.dtype.kind not in "fbiu":
        return value
    return value if value.dtype in (np.int32, np.int64) else value.astype(np.int64)


def shape_tensor(value: Any, name: str | None = None) -> Tensor:
    """Return a shape (a list of ints, Dimensions and scalar tensors, a TensorShape, an array, a tensor) as an integer
    tensor.
    """
    value = whole_numbers(value)
    if isinstance(value, TensorShape):
        value = value.as_list() if value.is_fully_defined() else value
    empty = isinstance(value, (list, tuple)) and not value
    return convert_to_tensor(value, int32 if empty else None, name)


def static_int(function: str, name: str, value: Any) -> int:
    """Return an int argument, also where it is given as a Dimension, an array or a tensor with a fixed value.

    Raises:
        ValueError: a tensor whose value is not known while the graph is built. TypeError: no integer at all.
    """
    if isinstance(value, Tensor) or hasattr(value, "_as_tensor"):
        tensor = convert_to_tensor(value)
        known = constant_value(tensor)
        if known is None:
            raise ValueError(f"{function}: {name} must be known while the graph is built, got {tensor}")
        value = known.item() if known.size == 1 else known
    if isinstance(value, Dimension):
        value = int(value)
    value = whole_numbers(value)
    try:
        return operator.index(value)
    except TypeError:
        raise TypeError(f"{function}: Expected int for argument '{name}', got {value!r}") from None


def static_ints(function: str, name: str, value: Any) -> tuple[int, ...]:
    """Return a vector of ints as a tuple, also where it is given as an array, a tensor with a fixed value, or a list
    with such in it.
    """
    if isinstance(value, Tensor) or hasattr(value, "_as_tensor"):
        tensor = convert_to_tensor(value)
        known = constant_value(tensor)
        if known is None:
            raise ValueError(f"{function}: {name} must be known while the graph is built, got {tensor}")
        value = known
    try:
        items = list(whole_numbers(value))
    except TypeError:
        raise ValueError(f"{function}: {name}: Shape must be rank 1 but is rank 0, got {value!r}") from None
    return tuple(static_int(function, name, item) for item in items)


def known_sizes(value: Any) -> tuple[int, ...] | None:
    """Return a shape as a tuple of ints if it is made of nothing but numbers; None where tensors take part."""
    if isinstance(value, TensorShape):
        return value.tuple if value.is_fully_defined() else None  # type: ignore[return-value]
    if isinstance(value, Tensor) or hasattr(value, "_as_tensor"):
        return None
    items = list(value) if hasattr(value, "__iter__") else [value]
    sizes: list[int] = []
    for item in items:
        item = item.value if isinstance(item, Dimension) else item
        if item is None or isinstance(item, Tensor) or not hasattr(item, "__index__"):
            return None
        sizes.append(operator.index(item))
    return tuple(sizes)


def dtype_of(value: Any, preferred: DType | None = None) -> DType:
    """Return the type that `value` has as a tensor; a Python value takes `preferred` where it can."""
    if isinstance(value, Tensor) or hasattr(value, "_as_tensor"):
        return value.dtype.base_dtype
    if preferred is not None:
        try:
            make_array(value, preferred)
        except (TypeError, ValueError):
            preferred = None
    return preferred or as_dtype(make_array(value, None).dtype)


def part_name(name: str | None, default: str, part: str) -> str:
    """Return the name for a constant that belongs to an operation called `name`, by default `default`."""
    scope = default if not name or name.endswith("/") else name
    return f"{scope}/{part}"
