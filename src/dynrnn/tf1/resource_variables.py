"""The switch between TensorFlow's two kinds of variables. A variable here has one kind, so it changes nothing."""

from __future__ import annotations

from .export import export

_enabled = [False]  # what a program asks for is what it is told


@export("enable_resource_variables")
def enable_resource_variables() -> None:
    """Accepted: variables already read and write in the order that control dependencies give."""
    _enabled[0] = True


@export("disable_resource_variables")
def disable_resource_variables() -> None:
    """Accepted, as `tf.enable_resource_variables` is."""
    _enabled[0] = False


@export("resource_variables_enabled")
def resource_variables_enabled() -> bool:
    """Whether `tf.enable_resource_variables` was the last of the two that was called."""
    return _enabled[0]
