"""Plans: the part of a graph that some fetches need, compiled once to a straight-line Python function of torch calls.

A plan drops every value after its last use. Gradients are torch's: where a plan holds a `Gradients` node, its `xs`
become leaves as they are made, and everything that follows from them is recorded.
"""

from __future__ import annotations

import copy
import functools
import itertools
import threading
import weakref
from collections.abc import Callable, Iterable, Sequence
from types import TracebackType
from typing import Any

import torch

from .. import errors
from .node import Node, Tensor
from .paths import Demand, demand, differentiated, order, reached

_counter = itertools.count()
_MOST_SHOWN = 8  # inputs in an error's text
_ALIASES = ("Identity", "Merge", "Exit")  # types whose output is its input, where no gradient tells them apart
_lines: dict[str, list[Node | None]] = {}  # generated file name -> node of each line


class Runtime:
    """What a session keeps between runs: the values of variables, the states of random ops, its own generator.

    Values are replaced, never written into, so a tensor that was read stays as it was.
    """

    def __init__(self) -> None:
        self.values: dict[Node, Any] = {}
        self.states: dict[Node, Any] = {}
        self.fed: frozenset[Node] = frozenset()  # the variables whose values a run is given
        self.lock = threading.RLock()
        self._initialized_at = 0  # the graph's next index when a variable last got its first value
        self._generator: torch.Generator | None = None

    @property
    def generator(self) -> torch.Generator:
        """The generator of draws without a seed; freshly seeded in every session."""
        if self._generator is None:
            self._generator = torch.Generator()
            self._generator.seed()
        return self._generator

    def read(self, variable: Node) -> Any:
        """A tensor over the variable's value that is new to autograd (an array, where it holds strings)."""
        value = self.values.get(variable)
        if value is None:
            raise errors.FailedPreconditionError(None, variable, self._uninitialized(variable))
        return value.detach() if isinstance(value, torch.Tensor) else value

    def _uninitialized(self, variable: Node) -> str:
        kin = [node for node in variable.graph.nodes if node.type == variable.type]
        missing = sum(node not in self.values for node in kin)
        if variable.index < self._initialized_at or missing == len(kin):
            why = "run tf.global_variables_initializer() in this session first"
        else:
            why = "it was created after the initializer ran: run its own initializer, or one made after it"
        count = f"{missing} of this graph's {len(kin)} variables have no value in this session"
        return f"Attempting to use uninitialized value {variable.name}: {why} ({count})"

    def write(self, variable: Node, value: Any) -> None:
        """Replace the variable's value."""
        if variable not in self.values:
            self._initialized_at = variable.graph.next_index
        self.values[variable] = value.detach() if isinstance(value, torch.Tensor) else value


class Plan:
    """The compiled function for one set of feeds and fetches."""

    def __init__(self, feeds: Sequence[Tensor], fetches: Sequence[Tensor | Node], runtime: Runtime):
        results = [fetch for fetch in fetches if isinstance(fetch, Tensor)]
        targets = [fetch for fetch in fetches if isinstance(fetch, Node)]
        fed = frozenset(held.op for tensor in feeds for held in (tensor, *tensor.op.inputs[:1]) if held.dtype.is_ref)
        if fed:
            runtime = copy.copy(runtime)  # of the same values and states
            runtime.fed = fed
        self.function, self.records = compile_function(feeds, results, targets, runtime)

    def run(self, values: Iterable[Any]) -> tuple[Any, ...]:
        """Run on the feeds' values, on the CPU; the results are the fetched tensors' values, in order.

        Where no gradient is taken nothing requires one, so that autograd has nothing to record.

        Raises:
            errors.OpError: an operation failed; it names the node and its inputs. What the program's own functions
            raise passes as it is.
        """
        # A default device is a mode on this stack, and asking for the device takes longer than asking for the stack.
        if torch._C._len_torch_function_stack() and torch.get_default_device().type != "cpu":
            with torch.device("cpu"):
                return self._run(values)
        return self._run(values)

    def _run(self, values: Iterable[Any]) -> tuple[Any, ...]:
        try:
            if self.records and not torch.is_grad_enabled():
                with torch.enable_grad():
                    return self.function(*values)
            return self.function(*values)
        except errors.OpError as error:
            if error.op is None:
                kind: Any = type(error)
                raise kind(None, failing_node(error.__traceback__), error.message) from error.__cause__
            raise
        except (RuntimeError, IndexError, ValueError) as error:
            node = failing_node(error.__traceback__)
            if node is None or node.row.foreign:
                raise
            raise error_for(node, error) from error


