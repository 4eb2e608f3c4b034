"""Variable scopes: prefixes of variables' names, with defaults and rules of sharing for the variables made inside;
`get_variable`.
"""

from __future__ import annotations

import functools
from contextlib import ExitStack
from typing import Any

from .current_scope import DEFAULTS, VariableScope, get_variable_scope, variable_store
from .export import export
from .graph import atomic, get_default_graph
from .graph_keys import GraphKeys
from .scopes import graph_of, name_scope
from .variable_store import AUTO_REUSE
from .variables import VariableAggregation, VariableSynchronization


@export("get_variable")
@atomic
def get_variable(
    name: str,
    shape: Any = None,
    dtype: Any = None,
    initializer: Any = None,
    regularizer: Any = None,
    trainable: bool | None = None,
    collections: Any = None,
    caching_device: Any = None,
    partitioner: Any = None,
    validate_shape: bool = True,
    use_resource: bool | None = None,
    custom_getter: Any = None,
    constraint: Any = None,
    synchronization: VariableSynchronization = VariableSynchronization.AUTO,
    aggregation: VariableAggregation = VariableAggregation.NONE,
) -> Any:
    """Make the variable `name` of the current variable scope, or find it where the scope shares variables.

    shape, dtype: of a new variable (default dtype: the scope's, float32 at the root); an existing one must fit them.
    initializer: a function of (shape, dtype), a function without arguments, or a value, which fixes shape and dtype
    itself (default: the scope's; else glorot uniform for floats, zeros for integers and bools). regularizer: a
    function of the variable whose result joins REGULARIZATION_LOSSES.
    partitioner: a function of (shape, dtype) that says into how many parts each axis is cut. custom_getter: called in
    place of the maker, as `custom_getter(getter, name, ...)`. The others are those of `tf.Variable`.

    Returns:
        A `tf.Variable`, a `PartitionedVariable`, or what the custom getter returns.

    Raises:
        ValueError: the variable exists and the scope does not share, or does not exist and the scope only shares; it
        has another shape or dtype; a new variable's shape is not known.

    Example:
        >>> import dynrnn.tf1 as tf
        >>> with tf.Graph().as_default(), tf.variable_scope("layer"):
        ...     print(tf.get_variable("w", [2, 3]).name)
        layer/w:0
    """
    return get_variable_scope().get_variable(
        variable_store(),
        name,
        shape=shape,
        dtype=dtype,
        initializer=initializer,
        regularizer=regularizer,
        reuse=None,
        trainable=trainable,
        collections=collections,
        caching_device=caching_device,
        partitioner=partitioner,
        validate_shape=validate_shape,
        use_resource=use_resource,
        custom_getter=custom_getter,
        constraint=constraint,
        synchronization=synchronization,
        aggregation=aggregation,
    )


@export("get_local_variable")
@atomic
def get_local_variable(
    name: str,
    shape: Any = None,
    dtype: Any = None,
    initializer: Any = None,
    regularizer: Any = None,
    trainable: bool | None = False,
    collections: Any = None,
    caching_device: Any = None,
    partitioner: Any = None,
    validate_shape: bool = True,
    use_resource: bool | None = None,
    custom_getter: Any = None,
    constraint: Any = None,
    synchronization: VariableSynchronization = VariableSynchronization.AUTO,
    aggregation: VariableAggregation = VariableAggregation.NONE,
) -> Any:
    """`tf.get_variable` for a variable that is not trained and joins LOCAL_VARIABLES beside `collections`, not
    GLOBAL_VARIABLES.
    """
    return get_variable(
        name,
        shape,
        dtype,
        initializer,
        regularizer,
        False,
        [*(collections or ()), GraphKeys.LOCAL_VARIABLES],
        caching_device,
        partitioner,
        validate_shape,
        use_resource,
        custom_getter,
        constraint,
        synchronization,
        aggregation,
    )


@export("no_regularizer")
def no_regularizer(_: Any) -> None:
    """A regularizer that adds nothing: it switches a scope's regularizer off."""


