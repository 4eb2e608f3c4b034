"""The workers' side that asks: one process an environment, started on need, each with an interpreter of its own."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import tempfile
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from benchmarks.peers import PEERS
from benchmarks.worker import Burst, Work

ROOT = Path(__file__).resolve().parent.parent
_QUIET = {"TF_CPP_MIN_LOG_LEVEL": "3", "TF_USE_LEGACY_KERAS": "1", "JAX_PLATFORMS": "cpu"}


class WorkerError(RuntimeError):
    """A worker has ended instead of answering."""


class Process:
    """A worker in a process of its own; `with` ends it."""

    def __init__(self, environment: str, python: str, threads: int) -> None:
        self.environment = environment
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - it is closed with the process
        self._process = subprocess.Popen(
            [python, "-W", "ignore", "-m", "benchmarks.worker", environment, str(threads)],
            cwd=ROOT,
            env={**os.environ, **_QUIET},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
        )

    def ask(self, request: str, *arguments: Any) -> Any:
        """Send a request (a method of `Worker`) and wait for the reply. Raises WorkerError where none comes."""
        assert self._process.stdin is not None and self._process.stdout is not None
        try:
            pickle.dump((request, arguments), self._process.stdin, protocol=4)
            self._process.stdin.flush()
            return pickle.load(self._process.stdout)
        except (EOFError, BrokenPipeError) as error:
            status = self._process.wait()
            self._errors.seek(0)
            printed = self._errors.read().decode(errors="replace")[-2000:]
            raise WorkerError(f"{self.environment}: {request} ended with status {status}:\n{printed}") from error

    def __enter__(self) -> Process:
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process.stdin is not None and self._process.stdout is not None
        with suppress(BrokenPipeError):  # of a request that an ended worker did not read
            self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait()
        self._errors.close()


class Workers:
    """All workers of a run, by environment; `with` ends them.

    Torch takes as many threads as it does by itself, all others take as many as torch.
    """

    def __init__(self, pythons: dict[str, str]) -> None:
        self._pythons = pythons
        self._processes: dict[str, Process] = {}
        self.facts: dict[str, dict[str, Any]] = {}
        for environment in pythons:
            threads = self.facts["torch"]["threads"] if environment != "torch" else 0
            self._processes[environment] = self.fresh(environment, threads)
            self.facts[environment] = self._processes[environment].ask("facts")

    @property
    def threads(self) -> int:
        return self.facts["torch"]["threads"]

    def has(self, peer: str) -> bool:
        return PEERS[peer].environment in self._processes

    def fresh(self, environment: str, threads: int | None = None) -> Process:
        """Start one more worker, which the caller ends."""
        return Process(environment, self._pythons[environment], self.threads if threads is None else threads)

    def prepare(self, work: Work) -> tuple[Any, Any]:
        return self._of(work).ask("prepare", work)

    def burst(self, work: Work, seconds: float) -> Burst:
        return self._of(work).ask("burst", work, seconds)

    def drop(self) -> None:
        for process in self._processes.values():
            process.ask("drop")

    def _of(self, work: Work) -> Process:
        return self._processes[PEERS[work.peer].environment]

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *_: object) -> None:
        for process in self._processes.values():
            process.__exit__()


def environments(jax_python: Path | None, tf_python: Path | None) -> dict[str, str]:
    """The interpreter of each environment there is: this one for torch and ONNX Runtime, others where given.

    Where ONNX Runtime is not installed (`make bench` installs it) it is left out.
    """
    here = Path(sys.executable)
    onnxruntime = here if find_spec("onnxruntime") and find_spec("onnx") else None
    given = {"torch": here, "onnxruntime": onnxruntime, "jax": jax_python, "tensorflow": tf_python}
    # absolute, not resolved: a virtual environment is known by the link to its interpreter
    return {name: str(python.absolute()) for name, python in given.items() if python is not None}
