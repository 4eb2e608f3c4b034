"""`tf.gradients` and its relatives."""

from __future__ import annotations

from enum import Enum
from typing import Any

from ..graph.dtype import int32
from ..graph.gradients import IndexedSlices
from ..graph.gradients import gradients as add_gradients
from ..graph.shape import Dims
from .export import export
from .graph import Tensor, atomic, get_default_graph
from .ops.array.making import zeros_like
from .ops.array.reshaping import reshape
from .ops.array.sizing import shape
from .ops.convert import convert_to_tensor
from .scopes import name_scope

export("IndexedSlices")(IndexedSlices)


@export("UnconnectedGradients")
class UnconnectedGradients(Enum):
    """What `tf.gradients` gives for an x that no y depends on: None, or zeros."""

    NONE = "none"
    ZERO = "zero"


@export("AggregationMethod")
class AggregationMethod:
    """How terms of a gradient are added up: accepted; the sum is the same."""

    ADD_N = 0
    DEFAULT = ADD_N
    EXPERIMENTAL_TREE = 1
    EXPERIMENTAL_ACCUMULATE_N = 2


@export("gradients")
@atomic
def gradients(
    ys: Any,
    xs: Any,
    grad_ys: Any = None,
    name: str = "gradients",
    colocate_gradients_with_ops: bool = False,
    gate_gradients: bool = False,
    aggregation_method: int | None = None,
    stop_gradients: Any = None,
    unconnected_gradients: Any = UnconnectedGradients.NONE,
) -> list[Any]:
    """Return d(sum of ys) / dx for each x of `xs`.

    ys, xs: a tensor or variable, or a list of them. grad_ys: a list as long as `ys`; each entry weighs its y (None:
    ones).
    stop_gradients: tensors that are taken as constants.
    colocate_gradients_with_ops, gate_gradients, aggregation_method: they steer where and in which order TensorFlow adds
    terms up, never the values.

    Returns:
        A list as long as `xs`: a tensor of x's shape and dtype; an `IndexedSlices` for a variable that is only gathered
        from; None (or zeros, as `unconnected_gradients` says) where no y depends on x in a differentiable way, as no
        integer does.

    Raises:
        TypeError: a grad_y of another type than its y. ValueError: lists of different lengths, or shapes that do not
        fit.

    Example:
        >>> import dynrnn.tf1 as tf
        >>> x = tf.constant(3.0)
        >>> with tf.Session() as sess:
        ...     print(sess.run(tf.gradients(x * x, [x])[0]))
        6.0
    """
    if unconnected_gradients not in (*UnconnectedGradients, "none", "zero"):
        raise ValueError(f"Unknown value for unconnected_gradients: {unconnected_gradients!r}")
    unconnected = UnconnectedGradients(unconnected_gradients)
    ys, xs = (_as_list(value) if value is not None else [None] for value in (ys, xs))
    graph = get_default_graph()
    with name_scope(name, "gradients"):
        targets = [_source(y, "y") for y in ys]
        sources = [_source(x, "x") for x in xs]
        weights = _weights(targets, grad_ys)
        stops = [_source(tensor, "stop_gradient") for tensor in _as_list(stop_gradients)]
        found = add_gradients(graph, targets, sources, grad_ys=weights, stops=stops)
        return [_entry(entry, x, unconnected) for entry, x in zip(found, sources, strict=True)]


def _as_list(value: Any) -> list[Any]:
    if value is None:
        return []
    return list(value) if isinstance(value, (list, tuple)) else [value]


def _source(value: Any, what: str) -> Tensor:
    """The tensor that a y or an x stands for: of a variable, its holder, so that every way of reading it counts."""
    if isinstance(value, IndexedSlices) or not hasattr(value, "_as_graph_element"):
        return convert_to_tensor(value, name=what)
    return value._as_graph_element()


def _weights(ys: list[Tensor], grad_ys: Any) -> list[Tensor]:
    given = _as_list(grad_ys)
    if grad_ys is None or (all(grad is None for grad in given) and len(given) == len(ys)):
        return []
    if len(given) != len(ys):
        raise ValueError(f"Passed {len(given)} grad_ys for {len(ys)} ys")
    weights = []
    for y, grad in zip(ys, given, strict=True):
        tensor = (
            _ones_like(y)
            if grad is None
            else convert_to_tensor(grad, None if hasattr(grad, "dtype") else y.dtype.base_dtype, name="grad_y")
        )
        if tensor.dtype.base_dtype is not y.dtype.base_dtype:
            raise TypeError(
                f"Gradient type {tensor.dtype.name} generated for {y.name} with type {y.dtype.name}: grad_ys must "
                "have the types of ys"
            )
        if not _spreads(tensor.dims, y.dims):
            raise ValueError(f"grad_ys: the entry for {y.name} has shape {tensor.shape}, expected {y.shape}")
        weights.append(tensor)
    return weights


def _spreads(dims: Dims, target: Dims) -> bool:
    """Whether a tensor of shape `dims` may broadcast to shape `target`."""
    if dims is None or target is None:
        return True
    tail = target[len(target) - len(dims) :] if len(dims) <= len(target) else dims
    return len(dims) <= len(target) and all(
        a in (None, 1) or b is None or a == b for a, b in zip(dims, tail, strict=True)
    )


def _ones_like(y: Tensor) -> Tensor:
    return zeros_like(y) + 1


def _entry(entry: Any, x: Tensor, unconnected: UnconnectedGradients) -> Any:
    if entry is None:
        return zeros_like(x) if unconnected is UnconnectedGradients.ZERO else None
    return IndexedSlices(*entry, dense_shape=shape(x, out_type=int32)) if isinstance(entry, tuple) else entry


@export("hessians")
@atomic
def hessians(ys: Any, xs: Any, name: str = "hessians", **options: Any) -> list[Tensor]:
    """Return the Hessian of the sum of `ys` for each x, a tensor of shape x.shape + x.shape (sizes must be known)."""
    result = []
    with name_scope(name, "hessians"):
        for x in _as_list(xs):
            (first,) = gradients(ys, [x], **options)
            size = x.get_shape().num_elements()
            if size is None:
                raise ValueError(f"hessians: the shape of x must be known, got {x.get_shape()}")
            flat = reshape(first, [-1])
            rows = [gradients(flat[i], [x], **options)[0] for i in range(size)]
            dims = x.get_shape().as_list()
            result.append(reshape([zeros_like(x) if row is None else row for row in rows], dims + dims))
    return result
