"""The variable scope object, and which one is current in a thread. Entering scopes and making variables are in
`variable_scope.py`.
"""

from __future__ import annotations

from typing import Any

from ..graph.dtype import as_dtype, float32
from .export import export
from .graph import get_default_graph
from .graph_keys import GraphKeys
from .ops.convert import convert_to_tensor
from .scopes import name_scope
from .variable_store import VariableStore

# What a scope hands down to the variables and scopes inside, unless they say otherwise.
DEFAULTS = (
    "initializer",
    "regularizer",
    "caching_device",
    "partitioner",
    "custom_getter",
    "dtype",
    "use_resource",
    "constraint",
)


@export("VariableScope")
class VariableScope:
    """A prefix of variables' names with the defaults for variables inside. `tf.variable_scope` makes and enters them.

    reuse: False or None (make new variables), True (find existing ones), tf.AUTO_REUSE (find or make).
    """

    def __init__(
        self,
        reuse: Any,
        name: str = "",
        initializer: Any = None,
        regularizer: Any = None,
        caching_device: Any = None,
        partitioner: Any = None,
        custom_getter: Any = None,
        name_scope: str = "",
        dtype: Any = float32,
        use_resource: bool | None = None,
        constraint: Any = None,
    ):
        self._reuse = reuse
        self._name = name
        self._name_scope = name_scope
        self._defaults: dict[str, Any] = {
            "initializer": initializer,
            "regularizer": regularizer,
            "caching_device": caching_device,
            "partitioner": partitioner,
            "custom_getter": custom_getter,
            "dtype": dtype,
            "use_resource": use_resource,
            "constraint": constraint,
        }

    @property
    def name(self) -> str:
        return self._name

    @property
    def original_name_scope(self) -> str:
        """The name scope of the first opening, with its slash: entering it again continues the names there."""
        return self._name_scope

    @property
    def reuse(self) -> Any:
        return self._reuse

    @property
    def initializer(self) -> Any:
        return self._defaults["initializer"]

    @property
    def regularizer(self) -> Any:
        return self._defaults["regularizer"]

    @property
    def caching_device(self) -> Any:
        return self._defaults["caching_device"]

    @property
    def partitioner(self) -> Any:
        return self._defaults["partitioner"]

    @property
    def custom_getter(self) -> Any:
        return self._defaults["custom_getter"]

    @property
    def dtype(self) -> Any:
        return self._defaults["dtype"]

    @property
    def use_resource(self) -> bool | None:
        return self._defaults["use_resource"]

    @property
    def constraint(self) -> Any:
        return self._defaults["constraint"]

    def reuse_variables(self) -> None:
        """From now on, find existing variables only."""
        before, self._reuse = self._reuse, True
        get_default_graph().on_undo(lambda: setattr(self, "_reuse", before))

    def _set(self, what: str, value: Any) -> None:
        before = self._defaults
        self._defaults = {**before, what: value}
        get_default_graph().on_undo(lambda: setattr(self, "_defaults", before))

    def set_initializer(self, initializer: Any) -> None:
        self._set("initializer", initializer)

    def set_regularizer(self, regularizer: Any) -> None:
        self._set("regularizer", regularizer)

    def set_caching_device(self, caching_device: Any) -> None:
        self._set("caching_device", caching_device)

    def set_partitioner(self, partitioner: Any) -> None:
        self._set("partitioner", partitioner)

    def set_custom_getter(self, custom_getter: Any) -> None:
        self._set("custom_getter", custom_getter)

    def set_dtype(self, dtype: Any) -> None:
        self._set("dtype", dtype)

    def set_use_resource(self, use_resource: bool | None) -> None:
        self._set("use_resource", use_resource)

    def get_collection(self, name: Any) -> list[Any]:
        """The items of a collection whose names lie under this scope."""
        return get_default_graph().get_collection(name, self._name + "/" if self._name else "")

    def trainable_variables(self) -> list[Any]:
        return self.get_collection(GraphKeys.TRAINABLE_VARIABLES)

    def global_variables(self) -> list[Any]:
        return self.get_collection(GraphKeys.GLOBAL_VARIABLES)

    def local_variables(self) -> list[Any]:
        return self.get_collection(GraphKeys.LOCAL_VARIABLES)

    def get_variable(self, var_store: VariableStore, name: str, **options: Any) -> Any:
        """Make or find `name` under this scope; options that are None take the scope's defaults."""
        initializer, dtype = options.get("initializer"), options.get("dtype")
        for key in DEFAULTS:
            if options.get(key) is None:
                options[key] = self._defaults[key]
        if options.get("reuse") is None:
            options["reuse"] = self._reuse
        with name_scope(None):
            if dtype is not None and initializer is not None and not callable(initializer):
                found = convert_to_tensor(initializer).dtype.base_dtype
                if found is not as_dtype(dtype).base_dtype:
                    raise ValueError(f"Initializer type '{found}' and explicit dtype '{as_dtype(dtype)}' don't match.")
            return var_store.get_variable(f"{self._name}/{name}" if self._name else name, **options)

    def __repr__(self) -> str:
        return f"<VariableScope {self._name!r} reuse={self._reuse}>"


def variable_store() -> VariableStore:
    """The default graph's store of variables."""
    graph = get_default_graph()
    if graph.variables is None:
        graph.variables = VariableStore(graph)
    return graph.variables


@export("get_variable_scope")
def get_variable_scope() -> VariableScope:
    """Return this thread's current variable scope in the default graph."""
    store = variable_store()
    if store.scope is None:
        store.scope = VariableScope(False)
    return store.scope
