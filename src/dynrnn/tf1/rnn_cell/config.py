"""Cells as plain data: what `get_config` gives, and cells made from it.

Activations are named where `tf.nn` or `tf` has a name for them. Other functions, and initializers, are kept as the
objects that they are.
"""

from __future__ import annotations

import inspect
from typing import Any

from ..export import NAMES


def described(cell: Any) -> dict[str, Any]:
    """A cell inside another one: its class's name and its config."""
    return {"class_name": type(cell).__name__, "config": cell.get_config()}


def made(description: dict[str, Any], custom_objects: dict[str, Any] | None) -> Any:
    """The cell that `described` described; classes that are not `tf.nn.rnn_cell`'s are looked up in `custom_objects`.

    Raises:
        ValueError: a class that is found in neither.
    """
    name = description["class_name"]
    cls = (custom_objects or {}).get(name) or NAMES.get(f"nn.rnn_cell.{name}")
    if cls is None:
        raise ValueError(f"Unknown cell: {name}; a class of your own goes into custom_objects, as {{{name!r}: {name}}}")
    return cls.from_config(description["config"])


def activation_name(activation: Any) -> Any:
    """The name of an activation, or itself where it has none."""
    if activation is None:
        return "tanh"
    name = getattr(activation, "__name__", "")
    known = any(NAMES.get(path) is activation for path in (f"nn.{name}", name))
    return name if known else activation


def chosen(function: Any, values: dict[str, Any]) -> dict[str, Any]:
    """Those of `values` that are arguments of `function`, in its order."""
    return {name: values[name] for name in inspect.signature(function).parameters if name in values}
