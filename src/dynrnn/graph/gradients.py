"""Gradients as graph nodes: which entries there are is decided while the graph is built, their values come from
torch's autograd.

A gradient with respect to a tensor that is only gathered from is a pair of values and indices from the start.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import torch

from .dtype import int64
from .executor import Runtime, distinct
from .graph import Graph
from .node import Node, Tensor
from .op import Op
from .paths import reached
from .shape import Dims


class IndexedSlices:
    """Rows of a larger tensor: `values[k]` belongs at row `indices[k]` of a tensor of shape `dense_shape`; equal
    indices add up.
    """

    def __init__(self, values: Tensor, indices: Tensor, dense_shape: Tensor | None = None):
        self.values = values
        self.indices = indices
        self.dense_shape = dense_shape

    @property
    def name(self) -> str:
        return self.values.name

    @property
    def dtype(self) -> Any:
        return self.values.dtype

    @property
    def op(self) -> Node:
        return self.values.op

    @property
    def graph(self) -> Graph:
        return self.values.graph

    @property
    def device(self) -> str:
        return self.values.device

    def _as_tensor(self) -> Tensor:
        return self._to_dense()

    def _to_dense(self) -> Tensor:
        """The tensor that the slices stand for. The face that has an operation for it puts it here."""
        raise NotImplementedError("no operation makes a tensor of IndexedSlices")

    def __repr__(self) -> str:
        return f"IndexedSlices(indices={self.indices}, values={self.values}, dense_shape={self.dense_shape})"


def _bind_gradients(
    node: Node, runtime: Runtime, create_graph: bool, retain_graph: bool
) -> Callable[..., tuple[torch.Tensor, ...]]:
    num_ys, num_xs, num_stops = len(node.attrs["ys"]), len(node.attrs["xs"]), node.attrs["num_stops"]

    def gradients(*values: torch.Tensor) -> tuple[torch.Tensor, ...]:
        ys, xs = values[:num_ys], values[num_ys : num_ys + num_xs]
        stops = values[num_ys + num_xs : num_ys + num_xs + num_stops]
        grad_ys = values[num_ys + num_xs + num_stops :] or [torch.ones_like(y) for y in ys]
        live = [(y, grad.expand_as(y)) for y, grad in zip(ys, grad_ys, strict=True) if y.requires_grad]
        if not live:
            return tuple(torch.zeros_like(x) for x in xs)
        with _stopped(stops):
            found = torch.autograd.grad(
                [y for y, _ in live],
                xs,
                [grad for _, grad in live],
                create_graph=create_graph,
                retain_graph=retain_graph,
                allow_unused=True,
            )
        return distinct(
            [torch.zeros_like(x) if grad is None else grad for x, grad in zip(xs, found, strict=True)], values
        )

    return gradients


@contextmanager
def _stopped(tensors: Sequence[torch.Tensor]) -> Iterator[None]:
    """While it is entered, what comes down to the given tensors ends there: what they were computed from gets
    nothing, not even zeros.
    """
    handles = [_stop(tensor) for tensor in tensors if tensor.grad_fn is not None]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


def _stop(tensor: torch.Tensor) -> Any:
    assert tensor.grad_fn is not None
    mine = tensor.output_nr

    def before(grads: tuple[torch.Tensor | None, ...]) -> tuple[torch.Tensor | None, ...]:
        return tuple(None if i == mine else grad for i, grad in enumerate(grads))

    return tensor.grad_fn.register_prehook(before)


def _slices(*values: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """The gradients of gathers and the indices that were gathered, each laid end to end as rows."""
    half = len(values) // 2
    rows = [
        grad.reshape(indices.numel(), *grad.shape[indices.ndim :])
        for grad, indices in zip(values[:half], values[half:], strict=True)
    ]
    return torch.cat(rows), torch.cat([indices.reshape(-1) for indices in values[half:]])


GRADIENTS = Op("Gradients", None, None, None, bind=_bind_gradients)
SLICE_GRADIENTS = Op("SliceGradients", None, _slices, None)


def gathers_only(x: Tensor, open_path: set[int]) -> list[Node] | None:
    """The `Gather` nodes that take rows of x (or of a copy of it), if gradients come to x from nothing else; else None.

    open_path: the ids of tensors through which gradients pass on to what they were computed from.
    """
    found: list[Node] = []
    pending = [x]
    while pending:
        tensor = pending.pop()
        for node in dict.fromkeys(tensor.consumers()):
            if not node.row.differentiable or not any(id(output) in open_path for output in node.outputs):
                continue
            if node.context is not None:
                return None
            if node.type in ("Identity", "ReadVariableOp"):
                pending.append(node.outputs[0])
            elif node.type == "GatherV2" and node.inputs[0] is tensor and node.attrs["axis"] == 0:
                found.append(node)
            else:
                return None
    return sorted(found, key=lambda node: node.index) or None


def gradients(
    graph: Graph,
    ys: Sequence[Tensor],
    xs: Sequence[Tensor],
    *,
    grad_ys: Sequence[Tensor] = (),
    stops: Sequence[Tensor] = (),
    name: str | None = None,
) -> list[Tensor | tuple[Tensor, Tensor] | None]:
    """Add the gradients of the sum of `ys` with respect to each of `xs`.

    grad_ys: one for every y, or none (ones are taken). stops: tensors that are taken as constants.
    Returns for each x a tensor of its shape and dtype; (values, indices) where it is only gathered from; None where no
    y depends on x.
    """
    ys = [graph.reachable(y, GRADIENTS.type) for y in ys]
    for x in xs:
        _check_reach(graph, x)
    on_path = reached(ys, stops)
    _check_entries(xs, on_path)
    # A body's params have no inputs while the graph is built, so that paths end there; so must they where it runs.
    stops = [*stops, *(tensor for tensor in on_path.values() if tensor.op.type == "BodyParam")]
    open_path = on_path.keys() - {id(tensor) for tensor in stops}
    targets = {id(y) for y in ys}
    plain: list[Tensor] = []
    sparse: dict[int, list[Node]] = {}
    for x in xs:
        if id(x) not in on_path:
            continue
        gathers = gathers_only(x, open_path) if id(x) not in targets else None
        if gathers:
            sparse[id(x)] = gathers
            plain.extend(node.outputs[0] for node in gathers)
        else:
            plain.append(x)
    if not plain:
        return [None] * len(xs)
    wanted = list({id(x): x for x in plain}.values())
    inputs = [*ys, *wanted, *stops, *grad_ys]
    attrs = {"ys": tuple(ys), "xs": tuple(wanted), "num_stops": len(stops)}
    node = graph.add(
        GRADIENTS,
        inputs,
        attrs,
        dtypes=[x.dtype.base_dtype for x in wanted],
        shapes=[x.dims for x in wanted],
        name=name,
    )
    result = dict(zip((id(x) for x in wanted), node.outputs, strict=True))
    return [_entry(graph, x, sparse.get(id(x)), result, on_path) for x in xs]


def _check_reach(graph: Graph, x: Tensor) -> None:
    if x.op.context is not None and x.op.context not in graph.current_contexts:
        raise ValueError(
            f"Cannot take the gradient with respect to '{x.name}': it has values only inside a loop or a branch, and "
            "the gradient is taken outside of it"
        )


def _check_entries(xs: Sequence[Tensor], on_path: Mapping[int, Tensor]) -> None:
    """ValueError where a gradient that is taken in a loop's body would have to go through the loop's earlier steps."""
    for param in on_path.values():
        entering = param.op.context.entering.get(id(param)) if param.op.type == "BodyParam" else None
        if entering is None:
            continue
        before = reached([entering])
        for x in xs:
            if id(x) in before:
                raise ValueError(
                    f"Cannot compute gradient inside while loop with respect to op '{x.op.name}'. We do not support "
                    "taking the gradient wrt or through the initial value of a loop variable. Gradients can be "
                    "computed through loop invariants or wrt the input parameters to the loop body."
                )


def _entry(
    graph: Graph, x: Tensor, gathers: list[Node] | None, result: dict[int, Tensor], on_path: Mapping[int, Tensor]
) -> Tensor | tuple[Tensor, Tensor] | None:
    if gathers is None:
        return result.get(id(x)) if id(x) in on_path else None
    grads = [result[id(node.outputs[0])] for node in gathers]
    indices = [node.inputs[1] for node in gathers]
    counts = [tensor.shape.num_elements() for tensor in indices]
    count = None if None in counts else sum(number or 0 for number in counts)
    rows: Dims = None if x.dims is None else (count, *x.dims[1:])
    places = int64 if any(tensor.dtype is int64 for tensor in indices) else indices[0].dtype
    node = graph.add(
        SLICE_GRADIENTS, [*grads, *indices], {}, dtypes=[x.dtype.base_dtype, places], shapes=[rows, (count,)]
    )
    return node.outputs[0], node.outputs[1]
