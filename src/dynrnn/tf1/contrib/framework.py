"""`tf.contrib.framework`: making variables that join collections, finding variables by scope, name and suffix.
Collections themselves are in `variable_lists.py`.
"""

from __future__ import annotations

import re
from typing import Any

from ...graph.dtype import float32
from ..current_scope import VariableScope
from ..export import export
from ..graph import get_default_graph
from ..graph_keys import GraphKeys
from ..variable_scope import get_variable
from ..variables import Variable, VariableAggregation, VariableSynchronization


@export("contrib.framework.get_variables")
def get_variables(
    scope: str | VariableScope | None = None, suffix: str | None = None, collection: Any = GraphKeys.GLOBAL_VARIABLES
) -> list[Any]:
    """Return the variables of a collection in the order of their making.

    scope: a pattern that names must match at their start, or a variable scope. suffix: how the names (without `:0`)
    end.

    Example:
        >>> import dynrnn.tf1 as tf
        >>> with tf.Graph().as_default(), tf.variable_scope("layer"):
        ...     w, b = tf.get_variable("w", [1]), tf.get_variable("b", [1])
        ...     print(tf.contrib.framework.get_variables("layer", suffix="b") == [b])
        True
    """
    if isinstance(scope, VariableScope):
        scope = scope.name
    if suffix is not None:
        scope = f"{scope or ''}.*{suffix}" + ("" if ":" in suffix else ":")
    return get_default_graph().get_collection(collection, scope)


@export("contrib.framework.get_trainable_variables")
def get_trainable_variables(scope: Any = None, suffix: str | None = None) -> list[Any]:
    """`get_variables` of the trainable variables."""
    return get_variables(scope, suffix, GraphKeys.TRAINABLE_VARIABLES)


@export("contrib.framework.get_local_variables")
def get_local_variables(scope: Any = None, suffix: str | None = None) -> list[Any]:
    """`get_variables` of the local variables."""
    return get_variables(scope, suffix, GraphKeys.LOCAL_VARIABLES)


@export("contrib.framework.get_model_variables")
def get_model_variables(scope: Any = None, suffix: str | None = None) -> list[Any]:
    """`get_variables` of the model variables."""
    return get_variables(scope, suffix, GraphKeys.MODEL_VARIABLES)


@export("contrib.framework.get_variables_by_suffix")
def get_variables_by_suffix(suffix: str, scope: Any = None) -> list[Any]:
    """Return the global variables whose names end so."""
    return get_variables(scope, suffix)


@export("contrib.framework.get_variables_by_name")
def get_variables_by_name(given_name: str, scope: Any = None) -> list[Any]:
    """Return the global variables whose last name is `given_name`."""
    pattern = re.compile(rf"(.*/)?{given_name}$")
    return [variable for variable in get_variables(scope) if pattern.match(variable.op.name)]


@export("contrib.framework.get_unique_variable")
def get_unique_variable(var_op_name: str) -> Any:
    """Return the one global variable of this full name.

    Raises:
        ValueError: there is none.
    """
    found = [variable for variable in get_variables() if variable.op.name == var_op_name]
    if not found:
        raise ValueError(f"Couldn't find variable {var_op_name}: no global variable has this name")
    return found[0]


@export("contrib.framework.variable")
def variable(
    name: str,
    shape: Any = None,
    dtype: Any = None,
    initializer: Any = None,
    regularizer: Any = None,
    trainable: bool = True,
    collections: Any = None,
    caching_device: Any = None,
    device: Any = None,
    partitioner: Any = None,
    custom_getter: Any = None,
    use_resource: bool | None = None,
    synchronization: VariableSynchronization = VariableSynchronization.AUTO,
    aggregation: VariableAggregation = VariableAggregation.NONE,
) -> Any:
    """`tf.get_variable` under a device: make the variable, or find it where the scope shares variables.

    collections: default: GLOBAL_VARIABLES; each is joined once.

    Example:
        >>> import dynrnn.tf1 as tf
        >>> with tf.Graph().as_default():
        ...     w = tf.contrib.framework.variable("w", [2], device="/cpu:0")
        ...     print(w.name, w.device)
        w:0 /device:CPU:0
    """
    keys = [GraphKeys.GLOBAL_VARIABLES] if collections is None else list(dict.fromkeys(collections))
    with get_default_graph().device(device or ""):
        return get_variable(
            name,
            shape,
            dtype,
            initializer,
            regularizer,
            trainable,
            keys,
            caching_device,
            partitioner,
            use_resource=use_resource,
            custom_getter=custom_getter,
            synchronization=synchronization,
            aggregation=aggregation,
        )


@export("contrib.framework.model_variable")
def model_variable(
    name: str,
    shape: Any = None,
    dtype: Any = float32,
    initializer: Any = None,
    regularizer: Any = None,
    trainable: bool = True,
    collections: Any = None,
    caching_device: Any = None,
    device: Any = None,
    partitioner: Any = None,
    custom_getter: Any = None,
    use_resource: bool | None = None,
    synchronization: VariableSynchronization = VariableSynchronization.AUTO,
    aggregation: VariableAggregation = VariableAggregation.NONE,
) -> Any:
    """`variable` that joins GLOBAL_VARIABLES and MODEL_VARIABLES beside `collections`."""
    return variable(
        name,
        shape,
        dtype,
        initializer,
        regularizer,
        trainable,
        [*(collections or ()), GraphKeys.GLOBAL_VARIABLES, GraphKeys.MODEL_VARIABLES],
        caching_device,
        device,
        partitioner,
        custom_getter,
        use_resource,
        synchronization,
        aggregation,
    )


@export("contrib.framework.local_variable")
def local_variable(
    initial_value: Any, validate_shape: bool = True, name: str | None = None, use_resource: bool | None = None
) -> Variable:
    """Make a variable that is not trained and joins LOCAL_VARIABLES only."""
    keys = [GraphKeys.LOCAL_VARIABLES]
    return Variable(
        initial_value,
        trainable=False,
        collections=keys,
        validate_shape=validate_shape,
        use_resource=use_resource,
        name=name,
    )


@export("contrib.framework.add_model_variable")
def add_model_variable(var: Any) -> None:
    """Let a variable join MODEL_VARIABLES, once."""
    if not any(var is other for other in get_default_graph().get_collection(GraphKeys.MODEL_VARIABLES)):
        get_default_graph().add_to_collection(GraphKeys.MODEL_VARIABLES, var)
