"""Gradients as graph nodes: which entries there are is decided while the graph is built, their values come from torch's autograd.

A gradient with respect to a variable that is reached only through `Gather` is a pair of values and indices from the start.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from .executor import Runtime
from .graph import Graph, Node, Tensor
from .op import Op
from .shape import Dims


class IndexedSlices:
    """Rows of a larger tensor: `values[k]` belongs at row `indices[k]` of a tensor of shape `dense_shape`; equal indices add up."""

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
        live = [(y, grad) for y, grad in zip(ys, grad_ys, strict=True) if y.requires_grad]
        if not live:
            return tuple(torch.zeros_like(x) for x in xs)
        with _Stopped(stops) as stopped:
            found = torch.autograd.grad(
                [y for y, _ in live],
                xs,
                [grad for _, grad in live],
                create_graph=create_graph,
                retain_graph=retain_graph,
                allow_unused=True,
            )
        found = [stopped.gradients.get(id(x), grad) for x, grad in zip(xs, found, strict=True)]
        return _distinct(
            [torch.zeros_like(x) if grad is None else grad for x, grad in zip(xs, found, strict=True)], values
        )

    return gradients


class _Stopped:
    """While it is entered, no gradient passes through the given tensors; what reached them is kept."""

    def __init__(self, tensors: Sequence[torch.Tensor]):
        self.tensors = [tensor for tensor in tensors if tensor.requires_grad]
        self.gradients: dict[int, torch.Tensor] = {}

    def _hook(self, tensor: torch.Tensor) -> Callable[[torch.Tensor], torch.Tensor]:
        def hook(grad: torch.Tensor) -> torch.Tensor:
            self.gradients[id(tensor)] = grad
            return torch.zeros_like(grad)

        return hook

    def __enter__(self) -> _Stopped:
        self.handles = [tensor.register_hook(self._hook(tensor)) for tensor in self.tensors]
        return self

    def __exit__(self, *error: object) -> None:
        for handle in self.handles:
            handle.remove()


def _distinct(results: list[torch.Tensor], inputs: Sequence[torch.Tensor]) -> tuple[torch.Tensor, ...]:
    """Make every result a tensor of its own: autograd hands the same one to both terms of a sum."""
    seen = {id(tensor) for tensor in inputs}
    for i, tensor in enumerate(results):
        if id(tensor) in seen:
            results[i] = tensor.view_as(tensor)
        seen.add(id(results[i]))
    return tuple(results)


def _slices(*values: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    half = len(values) // 2
    rows = [
        grad.reshape(-1, *grad.shape[indices.ndim :])
        if grad.numel()
        else grad.new_zeros((indices.numel(), *grad.shape[indices.ndim :]))
        for grad, indices in zip(values[:half], values[half:], strict=True)
    ]
    return torch.cat(rows), torch.cat([indices.reshape(-1) for indices in values[half:]])


GRADIENTS = Op("Gradients", None, None, None, bind=_bind_gradients)
SLICE_GRADIENTS = Op("SliceGradients", None, _slices, None)


def reached(ys: Sequence[Tensor], stops: Sequence[Tensor] = ()) -> set[int]:
    """The ids of all tensors that some of `ys` depend on in a differentiable way, `ys` included."""
    stopped = {id(tensor) for tensor in stops}
    seen: set[int] = set()
    pending = [y for y in ys if y.dtype.is_differentiable]
    while pending:
        tensor = pending.pop()
        if id(tensor) in seen:
            continue
        seen.add(id(tensor))
        if tensor.op.row.differentiable and id(tensor) not in stopped:
            pending.extend(t for t in tensor.op.inputs if t.dtype.is_differentiable and id(t) not in seen)
    return seen


def gathers_only(variable: Tensor, on_path: set[int]) -> list[Node] | None:
    """The `Gather` nodes through which a variable's holder is read, if it is read in no other way on the path; else None."""
    found: list[Node] = []
    pending = [variable]
    while pending:
        tensor = pending.pop()
        for node in tensor.consumers():
            if not any(id(output) in on_path for output in node.outputs):
                continue
            if node.type in ("Identity", "ReadVariableOp") and node.context is None:
                pending.append(node.outputs[0])
            elif (
                node.type == "GatherV2"
                and node.context is None
                and node.inputs[0] is tensor
                and node.attrs["axis"] == 0
            ):
                found.append(node)
            else:
                return None
    return found or None


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
    Returns for each x a tensor of its shape and dtype; (values, indices) for a variable that is only gathered from; None where no y depends on x.
    """
    on_path = reached(ys, stops)
    stopped = {id(tensor) for tensor in stops}
    plain: list[Tensor] = []
    sparse: dict[int, list[Node]] = {}
    for x in xs:
        if id(x) not in on_path:
            continue
        gathers = gathers_only(x, on_path) if x.op.type == "VariableV2" and id(x) not in stopped else None
        if gathers and not any(x is y for y in ys):
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


def _entry(
    graph: Graph, x: Tensor, gathers: list[Node] | None, result: dict[int, Tensor], on_path: set[int]
) -> Tensor | tuple[Tensor, Tensor] | None:
    if gathers is None:
        return result.get(id(x)) if id(x) in on_path else None
    grads = [result[id(node.outputs[0])] for node in gathers]
    indices = [node.inputs[1] for node in gathers]
    rows: Dims = None if x.dims is None else (None, *x.dims[1:])
    node = graph.add(
        SLICE_GRADIENTS, [*grads, *indices], {}, dtypes=[x.dtype.base_dtype, indices[0].dtype], shapes=[rows, (None,)]
    )
    return node.outputs[0], node.outputs[1]
