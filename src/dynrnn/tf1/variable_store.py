"""The variables that `get_variable` has made in a graph, by full name, and the scope in which each thread is. Scopes
themselves are in `variable_scope.py`.
"""

from __future__ import annotations

import contextlib
import inspect
import os
import sys
import threading
from collections.abc import Callable
from enum import Enum
from typing import Any

from ..graph.dtype import DType, as_dtype, float32
from ..graph.shape import TensorShape, as_shape
from . import partitioned
from .export import export
from .graph import Graph
from .graph_keys import GraphKeys
from .initializers import Zeros
from .scaling_initializers import GlorotUniform
from .scopes import name_scope
from .variables import Variable, VariableAggregation, VariableSynchronization, resolve_trainable

# Files that stand between a program's line and the making of a variable: this package and its context managers.
_BETWEEN = (os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep, contextlib.__file__)


class _ReuseMode(Enum):
    """The value of `reuse` that makes a variable where there is none and finds it where there is one."""

    AUTO_REUSE = 1


AUTO_REUSE = export("AUTO_REUSE")(_ReuseMode.AUTO_REUSE)


class VariableStore:
    """Variables by full name, shared by all threads; the current scope and the counts of default names, one each a
    thread.
    """

    def __init__(self, graph: Graph):
        self.graph = graph
        self.variables: dict[str, Variable] = {}
        self.partitioned: dict[str, partitioned.PartitionedVariable] = {}
        self._places: dict[str, str] = {}
        self._local = threading.local()

    @property
    def scope(self) -> Any:
        """This thread's current variable scope; None before it entered one."""
        return getattr(self._local, "scope", None)

    @scope.setter
    def scope(self, scope: Any) -> None:
        self._local.scope = scope

    @property
    def counts(self) -> dict[str, int]:
        """How often each scope was opened since its parent was: what makes default names unique."""
        if not hasattr(self._local, "counts"):
            self._local.counts = {}
        return self._local.counts

    @counts.setter
    def counts(self, counts: dict[str, int]) -> None:
        """Replaced as a whole, never changed in place, so that it can be kept and put back."""
        before = self.counts
        self._local.counts = counts
        self.graph.on_undo(lambda: setattr(self._local, "counts", before))

    def get_variable(self, name: str, *, custom_getter: Any = None, dtype: Any = float32, **options: Any) -> Any:
        """Make or find the variable with this full name; a custom getter is asked, and given `get` to do it with."""
        synchronization = options.get("synchronization", VariableSynchronization.AUTO)
        options["trainable"] = resolve_trainable(options.get("trainable"), synchronization)
        if custom_getter is None:
            return self.get(name, dtype=dtype, **options)
        if not callable(custom_getter):
            raise ValueError(f"Passed a custom_getter which is not callable: {custom_getter!r}")
        if not _accepts(custom_getter, "constraint"):
            options.pop("constraint", None)
        return custom_getter(getter=self.get, name=name, dtype=as_dtype(dtype).base_dtype, **options)

    def get(
        self,
        name: str,
        shape: Any = None,
        dtype: Any = float32,
        initializer: Any = None,
        regularizer: Any = None,
        reuse: Any = None,
        trainable: bool | None = None,
        collections: Any = None,
        caching_device: Any = None,
        partitioner: Any = None,
        validate_shape: bool = True,
        use_resource: bool | None = None,
        constraint: Any = None,
        synchronization: VariableSynchronization = VariableSynchronization.AUTO,
        aggregation: VariableAggregation = VariableAggregation.NONE,
    ) -> Any:
        """Make or find one variable, whole or partitioned, as `tf.get_variable` says."""
        options = {
            "trainable": resolve_trainable(trainable, synchronization),
            "collections": collections,
            "caching_device": caching_device,
            "validate_shape": validate_shape,
            "use_resource": use_resource,
            "constraint": constraint,
            "synchronization": synchronization,
            "aggregation": aggregation,
        }
        dtype = as_dtype(dtype).base_dtype
        if partitioner is not None and not (shape is not None and as_shape(shape).ndims == 0):
            return partitioned.get(self, name, shape, dtype, initializer, partitioner, reuse, regularizer, options)
        if reuse is True and name in self.partitioned:
            return partitioned.found(self, name, as_shape(shape), dtype, None)
        if f"{name}/part_0" in self.variables:
            raise ValueError(
                f"No partitioner was provided, but a partitioned version of the variable was found: {name}/part_0. "
                "Perhaps a variable of the same name was already created with partitioning?"
            )
        return self.get_single(name, shape, dtype, initializer, reuse, regularizer, options)

    def get_single(
        self,
        name: str,
        shape: Any,
        dtype: DType,
        initializer: Any,
        reuse: Any,
        regularizer: Any,
        options: dict[str, Any],
        partition_info: Any = None,
    ) -> Variable:
        """Make or find one variable that is whole, or one part of a partitioned one."""
        given = initializer is not None and not callable(initializer)
        if shape is not None and given:
            raise ValueError(
                f"If initializer is a constant, do not specify shape. ({name}: shape {as_shape(shape)}, initializer "
                f"{initializer!r})"
            )
        with self.graph.building:  # another thread may be after the same variable
            if name in self.variables:
                return self._found(name, as_shape(shape), dtype, reuse)
            if reuse is True:
                raise ValueError(
                    f"Variable {name} does not exist, or was not created with tf.get_variable(). "
                    "Did you mean to set reuse=tf.AUTO_REUSE in VarScope?"
                )
            if given:
                variable = Variable(initializer, name=name, **options)
            else:
                value, value_dtype = _initial_function(name, initializer, shape, dtype, partition_info)
                variable = Variable(value, name=name, dtype=value_dtype, shape=shape, **options)
            self.keep(self.variables, name, variable)
        if regularizer is not None:
            self._regularize(name, variable, regularizer)
        return variable

    def _found(self, name: str, shape: TensorShape, dtype: DType, reuse: Any) -> Variable:
        if not reuse:
            raise ValueError(
                f"Variable {name} already exists, disallowed. Did you mean to set reuse=True or reuse=tf.AUTO_REUSE "
                "in VarScope? "
                f"Originally defined at: {self._places[name]}"
            )
        found = self.variables[name]
        if not shape.is_compatible_with(found.shape):
            raise ValueError(
                f"Trying to share variable {name}, but specified shape {shape} and found shape {found.shape}."
            )
        if not dtype.is_compatible_with(found.dtype):
            raise ValueError(
                f"Trying to share variable {name}, but specified dtype {dtype.name} and found dtype {found.dtype.name}."
            )
        return found

    def keep(self, table: dict[str, Any], name: str, variable: Any) -> None:
        """Note a new variable under its name, and the program's line that made it."""
        table[name] = variable
        self._places[name] = _calling_line()
        self.graph.on_undo(lambda: table.pop(name, None))

    def _regularize(self, name: str, variable: Variable, regularizer: Callable[[Any], Any]) -> None:
        with self.graph.control_dependencies(None), name_scope(f"{name}/Regularizer/"):
            loss = regularizer(variable)
        if loss is not None:
            self.graph.add_to_collection(GraphKeys.REGULARIZATION_LOSSES, loss)


