"""The switches between TensorFlow 1's and 2's behaviour, as programs for `tensorflow.compat.v1` set them.

Everything here is TensorFlow 1: graphs, sessions, reference variables. Switching to that does nothing, away from it
raises.
"""

from __future__ import annotations

from collections.abc import Callable

from ..export import export

# What stands behind each pair of `enable_...` and `disable_...`.
SWITCHES = {
    "v2_behavior": "TensorFlow 2's behaviour",
    "eager_execution": "eager execution",
    "v2_tensorshape": "shapes whose sizes are plain ints",
    "tensor_equality": "comparing tensors by their values",
}


@export("executing_eagerly")
def executing_eagerly() -> bool:
    """Return False: operations are added to a graph, which a session runs."""
    return False


def _disable(what: str) -> Callable[[], None]:
    def disable() -> None:
        pass

    disable.__doc__ = f"Do without {what}: it is so from the start."
    return disable


def _enable(name: str, what: str) -> Callable[..., None]:
    def enable(*args: object, **kwargs: object) -> None:
        raise RuntimeError(f"tf.{name}: there is no {what} here. Build a graph, and run it in a tf.Session")

    enable.__doc__ = f"Refuse with RuntimeError: there is no {what} here."
    return enable


for _name, _what in SWITCHES.items():
    export(f"disable_{_name}")(_disable(_what))
    export(f"enable_{_name}")(_enable(f"enable_{_name}", _what))
