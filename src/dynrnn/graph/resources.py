"""Variables as graph nodes: a holder that yields the session's value, and the nodes that replace it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from .. import errors
from .dtype import DType
from .executor import Runtime, in_place_of
from .graph import Graph
from .node import Node, Tensor
from .op import Op
from .shape import Dims, TensorShape


def _bind_read(node: Node, runtime: Runtime) -> Callable[[], torch.Tensor]:
    return lambda: runtime.read(node)


def _bind_read_now(node: Node, runtime: Runtime) -> Callable[[Any], Any]:
    holder = node.inputs[0].op
    if holder.inputs:  # the read that others share
        holder = holder.inputs[0].op
    if holder in runtime.fed:  # the run gives the variable's value, so that is what there is to read
        return _view

    def read(before: Any) -> Any:
        """The present value, with the gradient of the value that was read before it."""
        now = runtime.read(holder)
        if not isinstance(now, torch.Tensor):
            return now
        # Values are replaced, never written into: the same memory is the same value.
        return before.view_as(before) if now.data_ptr() == before.data_ptr() else in_place_of(now, before)

    return read


def _bind_assign(node: Node, runtime: Runtime) -> Callable[[Any], Any]:
    holder, check = node.attrs["variable"], node.attrs["validate_shape"]

    def assign(value: Any) -> Any:
        if check and not _fits(value, holder.outputs[0].dims):
            raise _misfit(node, value, TensorShape(holder.outputs[0].dims))
        runtime.write(holder, _own(value))
        return runtime.read(holder)

    return assign


def _bind_update(function: Callable[[Any, Any], Any]) -> Callable[[Node, Runtime], Callable[[Any], Any]]:
    def bind(node: Node, runtime: Runtime) -> Callable[[Any], Any]:
        holder = node.attrs["variable"]

        def update(value: Any) -> Any:
            with runtime.lock:
                before = runtime.read(holder)
                if value.shape != before.shape:
                    raise _misfit(node, value, TensorShape(tuple(before.shape)))
                runtime.write(holder, function(before, value))
                return runtime.read(holder)

        return update

    return bind


def _fits(value: Any, dims: Dims) -> bool:
    return dims is None or (
        len(dims) == value.ndim and all(a is None or a == b for a, b in zip(dims, value.shape, strict=True))
    )


def _misfit(node: Node, value: Any, shape: TensorShape) -> errors.InvalidArgumentError:
    return errors.InvalidArgumentError(
        None,
        node,
        f"{node.type} requires shapes of both tensors to match: {node.attrs['variable'].name} has {shape}, "
        f"the value {tuple(value.shape)}",
    )


def _own(value: Any) -> Any:
    """The value in memory of its own size: a variable that held a part of a larger tensor would keep all of it."""
    if not isinstance(value, torch.Tensor) or value.untyped_storage().nbytes() == value.nbytes:
        return value
    return value.detach().clone(memory_format=torch.contiguous_format)


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