def _initial_function(
    name: str, initializer: Any, shape: Any, dtype: DType, partition_info: Any
) -> tuple[Callable[[], Any], DType | None]:
    """The function that makes the initial value, and the dtype to convert it to (None: its own)."""
    static = as_shape(shape)
    if initializer is None:
        if shape is None:
            raise ValueError(f"Variable {name} did not get an initializer, so its `shape` argument must be specified.")
        initializer = _default_initializer(name, dtype)
    elif inspect.isclass(initializer):
        initializer = initializer()
    if static.is_fully_defined():
        extra = {"partition_info": partition_info} if _accepts(initializer, "partition_info", by_name=True) else {}
        return lambda: initializer(static.as_list(), dtype=dtype, **extra), dtype
    if shape is not None and not _without_arguments(initializer):
        raise ValueError(f"Shape of a new variable ({name}) must be fully defined, but instead was {static}.")
    if not _without_arguments(initializer):
        raise ValueError(
            f"The initializer passed for {name} is not valid. It should be a callable with no arguments and the "
            "shape should not be "
            "provided, or an instance of `tf.keras.initializers.*' and `shape` should be fully defined."
        )
    return initializer, None


def _default_initializer(name: str, dtype: DType) -> Any:
    if dtype.is_floating:
        return GlorotUniform()
    if dtype.is_complex:
        raise ValueError(f"An initializer for variable {name} of {dtype} is required")
    return Zeros()


def _parameters(function: Any) -> list[inspect.Parameter]:
    try:
        return list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):  # a builtin that does not tell
        return []


def _accepts(function: Any, name: str, by_name: bool = False) -> bool:
    return any(p.name == name or (p.kind is p.VAR_KEYWORD and not by_name) for p in _parameters(function))


def _without_arguments(function: Any) -> bool:
    return all(p.default is not p.empty or p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in _parameters(function))


def _calling_line() -> str:
    """The innermost line of the running program that is not in this package."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_BETWEEN):
        frame = frame.f_back
    return f"{frame.f_code.co_filename}:{frame.f_lineno} in {frame.f_code.co_name}"
