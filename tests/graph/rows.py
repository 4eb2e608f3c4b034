"""A few rows and a small way to use them, for tests of the engine that need no face."""

from __future__ import annotations

from typing import Any

import torch

from dynrnn.graph import rules
from dynrnn.graph.control_flow import Body
from dynrnn.graph.dtype import as_dtype, float32
from dynrnn.graph.executor import Plan, Runtime
from dynrnn.graph.gradients import gradients
from dynrnn.graph.graph import Graph
from dynrnn.graph.node import Tensor
from dynrnn.graph.op import Op


def _unfed(node: Any, runtime: Any) -> Any:
    def compute() -> Any:
        raise RuntimeError("not fed")

    return compute


PLACEHOLDER = Op("Placeholder", "-> @dtype", None, None, bind=_unfed, stateful=True)
CONST = Op("Const", "-> @dtype", None, None)
IDENTITY = Op("Identity", "x:T -> T", lambda x: x.view_as(x), rules.same)
ADD = Op("AddV2", "x:T y:T -> T", torch.add, rules.broadcast)
MUL = Op("Mul", "x:T y:T -> T", torch.mul, rules.broadcast)
MATMUL = Op("MatMul", "a:T b:T -> T", torch.matmul, rules.matmul)
TANH = Op("Tanh", "x:T -> T", torch.tanh, rules.same)
SQRT = Op("Sqrt", "x:T -> T", torch.sqrt, rules.same)
FLOOR = Op("Floor", "x:T -> T", torch.floor, rules.same, differentiable=False)
SUM = Op("Sum", "x:T -> T", lambda x: x.sum(), rules.scalar)
UNPACK = Op("Unpack", "x:T -> *T", lambda x: x.unbind(), lambda inputs, attrs: [inputs[0].dims[1:]] * inputs[0].dims[0])
NOTHING = Op("NoOp", "->", lambda: None, None)


def add(graph: Graph, row: Op, *inputs: Tensor, name: str | None = None, dtype: Any = None, **attrs: Any) -> Any:
    """Add a node; returns its output, a list of them, or the node where it has none."""
    dims = row.shape(inputs, attrs) if row.shape is not None else None
    shapes = dims if isinstance(dims, list) else [dims]
    kind = as_dtype(dtype) if dtype is not None else inputs[0].dtype.base_dtype if inputs else float32
    dtypes = [kind] * (len(shapes) if row.outputs else 0)
    node = graph.add(row, inputs, attrs, dtypes=dtypes, shapes=shapes[: len(dtypes)], name=name)
    return node if not row.outputs else node.outputs if row.returns_tuple else node.outputs[0]


def placeholder(graph: Graph, dims: Any = None, dtype: Any = float32, name: str | None = None) -> Tensor:
    return graph.add(PLACEHOLDER, (), {}, dtypes=[as_dtype(dtype)], shapes=[dims], name=name).outputs[0]


def constant(graph: Graph, value: Any, dtype: Any = float32, name: str | None = None) -> Tensor:
    tensor = torch.tensor(value, dtype=as_dtype(dtype).torch)
    attrs = {"value": tensor, "dtype": as_dtype(dtype)}
    return graph.add(CONST, (), attrs, dtypes=[as_dtype(dtype)], shapes=[tuple(tensor.shape)], name=name).outputs[0]


def differentiate(ys: Any, xs: Any, **options: Any) -> Any:
    """Add gradients to the graph of the first of `ys`; returns an entry for each x."""
    return gradients(ys[0].graph, ys, xs, **options)


def run(fetches: Any, feeds: Any = (), runtime: Runtime | None = None) -> Any:
    """Run a plan for a list of fetches and return the values of the tensors among them."""
    feeds = dict(feeds)
    plan = Plan(tuple(feeds), fetches, runtime or Runtime())
    return plan.run([torch.as_tensor(value) for value in feeds.values()])


def _bind_repeat(node: Any, runtime: Any, recorded: bool) -> Any:
    (body,) = node.attrs["bodies"]
    function, times = body.function(runtime, recorded), node.attrs["times"]

    def repeat(value: Any, *captured: Any) -> Any:
        for _ in range(times):
            (value,) = function(value, *captured)
        return (value.view_as(value),)

    return repeat


REPEAT = Op("Repeat", None, None, None, bind=_bind_repeat, bodies=True)


def repeat(graph: Graph, start: Tensor, step: Any, times: int) -> Tensor:
    """Add a node that applies a traced step to a value some times."""
    body = Body(graph)
    with body.trace():
        body.close([step(body.param(start.dtype, start.dims))])
    attrs = {"bodies": (body,), "times": times}
    node = graph.add(REPEAT, [start, *body.captures], attrs, dtypes=[start.dtype], shapes=[start.dims])
    return node.outputs[0]
