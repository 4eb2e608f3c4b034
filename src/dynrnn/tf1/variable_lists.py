"""Lists of the default graph's variables and the operations that initialize them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ..graph.dtype import bool_, string
from ..graph.resources import IS_INITIALIZED, UNINITIALIZED_NAMES
from .export import export
from .graph import Operation, Tensor, atomic, get_default_graph
from .graph_keys import GraphKeys
from .ops.control import group
from .ops.state import variable_node

# public name: (collection, what it holds)
_LISTS = {
    "global_variables": (
        GraphKeys.GLOBAL_VARIABLES,
        "the variables that are saved and shared, which is all but local ones",
    ),
    "trainable_variables": (GraphKeys.TRAINABLE_VARIABLES, "the variables that optimizers change"),
    "local_variables": (GraphKeys.LOCAL_VARIABLES, "the variables that are not saved, such as counters"),
    "model_variables": (GraphKeys.MODEL_VARIABLES, "the variables that a model needs for inference"),
    "moving_average_variables": (GraphKeys.MOVING_AVERAGE_VARIABLES, "the variables with moving averages"),
}


def _list(name: str, key: str, what: str) -> Callable[..., list[Any]]:
    def variables(scope: str | None = None) -> list[Any]:
        return get_default_graph().get_collection(key, scope)

    variables.__name__ = variables.__qualname__ = name
    variables.__doc__ = (
        f"Return {what}, in the order of their making; with `scope` (a pattern), those whose names begin so."
    )
    return export(name)(variables)


global_variables = _list("global_variables", *_LISTS["global_variables"])
trainable_variables = _list("trainable_variables", *_LISTS["trainable_variables"])
local_variables = _list("local_variables", *_LISTS["local_variables"])
model_variables = _list("model_variables", *_LISTS["model_variables"])
moving_average_variables = _list("moving_average_variables", *_LISTS["moving_average_variables"])
export("all_variables")(global_variables)


@export("variables_initializer", "initializers.variables", "initialize_variables")
@atomic
def variables_initializer(var_list: Iterable[Any], name: str = "init") -> Operation:
    """Return an operation that gives each variable of `var_list` its initial value; they run in the order of the list.

    Example:
        >>> import dynrnn.tf1 as tf
        >>> with tf.Graph().as_default(), tf.Session() as sess:
        ...     v = tf.Variable(3.0)
        ...     sess.run(tf.variables_initializer([v]))
        ...     print(sess.run(v))
        3.0
    """
    return group(*[part.initializer for variable in var_list for part in _parts(variable)], name=name)


@export("global_variables_initializer", "initializers.global_variables", "initialize_all_variables")
def global_variables_initializer() -> Operation:
    """Return an operation, named `init`, that initializes all global variables that exist now."""
    return variables_initializer(global_variables())


@export("local_variables_initializer", "initializers.local_variables", "initialize_local_variables")
def local_variables_initializer() -> Operation:
    """Return an operation, named `init`, that initializes all local variables that exist now."""
    return variables_initializer(local_variables())


def _parts(variable: Any) -> list[Any]:
    return variable._get_variable_list() if hasattr(variable, "_get_variable_list") else [variable]


@export("is_variable_initialized")
@atomic
def is_variable_initialized(variable: Any) -> Tensor:
    """Return a bool scalar: whether the variable has a value in the session that runs this."""
    holder = variable_node(variable, "IsVariableInitialized")
    return holder.graph.add(IS_INITIALIZED, (), {"variable": holder}, dtypes=[bool_], shapes=[()]).outputs[0]  # type: ignore[return-value]


@export("report_uninitialized_variables")
@atomic
def report_uninitialized_variables(
    var_list: Iterable[Any] | None = None, name: str = "report_uninitialized_variables"
) -> Tensor:
    """Return a string tensor of shape [n] with the names of the variables without a value in the session that runs
    this.

    var_list: the variables to look at (default: all global and local ones).
    """
    variables = global_variables() + local_variables() if var_list is None else list(var_list)
    holders = [variable_node(part, "ReportUninitialized") for variable in variables for part in _parts(variable)]
    graph = holders[0].graph if holders else get_default_graph()
    attrs = {"variables": tuple(dict.fromkeys(holders))}
    node = graph.add(UNINITIALIZED_NAMES, (), attrs, dtypes=[string], shapes=[(None if holders else 0,)], name=name)
    return node.outputs[0]  # type: ignore[return-value]
