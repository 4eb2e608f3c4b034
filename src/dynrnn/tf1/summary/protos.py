"""The messages of summaries and events (`tf.Summary`, `tf.Event` ...), which are tensorboard's protocol buffers.

tensorboard is an optional library: it is imported when a message is first made, not when its name is read.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ..export import export


@contextmanager
def needed() -> Iterator[None]:
    """Let an import that fails inside tell what to install."""
    try:
        yield
    except ImportError as error:
        raise ImportError(
            f"summaries are made and written with tensorboard, which cannot be imported ({error}); install it with: "
            "pip install dynrnn[tensorboard]"
        ) from error


def summary_pb2() -> Any:
    """The module of Summary and its kin."""
    with needed():
        from tensorboard.compat.proto import summary_pb2  # optional: on first need
    return summary_pb2


def event_pb2() -> Any:
    """The module of Event and its kin."""
    with needed():
        from tensorboard.compat.proto import event_pb2  # optional: on first need
    return event_pb2


def tensor_pb2() -> Any:
    """The module of TensorProto."""
    with needed():
        from tensorboard.compat.proto import tensor_pb2  # optional: on first need
    return tensor_pb2


class MessageClass:
    """A class of tensorboard's messages, imported on first use: it is called, asked for its attributes (`Value`,
    `FromString`) and used in `isinstance` as the class itself is.

    Raises:
        ImportError (on use): tensorboard is not installed.
    """

    def __init__(self, module: Any, name: str):
        self._module, self._name = module, name

    def __call__(self, **fields: Any) -> Any:
        return self._class()(**fields)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # Python's own questions about an object do not ask for the message
            raise AttributeError(f"tf.{self._name} has no attribute {name!r}")
        return getattr(self._class(), name)

    def __instancecheck__(self, instance: Any) -> bool:
        # What is no message at all is told without tensorboard.
        return hasattr(instance, "SerializeToString") and isinstance(instance, self._class())

    def __repr__(self) -> str:
        return f"<message class tf.{self._name}>"

    def _class(self) -> Any:
        return getattr(self._module(), self._name)


Summary: Any = export("Summary", "summary.Summary")(MessageClass(summary_pb2, "Summary"))
Event: Any = export("Event", "summary.Event")(MessageClass(event_pb2, "Event"))
export("SummaryMetadata")(MessageClass(summary_pb2, "SummaryMetadata"))
export("HistogramProto")(MessageClass(summary_pb2, "HistogramProto"))
export("LogMessage")(MessageClass(event_pb2, "LogMessage"))
export("summary.SummaryDescription")(MessageClass(summary_pb2, "SummaryDescription"))
export("summary.TaggedRunMetadata")(MessageClass(event_pb2, "TaggedRunMetadata"))
