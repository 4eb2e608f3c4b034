"""Which nodes and tensors depend on which: the order of a run, and the paths that gradients take."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from .graph import Node, Tensor


def order(roots: Iterable[Node], given: set[int], context: Any = None) -> list[Node]:
    """The nodes of one context that `roots` need, each after its inputs and control inputs.

    given: ids of tensors that need nothing, as their values are there. Control inputs outside of `context` have run
    before.
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
            before = [other for other in node.control_inputs if other.context is context]
            before += [tensor.op for tensor in node.inputs if id(tensor) not in given]
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
            pending.extend(t for t in tensor.op.inputs if t.dtype.is_differentiable and id(t) not in seen)
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
