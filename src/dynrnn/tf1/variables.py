"""Variables: tensors whose values a session keeps. `get_variable` is in `variable_scope.py`, lists and initializers in
`variable_lists.py`.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from typing import Any

from ..graph.dtype import DType, as_dtype
from ..graph.resources import ASSIGN, ASSIGN_ADD, ASSIGN_SUB, READ, READ_NOW, add_variable
from ..graph.shape import TensorShape, as_shape
from .dependent_values import guarded, initialized
from .export import export
from .graph import Graph, Operation, Tensor, get_default_graph
from .graph_keys import GraphKeys
from .ops.convert import convert_to_tensor
from .ops.math.operators import install
from .ops.state import add_assignment, joined_dims
from .scopes import name_scope
from .variable_creators import VariableType
from .variable_slices import part_of
from .variable_updates import PartialUpdates


@export("VariableSynchronization")
class VariableSynchronization(Enum):
    """When copies of a variable on several devices are brought together; ON_READ also says that it is not trainable."""

    AUTO = 0
    NONE = 1
    ON_WRITE = 2
    ON_READ = 3


@export("VariableAggregation")
class VariableAggregation(Enum):
    """How copies of a variable on several devices are joined; there is one copy here."""

    NONE = 0
    SUM = 1
    MEAN = 2
    ONLY_FIRST_REPLICA = 3
    ONLY_FIRST_TOWER = 3  # noqa: PIE796 (an old name of the same)


class SaveSliceInfo:
    """Which part of a larger variable a variable is, for checkpoints: the whole's name and shape, the part's offset
    and shape.
    """

    def __init__(self, full_name: str, full_shape: list[int], var_offset: list[int], var_shape: list[int]):
        self.full_name = full_name
        self.full_shape = full_shape
        self.var_offset = var_offset
        self.var_shape = var_shape

    @property
    def spec(self) -> str:
        """The part in the words of a checkpoint: `"4 3 0,2:0,3"` is rows 0 and 1 of a [4, 3] variable."""
        parts = ":".join(f"{offset},{size}" for offset, size in zip(self.var_offset, self.var_shape, strict=True))
        return " ".join(map(str, self.full_shape)) + " " + parts


def resolve_trainable(trainable: bool | None, synchronization: VariableSynchronization) -> bool:
    """Whether a variable is trainable: as asked for, else yes unless it is synchronized on reading; ValueError where
    both are asked for.
    """
    if synchronization is VariableSynchronization.ON_READ and trainable:
        raise ValueError(
            "Synchronization value can be set to VariableSynchronization.ON_READ only for non-trainable variables. "
            "You have specified trainable=True and synchronization=VariableSynchronization.ON_READ."
        )
    return synchronization is not VariableSynchronization.ON_READ if trainable is None else bool(trainable)


@export("Variable")
class Variable(PartialUpdates, metaclass=VariableType):
    """A tensor whose value a session keeps between runs and assignments replace.

    initial_value: a tensor, anything that becomes one, or a function without arguments that returns one (it is called
    outside of loops and branches).
    trainable: whether it joins the collection that optimizers read (default: True). collections: the collections it
    joins (default: GLOBAL_VARIABLES). validate_shape: whether the shape must be known and stays fixed. name: default
    "Variable"; made unique.
    dtype: default: the initial value's. expected_shape: a shape that the initial value must fit. constraint: a
    function that optimizers apply to the value after an update. caching_device, use_resource, aggregation: accepted; a
    variable here has one copy and one kind.

    Raises:
        ValueError: no initial value; one of unknown shape while `validate_shape`; one made inside a loop or a branch.
        TypeError: the initial value cannot have `dtype`.

    Example:
        >>> import dynrnn.tf1 as tf
        >>> with tf.Graph().as_default(), tf.Session() as sess:
        ...     v = tf.Variable([1.0, 2.0], name="v")
        ...     _ = sess.run(tf.global_variables_initializer())
        ...     print(v.name, sess.run(v * 2.0))
        v:0 [2. 4.]
    """

    __array_priority__ = 100
    SaveSliceInfo = SaveSliceInfo

    def __init__(
        self,
        initial_value: Any = None,
        trainable: bool | None = None,
        collections: Any = None,
        validate_shape: bool = True,
        caching_device: Any = None,
        name: str | None = None,
        variable_def: Any = None,
        dtype: Any = None,
        expected_shape: Any = None,
        import_scope: str | None = None,
        constraint: Any = None,
        use_resource: bool | None = None,
        synchronization: VariableSynchronization = VariableSynchronization.AUTO,
        aggregation: VariableAggregation = VariableAggregation.NONE,
        shape: Any = None,
    ):
        if variable_def is not None or import_scope is not None:
            raise ValueError("Variable: variable_def and import_scope are not supported; give an initial_value")
        if initial_value is None:
            raise ValueError("initial_value must be specified.")
        if constraint is not None and not callable(constraint):
            raise ValueError(f"The `constraint` argument must be a callable, got {constraint!r}.")
        self.constraint = constraint
        self.trainable = resolve_trainable(trainable, synchronization)
        self.synchronization = synchronization
        self.aggregation = aggregation
        self._save_slice_info: SaveSliceInfo | None = None
        keys = _collections(collections, self.trainable)
        graph = get_default_graph()
        with graph.atomic():
            with graph.control_dependencies(None):
                self._build(
                    graph,
                    initial_value,
                    dtype,
                    name,
                    expected_shape if shape is None else shape,
                    validate_shape,
                    caching_device,
                )
            graph.add_to_collections(keys, self)

    def _build(
        self,
        graph: Graph,
        initial_value: Any,
        dtype: Any,
        name: str | None,
        shape: Any,
        validate_shape: bool,
        caching_device: Any,
    ) -> None:
        """Add the initial value, the holder, its first assignment and the read that all uses share."""
        wanted = None if dtype is None else as_dtype(dtype).base_dtype
        with name_scope(name, "Variable", [] if callable(initial_value) else [initial_value]) as scope:
            initial = _initial(initial_value, wanted, scope)
            dims = as_shape(shape).tuple
            if validate_shape:
                dims = joined_dims(dims, initial.dims, f"{scope}Assign")
            if validate_shape and (dims is None or None in dims):
                raise ValueError(f"initial_value must have a shape specified: {initial}")
            holder = add_variable(graph, initial.dtype.base_dtype, dims, scope)
            self._holder: Tensor = holder  # type: ignore[assignment]
            self._initial_value = initial
            first = holder.op.attrs["initial"] = guarded(initial, holder.op.name)
            self._initializer = add_assignment(ASSIGN, holder, first, validate_shape, "Assign").op
            place = caching_device(holder.op) if callable(caching_device) else caching_device or holder.op.device
            with graph.device(place):
                self._read: Tensor = graph.add(
                    READ, [holder], {}, dtypes=[holder.dtype.base_dtype], shapes=[dims], name="read"
                ).outputs[0]  # type: ignore[assignment]

    # What it is

    @property
    def name(self) -> str:
        return self._holder.name

    @property
    def op(self) -> Operation:
        return self._holder.op  # type: ignore[return-value]

    @property
    def graph(self) -> Graph:
        return self._holder.graph  # type: ignore[return-value]

    @property
    def device(self) -> str:
        return self._holder.device

    @property
    def dtype(self) -> DType:
        """The reference type (`float32_ref`); `dtype.base_dtype` is the plain one."""
        return self._holder.dtype

    @property
    def shape(self) -> TensorShape:
        return self._holder.shape

    def get_shape(self) -> TensorShape:
        return self._holder.shape

    def set_shape(self, shape: Any) -> None:
        """Join what is known of the shape with `shape`; ValueError where they conflict."""
        self._holder.set_shape(shape)
        self._read.set_shape(shape)

    @property
    def initializer(self) -> Operation:
        """The operation that gives the variable its initial value."""
        return self._initializer  # type: ignore[return-value]

    @property
    def initial_value(self) -> Tensor:
        return self._initial_value

    @property
    def _shared_name(self) -> str:
        return self.op.name

    def _set_save_slice_info(self, info: SaveSliceInfo) -> None:
        self._save_slice_info = info

    def _get_save_slice_info(self) -> SaveSliceInfo | None:
        return self._save_slice_info

    # Reading

    def _as_graph_element(self) -> Tensor:
        """What fetches, feeds and gradients take for the variable: its holder's output."""
        return self._holder

    def _ref(self) -> Tensor:
        return self._holder

    def _as_tensor(self) -> Tensor:
        """The value for use in operations: the shared read; under control dependencies, a read that comes after
        them; in a loop's body, one of every step.
        """
        if not self.graph.current_dependencies and self.graph.current_context is None:
            return self._read
        name = self._read.op.name
        source = self._holder if self.graph.current_dependencies else self._read
        with self.graph.name_scope(None):
            return self._read_now(name, source)

    def _read_now(self, name: str, source: Tensor | None = None) -> Tensor:
        """A read of the value when it runs. source: where its gradient goes, the holder or the shared read."""
        source = self._holder if source is None else source
        node = self.graph.add(READ_NOW, [source], {}, dtypes=[source.dtype.base_dtype], shapes=[source.dims], name=name)
        return node.outputs[0]  # type: ignore[return-value]

    def value(self) -> Tensor:
        """Return the value as a tensor; all uses share one read."""
        return self._as_tensor()

    def read_value(self) -> Tensor:
        """Return the value as it is when the result runs, which is after the control dependencies that are in force
        now.
        """
        return self._read_now("read")

    def initialized_value(self) -> Tensor:
        """Return the value, or the initial value while there is none yet: for the initial values of other variables."""
        with self.graph.control_dependencies(None):
            return initialized(self.op, self.op.attrs["initial"])

    def eval(self, session: Any = None) -> Any:
        """Return the value in `session` (default: the default session) as an array."""
        return self._holder.eval(session=session)

    # Writing

    def assign(self, value: Any, use_locking: bool = False, name: str | None = None, read_value: bool = True) -> Any:
        """Replace the value when the result runs; the result is the new value, or the operation where `read_value` is
        False.
        """
        return self._assigned(ASSIGN, value, name, read_value)

    def assign_add(
        self, delta: Any, use_locking: bool = False, name: str | None = None, read_value: bool = True
    ) -> Any:
        """Add `delta` to the value when the result runs; the result is as `assign`'s."""
        return self._assigned(ASSIGN_ADD, delta, name, read_value)

    def assign_sub(
        self, delta: Any, use_locking: bool = False, name: str | None = None, read_value: bool = True
    ) -> Any:
        """Subtract `delta` from the value when the result runs; the result is as `assign`'s."""
        return self._assigned(ASSIGN_SUB, delta, name, read_value)

    def _assigned(self, row: Any, value: Any, name: str | None, read_value: bool) -> Any:
        with self.graph.atomic():
            result = add_assignment(row, self, value, name=name)
        return result if read_value else result.op

    def load(self, value: Any, session: Any = None) -> None:
        """Put `value` into `session` (default: the default session) without adding to the graph.

        Raises:
            ValueError: the shape is not the variable's, or there is no session.
        """
        self._initializer.run({self._initializer.inputs[0]: value}, session)  # type: ignore[attr-defined]

    # Python

    def __getitem__(self, index: Any) -> Tensor:
        """Return a part of the value, by a tensor's rules of indexing; one whose place is fixed has an `assign`."""
        with self.graph.atomic():
            return part_of(self, index)

    def __iter__(self) -> Iterator[Any]:
        raise TypeError(f"'Variable' object is not iterable: to take {self.name} apart, use tf.unstack")

    def __repr__(self) -> str:
        return f"<tf.Variable '{self.name}' shape={self.shape} dtype={self.dtype.name}>"


def _collections(collections: Any, trainable: bool) -> list[Any]:
    if collections is None:
        keys: list[Any] = [GraphKeys.GLOBAL_VARIABLES]
    elif isinstance(collections, (list, tuple, set)):
        keys = list(collections)
    else:
        raise ValueError(
            f"collections argument to Variable constructor must be a list, tuple, or set. Got {collections!r} of "
            f"type {type(collections)}"
        )
    return [*keys, GraphKeys.TRAINABLE_VARIABLES] if trainable and GraphKeys.TRAINABLE_VARIABLES not in keys else keys


def _initial(initial_value: Any, dtype: DType | None, scope: str) -> Tensor:
    if callable(initial_value):
        with name_scope("Initializer"):
            return convert_to_tensor(initial_value(), dtype, name="initial_value")
    initial = convert_to_tensor(initial_value, dtype, name="initial_value")
    if initial.op.context is not None:
        raise ValueError(
            f"Initializer for variable {scope} is from inside a control-flow construct, such as a loop or conditional. "
            "When creating a variable inside a loop or conditional, use a lambda as the initializer."
        )
    return initial


install(Variable)
