"""Random programs of nested scopes, variables and operations, and what a library does with them.

The same functions make the programs, run them under TensorFlow (`make_scope_programs.py`) and under dynrnn's TF1 face
(`test_scope_programs.py`). A program is a list of statements, each `[kind, ...]`; a block's last item is its body.
"""

from __future__ import annotations

import random
from contextlib import ExitStack
from typing import Any

NAMES = ("a", "b", "a_1", "A", "c/d", "rnn")
BLOCKS = ("named", "named", "default", "stored", "again", "name_scope", "name_scope", "original", "root")


def make(seed: int) -> list[Any]:
    """Return a program of a few dozen statements."""
    draw = random.Random(seed)
    size = [draw.randint(8, 40)]
    program = []
    while size[0] > 0:
        program.append(_statement(draw, size, 0))
    return program


def _statement(draw: random.Random, size: list[int], depth: int) -> list[Any]:
    size[0] -= 1
    if depth < 5 and draw.random() < 0.5:
        return _block(draw, size, depth)
    kind = draw.choice(["get", "get", "get", "op", "op", "here", "reuse", "variable", "unique"])
    if kind == "get":
        return ["get", draw.choice("wwv"), draw.choice([1, 1, 1, 2]), draw.choice([None] * 5 + [True, False])]
    return [kind, draw.choice(NAMES)]


def _block(draw: random.Random, size: list[int], depth: int) -> list[Any]:
    kind = draw.choice(BLOCKS)
    name = draw.choice(NAMES)
    reuse = draw.choice([None] * 6 + [False, True, "AUTO_REUSE", "AUTO_REUSE"])
    auxiliary = draw.random() < 0.8
    number = draw.randrange(6)
    body: list[Any] = []
    for _ in range(draw.randint(0, 4)):
        if size[0] > 0:
            body.append(_statement(draw, size, depth + 1))
    return [kind, name, reuse, auxiliary, number, body]


def run(tf: Any, program: list[Any]) -> list[str]:
    """Run a program in a graph of its own; returns a line for everything it shows."""
    return _Machine(tf).run(program)


class _Machine:
    def __init__(self, tf: Any):
        self.tf = tf
        self.lines: list[str] = []
        self.scopes: list[Any] = []  # scopes as they were yielded
        self.openings: list[Any] = []  # variable_scope objects, entered again by "again"
        self.entered: list[Any] = []

    def run(self, program: list[Any]) -> list[str]:
        tf = self.tf
        with tf.Graph().as_default() as graph:
            self._body(program)
            self.lines.extend(v.name for v in tf.global_variables())
            self.lines.append(" ".join(op.name for op in graph.get_operations() if op.type == "NoOp"))
        return self.lines

    def _body(self, body: list[Any]) -> None:
        for statement in body:
            try:
                self._run(statement)
            except (ValueError, RuntimeError, TypeError) as error:
                self.lines.append(type(error).__name__)

    def _run(self, statement: list[Any]) -> None:
        tf, kind, argument = self.tf, statement[0], statement[1]
        if len(statement) == 6:
            self._block(statement)
        elif kind == "get":
            reuse = statement[3]
            with ExitStack() as stack:
                if reuse is not None:
                    stack.enter_context(tf.variable_scope(tf.get_variable_scope(), reuse=reuse))
                self.lines.append(f"get {tf.get_variable(argument, [statement[2]]).name}")
        elif kind == "op":
            self.lines.append(f"op {tf.no_op(argument).name}")
        elif kind == "here":
            scope = tf.get_variable_scope()
            self.lines.append(f"here {scope.name} {scope.original_name_scope} {_mode(scope.reuse)}")
        elif kind == "reuse":
            tf.get_variable_scope().reuse_variables()
        elif kind == "variable":
            self.lines.append(f"variable {tf.Variable(1.0, name=argument).name}")
        elif kind == "unique":
            self.lines.append(f"unique {tf.get_default_graph().unique_name(argument)}")

    def _block(self, statement: list[Any]) -> None:
        kind, name, reuse, auxiliary, number, body = statement
        block = self._opening(kind, name, reuse, auxiliary, number)
        if block is None or any(block is other for other in self.entered):  # TensorFlow breaks down on the latter
            return
        self.entered.append(block)
        try:
            self._inside(block, kind, body)
        finally:
            self.entered.pop()

    def _inside(self, block: Any, kind: str, body: list[Any]) -> None:
        with block as scope:
            if hasattr(scope, "original_name_scope"):
                self.scopes.append(scope)
                self.lines.append(f"{kind} {scope.name} {scope.original_name_scope} {_mode(scope.reuse)}")
            else:
                self.lines.append(f"{kind} {scope}")
            self._body(body)

    def _opening(self, kind: str, name: str, reuse: Any, auxiliary: bool, number: int) -> Any:
        tf, scopes = self.tf, self.scopes
        reuse = tf.AUTO_REUSE if reuse == "AUTO_REUSE" else reuse
        if kind == "name_scope":
            return tf.name_scope(name)
        if kind == "root":
            return tf.variable_scope(tf.get_variable_scope(), reuse=reuse, auxiliary_name_scope=auxiliary)
        if kind == "again":
            return self.openings[number % len(self.openings)] if self.openings else None
        if kind in ("stored", "original"):
            if not scopes:
                return None
            scope = scopes[number % len(scopes)]
            if kind == "original":
                return tf.name_scope(scope.original_name_scope)
            return self._kept(tf.variable_scope(scope, reuse=reuse, auxiliary_name_scope=auxiliary))
        first, default = (None, name) if kind == "default" else (name, None)
        return self._kept(tf.variable_scope(first, default, reuse=reuse, auxiliary_name_scope=auxiliary))

    def _kept(self, opening: Any) -> Any:
        self.openings.append(opening)
        return opening


def _mode(reuse: Any) -> str:
    return reuse.name if hasattr(reuse, "name") else str(reuse)
