"""Which nodes and tensors depend on which: the order of a run, and the paths that gradients take."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from .node import Node, Tensor


def sources(tensor: Tensor, differentiable: bool = False) -> Sequence[Tensor]:
    """The inputs of its node that a tensor is computed from; with `differentiable`, what its gradients come to."""
    node = tensor.op
    if node.row.depends is None:
        return node.inputs
    return [node.inputs[position] for position in node.row.depends(node, tensor.value_index, differentiable)]


@dataclass
class Demand:
    """What some roots need: the tensors and nodes by id, and of the nodes that hold bodies, which of their outputs and
    inputs, by position.
    """

    seen: set[int] = field(default_factory=set)
    outputs: dict[int, set[int]] = field(default_factory=dict)
    inputs: dict[int, set[int]] = field(default_factory=dict)

    def needed(self, node: Node) -> list[Tensor | None]:
        """The inputs of a node, None for those that nothing needs."""
        used = self.inputs.get(id(node))
        return [tensor if used is None or i in used else None for i, tensor in enumerate(node.inputs)]


def demand(roots: Iterable[Tensor | Node], given: Container[int], context: Any = None) -> Demand:
    """What `roots` need; `given` and `context` as for `order`."""
    found = Demand()
    pending = list(roots)
    while pending:
        item = pending.pop()
        if id(item) in found.seen:
            continue
        found.seen.add(id(item))
        if id(item) in given:
            continue
        node = item.op if isinstance(item, Tensor) else item
        depends = node.row.depends
        if isinstance(item, Tensor) and depends is not None:
            used = depends(node, item.value_index, False)
            found.outputs.setdefault(id(node), set()).add(item.value_index)
            found.inputs.setdefault(id(node), set()).update(used)
            pending.extend(node.inputs[position] for position in used)
        elif isinstance(item, Tensor):
            pending.append(node)
        else:
            pending.extend(node.inputs if depends is None else node.outputs)
        pending.extend(other for other in node.control_inputs if _runs(other, given, context))
    return found


def _runs(control: Node, given: Container[int], context: Any) -> bool:
    """Whether a control input runs before the nodes of `context` that wait for it: not where its values are given."""
    fed = bool(control.outputs) and all(id(tensor) in given for tensor in control.outputs)
    return control.context is context and not fed


def order(roots: Iterable[Node], given: set[int], context: Any = None, demanded: Demand | None = None) -> list[Node]:
    """The nodes of one context that `roots` need, each after its inputs and control inputs.

    given: ids of tensors that need nothing, as their values are there. Control inputs outside of `context` have run
    before. demanded: what is needed of nodes that hold bodies (default: everything).
    """
    done: set[int] = set()
    ordered: list[Node] = []
    for root in roots:
        stack: list[tuple[Node, bool]] = [(root, False)]
        while stack:
            node, ready = stack.pop()
            if ready:
                ordered.append(node)
                continue
            if id(node) in done:
                continue
            done.add(id(node))
            stack.append((node, True))
            # Control inputs first: a variable that an initializer among them fills is read after it.
            before = [other for other in node.control_inputs if _runs(other, given, context)]
            inputs = node.inputs if demanded is None else demanded.needed(node)
            before += [tensor.op for tensor in inputs if tensor is not None and id(tensor) not in given]
            stack.extend((other, False) for other in reversed(before) if id(other) not in done)
    return ordered


def reached(ys: Iterable[Tensor], stops: Sequence[Tensor] = ()) -> dict[int, Tensor]:
    """All tensors, by id, that some of `ys` depend on in a differentiable way, `ys` included; paths end at `stops`."""
    stopped = {id(tensor) for tensor in stops}
    seen: dict[int, Tensor] = {}
    pending = [y for y in ys if y.dtype.is_differentiable]
    while pending:
        tensor = pending.pop()
        if id(tensor) in seen:
            continue
        seen[id(tensor)] = tensor
        if tensor.op.row.differentiable and id(tensor) not in stopped:
            pending.extend(t for t in sources(tensor, True) if t.dtype.is_differentiable and id(t) not in seen)
    return seen


def differentiated(nodes: Sequence[Node]) -> set[int]:
    """The ids of those of `nodes` (in the order of a run) that a gradient among them is taken through."""
    found: set[int] = set()
    for node in reversed(nodes):
        if id(node) in found or any(body.gradients for body in node.bodies):
            sources = node.inputs
        elif node.type == "Gradients":
            sources = node.inputs[: len(node.attrs["ys"])]
        else:
            continue
        found.update(id(tensor.op) for tensor in sources)
    return found
