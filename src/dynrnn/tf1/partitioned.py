"""Variables cut into parts along one axis. The functions that choose the cut are in `partitioners.py`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from ..graph.dtype import DType
from ..graph.shape import TensorShape, as_shape
from .graph import Graph, Tensor
from .ops.array import concat, identity, slice_
from .ops.convert import convert_to_tensor, make_array
from .scopes import name_scope
from .variables import SaveSliceInfo, Variable

if TYPE_CHECKING:
    from .variable_store import VariableStore


class PartitionInfo(NamedTuple):
    """What an initializer is told of a part: the shape of the whole and where the part begins."""

    full_shape: list[int]
    var_offset: list[int]


class PartitionedVariable:
    """A variable whose parts are variables `name/part_0`, `name/part_1` ..., cut along one axis; as a tensor it is the
    parts joined.

    Example:
        >>> import dynrnn.tf1 as tf
        >>> with tf.Graph().as_default():
        ...     w = tf.get_variable("w", [5, 2], partitioner=tf.fixed_size_partitioner(2))
        ...     print([part.name for part in w], tf.convert_to_tensor(w).shape)
        ['w/part_0:0', 'w/part_1:0'] (5, 2)
    """

    __array_priority__ = 100

    def __init__(self, name: str, shape: Any, dtype: Any, variable_list: Sequence[Variable], partitions: Sequence[int]):
        self._name = name
        self._shape = as_shape(shape)
        self._dtype: DType = dtype
        self._variable_list = list(variable_list)
        self._partitions = list(partitions)

    @property
    def name(self) -> str:
        """The whole's name, without a `:0`."""
        return self._name

    @property
    def dtype(self) -> DType:
        return self._dtype

    @property
    def shape(self) -> TensorShape:
        return self._shape

    def get_shape(self) -> TensorShape:
        return self._shape

    @property
    def graph(self) -> Graph:
        return self._variable_list[0].graph

    def _get_variable_list(self) -> list[Variable]:
        return self._variable_list

    def _get_partitions(self) -> list[int]:
        return self._partitions

    def _partition_axes(self) -> list[int]:
        cut = [axis for axis, count in enumerate(self._partitions) if count > 1]
        return cut or [0]

    def __iter__(self) -> Iterator[Variable]:
        return iter(self._variable_list)

    def __len__(self) -> int:
        return len(self._variable_list)

    def as_tensor(self) -> Tensor:
        """Return the parts joined along the axis that was cut, as a new operation named after the variable."""
        whole: Any = self._variable_list[0]
        if len(self._variable_list) > 1:
            with name_scope(f"{self._name}/ConcatPartitions/"):
                whole = concat(self._variable_list, self._partition_axes()[0])
        with name_scope(None):
            return identity(whole, name=self._name)

    _as_tensor = as_tensor

    def assign(
        self, value: Any, use_locking: bool = False, name: str | None = None, read_value: bool = True
    ) -> list[Any]:
        """Assign each part its slice of `value`; a list of what the parts' `assign` returns."""
        return self._each("assign", value, name, read_value)

    def assign_add(
        self, value: Any, use_locking: bool = False, name: str | None = None, read_value: bool = True
    ) -> list[Any]:
        """Add to each part its slice of `value`; a list of what the parts' `assign_add` returns."""
        return self._each("assign_add", value, name, read_value)

    def assign_sub(
        self, value: Any, use_locking: bool = False, name: str | None = None, read_value: bool = True
    ) -> list[Any]:
        """Subtract from each part its slice of `value`; a list of what the parts' `assign_sub` returns."""
        return self._each("assign_sub", value, name, read_value)

    def _each(self, method: str, value: Any, name: str | None, read_value: bool) -> list[Any]:
        whole = convert_to_tensor(value, self._dtype)
        pieces = slices(self._shape, self._partitions)
        return [
            getattr(part, method)(slice_(whole, offset, size), name=name, read_value=read_value)
            for part, (offset, size) in zip(self._variable_list, pieces, strict=True)
        ]

    def __repr__(self) -> str:
        about = f"shape={self._shape} dtype={self._dtype.name} partitions={self._partitions}"
        return f"<PartitionedVariable '{self._name}' {about}>"


def slices(shape: TensorShape, partitions: Sequence[int]) -> list[tuple[list[int], list[int]]]:
    """The (offset, size) of each part; the first parts are larger by one where the axis does not divide evenly."""
    sizes = shape.as_list()
    axis = next((axis for axis, count in enumerate(partitions) if count > 1), 0)
    length, count = sizes[axis] or 0, partitions[axis]
    pieces, start = [], 0
    for part in range(count):
        size = length // count + (part < length % count)
        offset = [0] * len(sizes)
        offset[axis] = start
        pieces.append((offset, [*sizes[:axis], size, *sizes[axis + 1 :]]))
        start += size
    return pieces  # type: ignore[return-value]


