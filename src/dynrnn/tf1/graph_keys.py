"""Collections of a graph: the standard keys and the functions that work on the default graph."""

from __future__ import annotations

from typing import Any

from .export import export
from .graph import get_default_graph


@export("GraphKeys")
class GraphKeys:
    """The names of the collections that TensorFlow's own functions fill and read."""

    GLOBAL_VARIABLES = "variables"
    VARIABLES = "variables"
    LOCAL_VARIABLES = "local_variables"
    METRIC_VARIABLES = "metric_variables"
    MODEL_VARIABLES = "model_variables"
    TRAINABLE_VARIABLES = "trainable_variables"
    MOVING_AVERAGE_VARIABLES = "moving_average_variables"
    CONCATENATED_VARIABLES = "concatenated_variables"
    TRAINABLE_RESOURCE_VARIABLES = "trainable_resource_variables"
    SUMMARIES = "summaries"
    QUEUE_RUNNERS = "queue_runners"
    TABLE_INITIALIZERS = "table_initializer"
    ASSET_FILEPATHS = "asset_filepaths"
    REGULARIZATION_LOSSES = "regularization_losses"
    LOSSES = "losses"
    UPDATE_OPS = "update_ops"
    SAVERS = "savers"
    SAVEABLE_OBJECTS = "saveable_objects"
    WEIGHTS = "weights"
    BIASES = "biases"
    ACTIVATIONS = "activations"
    RESOURCES = "resources"
    LOCAL_RESOURCES = "local_resources"
    INIT_OP = "init_op"
    LOCAL_INIT_OP = "local_init_op"
    READY_OP = "ready_op"
    READY_FOR_LOCAL_INIT_OP = "ready_for_local_init_op"
    SUMMARY_OP = "summary_op"
    GLOBAL_STEP = "global_step"
    EVAL_STEP = "eval_step"
    TRAIN_OP = "train_op"
    COND_CONTEXT = "cond_context"
    WHILE_CONTEXT = "while_context"


@export("add_to_collection")
def add_to_collection(name: Any, value: Any) -> None:
    """Append `value` to the default graph's collection `name`."""
    get_default_graph().add_to_collection(name, value)


@export("add_to_collections")
def add_to_collections(names: Any, value: Any) -> None:
    """Append `value` to each of the default graph's collections `names`, once where a name occurs twice."""
    get_default_graph().add_to_collections(names, value)


@export("get_collection")
def get_collection(key: Any, scope: str | None = None) -> list[Any]:
    """Return a copy of a collection; with `scope` (a pattern), of the items whose names it matches at their start."""
    return get_default_graph().get_collection(key, scope)


@export("get_collection_ref")
def get_collection_ref(key: Any) -> list[Any]:
    """Return the default graph's collection itself; changing the list changes the collection."""
    return get_default_graph().get_collection_ref(key)
