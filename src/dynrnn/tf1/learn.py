"""`tf.contrib.learn.run_n`: run a dictionary of tensors a few times in a session of its own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .. import _nest
from .export import export
from .ops.control import group
from .session import Session
from .variable_lists import global_variables_initializer, local_variables_initializer


@export("contrib.learn.run_n")
def run_n(
    output_dict: Mapping[str, Any],
    feed_dict: Mapping[Any, Any] | None = None,
    restore_checkpoint_path: str | None = None,
    n: int = 1,
) -> list[dict[str, Any]]:
    """Run `output_dict` n times in a new session, after its variables' initializers; returns a list of n dicts of
    arrays.

    output_dict: tensors, or nests of them, by name; all of one graph. feed_dict: fed in every run.
    restore_checkpoint_path: must be None, as checkpoints cannot be read yet.

    Raises:
        ValueError: an empty `output_dict`, n below 0, or a checkpoint path.

    Example:
        >>> import dynrnn.tf1 as tf
        >>> tf.contrib.learn.run_n({"x": tf.constant(2)}, n=2)
        [{'x': np.int32(2)}, {'x': np.int32(2)}]
    """
    if restore_checkpoint_path is not None:
        raise ValueError(
            "run_n: restore_checkpoint_path must be None (checkpoints cannot be read yet), got "
            f"{restore_checkpoint_path!r}"
        )
    if not output_dict:
        raise ValueError(f"run_n: output_dict must hold at least one tensor, got {output_dict!r}")
    if n < 0:
        raise ValueError(f"run_n: n must not be negative, got {n}")
    graph = _nest.flatten(dict(output_dict))[0].graph
    with graph.as_default(), Session() as session:
        session.run(group(global_variables_initializer(), local_variables_initializer()))
        return [session.run(dict(output_dict), feed_dict) for _ in range(n)]
