"""`tf.contrib.framework`: finding variables by scope, name and suffix. Collections themselves are in
`variable_lists.py`.
"""

from __future__ import annotations

import re
from typing import Any

from ..current_scope import VariableScope
from ..export import export
from ..graph import get_default_graph
from ..graph_keys import GraphKeys


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
