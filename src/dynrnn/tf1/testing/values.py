"""What the assertions of test cases compare: arrays of numbers or text, taken out of tensors and nests of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ..graph import Tensor

Evaluate = Callable[[Any], Any]


def is_symbolic(value: Any) -> bool:
    """Whether it takes a session to see the value: a tensor or a variable."""
    return isinstance(value, Tensor) or hasattr(value, "_as_graph_element")


def run_leaves(value: Any, evaluate: Evaluate) -> Any:
    """The nest with the values of its tensors; all else stays."""
    if is_symbolic(value):
        return evaluate(value)
    if isinstance(value, Mapping):
        return {key: run_leaves(item, evaluate) for key, item in value.items()}
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return run_leaves(value._asdict(), evaluate)  # type: ignore[attr-defined]
    if isinstance(value, (list, tuple)):
        return [run_leaves(item, evaluate) for item in value]
    return value


def as_array(value: Any, evaluate: Evaluate) -> np.ndarray:
    """The array that a tensor, an array or a nest of numbers holds; text is held as bytes, as in tensors.

    Raises:
        ValueError: rows of different lengths.
    """
    array = np.array(run_leaves(value, evaluate))
    if array.dtype.kind not in "OU":
        return array
    texts = [item.encode() if isinstance(item, str) else item for item in array.ravel()]
    held = np.empty(array.shape, object)
    held[...] = np.array(texts, object).reshape(array.shape)
    return held


def listed(array: np.ndarray, wrong: np.ndarray, *others: np.ndarray, limit: int = 10) -> str:
    """The places where `wrong` is true, with the items that `array` and the others have there."""
    places = np.argwhere(wrong)
    lines = [
        f"  {[int(k) for k in place]}: {' '.join(str(each[tuple(place)]) for each in (array, *others))}"
        for place in places[:limit]
    ]
    more = [f"  and {len(places) - limit} more"] if len(places) > limit else []
    return "\n".join([*lines, *more])
