"""Graph: what a program builds before anything runs.

Names, name scopes, control dependencies and the undo journal are here; values are the executor's business. Scopes and
dependencies are kept per thread, the nodes belong to all.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from .dtype import DType
from .node import Node, Tensor
from .op import Op
from .scopes import Atomic, Scopes
from .shape import Dims

_VALID_NAME = re.compile(r"^[A-Za-z0-9.][A-Za-z0-9_.\\/>-]*$")
_VALID_SCOPE = re.compile(r"^[A-Za-z0-9_.\\/>-]*$")


class Graph:
    """The nodes of a program by name, in the order in which they were made."""

    tensor_class: type[Tensor] = Tensor
    node_class: type[Node] = Node

    def __init__(self) -> None:
        self._nodes: list[Node] = []
        self._by_name: dict[str, Node] = {}
        self._names_in_use: dict[str, int] = {}
        self._local = threading.local()
        self.building = threading.RLock()  # held while nodes and names are added
        self._finalized = False

    @property
    def _scopes(self) -> Scopes:
        scopes = getattr(self._local, "scopes", None)
        if scopes is None:
            scopes = self._local.scopes = Scopes()
        return scopes

    # Nodes

    def add(
        self,
        row: Op,
        inputs: Sequence[Tensor],
        attrs: Mapping[str, Any],
        *,
        dtypes: Sequence[DType],
        shapes: Sequence[Dims],
        name: str | None = None,
    ) -> Node:
        """Make a node; its name is made unique in the current name scope unless it ends with a slash (then it is
        taken as it is).
        """
        self._check_open()
        scopes = self._scopes
        self._check_graph(row, inputs)
        inputs = [self.reachable(tensor, name or row.type) for tensor in inputs]
        with self.building:
            name = name or row.type
            full = name[:-1] if name.endswith("/") else self.unique_name(name)
            if not _VALID_NAME.match(full):
                raise ValueError(
                    f"'{full}' is not a valid node name: letters, digits and _ . - / are allowed, and a letter, "
                    "digit or dot comes first"
                )
            if full in self._by_name:
                raise ValueError(f"Duplicate node name in graph: '{full}'")
            node = self.node_class(self, row, full, tuple(inputs), dict(attrs))
            node.outputs = [
                self.tensor_class(node, i, dtype, dims)
                for i, (dtype, dims) in enumerate(zip(dtypes, shapes, strict=True))
            ]
            node.context = scopes.contexts[-1] if scopes.contexts else None
            node.device = scopes.device
            if scopes.dependencies:
                node.control_inputs = scopes.control_for(inputs)
            if row.bodies:
                outer = (other for body in node.bodies for other in body.controls)
                node.control_inputs = list(dict.fromkeys((*node.control_inputs, *outer)))
            node.index = self.next_index
            self._nodes.append(node)
            self._by_name[full] = node
        for tensor in inputs:
            tensor._consumers.append(node)
        if scopes.journal is not None:
            scopes.journal.append(lambda: self._remove(node))
        return node

    def _check_graph(self, row: Op, inputs: Sequence[Tensor]) -> None:
        for position, tensor in enumerate(inputs):
            if tensor.op.graph is not self:
                raise ValueError(
                    f"{row.type}: input {position}, {tensor.name}, must be from the same graph as the other tensors "
                    "of this operation"
                )

    def reachable(self, tensor: Tensor, user: str) -> Tensor:
        """The tensor by which a node made now can use `tensor`: itself, or what comes out of the branch it is in.

        Raises:
            ValueError: it is in a loop's body, and this is outside of it.
        """
        found: Tensor | None = tensor
        contexts = self._scopes.contexts
        while found is not None and found.op.context is not None and found.op.context not in contexts:
            found = found.op.context.outlet(found)
        if found is None:
            what, user = tensor.op.name, user.rstrip("/")
            raise ValueError(
                f"Cannot use '{what}' as input to '{user}' because '{what}' is in a while loop: it has values only "
                "inside a loop or a branch. Return it from there to use it outside"
            )
        return found if found is tensor else tensor.op.context.checked(found)

    def _remove(self, node: Node) -> None:
        with self.building:
            if self._nodes[-1] is node:
                del self._nodes[-1]
            else:  # another thread has made some since
                self._nodes.remove(node)
            del self._by_name[node.name]
        for tensor in node.inputs:
            tensor._consumers.remove(node)

    @property
    def nodes(self) -> Sequence[Node]:
        return self._nodes

    @property
    def next_index(self) -> int:
        """The index of the node that is made next; it is over those of all nodes there are."""
        return self._nodes[-1].index + 1 if self._nodes else 0

    @property
    def version(self) -> int:
        return len(self._nodes)

    @property
    def finalized(self) -> bool:
        return self._finalized

    def finalize(self) -> None:
        """Refuse all further changes."""
        self._finalized = True

    def _check_open(self) -> None:
        if self._finalized:
            raise RuntimeError("Graph is finalized and cannot be modified.")

    # Names

    def unique_name(self, name: str, mark_as_used: bool = True) -> str:
        """Return `name` in the current name scope, with _1, _2 ... added where it is taken (letters' case does not
        count).
        """
        scope = self._scopes.name
        if scope:
            name = f"{scope}/{name}"
        key = name.lower()
        with self.building:
            count = self._names_in_use.get(key, 0)
            if mark_as_used:
                self._mark(key, count + 1)
            if count == 0:
                return name
            unique = key
            while unique in self._names_in_use:
                unique = f"{key}_{count}"
                count += 1
            if mark_as_used:
                self._mark(unique, 1)
                self._mark(key, count)
            return f"{name}_{count - 1}"

    def _mark(self, key: str, count: int) -> None:
        before = self._names_in_use.get(key)
        self._names_in_use[key] = count
        journal = self._scopes.journal
        if journal is not None:
            journal.append(lambda: self._unmark(key, before))

    def _unmark(self, key: str, before: int | None) -> None:
        if before is None:
            self._names_in_use.pop(key, None)
        else:
            self._names_in_use[key] = before

    @contextmanager
    def name_scope(self, name: str | None) -> Iterator[str]:
        """Put `name/` before the names of the nodes made inside.

        None or "" is the root; a name that ends in a slash is entered as it is; any other is made unique first. Yields
        the scope with its slash.
        """
        if name and not _VALID_SCOPE.match(name):
            raise ValueError(f"'{name}' is not a valid scope name")
        scopes = self._scopes
        if not scopes.name and name and not _VALID_NAME.match(name):
            raise ValueError(f"'{name}' is not a valid scope name: a letter, digit or dot comes first")
        before = scopes.name
        if not name:
            scopes.name = ""
        elif name.endswith("/"):
            scopes.name = name[:-1]
        else:
            scopes.name = self.unique_name(name)
        try:
            yield scopes.name + "/" if scopes.name else ""
        finally:
            scopes.name = before

    def current_name_scope(self) -> str:
        """The current name scope without its slash."""
        return self._scopes.name

    # What nodes made now depend on, and where they belong

    @contextmanager
    def control_dependencies(self, nodes: Iterable[Node] | None) -> Iterator[None]:
        """Make the nodes inside run after `nodes`; None lifts all dependencies and control-flow contexts."""
        scopes = self._scopes
        before = scopes.dependencies, scopes.contexts
        if nodes is None:
            scopes.dependencies, scopes.contexts = (), ()
        else:
            nodes = tuple(nodes)
            scopes.dependencies = (*scopes.dependencies, *map(self._reachable_node, nodes))
        try:
            yield
        finally:
            scopes.dependencies, scopes.contexts = before

    def _reachable_node(self, node: Node) -> Node:
        """The node by which nodes made now can depend on `node`: itself, or one that runs it if its branch is taken."""
        found: Node | None = node
        while found is not None and found.context is not None and found.context not in self._scopes.contexts:
            found = found.context.outlet_node(found)
        if found is None:
            raise ValueError(
                f"Cannot depend on '{node.name}': it runs only inside a while loop, and this is outside of it"
            )
        return found

    @contextmanager
    def contexts(self, contexts: tuple[Any, ...]) -> Iterator[None]:
        """Let nodes made inside belong to the last of `contexts`, whatever is being traced, and depend on nothing."""
        scopes = self._scopes
        before = scopes.contexts, scopes.dependencies
        scopes.contexts, scopes.dependencies = contexts, ()
        try:
            yield
        finally:
            scopes.contexts, scopes.dependencies = before

    @property
    def current_contexts(self) -> tuple[Any, ...]:
        return self._scopes.contexts

    @contextmanager
    def context(self, context: Any) -> Iterator[None]:
        """Let nodes made inside belong to `context`, the body of a loop or a branch."""
        scopes = self._scopes
        before = scopes.contexts, scopes.dependencies
        scopes.contexts, scopes.dependencies = (*scopes.contexts, context), ()
        try:
            yield
        finally:
            scopes.contexts, scopes.dependencies = before

    @property
    def current_context(self) -> Any:
        contexts = self._scopes.contexts
        return contexts[-1] if contexts else None

    @property
    def current_dependencies(self) -> tuple[Node, ...]:
        return self._scopes.dependencies

    @contextmanager
    def device(self, device: str) -> Iterator[None]:
        """Note `device` on the nodes made inside."""
        scopes = self._scopes
        before, scopes.device = scopes.device, device
        try:
            yield
        finally:
            scopes.device = before

    # A failed call leaves the graph as it was

    def on_undo(self, action: Callable[[], object]) -> None:
        """Note how to take back a change, if a call that is under way fails."""
        journal = self._scopes.journal
        if journal is not None:
            journal.append(action)

    def atomic(self) -> Atomic:
        """Take back every change that is made inside `with graph.atomic():` if an exception leaves it."""
        return Atomic(self._scopes)
