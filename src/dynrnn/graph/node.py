"""Node and Tensor: the operations of a graph and what they yield."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .dtype import DType
from .op import Op
from .shape import Dims, TensorShape, as_shape, merge_dims

if TYPE_CHECKING:
    from .graph import Graph


class Tensor:
    """One output of a node: a dtype, a static shape and a place in the graph, but no value."""

    __slots__ = ("op", "value_index", "_dtype", "_dims", "_consumers", "__weakref__")

    def __init__(self, op: Node, value_index: int, dtype: DType, dims: Dims):
        self.op = op
        self.value_index = value_index
        self._dtype = dtype
        self._dims = dims
        self._consumers: list[Node] = []

    @property
    def dtype(self) -> DType:
        return self._dtype

    @property
    def dims(self) -> Dims:
        """The static shape as a plain tuple; None for an unknown rank."""
        return self._dims

    @property
    def shape(self) -> TensorShape:
        return TensorShape(self._dims)

    @property
    def graph(self) -> Graph:
        return self.op.graph

    @property
    def name(self) -> str:
        return f"{self.op.name}:{self.value_index}"

    @property
    def device(self) -> str:
        return self.op.device

    def get_shape(self) -> TensorShape:
        return TensorShape(self._dims)

    def set_shape(self, shape: object) -> None:
        """Join what is known of the shape with `shape`; ValueError where they conflict."""
        before, merged = self._dims, merge_dims(self._dims, as_shape(shape).tuple)
        if merged != before:
            self.graph.on_undo(lambda: setattr(self, "_dims", before))
            self._dims = merged

    def consumers(self) -> list[Node]:
        """The nodes that take this tensor as an input."""
        return list(self._consumers)


class Node:
    """One operation of a graph: an op row, inputs, attributes, control inputs and a name."""

    __slots__ = (
        "graph",
        "row",
        "name",
        "inputs",
        "attrs",
        "control_inputs",
        "outputs",
        "context",
        "device",
        "index",
        "__weakref__",
    )

    def __init__(self, graph: Graph, row: Op, name: str, inputs: tuple[Tensor, ...], attrs: dict[str, Any]):
        self.graph = graph
        self.row = row
        self.name = name
        self.inputs = inputs
        self.attrs = attrs
        self.control_inputs: list[Node] = []
        self.outputs: list[Tensor] = []
        self.context: Any = None
        self.device = ""
        self.index = -1

    @property
    def type(self) -> str:
        return self.row.type

    def get_attr(self, name: str) -> Any:
        """The value of an attribute; ValueError where the node has none of this name."""
        if name not in self.attrs:
            raise ValueError(
                f"Operation {self.name!r} of type {self.type} has no attribute named {name!r}; it has "
                f"{sorted(self.attrs)}"
            )
        return self.attrs[name]

    def values(self) -> tuple[Tensor, ...]:
        return tuple(self.outputs)

    @property
    def bodies(self) -> tuple[Any, ...]:
        """The traced bodies that a control-flow node runs."""
        return self.attrs["bodies"] if self.row.bodies else ()
