"""What one thread has entered in one graph: name scope, dependencies, contexts, device, and the journal of changes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .node import Node, Tensor


class Scopes:
    """One thread's name scope, dependencies, contexts, device and journal in one graph."""

    __slots__ = ("name", "dependencies", "contexts", "device", "journal")

    def __init__(self) -> None:
        self.name = ""
        self.dependencies: tuple[Node, ...] = ()
        self.contexts: tuple[Any, ...] = ()
        self.device = ""
        self.journal: list[Callable[[], object]] | None = None

    def control_for(self, inputs: Sequence[Tensor]) -> list[Node]:
        direct = {id(tensor.op) for tensor in inputs}
        chosen = {id(node): node for node in self.dependencies if id(node) not in direct}
        return list(chosen.values())


class Atomic:
    """Takes back what is noted in the journal after it was entered, if an exception leaves it."""

    __slots__ = ("outermost", "scopes", "start")

    def __init__(self, scopes: Scopes):
        self.scopes = scopes

    def __enter__(self) -> None:
        journal = self.scopes.journal
        self.outermost = journal is None
        if journal is None:
            journal = self.scopes.journal = []
        self.start = len(journal)

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        journal = self.scopes.journal
        assert journal is not None
        if kind is not None:
            while len(journal) > self.start:
                journal.pop()()
        if self.outermost:
            self.scopes.journal = None
