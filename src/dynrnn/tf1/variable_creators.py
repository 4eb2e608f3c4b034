"""Variable creators: functions that stand between a program's `tf.Variable(...)` and the making of the variable."""

from __future__ import annotations

import functools
import inspect
import threading
import weakref
from collections.abc import Callable
from typing import Any

from .export import export
from .graph import Graph, get_default_graph

_local = threading.local()


def _creators(graph: Graph) -> list[Callable[..., Any]]:
    """The creators of this thread in a graph, the innermost last."""
    if not hasattr(_local, "creators"):
        _local.creators = weakref.WeakKeyDictionary()
    return _local.creators.setdefault(graph, [])


class VariableType(type):
    """The type of the variable class: calling the class asks the creators that are in force."""

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        creators = _creators(get_default_graph())
        make: Callable[..., Any] = super().__call__
        if not creators:
            return make(*args, **kwargs)
        signature = inspect.signature(cls.__init__)
        given = signature.bind(None, *args, **kwargs)
        given.apply_defaults()
        options = dict(list(given.arguments.items())[1:])
        for creator in creators:
            make = functools.partial(creator, make)
        return make(**options)


@export("variable_creator_scope")
class variable_creator_scope:  # noqa: N801 (TensorFlow's name)
    """Let `variable_creator(next_creator, **options)` make the default graph's variables inside.

    options: all arguments of `tf.Variable`, by name. It returns the variable, usually what `next_creator(**options)`
    returns; the next creator is that of the scope around, and at last the class itself.

    Raises:
        RuntimeError: scopes are left in another order than they were entered.

    Example:
        >>> import dynrnn.tf1 as tf
        >>> def renamed(next_creator, **options):
        ...     return next_creator(**{**options, "name": "renamed"})
        >>> with tf.Graph().as_default(), tf.variable_creator_scope(renamed):
        ...     print(tf.Variable(1.0, name="v").name)
        renamed:0
    """

    def __init__(self, variable_creator: Callable[..., Any]):
        self._creator = variable_creator
        self._entered: list[tuple[list[Any], list[Any]]] = []

    def __enter__(self) -> None:
        creators = _creators(get_default_graph())
        self._entered.append((creators, list(creators)))
        creators.append(self._creator)

    def __exit__(self, *error: object) -> None:
        creators, before = self._entered.pop()
        nested = creators == [*before, self._creator]
        creators[:] = before
        if not nested:
            raise RuntimeError("Exiting variable_creator_scope without proper nesting.")
