"""The register of public names: what stands where in the TF1 face's namespaces.

`api.py` builds the namespaces from it, and the page of supported names comes from it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

NAMES: dict[str, Any] = {}  # "nn.rnn_cell.LSTMCell" -> object

T = TypeVar("T")


def export(*paths: str) -> Callable[[T], T]:
    """Register an object under dotted paths below `tf`.

    Raises:
        ValueError: a path is taken by another object.
    """

    def register(value: T) -> T:
        for path in paths:
            if path in NAMES and NAMES[path] is not value:
                raise ValueError(f"tf.{path} is registered twice: {NAMES[path]!r} and {value!r}")
            NAMES[path] = value
        return value

    return register
