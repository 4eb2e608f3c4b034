"""`tf.summary.FileWriter`: adds summaries and other events to a file that TensorBoard reads."""

from __future__ import annotations

import os
import threading
import time
import warnings
from typing import Any, ClassVar

from ..config import RunMetadata, SessionLog
from ..export import export
from ..graph import Graph
from .event_file import EventFile
from .protos import Event, Summary, event_pb2

_CLOSED = (
    "Attempting to use a closed FileWriter. The operation will be a noop unless the FileWriter is explicitly reopened."
)


@export("summary.FileWriter")
class FileWriter:
    """Writes events to a new file in a folder; a context manager that closes it.

    Every event is in the file when the method that adds it returns, so nothing is lost by a program that ends without
    closing its writer, and TensorBoard sees each event at once.

    logdir: the folder, made with those above it. graph, graph_def: a graph, as given to `add_graph`. max_queue,
    flush_secs: how many events, and how long, TensorFlow holds back; nothing is held back here, so that they are only
    accepted. filename_suffix: the end of the file's name. session: accepted; what it adds is written in the same way.

    Raises:
        ImportError: tensorboard is not installed. TypeError: `graph` is no tf.Graph.
        OSError: the folder or the file cannot be made.

    Example:
        >>> import dynrnn.tf1 as tf
        >>> import tempfile
        >>> loss = tf.summary.scalar("loss", 1.5)
        >>> with tempfile.TemporaryDirectory() as folder, tf.Session() as sess:
        ...     with tf.summary.FileWriter(folder, sess.graph) as writer:
        ...         for step in range(3):
        ...             writer.add_summary(sess.run(loss), step)
    """

    def __init__(
        self,
        logdir: Any,
        graph: Any = None,
        max_queue: int = 10,
        flush_secs: float = 120,
        graph_def: Any = None,
        filename_suffix: str | None = None,
        session: Any = None,
    ):
        self._logdir = os.fsdecode(logdir)
        self._suffix = filename_suffix or ""
        self._closed = False
        self._described: set[str] = set()  # tags whose metadata is in the file
        self._traced: set[str] = set()  # tags of run metadata
        self._file = EventFile(self._logdir, self._suffix)
        if graph is not None or graph_def is not None:
            self.add_graph(graph, graph_def=graph_def)

    def __enter__(self) -> FileWriter:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def get_logdir(self) -> str:
        """Return the folder of the file."""
        return self._logdir

    def add_summary(self, summary: Any, global_step: Any = None) -> None:
        """Write a summary.

        summary: what a summary operation gave in a run, or a tf.Summary. global_step: the step it belongs to.

        Raises:
            TypeError: `summary` is neither.
        """
        message = Summary.FromString(summary) if isinstance(summary, bytes) else summary
        if not isinstance(message, Summary):
            raise TypeError(f"summary must be bytes that a run gave or a tf.Summary, got {summary!r}")
        event = event_pb2().Event(summary=message)
        for value in event.summary.value:
            if not value.HasField("metadata"):
                continue
            if value.tag in self._described:  # readers take it from the first value of a tag
                value.ClearField("metadata")
            self._described.add(value.tag)
        self._write(_stamped(event, global_step))

    def add_event(self, event: Any) -> None:
        """Write a tf.Event as it is.

        Raises:
            TypeError: another type.
        """
        if not isinstance(event, Event):
            raise TypeError(f"Expected a tf.Event, but got {type(event).__name__}: {event!r}")
        self._write(event)

    def add_graph(self, graph: Any = None, global_step: Any = None, graph_def: Any = None) -> None:
        """Accept a graph for programs that pass one. Nothing is written: graphs have no bytes yet, so TensorBoard's
        page of graphs stays empty.

        Raises:
            TypeError: no tf.Graph. ValueError: both `graph` and `graph_def`.
        """
        if graph is not None and graph_def is not None:
            raise ValueError("Please pass only graph, or graph_def (deprecated), but not both.")
        if not isinstance(graph if graph is not None else graph_def, Graph):
            raise TypeError("The passed graph must be an instance of `Graph` or the deprecated `GraphDef`")

    def add_run_metadata(self, run_metadata: Any, tag: str, global_step: Any = None) -> None:
        """Write that a run was traced under `tag`. Single operations are not timed, so there is nothing in the trace.

        Raises:
            TypeError: no tf.RunMetadata. ValueError: a tag that was used before.
        """
        if not isinstance(run_metadata, RunMetadata):
            raise TypeError(f"run_metadata must be a tf.RunMetadata, got {run_metadata!r}")
        if tag in self._traced:
            raise ValueError(f"The provided tag was already used for this event type: {tag!r}")
        self._traced.add(tag)
        traced = event_pb2().TaggedRunMetadata(tag=tag, run_metadata=b"")
        self._write(_stamped(event_pb2().Event(tagged_run_metadata=traced), global_step))

    def add_session_log(self, session_log: Any, global_step: Any = None) -> None:
        """Write that training started, stopped or wrote a checkpoint.

        Raises:
            TypeError: no tf.SessionLog.
        """
        if not isinstance(session_log, SessionLog):
            raise TypeError(f"session_log must be a tf.SessionLog, got {session_log!r}")
        written = event_pb2().SessionLog(**dict(session_log.ListFields()))
        self._write(_stamped(event_pb2().Event(session_log=written), global_step))

    def flush(self) -> None:
        """Do nothing: every event is in the file already."""
        if self._closed:
            warnings.warn(_CLOSED, stacklevel=2)

    def close(self) -> None:
        """Close the file; closing it again does nothing."""
        self._closed = True
        self._file.close()

    def reopen(self) -> None:
        """Go on with a new file in the same folder, if the writer was closed."""
        if self._closed:
            self._described.clear()
            self._file = EventFile(self._logdir, self._suffix)
            self._closed = False

    def _write(self, event: Any) -> None:
        if self._closed:
            warnings.warn(_CLOSED, stacklevel=3)
        else:
            self._file.add(event)


def _stamped(event: Any, step: Any) -> Any:
    """An event with the time of now and a step."""
    event.wall_time = time.time()
    if step is not None:
        event.step = int(step)
    return event


@export("summary.FileWriterCache")
class FileWriterCache:
    """One FileWriter for each folder, shared by all that ask for it."""

    _writers: ClassVar[dict[str, FileWriter]] = {}
    _lock: ClassVar[threading.RLock] = threading.RLock()

    @classmethod
    def get(cls, logdir: str) -> FileWriter:
        """Return the writer of a folder, made on the first call."""
        with cls._lock:
            if logdir not in cls._writers:
                cls._writers[logdir] = FileWriter(logdir)
            return cls._writers[logdir]

    @classmethod
    def clear(cls) -> None:
        """Close and forget all writers."""
        with cls._lock:
            for writer in cls._writers.values():
                writer.close()
            cls._writers.clear()