def partition(partitioner: Any, shape: Any, dtype: DType) -> list[int]:
    """Ask `partitioner` into how many parts each axis is to be cut, and check what it says.

    Raises:
        ValueError: it cannot be called, the shape is not known or a scalar's, or the answer is no such list.
    """
    if not callable(partitioner):
        raise ValueError(f"Partitioner must be callable, but received: {partitioner!r}")
    static = as_shape(shape)
    if not static.is_fully_defined():
        raise ValueError(f"Shape of a new partitioned variable must be fully defined, but instead was {static}.")
    if static.ndims == 0:
        raise ValueError(f"A partitioned Variable must have rank at least 1: {static}")
    parts = partitioner(shape=static, dtype=dtype)
    if not isinstance(parts, Sequence) or isinstance(parts, str):
        raise ValueError(f"Partitioner must return a sequence, but saw: {parts!r}")
    if len(parts) != static.ndims:
        raise ValueError(
            f"Partitioner returned a partition list that does not match the Variable's rank: {parts} vs. {static}"
        )
    if any(count < 1 for count in parts):
        raise ValueError(f"Partitioner returned zero partitions for some axes: {parts}")
    if sum(count > 1 for count in parts) > 1:
        raise ValueError(f"Can only slice a variable along one dimension: shape: {static}, partitioning: {parts}")
    return list(parts)


def get(
    store: VariableStore,
    name: str,
    shape: Any,
    dtype: DType,
    initializer: Any,
    partitioner: Any,
    reuse: Any,
    regularizer: Any,
    options: dict[str, Any],
) -> PartitionedVariable:
    """Make or find a partitioned variable: `get_variable` with a partitioner."""
    given = initializer is not None and not callable(initializer)
    if given:
        symbolic = isinstance(initializer, Tensor) or hasattr(initializer, "_as_tensor")
        initializer = convert_to_tensor(initializer) if symbolic else make_array(initializer, dtype)
        shape = as_shape(shape).merge_with(initializer.shape)
    parts = partition(partitioner, shape, dtype)
    if name in store.partitioned:
        if not reuse:
            raise ValueError(
                f"Partitioned variable with name {name} already exists. Did you mean to set reuse=True or "
                "reuse=tf.AUTO_REUSE in VarScope?"
            )
        return found(store, name, as_shape(shape), dtype, parts)
    if reuse is True:
        raise ValueError(
            f"PartitionedVariable {name} does not exist, or was not created with tf.get_variable(). "
            "Did you mean to set reuse=False or reuse=tf.AUTO_REUSE in VarScope?"
        )
    static = as_shape(shape)
    _check_parts(store, name, max(parts))
    variables = []
    for number, (offset, size) in enumerate(slices(static, parts)):
        part_name = f"{name}/part_{number}"
        value, part_shape = initializer, size
        if given:
            with name_scope(part_name + "/PartitionedInitializer"):
                value, part_shape = slice_(convert_to_tensor(initializer), offset, size), None
        info = PartitionInfo(static.as_list(), offset)  # type: ignore[arg-type]
        variable = store.get_single(part_name, part_shape, dtype, value, reuse, regularizer, options, info)
        variable._set_save_slice_info(SaveSliceInfo(name, static.as_list(), offset, size))  # type: ignore[arg-type]
        variables.append(variable)
    whole = PartitionedVariable(name, static, dtype, variables, parts)
    store.keep(store.partitioned, name, whole)
    return whole


def found(
    store: VariableStore, name: str, shape: TensorShape, dtype: DType, parts: list[int] | None
) -> PartitionedVariable:
    """Return the partitioned variable that is there, if it is as asked for."""
    existing = store.partitioned[name]
    if not shape.is_compatible_with(existing.shape):
        raise ValueError(
            f"Trying to reuse partitioned variable {name}, but specified shape {shape} and found shape "
            f"{existing.shape}."
        )
    if not dtype.is_compatible_with(existing.dtype):
        raise ValueError(
            f"Trying to reuse partitioned variable {name}, but specified dtype {dtype.name} and found dtype "
            f"{existing.dtype.name}."
        )
    if parts is not None and parts != existing._get_partitions():
        raise ValueError(
            f"Trying to reuse partitioned variable {name}, but specified partitions {parts} and found partitions "
            f"{existing._get_partitions()}."
        )
    return existing


def _check_parts(store: VariableStore, name: str, count: int) -> None:
    """Refuse to take up parts that were made one by one and in another number."""
    if f"{name}/part_0" not in store.variables:
        return
    wrong = f"{name}/part_{count - 1}" not in store.variables or f"{name}/part_{count}" in store.variables
    if wrong:
        raise ValueError(
            f"Partitioner returned a different partitioning than what was already found: it returned {count} shards, "
            f"and of shards {name}/part_0, {name}/part_{count - 1} and {name}/part_{count} others exist."
        )
