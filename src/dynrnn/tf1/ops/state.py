"""Replacing a variable's value: `tf.assign`, `tf.assign_add`, `tf.assign_sub`. The variables themselves are in
`variables.py`.
"""

from __future__ import annotations

from typing import Any

from ...graph.node import Node
from ...graph.op import Op
from ...graph.resources import ASSIGN, ASSIGN_ADD, ASSIGN_SUB
from ...graph.shape import Dims
from ..export import export
from ..graph import Tensor, atomic
from .convert import convert_to_tensor


def variable_node(ref: Any, op_type: str) -> Node:
    """Return the holder of the variable that `ref` is, or whose value it yields (a variable's `w:0`, the result of an
    assignment).

    Raises:
        TypeError: `ref` is no variable.
    """
    element = ref._as_graph_element() if hasattr(ref, "_as_graph_element") else ref
    if isinstance(element, Tensor) and element.dtype.is_ref:
        return element.op.attrs.get("variable", element.op)
    raise TypeError(f"'{op_type}' Op requires that input 'ref' be a mutable tensor (e.g.: a tf.Variable), got {ref!r}")


def add_assignment(row: Op, ref: Any, value: Any, validate_shape: bool = True, name: str | None = None) -> Tensor:
    """Add a node of an assigning row; its output is the variable's new value.

    Raises:
        TypeError: `ref` is no variable, or `value` has another dtype. ValueError: the shapes cannot fit.
    """
    holder = variable_node(ref, row.type)
    target = holder.outputs[0]
    before = [ref.op] if isinstance(ref, Tensor) and ref.op is not holder else []  # an assignment, which comes first
    symbolic = isinstance(value, Tensor) or hasattr(value, "_as_tensor")
    with holder.graph.as_default():  # type: ignore[attr-defined]
        tensor = convert_to_tensor(value, None if symbolic else target.dtype.base_dtype, name="value")
    if tensor.dtype.base_dtype is not target.dtype.base_dtype:
        raise TypeError(
            f"Input 'value' of '{row.type}' Op has type {tensor.dtype.base_dtype.name} that does not match type "
            f"{target.dtype.base_dtype.name} of argument 'ref' ({holder.name})."
        )
    dims = joined_dims(target.dims, tensor.dims, name or row.type) if validate_shape else tensor.dims
    attrs = {"variable": holder, "validate_shape": validate_shape}
    with holder.graph.control_dependencies(before):
        node = holder.graph.add(row, [tensor], attrs, dtypes=[target.dtype], shapes=[dims], name=name)
    return node.outputs[0]  # type: ignore[return-value]


def joined_dims(ref: Dims, value: Dims, name: str, what: str = "a variable and the value assigned to it") -> Dims:
    """What is known of a variable's shape and of the value assigned to it; ValueError where they conflict."""
    if ref is None or value is None:
        return value if ref is None else ref
    shapes = f"Shapes are {_brackets(ref)} and {_brackets(value)}. for '{name}' ({what})"
    if len(ref) != len(value):
        raise ValueError(f"Shapes must be equal rank, but are {len(ref)} and {len(value)}. {shapes}")
    for axis, (a, b) in enumerate(zip(ref, value, strict=True)):
        if a is not None and b is not None and a != b:
            raise ValueError(f"Dimension {axis} in both shapes must be equal, but are {a} and {b}. {shapes}")
    return tuple(b if a is None else a for a, b in zip(ref, value, strict=True))


def _brackets(dims: Any) -> str:
    return "[" + ",".join("?" if size is None else str(size) for size in dims) + "]"


def _assign(row: Op, method: str, ref: Any, value: Any, validate_shape: bool, name: str | None) -> Any:
    if hasattr(ref, "_variable_list"):  # a partitioned variable cuts the value up itself
        return getattr(ref, method)(value, name=name)
    return add_assignment(row, ref, value, validate_shape, name)


@export("assign")
@atomic
def assign(
    ref: Any, value: Any, validate_shape: bool | None = None, use_locking: bool | None = None, name: str | None = None
) -> Any:
    """Replace a variable's value when the result runs; the result is the new value.

    ref: a variable. value: a tensor of its dtype. validate_shape: whether the value must have the variable's shape
    (default: yes).
    use_locking: assignments are always atomic.

    Raises:
        TypeError: `ref` is no variable, or the dtypes differ. ValueError: the static shapes cannot fit.

    Example:
        >>> import dynrnn.tf1 as tf
        >>> with tf.Graph().as_default(), tf.Session() as sess:
        ...     v = tf.Variable(1.0)
        ...     print(sess.run(tf.assign(v, 5.0)))
        5.0
    """
    return _assign(ASSIGN, "assign", ref, value, validate_shape is not False, name)


@export("assign_add")
@atomic
def assign_add(ref: Any, value: Any, use_locking: bool | None = None, name: str | None = None) -> Any:
    """Add `value` to a variable when the result runs; the result is the new value. Errors are those of `tf.assign`."""
    return _assign(ASSIGN_ADD, "assign_add", ref, value, True, name)


@export("assign_sub")
@atomic
def assign_sub(ref: Any, value: Any, use_locking: bool | None = None, name: str | None = None) -> Any:
    """Subtract `value` from a variable when the result runs; the result is the new value. Errors are those of
    `tf.assign`.
    """
    return _assign(ASSIGN_SUB, "assign_sub", ref, value, True, name)
