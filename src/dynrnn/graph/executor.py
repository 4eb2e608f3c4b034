"""Plans: the part of a graph that some fetches need, compiled once to a straight-line Python function of torch calls.

A plan drops every value after its last use. Gradients are torch's: where a plan holds a `Gradients` node, its `xs` become leaves as they
are made, and everything that follows from them is recorded.
"""

from __future__ import annotations

import functools
import itertools
import threading
import weakref
from collections.abc import Callable, Iterable, Sequence
from types import TracebackType
from typing import Any

import torch

from .. import errors
from .graph import Node, Tensor

_counter = itertools.count()
_lines: dict[str, list[Node | None]] = {}  # generated file name -> node of each line


class Runtime:
    """What a session keeps between runs: the values of variables, the states of random ops, its own generator.

    Values are replaced, never written into, so a tensor that was read stays as it was.
    """

    def __init__(self) -> None:
        self.values: dict[Node, Any] = {}
        self.states: dict[Node, Any] = {}
        self.lock = threading.RLock()
        self._generator: torch.Generator | None = None

    @property
    def generator(self) -> torch.Generator:
        """The generator of draws without a seed; freshly seeded in every session."""
        if self._generator is None:
            self._generator = torch.Generator()
            self._generator.seed()
        return self._generator

    def read(self, variable: Node) -> torch.Tensor:
        """A tensor over the variable's value that is new to autograd."""
        value = self.values.get(variable)
        if value is None:
            raise errors.FailedPreconditionError(None, variable, self._uninitialized(variable))
        return value.detach() if isinstance(value, torch.Tensor) else value

    def _uninitialized(self, variable: Node) -> str:
        others = sum(node.type == variable.type and node not in self.values for node in variable.graph.nodes)
        return (
            f"Attempting to use uninitialized value {variable.name}: {others} variable(s) of this graph have no value in this session; "
            "run tf.global_variables_initializer() after the last variable is made, and in this session"
        )

    def write(self, variable: Node, value: Any) -> None:
        self.values[variable] = value.detach() if isinstance(value, torch.Tensor) else value


class Plan:
    """The compiled function for one set of feeds and fetches."""

    def __init__(self, feeds: Sequence[Tensor], fetches: Sequence[Tensor | Node], runtime: Runtime):
        results = [fetch for fetch in fetches if isinstance(fetch, Tensor)]
        targets = [fetch for fetch in fetches if isinstance(fetch, Node)]
        self.function, self.records = compile_function(feeds, results, targets, runtime)

    def run(self, values: Iterable[Any]) -> tuple[Any, ...]:
        """Run on the feeds' values; the results are the fetched tensors' values, in order.

        Raises:
            errors.OpError: an operation failed; it names the node and its inputs.
        """
        try:
            with torch.set_grad_enabled(self.records):
                return self.function(*values)
        except errors.OpError as error:
            if error.op is None:
                raise type(error)(None, failing_node(error.__traceback__), error.message) from error.__cause__
            raise
        except (RuntimeError, IndexError) as error:
            node = failing_node(error.__traceback__)
            if node is None:
                raise
            raise error_for(node, error) from error


def error_for(node: Node, error: Exception) -> errors.OpError:
    """Return TensorFlow's error for a failure of torch in `node`: it names the operation and its inputs' static shapes."""
    inputs = ", ".join(errors.describe(t.name, t.dims, t.dtype.name) for t in node.inputs)
    kind = errors.ResourceExhaustedError if isinstance(error, torch.OutOfMemoryError) else errors.InvalidArgumentError
    return kind(None, node, f"{node.type} failed: {error} [node {node.name}, inputs: {inputs or 'none'}]")


def failing_node(trace: TracebackType | None) -> Node | None:
    """The innermost node whose generated line stands in a traceback."""
    found = None
    while trace is not None:
        lines = _lines.get(trace.tb_frame.f_code.co_filename)
        if lines is not None:
            found = lines[trace.tb_lineno - 1] or found
        trace = trace.tb_next
    return found


def compile_function(
    params: Sequence[Tensor],
    results: Sequence[Tensor],
    targets: Sequence[Node],
    runtime: Runtime,
    recorded: bool = False,
) -> tuple[Callable[..., tuple[Any, ...]], bool]:
    """Compile what `results` and `targets` need into a function of the values of `params`.

    Returns the function and whether gradients are recorded in it. `recorded` says that an enclosing plan takes gradients of this function.
    """
    given = {id(tensor) for tensor in params}
    nodes = order([*(t.op for t in results if id(t) not in given), *targets], given)
    gradients = [node for node in nodes if node.type == "Gradients"]
    leaves = {id(x) for node in gradients for x in node.attrs["xs"]}
    source = _Source(params, leaves)
    source.runtime, source.records = runtime, bool(gradients)
    needed = _differentiated(gradients) if len(gradients) > 1 else set()
    last_use = _last_uses(nodes, results)
    for node in nodes:
        options = {}
        if node.type == "Gradients":
            create = recorded or id(node) in needed
            options = {"create_graph": create, "retain_graph": create or len(gradients) > 1}
        elif node.row.bodies:
            options = {"recorded": recorded or bool(gradients)}
        source.emit(node, last_use, options)
    return source.compile(results), bool(gradients) or any(
        body.takes_gradients for node in nodes for body in node.bodies
    )


