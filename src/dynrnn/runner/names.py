"""Which of TensorFlow's names a program uses, read from its sources without running them.

A name is followed through imports, through their aliases and through plain assignments (`rnn_cell = tf.nn.rnn_cell`).
What cannot be seen in the text is not followed: attributes of objects, names made of strings, star imports of the
program's own modules. Whether the names are there is decided in `check`.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

ROOT = "tensorflow"
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_FORGIVING = {"ImportError", "ModuleNotFoundError", "AttributeError", "Exception", "BaseException"}


@dataclass(frozen=True, order=True)
class Use:
    """One place where a program uses a TensorFlow name.

    line: counted from 1. names: the whole path, `tensorflow.nn.rnn_cell.LSTMCell`; several where the program has
    several imports or assignments for what stands before a dot. guarded: it stands in a `try` that goes on without it.
    """

    line: int
    names: tuple[str, ...]
    guarded: bool = False


@dataclass
class Names:
    """What a module uses: TensorFlow's names, and other modules as `(level, module, names)` of its imports."""

    uses: list[Use] = field(default_factory=list)
    imports: list[tuple[int, str, tuple[str, ...]]] = field(default_factory=list)


def read_names(tree: ast.Module, public: Callable[[str], Iterable[str]] = lambda module: ()) -> Names:
    """Find the TensorFlow names in a module's syntax tree.

    public: gives the names that a star import of a TensorFlow module brings.

    Example:
        >>> tree = ast.parse("import tensorflow as tf\\ncell = tf.nn.rnn_cell\\ncell.LSTMCell(8)")
        >>> [(use.line, *use.names) for use in read_names(tree).uses]
        [(1, 'tensorflow'), (2, 'tensorflow.nn.rnn_cell'), (3, 'tensorflow.nn.rnn_cell.LSTMCell')]
    """
    reader = _Reader(public)
    reader.read_scope(tree.body, _Scope(None))
    reader.found.uses = sorted(set(reader.found.uses))
    return reader.found


class _Scope:
    """The names of a module, function or class: TensorFlow paths that a name may stand for; none for other names."""

    def __init__(self, outer: _Scope | None, is_class: bool = False):
        self.outer = outer
        self.is_class = is_class
        self.paths: dict[str, tuple[str, ...]] = {}
        self.elsewhere: set[str] = set()  # declared global or nonlocal

    def bind(self, name: str, path: str | None) -> None:
        if name in self.elsewhere:
            return
        known = self.paths.get(name)
        if path is None:  # once a name may be something else, what it has as attributes is not TensorFlow's
            self.paths[name] = ()
        elif known is None or known:
            self.paths[name] = tuple(dict.fromkeys([*(known or ()), path]))

    def find(self, name: str) -> tuple[str, ...]:
        scope: _Scope | None = self
        while scope is not None:
            if name in scope.paths:
                return scope.paths[name]
            scope = scope.outer
            while scope is not None and scope.is_class:  # a method does not see the names of its class
                scope = scope.outer
        return ()


