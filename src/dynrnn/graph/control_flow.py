"""Bodies: parts of a graph that a loop or a branch runs, traced once, with the outer tensors that they use.

The nodes of a body stand in the same graph as all others, under the same rules for names; `node.context` tells which
body they belong to.
A node of a row with `bodies` takes their captures among its inputs and runs them as compiled functions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from .dtype import DType
from .executor import Runtime, compile_function
from .graph import Graph, Node, Tensor
from .op import Op
from .shape import Dims

PARAM = Op("BodyParam", None, None, None, stateful=True)


class Body:
    """A function traced from graph nodes: `params` and `captures` in, `results` out.

    `controls` are the outer nodes that its own depend on: control inputs of the node that holds the body.
    """

    def __init__(self, graph: Graph):
        self.graph = graph
        self.parent = graph.current_context
        self.params: list[Tensor] = []
        self.results: list[Tensor] = []
        self.targets: list[Node] = []
        self.captures: list[Tensor] = []
        self.controls: list[Node] = []
        self.nodes: list[Node] = []

    @contextmanager
    def trace(self) -> Iterator[None]:
        """Let the nodes made inside belong to this body."""
        with self.graph.context(self):
            yield

    def param(self, dtype: DType, dims: Dims, name: str | None = None) -> Tensor:
        """Add an input of the body; to be called while it is traced."""
        node = self.graph.add(PARAM, (), {}, dtypes=[dtype.base_dtype], shapes=[dims], name=name)
        self.params.append(node.outputs[0])
        return node.outputs[0]

    def close(self, results: Sequence[Tensor], targets: Sequence[Node] = ()) -> None:
        """End the trace: note the results, which outer tensors the body uses and which outer nodes run before it.

        targets: nodes that run with the body although no result needs them.
        """
        self.results = list(results)
        self.targets = list(targets)
        given = {id(tensor) for tensor in self.params}
        outer: dict[int, Tensor] = {id(t): t for t in results if t.op.context is not self and id(t) not in given}
        pending = [node for node in (*(tensor.op for tensor in results), *targets) if node.context is self]
        seen: set[int] = set()
        while pending:
            node = pending.pop()
            if id(node) in seen:
                continue
            seen.add(id(node))
            self.nodes.append(node)
            for other in node.control_inputs:
                if other.context is self:
                    pending.append(other)
                elif other not in self.controls:
                    self.controls.append(other)
            for tensor in node.inputs:
                if tensor.op.context is self:
                    pending.append(tensor.op)
                else:
                    outer[id(tensor)] = tensor
        self.nodes.sort(key=lambda node: node.index)
        self.captures = sorted(outer.values(), key=lambda tensor: (tensor.op.index, tensor.value_index))

    @property
    def gradients(self) -> list[Node]:
        """The gradients that are taken inside, at any depth."""
        inner = [found for node in self.nodes for body in node.bodies for found in body.gradients]
        return [*(node for node in self.nodes if node.type == "Gradients"), *inner]

    def function(self, runtime: Runtime, recorded: bool = False) -> Callable[..., tuple[Any, ...]]:
        """Compile to a function of the values of params and captures, in this order.

        recorded: gradients are taken of what it computes.
        """
        params = [*self.params, *self.captures]
        return compile_function(params, self.results, self.targets, runtime, recorded=recorded, context=self)[0]


def enclosed(tensor: Tensor) -> bool:
    """Whether a tensor has values only inside a body."""
    return tensor.op.context is not None
