"""Branches: bodies of which nodes outside may use tensors and operations, which are there where the branch is taken.

What is used outside becomes one more output of the node that holds the branches. A run computes only the outputs that
it needs, so a branch does no more than before in runs that need none of it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from .. import errors
from .control_flow import Body
from .dtype import bool_
from .graph import Graph
from .node import Node, Tensor
from .op import Op


def _bind_dead(node: Node, runtime: Any) -> Callable[[], Any]:
    def compute() -> Any:
        raise errors.InvalidArgumentError(
            None, node, f"{node.attrs['source']} does not have value: it is computed in the branch that is not taken"
        )

    return compute


def _bind_alive(node: Node, runtime: Any) -> Callable[[Any], Any]:
    dead = _bind_dead(node, runtime)

    def compute(value: Any) -> Any:
        if isinstance(value, torch.Tensor):
            return value.view_as(value)
        return dead() if value is None else value

    return compute


# What a branch that is not taken gives for a tensor of another one.
_ABSENT = Op("Absent", "-> @dtype", lambda dtype: None, None, differentiable=False, stateful=True)
_DEAD = Op("Dead", "-> @dtype", None, None, differentiable=False, bind=_bind_dead, stateful=True)
_ALIVE = Op("BranchOutput", "value:T -> T", None, None, bind=_bind_alive, stateful=True)
_DONE = Op("Done", "-> bool", lambda: torch.tensor(True), None, stateful=True)
_AFTER = Op("AfterBranch", "done:bool ->", lambda done: None, None, stateful=True)


class Branch(Body):
    """The body of a branch. `holder` is the node that holds it: its inputs are one of its own, then the captures of
    all its branches.
    """

    def __init__(self, graph: Graph):
        super().__init__(graph)
        self.holder: Node | None = None
        self._outlets: dict[int, Tensor] = {}

    def outlet(self, tensor: Tensor) -> Tensor:
        """The holder's output that stands for a tensor of the branch; its value is None where the branch is not
        taken. While there is no holder, the tensor itself.
        """
        if self.holder is None:  # another branch of the same node uses it, where it never has a value
            attrs = {"dtype": tensor.dtype.base_dtype, "source": tensor.name}
            return self._add(_DEAD, (), attrs, tensor)
        if id(tensor) not in self._outlets:
            self._outlets[id(tensor)] = self._add_output(self.holder, tensor)
            self.graph.on_undo(lambda: self._outlets.pop(id(tensor)))
        return self._outlets[id(tensor)]

    def checked(self, output: Tensor) -> Tensor:
        """The value of an outlet; in a run in which it has none, an error."""
        if output.op.row is _DEAD:
            return output
        return self._add(_ALIVE, [output], {"source": output.name}, output)

    def outlet_node(self, node: Node) -> Node | None:
        """A node that runs a node of the branch, if the branch is taken, and else does nothing."""
        if self.holder is None:
            return None
        with self.graph.contexts((*self.outside, self)), self.graph.control_dependencies([node]):
            done = self.graph.add(_DONE, (), {}, dtypes=[bool_], shapes=[()]).outputs[0]
        output = self.outlet(done)
        with self.graph.contexts(self.outside):
            return self.graph.add(_AFTER, [output], {}, dtypes=[], shapes=[])

    def _add(self, row: Op, inputs: Any, attrs: dict[str, Any], like: Tensor) -> Tensor:
        return self.graph.add(row, inputs, attrs, dtypes=[like.dtype.base_dtype], shapes=[like.dims]).outputs[0]

    def _add_output(self, holder: Node, tensor: Tensor) -> Tensor:
        before = [(body, list(body.results), list(body.captures), list(body.nodes)) for body in holder.bodies]
        inputs, controls = holder.inputs, list(holder.control_inputs)

        def undo() -> None:
            holder.outputs.pop()
            holder.inputs, holder.control_inputs = inputs, controls
            for body, results, captures, nodes in before:
                body.results, body.captures, body.nodes = results, captures, nodes

        self.graph.on_undo(undo)
        for body in holder.bodies:
            result = tensor
            if body is not self:
                with self.graph.contexts((*body.outside, body)):
                    result = self._add(_ABSENT, (), {"dtype": tensor.dtype.base_dtype}, tensor)
            body.results.append(result)
            body.captures.extend(body.gather([result]))
            holder.control_inputs += [node for node in body.controls if node not in holder.control_inputs]
        holder.inputs = (holder.inputs[0], *(capture for body in holder.bodies for capture in body.captures))
        for capture in holder.inputs:
            if holder not in capture._consumers:
                capture._consumers.append(holder)
        output = self.graph.tensor_class(holder, len(holder.outputs), tensor.dtype.base_dtype, tensor.dims)
        holder.outputs.append(output)
        return output