@export("variable_scope")
class variable_scope:  # noqa: N801 (TensorFlow's name)
    """Enter a variable scope: a new one below the current one, or one that was entered before.

    name_or_scope: a name, which is put below the current scope, or a VariableScope, which is entered wherever it is.
    default_name: the name where `name_or_scope` is None; made unique among the scopes opened here. values: tensors,
    whose graph is entered.
    initializer, regularizer, caching_device, partitioner, custom_getter, dtype, use_resource, constraint: defaults for
    variables inside, inherited where not given; custom getters nest. reuse: True, tf.AUTO_REUSE, or None or False,
    both of which inherit.
    auxiliary_name_scope: whether operations inside are named under a name scope of the scope's last name, made unique.
    `with ... as scope` yields a VariableScope.

    Raises:
        ValueError: reuse without a name; a name that no operation may have. TypeError: neither name nor default name;
        wrong types.
        RuntimeError: scopes are left in another order than they were entered.

    Example:
        >>> import dynrnn.tf1 as tf
        >>> def layer():
        ...     with tf.variable_scope("layer", reuse=tf.AUTO_REUSE):
        ...         return tf.get_variable("w", [2])
        >>> with tf.Graph().as_default():
        ...     print(layer() is layer())
        True
    """

    def __init__(
        self,
        name_or_scope: str | VariableScope | None,
        default_name: str | None = None,
        values: Any = None,
        initializer: Any = None,
        regularizer: Any = None,
        caching_device: Any = None,
        partitioner: Any = None,
        custom_getter: Any = None,
        reuse: Any = None,
        dtype: Any = None,
        use_resource: bool | None = None,
        constraint: Any = None,
        auxiliary_name_scope: bool = True,
    ):
        if default_name is None and name_or_scope is None:
            raise TypeError("If default_name is None then name_or_scope is required")
        if reuse is not None and reuse is not True and reuse is not False and reuse is not AUTO_REUSE:
            raise ValueError(f"The reuse parameter must be True or False or None (or tf.AUTO_REUSE), got {reuse!r}.")
        if not isinstance(auxiliary_name_scope, bool):
            raise TypeError(f"The auxiliary_name_scope must be `True` or `False`, while get {auxiliary_name_scope!r}")
        if not isinstance(name_or_scope, (str, VariableScope, type(None))):
            raise TypeError(f"VariableScope: name_or_scope must be a string or VariableScope, got {name_or_scope!r}.")
        self._given_scope = name_or_scope
        self._default_name = default_name
        self._values = values
        self._reuse = reuse or None
        self._defaults = {
            "initializer": initializer,
            "regularizer": regularizer,
            "caching_device": caching_device,
            "partitioner": partitioner,
            "custom_getter": custom_getter,
            "dtype": dtype,
            "use_resource": use_resource,
            "constraint": constraint,
        }
        self._auxiliary = auxiliary_name_scope
        # What the first entering settles for later ones: name scope, unique name, inherited reuse, a scope's copy.
        self._original: str | None = None
        self._name = name_or_scope if isinstance(name_or_scope, str) else None
        self._inherited = self._reuse
        self._copy: VariableScope | None = None
        self._entered: list[ExitStack] = []

    def __enter__(self) -> VariableScope:
        if self._given_scope is None and self._reuse:
            raise ValueError("reuse=True cannot be used without a name_or_scope")
        with ExitStack() as stack:
            graph = graph_of(self._values)
            if graph is not get_default_graph():
                stack.enter_context(graph.as_default())
            scope = self._derive(self._open_name_scope(stack))
            stack.enter_context(_Current(scope, by_name=not isinstance(self._given_scope, VariableScope)))
            self._entered.append(stack.pop_all())
        return scope

    def __exit__(self, *error: Any) -> None:
        self._entered.pop().__exit__(*error)

    def _open_name_scope(self, stack: ExitStack) -> str:
        """Open the name scope that goes with the scope; returns the full name of the one that is open then."""
        if not self._auxiliary:
            if self._original is None:
                current = get_default_graph().current_name_scope()
                self._original = current + "/" if current else ""
            return stack.enter_context(name_scope(self._original))
        scope = self._given_scope
        name = self._default_name if scope is None else scope if isinstance(scope, str) else scope.name.split("/")[-1]
        if not name:
            return ""
        opened = stack.enter_context(name_scope(name))
        if self._original is None:
            self._original = opened
        return self._original

    def _derive(self, original: str) -> VariableScope:
        """The scope that is entered: a new one below the current scope, or a copy of the one that was given."""
        given = self._given_scope
        if isinstance(given, VariableScope):
            if self._copy is None:
                self._copy = _derived(
                    given, given.name, self._reuse or given.reuse, given.original_name_scope, self._defaults
                )
            return self._copy
        outer = get_variable_scope()
        if self._name is None:
            self._name = _unique(self._default_name or "")
        self._inherited = self._inherited or outer.reuse
        name = f"{outer.name}/{self._name}" if outer.name else self._name
        return _derived(outer, name, self._inherited, original, self._defaults)


