"""Operations that only order others: `tf.no_op`, `tf.group`, `tf.tuple`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ... import _nest
from ...graph.gradients import IndexedSlices
from ...graph.op import Op
from ..export import export
from ..graph import Operation, Tensor, atomic, get_default_graph
from ..scopes import graph_of, name_scope
from .apply import apply
from .array.placeholders import identity

NO_OP = Op("NoOp", "->", lambda: None, None, differentiable=False, stateful=True)


@export("no_op")
@atomic
def no_op(name: str | None = None) -> Operation:
    """Return an operation that does nothing: it runs after the control dependencies that are in force now."""
    return apply(NO_OP, [], name=name)


@export("group")
@atomic
def group(*inputs: Any, name: str | None = None) -> Operation:
    """Return an operation that is done when all `inputs` (operations, tensors, variables, nests of them) are done.

    Raises:
        TypeError: an input is nothing that can be run.

    Example:
        >>> import dynrnn.tf1 as tf
        >>> with tf.Graph().as_default(), tf.Session() as sess:
        ...     v = tf.Variable(0.0)
        ...     sess.run(v.initializer)
        ...     sess.run(tf.group(v.assign(1.0)))
        ...     print(sess.run(v))
        1.0
    """
    elements = [_runnable(item) for item in _nest.flatten(list(inputs))]
    graph = graph_of(elements)
    with graph.as_default(), graph.control_dependencies(elements):
        return apply(NO_OP, [], name=name or "group_deps")


def _runnable(item: Any) -> Any:
    if isinstance(item, IndexedSlices):
        return item.op
    if isinstance(item, (Tensor, Operation)) or hasattr(item, "_as_graph_element"):
        return item
    if hasattr(item, "_as_tensor"):
        return item._as_tensor()
    raise TypeError(
        f"'inputs' of tf.group should be zero or more (nested) Tensors or operations. Received {item!r} with type "
        f"{type(item)}."
    )


@export("tuple")
@atomic
def tuple(tensors: Iterable[Any], name: str | None = None, control_inputs: Iterable[Any] | None = None) -> list[Any]:
    """Return tensors equal to `tensors` (None stays None), none of which is there before all of `tensors` and
    `control_inputs` are done.

    Raises:
        ValueError: there is nothing to wait for. TypeError: a control input that is no operation or tensor.
    """
    items = list(tensors)
    with name_scope(name, "tuple", [item for item in items if item is not None]):
        waits = [item for item in items if item is not None]
        for control in control_inputs or ():
            if not isinstance(control, (Tensor, Operation)):
                raise TypeError(f"Control input must be an Operation or Tensor, got {control!r}")
            waits.append(control)
        if not waits:
            raise ValueError(f"Must have at least one Tensor: {items}")
        gate = group(*waits)
        with get_default_graph().control_dependencies([gate]):
            return [None if item is None else _held(item) for item in items]


def _held(item: Any) -> Any:
    if isinstance(item, IndexedSlices):
        return IndexedSlices(identity(item.values, name="control_dependency"), item.indices, item.dense_shape)
    return identity(item, name="control_dependency")
