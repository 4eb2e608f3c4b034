"""`tf.cond`: one of two traced branches runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ... import _nest
from ...graph.control_flow import Body
from ...graph.dtype import bool_
from ...graph.executor import distinct
from ...graph.op import Op
from ...graph.shape import Dims
from ..export import export
from ..graph import Operation, Tensor, atomic, get_default_graph
from ..ops.convert import convert_to_tensor
from ..scopes import name_scope
from .structure import as_leaves, flow, pack


def _bind_cond(node: Operation, runtime: Any, recorded: bool) -> Callable[..., tuple[Any, ...]]:
    functions = [body.function(runtime, recorded) for body in node.attrs["bodies"]]
    split = 1 + len(node.attrs["bodies"][0].captures)

    def cond(pred: Any, *captured: Any) -> tuple[Any, ...]:
        values = captured[: split - 1] if pred else captured[split - 1 :]
        return distinct(functions[0 if pred else 1](*values), captured)

    return cond


COND = Op("If", None, None, None, bind=_bind_cond, bodies=True)


@export("cond")
@atomic
def cond(
    pred: Any,
    true_fn: Callable[[], Any] | None = None,
    false_fn: Callable[[], Any] | None = None,
    strict: bool = False,
    name: str | None = None,
    fn1: Callable[[], Any] | None = None,
    fn2: Callable[[], Any] | None = None,
) -> Any:
    """Return what `true_fn` returns if `pred` is true, else what `false_fn` returns; only that branch's operations run.

    pred: a bool scalar tensor. true_fn, false_fn: functions without arguments that return nests of one structure and of the same dtypes. strict: keep a
    list of one result a list. fn1, fn2: older names of the two functions.

    Raises:
        TypeError: a Python bool as `pred`, or a branch that cannot be called. ValueError: branches of different structures or dtypes.

    Example:
        >>> import dynrnn.tf1 as tf
        >>> x = tf.constant(3.0)
        >>> with tf.Session() as sess:
        ...     print(sess.run(tf.cond(x > 2.0, lambda: x * 10.0, lambda: x)))
        30.0
    """
    true_fn, false_fn = _branch("true_fn", true_fn, "fn1", fn1), _branch("false_fn", false_fn, "fn2", fn2)
    if isinstance(pred, bool):
        raise TypeError("pred must not be a Python bool")
    with name_scope(name, "cond"):
        pred = convert_to_tensor(pred)
        if pred.dtype.base_dtype is not bool_:
            raise TypeError(f"cond: pred must be a bool tensor, got {pred.name} of type {pred.dtype.name}")
        if pred.shape.ndims not in (None, 0):
            raise ValueError(f"cond: pred must be a scalar, got {pred.name} of shape {pred.shape}")
        bodies, results = [], []
        for function in (true_fn, false_fn):
            body = Body(get_default_graph())
            with body.trace():
                result = function()
                operation = result if isinstance(result, Operation) else None
                leaves = [] if result is None or operation is not None else as_leaves(result, "a branch's result")
                body.close([flow(leaf) for leaf in leaves], [operation] if operation is not None else [])
            bodies.append(body)
            results.append((None if operation is not None else result, leaves))
        return _merged(pred, bodies, results, strict)


def _branch(name: str, function: Any, old_name: str, old: Any) -> Callable[[], Any]:
    if function is not None and old is not None:
        raise TypeError(f"cond(): {name} and {old_name} may not be set simultaneously.")
    function = old if function is None else function
    if not callable(function):
        raise TypeError(f"{name} must be callable.")
    return function


def _merged(pred: Tensor, bodies: list[Body], results: list[tuple[Any, list[Any]]], strict: bool) -> Any:
    (first, first_leaves), (second, second_leaves) = results
    try:
        _nest.assert_same_structure(first, second)
    except (TypeError, ValueError) as error:
        raise type(error)(f"Incompatible return types of true_fn and false_fn: {error}") from error
    dtypes, shapes = [], []
    for one, other in zip(bodies[0].results, bodies[1].results, strict=True):
        if one.dtype.base_dtype is not other.dtype.base_dtype:
            raise ValueError(f"Outputs of true_fn and false_fn must have the same type: {one.dtype.name}, {other.dtype.name}")
        dtypes.append(one.dtype.base_dtype)
        shapes.append(_either(one.dims, other.dims))
    values = [pred, *bodies[0].captures, *bodies[1].captures]
    node = add_with_bodies(COND, values, {"bodies": tuple(bodies)}, dtypes, shapes, "Merge")
    if not first_leaves:
        return node
    packed = pack(first, first_leaves, node.outputs)
    if not strict and isinstance(packed, (list, tuple)) and len(packed) == 1 and not hasattr(packed, "_fields"):
        return packed[0]
    return packed


def add_with_bodies(row: Op, values: list[Tensor], attrs: dict[str, Any], dtypes: list[Any], shapes: list[Dims], name: str) -> Operation:
    """Add a node that runs traced bodies; it waits for the outer nodes that operations in them depend on."""
    node = get_default_graph().add(row, values, attrs, dtypes=dtypes, shapes=shapes, name=name)
    for body in attrs["bodies"]:
        node.control_inputs.extend(other for other in body.controls if other not in node.control_inputs)
    return node  # type: ignore[return-value]


def _either(first: Dims, second: Dims) -> Dims:
    """What is known of a shape that is one of two."""
    if first is None or second is None or len(first) != len(second):
        return None
    return tuple(a if a == b else None for a, b in zip(first, second, strict=True))
