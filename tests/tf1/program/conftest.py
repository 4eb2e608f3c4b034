"""Flags and the log belong to the process: every test leaves them as it found them."""

import logging

import pytest
from absl import flags

from dynrnn.tf1.program.flags import FLAGS
from dynrnn.tf1.program.logging import _logger


@pytest.fixture
def argv(monkeypatch):
    """Set the command line that a program was started with; the program's flags are gone afterwards."""
    before = set(flags.FLAGS)

    def set_argv(*arguments):
        monkeypatch.setattr("sys.argv", ["program.py", *arguments])

    set_argv()
    yield set_argv
    for name in set(flags.FLAGS) - before:
        delattr(flags.FLAGS, name)
    flags.FLAGS.unparse_flags()
    vars(FLAGS)["_plain"] = False


@pytest.fixture
def log():
    """The logger as in a fresh process."""
    logger = logging.getLogger("tensorflow")
    before = logger.handlers[:], logger.level, logger.propagate
    logger.handlers, logger.level, logger.propagate = [], logging.NOTSET, True
    _logger.cache_clear()
    yield logger
    logger.handlers, level, logger.propagate = before
    logger.setLevel(level)
    _logger.cache_clear()
