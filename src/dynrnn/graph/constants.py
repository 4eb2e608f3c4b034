"""What is known of a tensor's value while the graph is built: constants, shapes, and integer arithmetic on them.

Partly known values are object arrays in which None stands for an unknown item, so `tf.shape(x)[0]` of a known batch is
known, and `[tf.shape(x)[0], 3]` is `[None, 3]` for an unknown one.
"""

from __future__ import annotations

import math
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .dtype import to_numpy
from .node import Node, Tensor
from .shape import Dims, whole_dims

_MOST_ITEMS = 1024  # larger constants are data, not shapes

Value = np.ndarray | None
Rule = Callable[[Node, Sequence[Value]], "Value | list[Value]"]

# node type -> the value from those of the inputs; a list of them where there are several outputs
RULES: dict[str, Rule] = {}
SOURCES: dict[str, Rule] = {}  # the same for types that do not look at the values of their inputs
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
_known: weakref.WeakKeyDictionary[Tensor, np.ndarray] = weakref.WeakKeyDictionary()  # whole values, which never change


def partial_value(tensor: Tensor) -> np.ndarray | None:
    """The value of a tensor as an object array, None for each unknown item; None where nothing is known, not even the
    shape.

    The array is not to be written into.
    """
    found: dict[int, Value] = {}
    pending = [tensor]
    while pending:
        item = pending[-1]
        node = item.op
        if id(item) in found:
            pending.pop()
        elif item in _known:
            found[id(item)] = _known[item]
        elif node.type in SOURCES:
            _note(node, SOURCES[node.type](node, ()), found)
        elif node.type not in RULES:
            found[id(item)] = None
        else:
            missing = [other for other in node.inputs if id(other) not in found]
            if missing:
                pending.extend(missing)
            else:
                _note(node, RULES[node.type](node, [found[id(other)] for other in node.inputs]), found)
    return found[id(tensor)]


def _note(node: Node, values: Value | list[Value], found: dict[int, Value]) -> None:
    for tensor, value in zip(node.outputs, values if isinstance(values, list) else [values], strict=True):
        found[id(tensor)] = value
        if value is not None and None not in value.reshape(-1).tolist():
            _known[tensor] = value


def constant_value(tensor: Tensor) -> np.ndarray | None:
    """The whole value of a tensor where it is fixed by the graph, as a new array of the tensor's dtype; else None."""
    if tensor.op.type == "Const":
        return to_numpy(tensor.op.attrs["value"])
    value = partial_value(tensor)
    if value is None or None in value.reshape(-1).tolist():
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


def _rule(*types: str, table: dict[str, Rule] = RULES) -> Callable[[Rule], Rule]:
    def register(function: Rule) -> Rule:
        table.update(dict.fromkeys(types, function))
        return function

    return register


def _objects(items: Any, shape: Sequence[int]) -> np.ndarray:
    array = np.empty(shape, object)
    array.reshape(-1)[:] = list(items)
    return array


def _array(item: Any) -> np.ndarray:
    """What numpy's indexing gives, which is no array where it is a single item."""
    return item if isinstance(item, np.ndarray) else _objects([item], ())


def _sizes(tensor: Tensor) -> Value:
    return None if tensor.dims is None else _objects(tensor.dims, (len(tensor.dims),))


@_rule("Const", table=SOURCES)
def _const(node: Node, values: Sequence[Value]) -> Value:
    value = node.attrs["value"]
    if isinstance(value, np.ndarray) or value.numel() > _MOST_ITEMS:
        return None
    return _objects(value.reshape(-1).tolist(), value.shape)


@_rule("Shape", table=SOURCES)
def _shape(node: Node, values: Sequence[Value]) -> Value:
    return _sizes(node.inputs[0])


@_rule("ShapeN", table=SOURCES)
def _shapes(node: Node, values: Sequence[Value]) -> list[Value]:
    return [_sizes(tensor) for tensor in node.inputs]


@_rule("Rank", table=SOURCES)
def _rank(node: Node, values: Sequence[Value]) -> Value:
    dims = node.inputs[0].dims
    return None if dims is None else _objects([len(dims)], ())


@_rule("Size", table=SOURCES)
def _size(node: Node, values: Sequence[Value]) -> Value:
    count = node.inputs[0].shape.num_elements()
    return None if count is None else _objects([count], ())


