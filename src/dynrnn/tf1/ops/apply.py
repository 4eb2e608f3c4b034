"""Making a node of a row: inputs to tensors, dtypes by the row's signature, static shapes by its rule."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...graph.dtype import DType, as_dtype
from ...graph.op import Argument, Op
from ...graph.shape import Dims
from ..graph import Graph, Tensor, get_default_graph
from .convert import convert_to_tensor

Types = dict[str, tuple[DType, str]]  # type variable -> its dtype, and the argument that said so


def apply(row: Op, inputs: Sequence[Any], attrs: dict[str, Any] | None = None, name: str | None = None) -> Any:
    """Add a node of `row`.

    inputs: one item an argument of the row's signature; a list where the signature has a star. attrs: by keyword, as
    `compute` takes them.
    Returns the output tensor; a list of them where the signature gives several or a list; the operation where it gives
    none.

    Raises:
        TypeError: an input's dtype does not fit the signature. ValueError: the shapes do not fit, or a value cannot
        become a tensor.
    """
    types: Types = {}
    graph = _note_tensors(row, inputs, types) or get_default_graph()
    if graph is get_default_graph():
        return _apply(graph, row, inputs, types, attrs or {}, name)
    with graph.as_default(), graph.atomic():  # constants among the inputs join the tensors' graph
        return _apply(graph, row, inputs, types, attrs or {}, name)


def _apply(graph: Graph, row: Op, inputs: Sequence[Any], types: Types, attrs: dict[str, Any], name: str | None) -> Any:
    scope = row.type if name is None or name.endswith("/") else name
    tensors = [
        _convert(row, argument, item, types, f"{scope}/{argument.name}")
        for argument, value in zip(row.inputs, inputs, strict=True)
        for item in _items(row, argument, value)
    ]
    dims = row.shape(tensors, attrs) if row.shape is not None else None
    shapes: list[Dims] = list(dims) if isinstance(dims, list) else [dims]
    dtypes = _output_dtypes(row, attrs, types, len(shapes))
    node = graph.add(row, tensors, attrs, dtypes=dtypes, shapes=shapes[: len(dtypes)], name=name)
    if not row.outputs:
        return node
    return list(node.outputs) if row.returns_tuple else node.outputs[0]


def _items(row: Op, argument: Argument, value: Any) -> list[Any]:
    if not argument.many:
        return [value]
    if not isinstance(value, (list, tuple)):
        raise TypeError(f"Expected list for '{argument.name}' argument to '{row.type}' Op, not {value!r}.")
    return list(value)


def _is_symbolic(value: Any) -> bool:
    return isinstance(value, Tensor) or hasattr(value, "_as_tensor")


def _note_tensors(row: Op, inputs: Sequence[Any], types: Types) -> Graph | None:
    """Let the first tensor of a type variable say what plain Python values beside it become; return the first one's
    graph.
    """
    graph = None
    for argument, value in zip(row.inputs, inputs, strict=True):
        for item in _items(row, argument, value):
            if not _is_symbolic(item):
                continue
            graph = graph or item.graph
            if argument.fixed is None:
                types.setdefault(argument.type, (item.dtype.base_dtype, argument.name))
            break
    return graph


def _convert(row: Op, argument: Argument, value: Any, types: Types, name: str) -> Tensor:
    wanted = argument.fixed or (types[argument.type][0] if argument.type in types else None)
    try:
        if isinstance(value, Tensor):
            tensor = value
        else:
            tensor = convert_to_tensor(value, None if _is_symbolic(value) else wanted, name)
    except (TypeError, ValueError) as error:
        if value is None:
            raise ValueError(
                f"Tried to convert '{argument.name}' to a tensor and failed. Error: None values not supported."
            ) from error
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(f"{row.type}: {argument.name}: {error}") from error
    dtype = tensor.dtype.base_dtype
    if wanted is not None and dtype is not wanted:
        raise TypeError(_mismatch(row, argument, dtype, wanted, types))
    allowed = row.types.get(argument.type)
    if allowed is not None and dtype.name not in allowed:
        raise TypeError(
            f"Value passed to parameter '{argument.name}' has DataType {dtype.name} not in list of allowed values: "
            f"{', '.join(sorted(allowed))} "
            f"({row.type})"
        )
    if argument.fixed is None:
        types.setdefault(argument.type, (dtype, argument.name))
    return tensor


def _mismatch(row: Op, argument: Argument, dtype: DType, wanted: DType, types: Types) -> str:
    if argument.fixed is not None:
        return (
            f"Input '{argument.name}' of '{row.type}' Op has type {dtype.name} that does not match expected type of "
            f"{wanted.name}."
        )
    if argument.many:
        return (
            f"Tensors in list passed to '{argument.name}' of '{row.type}' Op have types that don't all match: "
            f"{wanted.name} and {dtype.name}."
        )
    return (
        f"Input '{argument.name}' of '{row.type}' Op has type {dtype.name} that does not match type {wanted.name} "
        f"of argument '{types[argument.type][1]}'."
    )


def _output_dtypes(row: Op, attrs: dict[str, Any], types: Types, count: int) -> list[DType]:
    dtypes: list[DType] = []
    for argument in row.outputs:
        if argument.type.startswith("@"):
            dtype = as_dtype(attrs[argument.type[1:]])
        else:
            dtype = argument.fixed or types[argument.type][0]
        dtypes.extend([dtype] * (count if argument.many else 1))
    return dtypes
