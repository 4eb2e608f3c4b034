"""Programs are run as users run them: a file, in a process of its own."""

import importlib
import subprocess
import sys
import textwrap

import pytest

from dynrnn.runner.python2_names import MODULES


@pytest.fixture
def write(tmp_path):
    """Write a program's file and return its path; text is dedented, bytes are written as they are."""

    def write_file(name, source):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(source if isinstance(source, bytes) else textwrap.dedent(source).encode())
        return path

    return write_file


@pytest.fixture
def run(tmp_path):
    """Run `dynrnn run` on a file in the test's folder; returns the finished process."""

    def run_file(path, *args, command=("-m", "dynrnn", "run")):
        # From another folder than the program's, so that nothing is found by being there.
        (tmp_path / "elsewhere").mkdir(exist_ok=True)
        return subprocess.run(
            [sys.executable, "-W", "error", *command, str(path), *args],
            capture_output=True,
            text=True,
            encoding="utf-8",
            cwd=tmp_path / "elsewhere",
            timeout=60,
        )

    return run_file


@pytest.fixture
def run_python(run):
    """Run Python itself on a file, to compare with."""
    return lambda path, *args: run(path, *args, command=())


@pytest.fixture(autouse=True)
def modules_as_python_has_them():
    """Take back what Python 2 programs that ran in this process have added to Python's own modules."""
    _drop_old_names()
    yield
    _drop_old_names()


def _drop_old_names():
    for name, added in MODULES.items():
        for old in added:
            vars(importlib.import_module(name)).pop(old, None)
