"""Functions and cells that kept their name and changed their arguments: old calls are told apart by types and keywords.

tf.concat(1, [a, b])         -> tf.concat([a, b], 1)
tf.split(1, 3, x)            -> tf.split(x, 3, 1)
tf.reverse(x, [False, True]) -> tf.reverse(x, [1])
LSTMCell(8, input_size=4)    -> LSTMCell(8)
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from ...graph.shape import Dimension
from ..graph import Tensor
from .notice import tell

Call = Callable[..., Any]
Given = dict[str, Any]


def is_scalar(value: Any) -> bool:
    """Whether a value is a single number, and so can only be an axis or a count."""
    if isinstance(value, Tensor):
        return value.dims == ()
    return isinstance(value, (int, np.integer, Dimension)) and not isinstance(value, bool)


def _bound(parameters: tuple[str, ...], args: tuple[Any, ...], kwargs: Given) -> Given | None:
    """The arguments by their old names, None where the call does not fit them."""
    given = dict(zip(parameters, args, strict=False))
    if len(args) > len(parameters) or kwargs.keys() & given.keys() or not kwargs.keys() <= set(parameters):
        return None
    return given | kwargs


def _accepts(
    old: str, today: str, parameters: tuple[str, ...], renamed: Given, translate: Any
) -> Callable[[Call], Call]:
    """Let a function take old calls too.

    old, today: the call's spelling, for the warning. parameters: the old ones in their order. renamed: what old ones
    are called today. translate: returns the arguments (by old names) of an old call, None for a call of today.
    """

    def decorate(function: Call) -> Call:
        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            given = _bound(parameters, args, kwargs)
            if given is not None:
                found = translate(given) or (given if kwargs.keys() & renamed.keys() else None)
                if found is not None:
                    tell(old, today)
                    return function(**{renamed.get(name, name): value for name, value in found.items()})
            return function(*args, **kwargs)

        return call

    return decorate


def _concat(given: Given) -> Given | None:
    old = "values" in given and is_scalar(given.get("concat_dim")) and not is_scalar(given["values"])
    return given if old else None


def _split(given: Given) -> Given | None:
    old = "value" in given and is_scalar(given.get("split_dim")) and not is_scalar(given["value"])
    return given if old else None


def _reverse(given: Given) -> Given | None:
    """A bool for each axis becomes the list of axes."""
    chosen = given.get("dims")
    if not isinstance(chosen, (list, tuple, np.ndarray)) or not len(chosen):
        return None
    if not all(isinstance(item, (bool, np.bool_)) for item in chosen):
        return None
    return given | {"dims": [axis for axis, turned in enumerate(chosen) if turned]}


concat_arguments = _accepts(
    "tf.concat(axis, values)",
    "tf.concat(values, axis)",
    ("concat_dim", "values", "name"),
    {"concat_dim": "axis"},
    _concat,
)
split_arguments = _accepts(
    "tf.split(axis, num, value)",
    "tf.split(value, num, axis)",
    ("split_dim", "num_split", "value", "name"),
    {"split_dim": "axis", "num_split": "num_or_size_splits"},
    _split,
)
reverse_arguments = _accepts(
    "tf.reverse(x, [bool of each axis])",
    "tf.reverse(x, [axes])",
    ("tensor", "dims", "name"),
    {"dims": "axis"},
    _reverse,
)


def without_input_size(place: int) -> Callable[[Call], Call]:
    """Let a cell's `__init__` take the size of its inputs, which it finds out by itself, by keyword or as an int at
    position `place` (counted without self).
    """

    def decorate(init: Call) -> Call:
        @functools.wraps(init)
        def call(self: Any, *args: Any, **kwargs: Any) -> None:
            by_place = len(args) > place and is_scalar(args[place])
            if by_place or "input_size" in kwargs:
                name = type(self).__name__
                tell(f"{name}(num_units, input_size)", f"{name}(num_units)")
                args = args[:place] + args[place + 1 :] if by_place else args
                kwargs.pop("input_size", None)
            init(self, *args, **kwargs)

        return call

    return decorate
