"""`tf.logging`: TensorFlow's log, which is the logger "tensorflow" of Python's logging module.

Lines look like `INFO:tensorflow:a message`, on stderr. Where the program has set up the root logger before the first
line is logged, its handlers write instead. Lines below the verbosity, at first WARN, are dropped.
"""

from __future__ import annotations

import functools
import logging
import sys
from collections import Counter
from collections.abc import Callable
from typing import Any

from ..export import export

LEVELS = {
    "DEBUG": logging.DEBUG, "ERROR": logging.ERROR, "FATAL": logging.FATAL, "INFO": logging.INFO, "WARN": logging.WARN,
}  # fmt: skip

_calls: Counter[tuple[str, int]] = Counter()  # how often each line of a program has logged now and then


@functools.cache
def _logger() -> logging.Logger:
    """The logger, set up on first use."""
    logger = logging.getLogger("tensorflow")
    if logger.level == logging.NOTSET:
        logger.setLevel(logging.WARN)
    if not logging.getLogger().handlers and not logger.handlers:
        handler = logging.StreamHandler()
        handler.setFormatter(logging.Formatter(logging.BASIC_FORMAT))
        logger.addHandler(handler)
        logger.propagate = False  # a root handler that comes later would write every line a second time
    return logger


def _at(level: int) -> Callable[..., None]:
    def write(msg: Any, *args: Any, **kwargs: Any) -> None:
        """Log `msg % args` at the level that the function is named after."""
        # The record is to name the caller.
        _logger().log(level, msg, *args, **{**kwargs, "stacklevel": kwargs.get("stacklevel", 1) + 1})

    return write


for _name, _level in LEVELS.items():
    export(f"logging.{_name}")(_level)
    export(f"logging.{_name.lower()}", *["logging.warning"] * (_name == "WARN"))(_at(_level))
export("logging.TaskLevelStatusMessage")(_at(logging.ERROR))


@export("logging.log", "logging.vlog")
def log(level: int, msg: Any, *args: Any, **kwargs: Any) -> None:
    """Log `msg % args` at `level`, one of the constants here or a number in their order.

    Example:
        >>> import dynrnn.tf1 as tf
        >>> tf.logging.log(tf.logging.DEBUG, "dropped: the verbosity is %s", "WARN")
    """
    _logger().log(level, msg, *args, **{**kwargs, "stacklevel": kwargs.get("stacklevel", 1) + 1})


@export("logging.log_every_n")
def log_every_n(level: int, msg: Any, n: int, *args: Any) -> None:
    """Log at the first of every `n` calls from the same line of the program."""
    if (_count() - 1) % n == 0:
        _logger().log(level, msg, *args, stacklevel=2)


@export("logging.log_first_n")
def log_first_n(level: int, msg: Any, n: int, *args: Any) -> None:
    """Log at the first `n` calls from the same line of the program."""
    if _count() <= n:
        _logger().log(level, msg, *args, stacklevel=2)


@export("logging.log_if")
def log_if(level: int, msg: Any, condition: Any, *args: Any) -> None:
    """Log where `condition` is true."""
    if condition:
        _logger().log(level, msg, *args, stacklevel=2)


def _count() -> int:
    """How often the line that called our caller has done so, this time included."""
    frame = sys._getframe(2)
    line = frame.f_code.co_filename, frame.f_lineno
    _calls[line] += 1
    return _calls[line]


@export("logging.get_verbosity")
def get_verbosity() -> int:
    """Return the level below which lines are dropped.

    Example:
        >>> import dynrnn.tf1 as tf
        >>> tf.logging.get_verbosity() == tf.logging.WARN
        True
    """
    return _logger().getEffectiveLevel()


@export("logging.set_verbosity")
def set_verbosity(v: int | str) -> None:
    """Drop lines below a level: one of the constants here, or its name."""
    _logger().setLevel(v)


@export("logging.flush")
def flush() -> None:
    """Write what handlers hold back."""
    for handler in _logger().handlers:
        handler.flush()