def _unique(prefix: str) -> str:
    """`prefix`, with _1, _2 ... added where a scope of this name was opened in the current scope."""
    outer, counts = get_variable_scope().name, variable_store().counts
    full = f"{outer}/{prefix}" if outer else prefix
    if not counts.get(full):
        return prefix
    number = 1
    while counts.get(f"{full}_{number}"):
        number += 1
    return f"{prefix}_{number}"


class _Current:
    """Makes a scope the current one while it is entered.

    by_name: scopes opened below a name are forgotten when it is left; entering a scope object leaves the counts as
    they were.
    """

    def __init__(self, scope: VariableScope, *, by_name: bool):
        self._store, self._outer = variable_store(), get_variable_scope()
        self._scope, self._by_name = scope, by_name

    def __enter__(self) -> None:
        store, name = self._store, self._scope.name
        store.counts = self._counts = {**store.counts, name: store.counts.get(name, 0) + 1}
        store.scope = self._scope

    def __exit__(self, *error: object) -> None:
        store, name = self._store, self._scope.name
        if store.scope is not self._scope:
            raise RuntimeError(
                f"Improper nesting of variable_scope: {name!r} is left while {store.scope.name!r} is the current scope."
            )
        store.scope = self._outer
        if self._by_name:
            store.counts = {key: count for key, count in store.counts.items() if not key.startswith(name + "/")}
        else:
            store.counts = self._counts


def _derived(parent: VariableScope, name: str, reuse: Any, original: str, given: dict[str, Any]) -> VariableScope:
    """A scope with the defaults of `parent`, where not given anew."""
    scope = VariableScope(reuse, name, name_scope=original)
    defaults = {key: parent._defaults[key] if given[key] is None else given[key] for key in DEFAULTS}
    if given["custom_getter"] is not None and parent.custom_getter is not None:
        defaults["custom_getter"] = _nested(given["custom_getter"], parent.custom_getter)
    scope._defaults = defaults
    return scope


def _nested(inner: Any, outer: Any) -> Any:
    """A custom getter that asks `inner`, whose getter asks `outer`."""

    def getter(getter: Any, *args: Any, **kwargs: Any) -> Any:
        return inner(functools.partial(outer, getter), *args, **kwargs)

    return getter


@export("variable_op_scope")
def variable_op_scope(
    values: Any,
    name_or_scope: str | VariableScope | None,
    default_name: str | None = None,
    initializer: Any = None,
    regularizer: Any = None,
    caching_device: Any = None,
    partitioner: Any = None,
    custom_getter: Any = None,
    reuse: Any = None,
    dtype: Any = None,
    use_resource: bool | None = None,
    constraint: Any = None,
) -> variable_scope:
    """`tf.variable_scope` with its arguments in the order of the first releases."""
    return variable_scope(
        name_or_scope,
        default_name,
        values,
        initializer,
        regularizer,
        caching_device,
        partitioner,
        custom_getter,
        reuse,
        dtype,
        use_resource,
        constraint,
    )
