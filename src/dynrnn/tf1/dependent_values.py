"""Initial values that are computed from other variables, so that one initializer serves them all."""

from __future__ import annotations

from ..graph.node import Node
from ..graph.node import Tensor as AnyTensor
from ..graph.resources import INITIALIZED_VALUE, READ, READ_NOW
from .graph import Graph, Tensor


def initialized(holder: Node, initial: Tensor, name: str | None = None) -> Tensor:
    """Add a node that yields a variable's value, or `initial` while it has none."""
    node = holder.graph.add(
        INITIALIZED_VALUE,
        [initial],
        {"variable": holder},
        dtypes=[initial.dtype.base_dtype],
        shapes=[holder.outputs[0].dims],
        name=name,
    )
    return node.outputs[0]  # type: ignore[return-value]


def guarded(initial: Tensor, name: str) -> Tensor:
    """Return `initial` with every variable's value in it replaced by its initialized value.

    The operations between are copied, as in TensorFlow named after the original and `name`, the new variable; what a
    loop or a branch reads is left as it is.
    """
    nodes = _ancestors(initial.op)
    if not any(_is_read(node) for node in nodes):
        return initial
    graph: Graph = initial.graph  # type: ignore[assignment]
    new: dict[AnyTensor, AnyTensor] = {}
    with graph.name_scope(None), graph.control_dependencies(None):
        for node in nodes:
            holder = node.inputs[0].op if _is_read(node) else None
            if holder is not None and "initial" in holder.attrs:
                new[node.outputs[0]] = initialized(holder, holder.attrs["initial"], f"{node.name}_{name}")
            elif any(tensor in new for tensor in node.inputs) and not node.bodies:
                new.update(zip(node.outputs, _copy(graph, node, new, name), strict=True))
    return new.get(initial, initial)  # type: ignore[return-value]


def _is_read(node: Node) -> bool:
    return node.row is READ or node.row is READ_NOW


def _ancestors(root: Node) -> list[Node]:
    """The nodes that `root` is computed from, and itself, in the order in which they were made."""
    found, ahead = {root}, [root]
    while ahead:
        for tensor in ahead.pop().inputs:
            if tensor.op not in found:
                found.add(tensor.op)
                ahead.append(tensor.op)
    return sorted(found, key=lambda node: node.index)


def _copy(graph: Graph, node: Node, new: dict[AnyTensor, AnyTensor], name: str) -> list[AnyTensor]:
    copy = graph.add(
        node.row,
        [new.get(tensor, tensor) for tensor in node.inputs],
        node.attrs,
        dtypes=[tensor.dtype for tensor in node.outputs],
        shapes=[tensor.dims for tensor in node.outputs],
        name=f"{node.name}_{name}",
    )
    copy.control_inputs = list(node.control_inputs)
    return copy.outputs
