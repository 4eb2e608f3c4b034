"""Context managers of the default graph: name scopes, control dependencies, devices. Variable scopes are in
`variable_scope.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import Any

from .export import export
from .graph import Graph, Operation, Tensor, get_default_graph


def graph_of(values: Iterable[Any] | None) -> Graph:
    """Return the graph of the tensors, operations and variables among `values`; the default graph where there are none.

    Raises:
        ValueError: they belong to different graphs.
    """
    found: Any = None
    for value in values or ():
        element = value._as_graph_element() if hasattr(value, "_as_graph_element") else value
        if not isinstance(element, (Tensor, Operation)):
            continue
        if found is not None and element.graph is not found.graph:
            raise ValueError(f"{element} must be from the same graph as {found}.")
        found = found if found is not None else element
    return get_default_graph() if found is None else found.graph


@export("name_scope")
class name_scope:  # noqa: N801 (TensorFlow's name)
    """Put a name and a slash before the names of the operations made inside.

    name: the scope's name, made unique; one that ends in a slash is entered as it is. default_name: the name where
    `name` is None.
    values: the tensors that a function was given; their graph is the default graph inside.
    Where nothing is given at all, the root scope is entered. `with ... as scope` yields the full name with a slash at
    its end.

    Raises:
        ValueError: `values` without any name; a name that no operation may have; values of different graphs.

    Example:
        >>> import dynrnn.tf1 as tf
        >>> with tf.Graph().as_default(), tf.name_scope("layer"):
        ...     print(tf.constant(1.0, name="x").name)
        layer/x:0
    """

    __slots__ = ("_entered", "_name", "_values")

    def __init__(self, name: str | None, default_name: str | None = None, values: Iterable[Any] | None = None):
        if not isinstance(name, (str, type(None))):
            raise TypeError(f"name_scope: name must be a string or None, got {name!r}")
        self._name = default_name if name is None else name
        self._values = values
        self._entered: list[ExitStack] = []

    @property
    def name(self) -> str | None:
        """The name as it was given, or the default name."""
        return self._name

    def __enter__(self) -> str:
        if self._name is None and self._values is not None:
            raise ValueError("At least one of name (None) and default_name (None) must be provided.")
        graph = graph_of(self._values)
        with ExitStack() as stack:
            if graph is not get_default_graph():
                stack.enter_context(graph.as_default())
            scope = stack.enter_context(graph.name_scope(self._name))
            self._entered.append(stack.pop_all())
        return scope

    def __exit__(self, *error: Any) -> None:
        self._entered.pop().__exit__(*error)


@export("op_scope")
def op_scope(values: Iterable[Any], name: str | None, default_name: str | None = None) -> name_scope:
    """`tf.name_scope` with its arguments in the order of the first releases."""
    return name_scope(name, default_name, values)


@export("control_dependencies")
def control_dependencies(control_inputs: Iterable[Any] | None) -> AbstractContextManager[None]:
    """Make operations inside run after `control_inputs` (operations, tensors, variables); None lifts all
    dependencies.
    """
    return get_default_graph().control_dependencies(control_inputs)


@export("init_scope")
@contextmanager
def init_scope() -> Iterator[None]:
    """Make operations inside free of control dependencies and outside of loops and branches; names go on."""
    graph = get_default_graph()
    scope = graph.current_name_scope()
    with graph.control_dependencies(None), graph.name_scope(scope + "/" if scope else None):
        yield


@export("device")
def device(device_name_or_function: Any) -> AbstractContextManager[None]:
    """Note a device on the operations made inside; everything runs where PyTorch's CPU tensors live."""
    return get_default_graph().device(device_name_or_function)


@export("container")
def container(container_name: str) -> AbstractContextManager[str]:
    """Name a resource container; a session's values are its own, so there is nothing to keep apart."""
    return get_default_graph().container(container_name)


@export("colocate_with")
def colocate_with(op: Any, ignore_existing: bool = False) -> AbstractContextManager[None]:
    """Colocate operations with `op`: they get its device and its group; all of them run on the CPU."""
    return get_default_graph().colocate_with(op, ignore_existing)