def error_for(node: Node, error: Exception) -> errors.OpError:
    """Return TensorFlow's error for a failure of torch in `node`: it names the operation and its inputs' static
    shapes.
    """
    shown = [errors.describe(t.name, t.dims, t.dtype.name) for t in node.inputs[:_MOST_SHOWN]]
    more = len(node.inputs) - len(shown)
    inputs = ", ".join(shown) + (f" and {more} more" if more else "")
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
    *,
    recorded: bool = False,
    context: Any = None,
) -> tuple[Callable[..., tuple[Any, ...]], bool]:
    """Compile what `results` and `targets` need into a function of the values of `params`.

    recorded: an enclosing plan takes gradients of this function. context: the body that the function is of.
    Returns the function and whether gradients are taken in it.
    """
    given = {id(tensor) for tensor in params}
    roots = [*(t.op for t in results if id(t) not in given), *targets]
    demanded = demand([*results, *targets], given, context)
    nodes = order(roots, given, context, demanded)
    own = [node for node in nodes if node.type == "Gradients"]
    # In a body the outer run has recorded what leads to the values that are given.
    bridged = _bridged(params, own) if context is None else set()
    if bridged:
        demanded = demand([*results, *targets], given - bridged)
        nodes = order(roots, given - bridged, context, demanded)
        own = [node for node in nodes if node.type == "Gradients"]
    inner = [node for outer in nodes for body in outer.bodies for node in body.gradients]
    leaves = {id(x) for node in (*own, *inner) for x in node.attrs["xs"]} & demanded.seen
    source = _Source(params, leaves, bridged, runtime, bool(leaves))
    through = differentiated(nodes) if leaves else set()
    last_use = _last_uses(nodes, results, demanded)
    for node in nodes:
        options: dict[str, Any] = {}
        if node.type == "Gradients":
            create = recorded or id(node) in through
            # A body runs many times over what it captures, so it must keep what is recorded there.
            keep = create or context is not None or bool(inner) or node is not own[-1]
            options = {"create_graph": create, "retain_graph": keep}
        elif node.row.bodies:
            options = {"recorded": recorded or id(node) in through}
            if node.row.depends is not None:
                options["wanted"] = demanded.outputs[id(node)]
        source.emit(node, demanded.needed(node), last_use, options)
    return source.compile(results), bool(leaves)


def _bridged(params: Sequence[Tensor], gradients: Sequence[Node]) -> set[int]:
    """The ids of given tensors that stand between a y and an x of a gradient.

    Their values are given, yet the gradient passes through them to what they would be computed from, which is
    therefore computed too.
    """
    found: set[int] = set()
    for node in gradients:
        ys, xs = node.attrs["ys"], {id(x) for x in node.attrs["xs"]}
        stops = node.inputs[len(ys) + len(xs) :][: node.attrs["num_stops"]]
        below = reached(ys, stops)
        for tensor in params:
            if id(tensor) in below and xs & (reached([tensor], stops).keys() - {id(tensor)}):
                found.add(id(tensor))
    return found


def _last_uses(nodes: Sequence[Node], results: Sequence[Tensor], demanded: Demand) -> dict[int, Node | None]:
    last: dict[int, Node | None] = {}
    for node in nodes:
        for tensor in demanded.needed(node):
            if tensor is not None:
                last[id(tensor)] = node
    for tensor in results:
        last[id(tensor)] = None
    return last


def leaf(value: torch.Tensor) -> torch.Tensor:
    """Return `value` such that gradients can be taken with respect to it."""
    return value if value.requires_grad else value.detach().requires_grad_()


def distinct(results: Sequence[Any], inputs: Sequence[Any]) -> tuple[Any, ...]:
    """The results, each a tensor of its own that is none of the inputs: to autograd, one object is one place."""
    seen = {id(value) for value in inputs}
    own = []
    for value in results:
        if id(value) in seen and isinstance(value, torch.Tensor):
            value = value.view_as(value)
        seen.add(id(value))
        own.append(value)
    return tuple(own)


