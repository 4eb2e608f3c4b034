"""What is known of a tensor's value while the graph is built: constants, shapes, and integer arithmetic on them.

Partly known values are object arrays in which None stands for an unknown item, so `tf.shape(x)[0]` of a known batch is known, and
`[tf.shape(x)[0], 3]` is `[None, 3]` for an unknown one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from .graph import Node, Tensor
from .shape import Dims

_MOST_ITEMS = 1024  # larger constants are data, not shapes

RULES: dict[str, Callable[[Node], np.ndarray | None]] = {}
ELEMENTWISE: dict[str, Callable[[Any, Any], Any]] = {
    "Add": lambda a, b: a + b,
    "AddV2": lambda a, b: a + b,
    "Sub": lambda a, b: a - b,
    "Mul": lambda a, b: a * b,
    "FloorDiv": lambda a, b: a // b if b else None,
    "FloorMod": lambda a, b: a % b if b else None,
    "Maximum": max,
    "Minimum": min,
}


def partial_value(tensor: Tensor) -> np.ndarray | None:
    """The value of a tensor as an object array, None for each unknown item; None where nothing is known, not even the shape."""
    node = tensor.op
    if node.type in ELEMENTWISE:
        return _elementwise(node, ELEMENTWISE[node.type])
    rule = RULES.get(node.type)
    return rule(node) if rule is not None else None


def constant_value(tensor: Tensor) -> np.ndarray | None:
    """The whole value of a tensor where it is fixed by the graph, as an array of the tensor's dtype; else None."""
    if tensor.op.type == "Const":
        value = tensor.op.attrs["value"]
        return value if isinstance(value, np.ndarray) else np.asarray(value.float() if value.dtype is torch.bfloat16 else value)
    value = partial_value(tensor)
    if value is None or any(item is None for item in value.flat):
        return None
    return value.astype(tensor.dtype.numpy)


def partial_dims(tensor: Tensor) -> Dims:
    """The sizes that a shape-valued tensor will hold; -1 and what is unknown are None."""
    value = partial_value(tensor)
    if value is not None and value.ndim == 1:
        return tuple(None if size is None or size == -1 else int(size) for size in value)
    dims = tensor.dims
    if dims is None or len(dims) != 1 or dims[0] is None:
        return None
    return (None,) * dims[0]


def _rule(*types: str) -> Callable[[Callable[[Node], np.ndarray | None]], Callable[[Node], np.ndarray | None]]:
    def register(function: Callable[[Node], np.ndarray | None]) -> Callable[[Node], np.ndarray | None]:
        for kind in types:
            RULES[kind] = function
        return function

    return register


def _objects(items: Any, shape: tuple[int, ...]) -> np.ndarray:
    array = np.empty(shape, object)
    array.reshape(-1)[:] = list(items)
    return array


@_rule("Const")
def _const(node: Node) -> np.ndarray | None:
    value = node.attrs["value"]
    if isinstance(value, np.ndarray) or value.numel() > _MOST_ITEMS:
        return None
    return _objects(value.reshape(-1).tolist(), tuple(value.shape))


@_rule("Shape")
def _shape(node: Node) -> np.ndarray | None:
    dims = node.inputs[0].dims
    return None if dims is None else _objects(dims, (len(dims),))


@_rule("Rank")
def _rank(node: Node) -> np.ndarray | None:
    dims = node.inputs[0].dims
    return None if dims is None else _objects([len(dims)], ())


@_rule("Size")
def _size(node: Node) -> np.ndarray | None:
    count = node.inputs[0].shape.num_elements()
    return None if count is None else _objects([count], ())


@_rule("Identity", "Cast", "StopGradient")
def _through(node: Node) -> np.ndarray | None:
    value = partial_value(node.inputs[0])
    if value is None or not node.outputs[0].dtype.is_integer:
        return value if node.type != "Cast" else None
    return _objects([None if item is None else int(item) for item in value.flat], value.shape)


@_rule("Pack")
def _pack(node: Node) -> np.ndarray | None:
    values = [partial_value(tensor) for tensor in node.inputs]
    known = next((value for value in values if value is not None), None)
    shape = known.shape if known is not None else node.inputs[0].shape.tuple
    if shape is None or None in shape or np.prod(shape) * len(values) > _MOST_ITEMS:
        return None
    filled = [value if value is not None else np.full(shape, None, object) for value in values]
    return np.stack(filled, node.attrs["axis"])


@_rule("ConcatV2")
def _concat(node: Node) -> np.ndarray | None:
    values = [partial_value(tensor) for tensor in node.inputs]
    for i, tensor in enumerate(node.inputs):
        if values[i] is None:
            if tensor.dims is None or len(tensor.dims) != 1 or tensor.dims[0] is None:
                return None
            values[i] = np.full(tensor.dims, None, object)
    return np.concatenate([value for value in values if value is not None], node.attrs["axis"])


@_rule("StridedSlice")
def _strided_slice(node: Node) -> np.ndarray | None:
    value, index = partial_value(node.inputs[0]), node.attrs["index"]
    if value is None or len(node.inputs) > 1:
        return None
    result = value[index]
    return result if isinstance(result, np.ndarray) else _objects([result], ())


@_rule("ExpandDims", "Squeeze", "Reshape")
def _rearranged(node: Node) -> np.ndarray | None:
    value, dims = partial_value(node.inputs[0]), node.outputs[0].dims
    return None if value is None or dims is None or None in dims else value.reshape(dims)


@_rule("Fill")
def _fill(node: Node) -> np.ndarray | None:
    value, dims = partial_value(node.inputs[1]), node.outputs[0].dims
    if value is None or dims is None or None in dims or np.prod(dims) > _MOST_ITEMS:
        return None
    return _objects([value.item()] * int(np.prod(dims)), dims)


@_rule("Range")
def _range(node: Node) -> np.ndarray | None:
    values = [partial_value(tensor) for tensor in node.inputs]
    if any(value is None or value.item() is None for value in values):
        return None
    items = np.arange(*[value.item() for value in values if value is not None])
    return None if items.size > _MOST_ITEMS else _objects(items.tolist(), items.shape)


@_rule("Prod")
def _prod(node: Node) -> np.ndarray | None:
    value = partial_value(node.inputs[0])
    if value is None or node.attrs.get("axis") not in (None, 0, (0,)) or value.ndim != 1 or node.attrs.get("keepdims"):
        return None
    return _objects([None if None in value.tolist() else int(np.prod(value.tolist()))], ())


def _elementwise(node: Node, function: Callable[[Any, Any], Any]) -> np.ndarray | None:
    if not node.outputs[0].dtype.is_integer:
        return None
    first, second = partial_value(node.inputs[0]), partial_value(node.inputs[1])
    if first is None or second is None:
        return None
    first, second = np.broadcast_arrays(first, second)
    items = [None if a is None or b is None else function(a, b) for a, b in zip(first.flat, second.flat, strict=True)]
    return _objects(items, first.shape)
