"""Replacing some rows or elements of a variable: `tf.scatter_update`, `tf.scatter_nd_add` and the like;
`tf.count_up_to`. Assignments of the whole are in `state.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...graph.op import Op
from ...graph.scattering import COUNT_UP_TO, SCATTER, SCATTER_ND
from ..export import export
from ..graph import Tensor, atomic
from .convert import convert_to_tensor
from .state import joined_dims, variable_node


def add_scatter(row: Op, ref: Any, indices: Any, updates: Any, name: str | None, by_index_vectors: bool) -> Tensor:
    """Add a node that replaces part of the variable `ref`; its output is the variable's new value."""
    holder = variable_node(ref, row.type)
    target: Any = holder.outputs[0]
    graph: Any = holder.graph
    dtype = target.dtype.base_dtype
    if dtype.name not in row.types["T"]:
        raise TypeError(_refused(row, "ref", dtype.name, "T"))
    before = [ref.op] if isinstance(ref, Tensor) and ref.op is not holder else []  # an assignment, which comes first
    with graph.as_default(), graph.atomic():
        where = convert_to_tensor(indices, name="indices")
        if where.dtype.base_dtype.name not in row.types["I"]:
            raise TypeError(_refused(row, "indices", where.dtype.name, "I"))
        values = convert_to_tensor(updates, None if isinstance(updates, Tensor) else dtype, name="updates")
        if values.dtype.base_dtype is not dtype:
            raise TypeError(
                f"Input 'updates' of '{row.type}' Op has type {values.dtype.base_dtype.name} that does not match type "
                f"{dtype.name} of argument 'ref' ({holder.name})."
            )
        _check_shapes(row, target, where, values, by_index_vectors)
        with graph.control_dependencies(before):
            node = graph.add(
                row, [where, values], {"variable": holder}, dtypes=[target.dtype], shapes=[target.dims], name=name
            )
    return node.outputs[0]


def _refused(row: Op, argument: str, dtype: str, kind: str) -> str:
    allowed = ", ".join(sorted(row.types[kind]))
    return (
        f"Value passed to parameter '{argument}' has DataType {dtype} not in list of allowed values: {allowed} "
        f"({row.type})"
    )


def _check_shapes(row: Op, target: Tensor, where: Tensor, values: Tensor, by_index_vectors: bool) -> None:
    """Hold the updates' static shape against the indices' and the variable's; one update may serve all rows."""
    if target.dims is None or where.dims is None or values.dims is None or values.dims == () and not by_index_vectors:
        return
    axes = where.dims[-1] if by_index_vectors and where.dims else 1
    if axes is None:
        return
    if by_index_vectors and (not where.dims or axes > len(target.dims)):
        raise ValueError(
            f"{row.type}: indices must have shape [..., n], n at most the variable's rank {len(target.dims)}, got "
            f"{where.shape}"
        )
    head = where.dims[:-1] if by_index_vectors else where.dims
    joined_dims(values.dims, (*head, *target.dims[axes:]), row.type, "the updates and what the indices ask for")


_DOCS = {
    "update": "Replace rows of a variable by `updates`; of several for one row, the last stays",
    "add": "Add `updates` to rows of a variable; several for one row add up",
    "sub": "Subtract `updates` from rows of a variable; several for one row add up",
    "mul": "Multiply rows of a variable by `updates`, one after the other",
    "div": "Divide rows of a variable by `updates`, one after the other",
    "min": "Put the minimum of rows of a variable and `updates` in their place",
    "max": "Put the maximum of rows of a variable and `updates` in their place",
}


def _scatter(name: str, row: Op) -> Callable[..., Tensor]:
    def scatter(ref: Any, indices: Any, updates: Any, use_locking: bool = True, name: str | None = None) -> Tensor:
        return add_scatter(row, ref, indices, updates, name, False)

    scatter.__name__ = scatter.__qualname__ = name
    scatter.__doc__ = f"""{_DOCS[name.removeprefix("scatter_")]}; the result is the variable's new value.

    ref: a variable. indices: int32 or int64, any shape. updates: a scalar, or shape `indices.shape + ref.shape[1:]`.

    Raises:
        TypeError: `ref` is no variable, or a dtype does not fit. ValueError: the static shapes cannot fit.
        tf.errors.InvalidArgumentError: in run, an index out of range.

    Example:
        >>> import dynrnn.tf1 as tf
        >>> with tf.Graph().as_default(), tf.Session() as sess:
        ...     v = tf.Variable([6.0, 8.0, 9.0])
        ...     sess.run(v.initializer)
        ...     print(sess.run(tf.{name}(v, [1], [2.0])).shape)
        (3,)
    """
    return export(name)(atomic(scatter))


def _scatter_nd(name: str, row: Op) -> Callable[..., Tensor]:
    def scatter_nd(ref: Any, indices: Any, updates: Any, use_locking: bool = True, name: str | None = None) -> Tensor:
        return add_scatter(row, ref, indices, updates, name, True)

    scatter_nd.__name__ = scatter_nd.__qualname__ = name
    scatter_nd.__doc__ = f"""`tf.{name.replace("_nd", "")}` for elements or slices, each named by a vector of indices.

    indices: shape `[..., n]`, n at most the variable's rank. updates: shape `indices.shape[:-1] + ref.shape[n:]`.
    """
    return export(name)(atomic(scatter_nd))


FUNCTIONS: dict[str, Callable[..., Tensor]] = {
    **{name: _scatter(name, row) for name, row in SCATTER.items()},
    **{name: _scatter_nd(name, row) for name, row in SCATTER_ND.items()},
}


@export("count_up_to")
@atomic
def count_up_to(ref: Any, limit: int, name: str | None = None) -> Tensor:
    """Add 1 to a scalar int variable when the result runs; the result is the value before.

    Raises:
        TypeError: `ref` is no variable, or not of int32 or int64. ValueError: it is not a scalar.
        tf.errors.OutOfRangeError: in run, the value has reached `limit`.
    """
    holder = variable_node(ref, COUNT_UP_TO.type)
    target = holder.outputs[0]
    if target.dtype.base_dtype.name not in ("int32", "int64"):
        raise TypeError(
            f"Value passed to parameter 'ref' has DataType {target.dtype.name} not in list of allowed values: int32, "
            "int64 (CountUpTo)"
        )
    if target.dims:
        raise ValueError(f"Shape must be rank 0 but is rank {len(target.dims)} for 'CountUpTo' ({holder.name})")
    attrs = {"variable": holder, "limit": int(limit)}
    node = holder.graph.add(COUNT_UP_TO, (), attrs, dtypes=[target.dtype.base_dtype], shapes=[()], name=name)
    return node.outputs[0]  # type: ignore[return-value]