@_rule("Identity", "StopGradient")
def _same(node: Node, values: Sequence[Value]) -> Value:
    return values[0]


@_rule("Cast")
def _cast(node: Node, values: Sequence[Value]) -> Value:
    value = values[0]
    if value is None or not node.outputs[0].dtype.is_integer or node.inputs[0].dtype.is_complex:
        return None
    items = [int(item) if item is not None and math.isfinite(item) else None for item in value.reshape(-1).tolist()]
    return _objects(items, value.shape)


@_rule("Pack")
def _pack(node: Node, values: Sequence[Value]) -> Value:
    known = next((value for value in values if value is not None), None)
    shape = known.shape if known is not None else whole_dims(node.inputs[0].dims)
    if shape is None or math.prod(shape) * len(values) > _MOST_ITEMS:
        return None
    filled = [value if value is not None else np.full(shape, None, object) for value in values]
    return np.stack(filled, node.attrs["axis"])


@_rule("Unpack")
def _unpack(node: Node, values: Sequence[Value]) -> list[Value]:
    value, axis, count = values[0], node.attrs["axis"], len(node.outputs)
    if value is None or value.shape[axis] != count:
        return [None] * count
    return [_array(item) for item in np.moveaxis(value, axis, 0)]


@_rule("ConcatV2")
def _concat(node: Node, values: Sequence[Value]) -> Value:
    filled: list[np.ndarray] = []
    for value, tensor in zip(values, node.inputs, strict=True):
        dims = whole_dims(tensor.dims)
        if value is None:
            if dims is None or len(dims) != 1:
                return None
            value = np.full(dims, None, object)
        filled.append(value)
    return np.concatenate(filled, node.attrs["axis"])


@_rule("StridedSlice")
def _strided_slice(node: Node, values: Sequence[Value]) -> Value:
    value = values[0]
    if value is None or len(values) > 1:
        return None
    return _array(value[node.attrs["index"]])


@_rule("Slice")
def _slice(node: Node, values: Sequence[Value]) -> Value:
    value, begin, dims = values[0], values[1], node.outputs[0].dims
    if value is None or begin is None or dims is None or None in dims or None in begin.tolist():
        return None
    return value[tuple(slice(start, start + size) for start, size in zip(begin.tolist(), dims, strict=True))]


@_rule("GatherV2")
def _gather(node: Node, values: Sequence[Value]) -> Value:
    value, places = values
    if value is None or places is None or value.ndim != 1:
        return None
    items = places.reshape(-1).tolist()
    if not all(item is not None and 0 <= item < len(value) for item in items):
        return None
    return _objects([value[item] for item in items], places.shape)


@_rule("ExpandDims", "Squeeze", "Reshape")
def _rearranged(node: Node, values: Sequence[Value]) -> Value:
    value, dims = values[0], whole_dims(node.outputs[0].dims)
    return None if value is None or dims is None else value.reshape(dims)


@_rule("Fill")
def _fill(node: Node, values: Sequence[Value]) -> Value:
    value, dims = values[1], whole_dims(node.outputs[0].dims)
    if value is None or dims is None or math.prod(dims) > _MOST_ITEMS:
        return None
    return _objects([value.item()] * math.prod(dims), dims)


@_rule("Range")
def _range(node: Node, values: Sequence[Value]) -> Value:
    bounds: list[Any] = [None if value is None else value.item() for value in values]
    if None in bounds or not node.outputs[0].dtype.is_integer:
        return None
    items = range(*bounds)
    return None if len(items) > _MOST_ITEMS else _objects(items, (len(items),))


@_rule("Prod")
def _prod(node: Node, values: Sequence[Value]) -> Value:
    value, attrs = values[0], node.attrs
    if value is None or value.ndim != 1 or attrs["axis"] not in (None, 0, -1, (0,), (-1,)) or attrs["keepdims"]:
        return None
    items = value.tolist()
    return _objects([None if None in items else math.prod(items)], ())


@_rule(*ELEMENTWISE)
def _elementwise(node: Node, values: Sequence[Value]) -> Value:
    first, second = values
    if first is None or second is None or not node.outputs[0].dtype.is_integer:
        return None
    first, second = np.broadcast_arrays(first, second)
    function, pairs = ELEMENTWISE[node.type], zip(first.reshape(-1), second.reshape(-1), strict=True)
    return _objects([None if a is None or b is None else function(a, b) for a, b in pairs], first.shape)
