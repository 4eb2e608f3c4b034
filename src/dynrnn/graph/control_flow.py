"""Bodies: parts of a graph that a loop or a branch runs, traced once, with the outer tensors that they use.

The nodes of a body stand in the same graph as all others, under the same rules for names; `node.context` tells which
body they belong to.
A node of a row with `bodies` takes their captures among its inputs and runs them as compiled functions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from .dtype import DType
from .executor import Runtime, compile_function
from .graph import Graph
from .node import Node, Tensor
from .op import Op
from .paths import demand, reached
from .shape import Dims

PARAM = Op("BodyParam", None, None, None, stateful=True)


class Body:
    """A function traced from graph nodes: `params` and `captures` in, `results` out.

    `controls` are the outer nodes that its own depend on: control inputs of the node that holds the body.
    `entering` gives, by a param's id, the outer tensor that it has as its first value.
    """

    def __init__(self, graph: Graph):
        self.graph = graph
        self.outside = graph.current_contexts
        self.params: list[Tensor] = []
        self.results: list[Tensor] = []
        self.targets: list[Node] = []
        self.captures: list[Tensor] = []
        self.controls: list[Node] = []
        self.nodes: list[Node] = []
        self.entering: dict[int, Tensor] = {}
        self._sources: dict[tuple[int, bool], frozenset[int]] = {}

    @property
    def parent(self) -> Any:
        """The body that this one is in, or None."""
        return self.outside[-1] if self.outside else None

    @contextmanager
    def trace(self) -> Iterator[None]:
        """Let the nodes made inside belong to this body."""
        with self.graph.context(self):
            yield

    def param(self, dtype: DType, dims: Dims, name: str | None = None, entering: Tensor | None = None) -> Tensor:
        """Add an input of the body; to be called while it is traced. entering: its first value, in a loop."""
        node = self.graph.add(PARAM, (), {}, dtypes=[dtype.base_dtype], shapes=[dims], name=name)
        param = node.outputs[0]
        self.params.append(param)
        if entering is not None:
            self.entering[id(param)] = entering
        return param

    def close(self, results: Sequence[Tensor], targets: Sequence[Node] = ()) -> None:
        """End the trace: note the results, which outer tensors the body uses and which outer nodes run before it.

        targets: nodes that run with the body although no result needs them.
        """
        self.targets = list(targets)
        self.results = list(results)
        self.captures = sorted(
            self.gather([*results, *targets]), key=lambda tensor: (tensor.op.index, tensor.value_index)
        )

    def gather(self, roots: Sequence[Tensor | Node]) -> list[Tensor]:
        """Note the nodes that `roots` need and what these depend on; returns the outer tensors not known yet."""
        ends = {id(tensor) for tensor in self.captures}
        known = {id(node) for node in self.nodes}
        seen: set[int] = set()
        outer: list[Tensor] = []
        pending: list[Tensor | Node] = list(roots)
        while pending:
            item = pending.pop()
            if isinstance(item, Tensor):
                if id(item) in ends:
                    continue
                if item.op.context is self:
                    pending.append(item.op)
                else:
                    outer.append(item)
                    ends.add(id(item))
            elif item.context is not self:
                if item not in self.controls:
                    self.controls.append(item)
            elif id(item) not in seen:
                seen.add(id(item))
                if id(item) not in known:
                    self.nodes.append(item)
                pending += [*item.inputs, *item.control_inputs]
        self.nodes.sort(key=lambda node: node.index)
        return outer

    @property
    def gradients(self) -> list[Node]:
        """The gradients that are taken inside, at any depth."""
        inner = [found for node in self.nodes for body in node.bodies for found in body.gradients]
        return [*(node for node in self.nodes if node.type == "Gradients"), *inner]

    def sources(self, position: int, differentiable: bool) -> frozenset[int]:
        """The positions, among params and captures, of what a result is computed from; with `differentiable`, of what
        its gradients come to.
        """
        key = position, differentiable
        if key not in self._sources:
            ends = [*self.params, *self.captures]
            result = self.results[position]
            if differentiable:
                found = reached([result], ends).keys()
            else:
                found = demand([result, *self.targets], {id(end) for end in ends}, self).seen
            self._sources[key] = frozenset(i for i, end in enumerate(ends) if id(end) in found)
        return self._sources[key]

    def carried(self, positions: Iterable[int], differentiable: bool, states: range, shift: int = 0) -> set[int]:
        """The results that those at `positions` come to depend on, themselves included, where the body is repeated and
        each param of `states`, at p, gets the result at p + shift of the step before.
        """
        found = set(positions)
        pending = list(found)
        while pending:
            for source in self.sources(pending.pop(), differentiable):
                if source in states and source + shift not in found:
                    found.add(source + shift)
                    pending.append(source + shift)
        return found

    def function(
        self,
        runtime: Runtime,
        recorded: bool = False,
        *,
        results: Sequence[int] | None = None,
        params: Sequence[int] | None = None,
    ) -> Callable[..., tuple[Any, ...]]:
        """Compile to a function of the values of params and captures, in this order.

        recorded: gradients are taken of what it computes. results, params: the positions of those that are used
        (default: all).
        """
        given = self.params if params is None else [self.params[i] for i in params]
        wanted = self.results if results is None else [self.results[i] for i in results]
        return compile_function(
            [*given, *self.captures], wanted, self.targets, runtime, recorded=recorded, context=self
        )[0]

    # What nodes outside may use of it

    def outlet(self, tensor: Tensor) -> Tensor | None:
        """The tensor outside that stands for one of the body's; None where there can be none, as for a loop."""
        return None

    def outlet_node(self, node: Node) -> Node | None:
        """The node outside that runs one of the body's; None where there can be none, as for a loop."""
        return None