class _Standing(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, value: torch.Tensor, place: torch.Tensor) -> torch.Tensor:
        return value.view_as(value)

    @staticmethod
    def backward(ctx: Any, *grads: torch.Tensor) -> tuple[None, torch.Tensor]:
        return None, grads[0]


def in_place_of(value: torch.Tensor, place: torch.Tensor) -> torch.Tensor:
    """Return `value`, whose gradient goes to `place`, a tensor of its shape."""
    return _Standing.apply(value, place) if place.requires_grad else value  # type: ignore[return-value]


class _Source:
    """The lines of one generated function, one node a line."""

    def __init__(
        self, params: Sequence[Tensor], leaves: set[int], bridged: set[int], runtime: Runtime, records: bool
    ) -> None:
        self.runtime = runtime
        self.records = records
        self.names: dict[int, str] = {}
        self.space: dict[str, Any] = {"leaf": leaf, "in_place_of": in_place_of}
        self.leaves = leaves
        self.bridged = bridged
        self.lines: list[str] = []
        self.nodes: list[Node | None] = []
        given = [self._name(tensor) for tensor in params]
        self._line(f"def run({', '.join(given)}):", None)
        for tensor, name in zip(params, given, strict=True):
            if id(tensor) in leaves - bridged:
                self._line(f"    {name} = leaf({name})", None)
        self.given = set(self.names) - bridged

    def _line(self, text: str, node: Node | None) -> None:
        self.lines.append(text)
        self.nodes.append(node)

    def _name(self, tensor: Tensor) -> str:
        return self.names.setdefault(id(tensor), f"t{len(self.names)}")

    def _bind(self, value: Any) -> str:
        name = f"k{len(self.space)}"
        self.space[name] = value
        return name

    def emit(
        self,
        node: Node,
        inputs: Sequence[Tensor | None],
        last_use: dict[int, Node | None],
        options: dict[str, Any],
    ) -> None:
        """Add the line that computes `node`, marks what gradients are taken of, and drops what no later line needs."""
        outputs: list[str] = []
        after: list[str] = []
        dead = {self.names[id(t)] for t in inputs if t is not None and last_use[id(t)] is node}
        for tensor in node.outputs:
            if id(tensor) not in last_use or id(tensor) in self.given:
                outputs.append("_")
                dead.add("_")
                continue
            name = self._name(tensor)
            outputs.append("computed" if id(tensor) in self.bridged else name)
            if id(tensor) in self.bridged:
                after.append(f"{name} = in_place_of({name}, computed)")
                dead.add("computed")
            if id(tensor) in self.leaves:
                after.append(f"{name} = leaf({name})")
        text = self._value(node, inputs, options)
        if outputs:
            text = f"{', '.join(outputs)}{',' if node.row.returns_tuple else ''} = {text}"
        if dead:
            after.append(f"del {', '.join(sorted(dead))}")
        self._line("    " + "; ".join([text, *after]), node)

    def _value(self, node: Node, inputs: Sequence[Tensor | None], options: dict[str, Any]) -> str:
        if node.type == "Const":
            return self._bind(node.attrs["value"])
        given = ["None" if tensor is None else self.names[id(tensor)] for tensor in inputs]
        if node.type in _ALIASES and not self.records:
            return given[0]
        return f"{self._bind(kernel(node, self.runtime, **options))}({', '.join(given)})"

    def compile(self, results: Sequence[Tensor]) -> Callable[..., tuple[Any, ...]]:
        names = [self.names[id(tensor)] for tensor in results]
        self._line(f"    return ({', '.join(names)}{',' if names else ''})", None)
        file = f"<plan {next(_counter)}>"
        exec(compile("\n".join(self.lines), file, "exec"), self.space)
        function = self.space.pop("run")  # else it would keep itself alive
        _lines[file] = self.nodes
        weakref.finalize(function, _lines.pop, file, None)
        return function


def kernel(node: Node, runtime: Any, **options: Any) -> Callable[..., Any]:
    """The function of input values that computes `node` in a session."""
    row = node.row
    if row.bind is not None:
        return row.bind(node, runtime, **options)
    assert row.compute is not None
    return functools.partial(row.compute, **node.attrs) if node.attrs else row.compute