def order(roots: Iterable[Node], given: set[int]) -> list[Node]:
    """The nodes that `roots` need, each after its inputs and control inputs; tensors in `given` need nothing."""
    done: set[int] = set()
    ordered: list[Node] = []
    for root in roots:
        stack: list[tuple[Node, int]] = [(root, 0)]
        while stack:
            node, state = stack.pop()
            if state:
                ordered.append(node)
                continue
            if id(node) in done:
                continue
            done.add(id(node))
            stack.append((node, 1))
            # Control inputs first: a variable that an initializer among them fills is read after it.
            before = [*node.control_inputs, *(t.op for t in node.inputs if id(t) not in given)]
            stack.extend((other, 0) for other in reversed(before) if id(other) not in done)
    return ordered


def _differentiated(gradients: list[Node]) -> set[int]:
    """The ids of gradient nodes whose results another gradient node differentiates."""
    found: set[int] = set()
    for node in gradients:
        above = order([t.op for t in node.inputs], set())
        found.update(id(other) for other in above if other.type == "Gradients")
    return found


def _last_uses(nodes: Sequence[Node], results: Sequence[Tensor]) -> dict[int, Node | None]:
    last: dict[int, Node | None] = {}
    for node in nodes:
        for tensor in node.inputs:
            last[id(tensor)] = node
    for tensor in results:
        last[id(tensor)] = None
    return last


def leaf(value: torch.Tensor) -> torch.Tensor:
    """Return `value` such that gradients can be taken with respect to it."""
    return value if value.requires_grad else value.detach().requires_grad_()


class _Source:
    """The lines of one generated function, one node a line."""

    def __init__(self, params: Sequence[Tensor], leaves: set[int]):
        self.runtime: Any = None
        self.records = False
        self.names: dict[int, str] = {}
        self.space: dict[str, Any] = {"leaf": leaf}
        self.leaves = leaves
        self.lines: list[str] = []
        self.nodes: list[Node | None] = []
        given = [self._name(tensor) for tensor in params]
        self._line(f"def run({', '.join(given)}):", None)
        for tensor, name in zip(params, given, strict=True):
            if id(tensor) in leaves:
                self._line(f"    {name} = leaf({name})", None)
        self.given = set(self.names)

    def _line(self, text: str, node: Node | None) -> None:
        self.lines.append(text)
        self.nodes.append(node)

    def _name(self, tensor: Tensor) -> str:
        return self.names.setdefault(id(tensor), f"t{len(self.names)}")

    def _bind(self, value: Any) -> str:
        name = f"k{len(self.space)}"
        self.space[name] = value
        return name

    def emit(self, node: Node, last_use: dict[int, Node | None], options: dict[str, bool]) -> None:
        wanted = [t for t in node.outputs if id(t) in last_use and id(t) not in self.given]
        outputs = [self._name(t) if t in wanted else "_" for t in node.outputs]
        if node.type == "Const":
            text = f"{outputs[0]} = {self._bind(node.attrs['value'])}"
        elif node.type == "Identity" and not self.records:
            text = f"{outputs[0]} = {self.names[id(node.inputs[0])]}"
        else:
            call = f"{self._bind(kernel(node, self.runtime, **options))}({', '.join(self.names[id(t)] for t in node.inputs)})"
            text = f"{', '.join(outputs)}{',' if node.row.returns_tuple else ''} = {call}" if outputs else call
        marks = [f"{self._name(t)} = leaf({self._name(t)})" for t in wanted if id(t) in self.leaves]
        dead = {self.names[id(t)] for t in node.inputs if last_use[id(t)] is node}
        if dead:
            marks.append(f"del {', '.join(sorted(dead))}")
        self._line("    " + "; ".join([text, *marks]), node)

    def compile(self, results: Sequence[Tensor]) -> Callable[..., tuple[Any, ...]]:
        names = [self.names[id(tensor)] for tensor in results]
        self._line(f"    return ({', '.join(names)}{',' if names else ''})", None)
        file = f"<plan {next(_counter)}>"
        exec(compile("\n".join(self.lines), file, "exec"), self.space)
        function = self.space["run"]
        _lines[file] = self.nodes
        weakref.finalize(function, _lines.pop, file, None)
        return function


def kernel(node: Node, runtime: Any, **options: bool) -> Callable[..., Any]:
    """The function of input values that computes `node` in a session."""
    row = node.row
    if row.bind is not None:
        return row.bind(node, runtime, **options)
    assert row.compute is not None
    return functools.partial(row.compute, **node.attrs) if node.attrs else row.compute