class _Reader:
    def __init__(self, public: Callable[[str], Iterable[str]]):
        self.found = Names()
        self._public = public
        self._guards = 0

    # Scopes

    def read_scope(self, body: Iterable[ast.AST], scope: _Scope, parameters: Iterable[str] = ()) -> None:
        """Bind every name of a scope first, as Python does, then follow what its statements use."""
        for name in parameters:
            scope.bind(name, None)
        statements = list(body)
        own = [node for statement in statements for node in _own_nodes(statement)]
        for node in own:
            if isinstance(node, (ast.Global, ast.Nonlocal)):
                scope.elsewhere.update(node.names)
        for node in own:
            self._bind(node, scope)
        for statement in statements:
            self._visit(statement, scope)

    def _bind(self, node: ast.AST, scope: _Scope) -> None:
        if isinstance(node, ast.Import):
            for alias in node.names:
                top = alias.name.partition(".")[0]
                path = alias.name if alias.asname else top
                scope.bind(alias.asname or top, path if top == ROOT else None)
        elif isinstance(node, ast.ImportFrom):
            self._bind_from(node, scope)
        elif isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            if isinstance(node.value, ast.Constant) and node.value.value is None:
                return  # `rnn = None` where an import failed
            for path in self._paths(node.value, scope) or (None,):
                scope.bind(node.targets[0].id, path)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.ExceptHandler)):
            if node.name:
                scope.bind(node.name, None)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, (ast.Store, ast.Del)):
            scope.bind(node.id, None)

    def _bind_from(self, node: ast.ImportFrom, scope: _Scope) -> None:
        module = node.module or ""
        is_ours = not node.level and module.partition(".")[0] == ROOT
        for alias in node.names:
            if alias.name != "*":
                scope.bind(alias.asname or alias.name, f"{module}.{alias.name}" if is_ours else None)
            elif is_ours:
                for name in self._public(module):
                    scope.bind(name, f"{module}.{name}")

    # Uses

    def _visit(self, node: ast.AST, scope: _Scope) -> None:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            self._note_import(node)
        elif isinstance(node, (ast.Attribute, ast.Name)):
            self._note(node, scope)
        elif isinstance(node, ast.Try):
            self._visit_try(node, scope)
        elif isinstance(node, _SCOPES):
            self._enter(node, scope)
        elif isinstance(node, _COMPREHENSIONS):
            self._enter_comprehension(node, scope)
        else:
            for child in ast.iter_child_nodes(node):
                self._visit(child, scope)

    def _enter(self, node: Any, scope: _Scope) -> None:
        """Decorators, defaults, base classes and annotations belong outside, the body inside."""
        inside = list(node.body) if isinstance(node.body, list) else [node.body]
        for child in ast.iter_child_nodes(node):
            if child not in inside:
                self._visit(child, scope)
        parameters = _parameters(node.args) if hasattr(node, "args") else ()
        self.read_scope(inside, _Scope(scope, isinstance(node, ast.ClassDef)), parameters)

    def _enter_comprehension(self, node: Any, scope: _Scope) -> None:
        inner = _Scope(scope)
        for name in ast.walk(node):
            if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store):
                inner.bind(name.id, None)
        for child in ast.iter_child_nodes(node):
            self._visit(child, inner)

    def _visit_try(self, node: ast.Try, scope: _Scope) -> None:
        forgiving = any(_forgives(handler) for handler in node.handlers)
        self._guards += forgiving
        for child in node.body:
            self._visit(child, scope)
        self._guards -= forgiving
        for child in [*node.handlers, *node.orelse, *node.finalbody]:
            self._visit(child, scope)

    def _note_import(self, node: ast.Import | ast.ImportFrom) -> None:
        if isinstance(node, ast.Import):
            for alias in node.names:
                self._note_module(node.lineno, 0, alias.name, ())
            return
        module, names = node.module or "", tuple(alias.name for alias in node.names)
        if node.level or module.partition(".")[0] != ROOT:
            self._note_module(node.lineno, node.level, module, names)
        for name in names if not node.level and module.partition(".")[0] == ROOT else ():
            self._use(node.lineno, module if name == "*" else f"{module}.{name}")

    def _note_module(self, line: int, level: int, module: str, names: tuple[str, ...]) -> None:
        if not level and module.partition(".")[0] == ROOT:
            self._use(line, module)
        else:
            self.found.imports.append((level, module, names))

    def _note(self, node: ast.Attribute | ast.Name, scope: _Scope) -> None:
        """Note the whole path of an attribute chain that begins at a name; follow what stands in for the name."""
        base: ast.AST = node
        while isinstance(base, ast.Attribute):
            base = base.value
        if not isinstance(base, ast.Name):
            self._visit(base, scope)
        elif isinstance(node.ctx, ast.Load) and isinstance(node, ast.Attribute):
            paths = self._paths(node, scope)
            if paths:
                self._use(node.lineno, *paths)

    def _use(self, line: int, *names: str) -> None:
        self.found.uses.append(Use(line, names, self._guards > 0))

    def _paths(self, node: ast.AST, scope: _Scope) -> tuple[str, ...]:
        """The TensorFlow paths that a name or a chain of attributes stands for."""
        if isinstance(node, ast.Name):
            return scope.find(node.id)
        if isinstance(node, ast.Attribute):
            return tuple(f"{path}.{node.attr}" for path in self._paths(node.value, scope))
        return ()


def _own_nodes(statement: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a statement that belong to its own scope: not those inside of functions, classes, comprehensions.

    Of a simple assignment the target is left out, for what it is bound to decides.
    """
    yield statement
    if isinstance(statement, (*_SCOPES, *_COMPREHENSIONS)):
        return
    skipped: tuple[ast.AST, ...] = ()
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1 and isinstance(statement.targets[0], ast.Name):
        skipped = (statement.targets[0],)
    for child in ast.iter_child_nodes(statement):
        if child not in skipped:
            yield from _own_nodes(child)


def _parameters(args: ast.arguments) -> Iterator[str]:
    for arg in [*args.posonlyargs, *args.args, *args.kwonlyargs, args.vararg, args.kwarg]:
        if arg is not None:
            yield arg.arg


def _forgives(handler: ast.ExceptHandler) -> bool:
    """Whether a handler catches what a missing name raises and does not raise itself."""
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    names = {kind.id for kind in kinds if isinstance(kind, ast.Name)}
    catches = handler.type is None or bool(names & _FORGIVING)
    return catches and not any(isinstance(node, ast.Raise) for node in ast.walk(handler))
