"""The variables of a graph by name, made or found by `get_variable`, and each thread's current variable scope. Rules of scopes are in `variable_scope.py`."""

from __future__ import annotations

import inspect
import os
import sys
import threading
from collections.abc import Callable
from enum import Enum
from typing import Any

from ..graph.dtype import DType, as_dtype, float32
from ..graph.shape import TensorShape, as_shape
from .export import export
from .graph import Graph
from .graph_keys import GraphKeys
from .initializers import glorot_uniform_initializer, zeros_initializer
from .partitioned import PartitionedVariable, PartitionInfo, call_partitioner, slices_of
from .scopes import name_scope
from .variables import Variable, VariableAggregation, VariableSynchronization, resolve_trainable

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep


class _ReuseMode(Enum):
    """The value of `reuse` that makes a variable where there is none and finds it where there is one."""

    AUTO_REUSE = 1


AUTO_REUSE = export("AUTO_REUSE")(_ReuseMode.AUTO_REUSE)


class VariableStore:
    """What `get_variable` has made in one graph, and the scope in which each thread is."""

    def __init__(self, graph: Graph):
        self.graph = graph
        self.variables: dict[str, Variable] = {}
        self.partitioned: dict[str, PartitionedVariable] = {}
        self._places: dict[str, str] = {}
        self._local = threading.local()

    # Scopes of this thread

    @property
    def scope(self) -> Any:
        """This thread's current variable scope; None before it has entered one."""
        return getattr(self._local, "scope", None)

    @scope.setter
    def scope(self, scope: Any) -> None:
        self._local.scope = scope

    @property
    def counts(self) -> dict[str, int]:
        """How often each full scope name was opened since its parent was: what makes default names unique."""
        if not hasattr(self._local, "counts"):
            self._local.counts = {}
        return self._local.counts

    @counts.setter
    def counts(self, counts: dict[str, int]) -> None:
        before = self.counts
        self._local.counts = counts
        self.graph.on_undo(lambda: setattr(self._local, "counts", before))

    # Variables

    def get_variable(self, name: str, *, custom_getter: Any = None, dtype: Any = float32, **options: Any) -> Any:
        """Return the variable with this full name, made or found as `reuse` says; `custom_getter` may do it in its own way."""
        if custom_getter is not None and not callable(custom_getter):
            raise ValueError(f"Passed a custom_getter which is not callable: {custom_getter!r}")
        dtype = as_dtype(dtype).base_dtype
        if custom_getter is None:
            return self.get(name, dtype=dtype, **options)
        if not _accepts(custom_getter, "constraint"):
            options.pop("constraint", None)
        return custom_getter(getter=self.get, name=name, dtype=dtype, **options)

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
        """Make or find one variable: the getter that custom getters are given."""
        options = {
            "regularizer": regularizer,
            "reuse": reuse,
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
        scalar = shape is not None and as_shape(shape).ndims == 0
        if partitioner is not None and not scalar:
            return self._partitioned(name, shape, dtype, initializer, partitioner, options)
        if reuse is True and name in self.partitioned:
            return self._found_partitioned(name, shape, dtype, None)
        if f"{name}/part_0" in self.variables:
            raise ValueError(
                f"No partitioner was provided, but a partitioned version of the variable was found: {name}/part_0. "
                "Perhaps a variable of the same name was already created with partitioning?"
            )
        return self._single(name, shape, dtype, initializer, None, options)

    def _single(
        self, name: str, shape: Any, dtype: DType, initializer: Any, info: PartitionInfo | None, options: dict[str, Any]
    ) -> Variable:
        reuse = options["reuse"]
        given = initializer is not None and not callable(initializer)
        if shape is not None and given:
            raise ValueError(
                f"If initializer is a constant, do not specify shape. (Variable {name}: shape {as_shape(shape)}, initializer {initializer!r})"
            )
        static = as_shape(shape)
        if name in self.variables:
            if not reuse:
                raise ValueError(
                    f"Variable {name} already exists, disallowed. Did you mean to set reuse=True or reuse=tf.AUTO_REUSE in VarScope? "
                    f"Originally defined at: {self._places[name]}"
                )
            return self._found(name, static, dtype)
        if reuse is True:
            raise ValueError(
                f"Variable {name} does not exist, or was not created with tf.get_variable(). "
                "Did you mean to set reuse=tf.AUTO_REUSE in VarScope?"
            )
        if initializer is None:
            initializer = _default_initializer(name, static, dtype)
        options = {key: value for key, value in options.items() if key not in ("reuse", "regularizer")} | {
            "dtype": None if given else dtype
        } if False else {**options}
        regularizer = options.pop("regularizer")
        del options["reuse"]
        value = initializer
        if not given:
            value, dtype = _initial_function(name, initializer, shape, static, dtype, info)  # type: ignore[assignment]
        variable = Variable(value, name=name, dtype=None if given else dtype, **options)
        self._note(self.variables, name, variable)
        if regularizer is not None:
            self._regularize(name, variable, regularizer)
        return variable
