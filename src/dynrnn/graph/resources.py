"""Variables as graph nodes: a holder that yields the session's value, and the nodes that replace it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from .. import errors
from .dtype import DType
from .executor import Runtime
from .graph import Graph, Node, Tensor
from .op import Op
from .shape import Dims, TensorShape


def _bind_read(node: Node, runtime: Runtime) -> Callable[[], torch.Tensor]:
    return lambda: runtime.read(node)


class _ReadNow(torch.autograd.Function):
    """The variable's present value, with the gradient of the value that was read before it."""

    @staticmethod
    def forward(ctx: Any, before: torch.Tensor, now: torch.Tensor) -> torch.Tensor:
        return now.view_as(now)

    @staticmethod
    def backward(ctx: Any, *grads: torch.Tensor) -> tuple[torch.Tensor, None]:
        return grads[0], None


def _bind_read_now(node: Node, runtime: Runtime) -> Callable[[Any], Any]:
    holder = node.inputs[0].op

    def read(before: Any) -> Any:
        now = runtime.read(holder)
        if not isinstance(now, torch.Tensor) or not before.requires_grad:
            return now
        return before.view_as(before) if now.data_ptr() == before.data_ptr() else _ReadNow.apply(before, now)

    return read


def _bind_assign(node: Node, runtime: Runtime) -> Callable[[Any], Any]:
    holder, check = node.attrs["variable"], node.attrs["validate_shape"]

    def assign(value: Any) -> Any:
        dims = holder.outputs[0].dims
        if check and not TensorShape(dims).is_compatible_with(tuple(value.shape)):
            raise errors.InvalidArgumentError(
                None,
                node,
                f"Assign requires shapes of both tensors to match: {holder.name} has {TensorShape(dims)}, the value {tuple(value.shape)}",
            )
        runtime.write(holder, value)
        return runtime.read(holder)

    return assign


def _bind_update(function: Callable[[Any, Any], Any]) -> Callable[[Node, Runtime], Callable[[Any], Any]]:
    def bind(node: Node, runtime: Runtime) -> Callable[[Any], Any]:
        holder = node.attrs["variable"]

        def update(value: Any) -> Any:
            with runtime.lock:
                runtime.write(holder, function(runtime.read(holder), value))
                return runtime.read(holder)

        return update

    return bind


def _bind_is_initialized(node: Node, runtime: Runtime) -> Callable[[], torch.Tensor]:
    return lambda: torch.tensor(node.attrs["variable"] in runtime.values)


def _bind_initialized_value(node: Node, runtime: Runtime) -> Callable[[Any], Any]:
    holder = node.attrs["variable"]
    return lambda initial: runtime.read(holder) if holder in runtime.values else initial


def _bind_uninitialized(node: Node, runtime: Runtime) -> Callable[[], np.ndarray]:
    def names() -> np.ndarray:
        missing = [holder.name.encode() for holder in node.attrs["variables"] if holder not in runtime.values]
        return np.array(missing, object)

    return names


def _view(value: Any) -> Any:
    return value.view_as(value) if isinstance(value, torch.Tensor) else value.view()


def _same(inputs: Any, attrs: Any) -> Dims:
    return inputs[0].dims


VARIABLE = Op(
    "VariableV2", "-> @dtype", None, lambda inputs, attrs: attrs["shape"].tuple, bind=_bind_read, stateful=True
)
READ = Op("Identity", "variable:T -> T", _view, _same)
READ_NOW = Op("ReadVariableOp", "variable:T -> T", None, _same, bind=_bind_read_now, stateful=True)
ASSIGN = Op("Assign", "value:T -> T", None, _same, differentiable=False, bind=_bind_assign, stateful=True)
ASSIGN_ADD = Op(
    "AssignAdd", "value:T -> T", None, _same, differentiable=False, bind=_bind_update(torch.add), stateful=True
)
ASSIGN_SUB = Op(
    "AssignSub", "value:T -> T", None, _same, differentiable=False, bind=_bind_update(torch.sub), stateful=True
)
IS_INITIALIZED = Op(
    "IsVariableInitialized", "-> bool", None, lambda inputs, attrs: (), bind=_bind_is_initialized, stateful=True
)
INITIALIZED_VALUE = Op(
    "InitializedValue", "initial:T -> T", None, _same, differentiable=False, bind=_bind_initialized_value, stateful=True
)
UNINITIALIZED_NAMES = Op(
    "ReportUninitialized", "-> string", None, lambda inputs, attrs: (None,), bind=_bind_uninitialized, stateful=True
)


def add_variable(graph: Graph, dtype: DType, dims: Dims, name: str) -> Tensor:
    """Make a variable's holder node; its output is the value that the session holds when it is read."""
    node = graph.add(
        VARIABLE, (), {"dtype": dtype, "shape": TensorShape(dims)}, dtypes=[dtype._as_ref], shapes=[dims], name=name
    )
    return node.outputs[0]
