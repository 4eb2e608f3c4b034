"""Public functions made from table rows, for the families whose arguments are all alike."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...graph.op import Op
from ..export import export
from ..graph import atomic
from .apply import apply


def unary(row: Op, name: str, *paths: str, doc: str = "") -> Callable[..., Any]:
    """Make and register `function(x, name=None)` for a row with one input."""

    def function(x: Any, name: str | None = None) -> Any:
        return apply(row, [x], name=name)

    return _register(
        function, row, name, paths, doc or f"Return `{row.type}` of every element of x, in x's shape and dtype."
    )


def binary(row: Op, name: str, *paths: str, doc: str = "") -> Callable[..., Any]:
    """Make and register `function(x, y, name=None)` for a row with two inputs."""

    def function(x: Any, y: Any, name: str | None = None) -> Any:
        return apply(row, [x, y], name=name)

    return _register(
        function,
        row,
        name,
        paths,
        doc or f"Return `{row.type}` of the elements of x and y, broadcast against each other.",
    )


def _register(function: Callable[..., Any], row: Op, name: str, paths: tuple[str, ...], doc: str) -> Callable[..., Any]:
    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    function.row = row  # type: ignore[attr-defined]
    wrapped = atomic(function)
    export(*(paths or (name,)))(wrapped)
    return wrapped
