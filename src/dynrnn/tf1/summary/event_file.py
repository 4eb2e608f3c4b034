"""Event files: records of Event messages, each with its length and checksums, as TensorBoard reads them."""

from __future__ import annotations

import itertools
import os
import socket
import time
import weakref
from collections.abc import Iterator
from typing import Any

from ... import errors
from ..export import export
from .protos import event_pb2, needed

_count = itertools.count()  # a file's name differs from those of this process's other files


class EventFile:
    """A new event file in `logdir`, which is made.

    Each event is written at once and as a whole, by one call of the operating system: a program that is interrupted
    leaves a file that ends after the last event. Threads may share one.

    Raises:
        ImportError: tensorboard is not installed. OSError: the folder or the file cannot be made.
    """

    def __init__(self, logdir: str, suffix: str):
        with needed():
            from tensorboard.summary.writer.record_writer import RecordWriter  # optional: on first need
        os.makedirs(logdir, exist_ok=True)
        self.path, descriptor = _create(logdir, suffix)
        self._file = _WholeWrites(descriptor)
        self._records = RecordWriter(self._file)
        self.add(event_pb2().Event(wall_time=time.time(), file_version="brain.Event:2"))

    def add(self, event: Any) -> None:
        """Write an Event message."""
        self._records.write(event.SerializeToString())

    def close(self) -> None:
        """Close the file; closing it again does nothing."""
        self._file.close()


def _create(logdir: str, suffix: str) -> tuple[str, int]:
    """The path and the descriptor of a file of a name that none in the folder has."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | getattr(os, "O_BINARY", 0)
    while True:
        name = f"events.out.tfevents.{int(time.time()):010d}.{socket.gethostname()}.{os.getpid()}.{next(_count)}"
        path = os.path.join(logdir, name + suffix)
        try:
            return path, os.open(path, flags, 0o666)
        except FileExistsError:  # of a process with the same number on a machine with the same name
            continue


class _WholeWrites:
    """A file to which every write goes as a whole or not at all; it is closed when it is no longer used."""

    def __init__(self, descriptor: int):
        self._descriptor = descriptor
        self.close = weakref.finalize(self, os.close, descriptor)

    def write(self, data: bytes) -> None:
        rest = memoryview(data)
        try:
            while rest:
                rest = rest[os.write(self._descriptor, rest) :]
        except OSError:  # a full disk: what is there of the record would hide all that follow
            os.ftruncate(self._descriptor, os.fstat(self._descriptor).st_size - (len(data) - len(rest)))
            raise


@export("train.summary_iterator")
def summary_iterator(path: str) -> Iterator[Any]:
    """Yield the Event messages of an event file.

    Raises:
        tf.errors.NotFoundError: there is no such file. tf.errors.DataLossError: the file is damaged or ends within a
        record. ImportError: tensorboard is not installed.

    Example:
        >>> import dynrnn.tf1 as tf
        >>> import glob, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     with tf.summary.FileWriter(folder) as writer:
        ...         writer.add_summary(tf.Summary(value=[tf.Summary.Value(tag="loss", simple_value=1.5)]), 7)
        ...     events = list(tf.train.summary_iterator(glob.glob(folder + "/*")[0]))
        >>> events[1].step, events[1].summary.value[0].tag
        (7, 'loss')
    """
    with needed():
        # Optional: on first need. Its reader by that name reads as TensorFlow's did, which is what all of it stands on.
        from tensorboard.compat.tensorflow_stub import errors as reader_errors
        from tensorboard.compat.tensorflow_stub.pywrap_tensorflow import PyRecordReader_New  # optional, too
    if not os.path.isfile(path):
        raise errors.NotFoundError(None, None, f"{os.fspath(path)}; No such file or directory")
    reader = PyRecordReader_New(os.fspath(path))
    while True:
        try:
            reader.GetNext()
        except reader_errors.OutOfRangeError:
            return
        except reader_errors.DataLossError as error:
            raise errors.DataLossError(None, None, f"{error}") from error
        yield event_pb2().Event.FromString(reader.record())
