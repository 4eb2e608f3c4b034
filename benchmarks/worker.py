"""The process in which the peers of one environment run: it prepares work, times bursts of it when told, and rests.

`python -m benchmarks.worker ENVIRONMENT THREADS` answers requests on its standard input with replies on its standard
output, both pickled; `processes.py` is the other side. What libraries print goes to standard error.
"""

from __future__ import annotations

import gc
import importlib
import os
import pickle
import platform
import sys
import time
from typing import Any, NamedTuple

from benchmarks.cpu_time import Reading, Window, keep_to, processors
from benchmarks.memory import peak_of
from benchmarks.peers import PEERS, Prepared
from benchmarks.problem import Problem

_LIBRARIES = {
    "torch": ("torch", "dynrnn", "numpy"),
    "onnxruntime": ("onnxruntime", "onnx"),
    "jax": ("jax", "jaxlib"),
    "tensorflow": ("tensorflow",),
}


class Work(NamedTuple):
    """What a peer is to do: one problem in one mode."""

    peer: str
    problem: Problem
    mode: str


class Burst(NamedTuple):
    """One burst: seconds a call, the number of calls, and what processor time others took meanwhile."""

    seconds: float
    calls: int
    window: Window
    quiet: bool


class Worker:
    """The work that is prepared here, and what can be asked of it: the public methods are the requests."""

    def __init__(self, environment: str, threads: int) -> None:
        self._environment = environment
        if environment == "torch":
            self._threads = importlib.import_module("torch").get_num_threads()
        else:
            self._threads = threads
        self._ready: dict[Work, Prepared] = {}
        self._seconds: dict[Work, float] = {}

    def facts(self) -> dict[str, Any]:
        """Who is here: the number of threads, and versions of the interpreter and the libraries."""
        facts = {"threads": self._threads, "python": platform.python_version()}
        for name in _LIBRARIES[self._environment]:
            facts[name] = importlib.import_module(name).__version__
        if self._environment == "torch":
            facts["kernels"] = " ".join(importlib.import_module("benchmarks.peers.ours").instruction_sets()) or "none"
        return facts

    def prepare(self, work: Work) -> tuple[Any, Any]:
        """Prepare work and run it once: its outputs, and its gradients in training (None for what there is not)."""
        ready = self._prepared(work)
        with ready.around():
            result = ready.call()
            outputs = ready.outputs(result) if ready.outputs else None
            gradients = ready.gradients(result) if ready.gradients else None
            del result
        self._ready[work] = ready
        return outputs, gradients

    def _prepared(self, work: Work) -> Prepared:
        module, _, function = PEERS[work.peer].function.partition(":")
        prepare = getattr(importlib.import_module(f"benchmarks.peers.{module}"), function)
        return prepare(work.problem, work.mode, self._threads)

    def burst(self, work: Work, seconds: float) -> Burst:
        """Call prepared work again and again for about `seconds`, at least once; the first calls are not counted.

        They wake the thread pool and fill the caches after the rest; where one call fills the burst there are none.
        """
        ready = self._ready[work]
        with ready.around():
            if work not in self._seconds:
                self._seconds[work] = _call(ready, 1, seconds).seconds
            if self._seconds[work] < seconds:
                _call(ready, round(0.2 * seconds / self._seconds[work]), seconds)
            timed = _call(ready, round(seconds / self._seconds[work]), seconds)
        self._seconds[work] = timed.seconds
        return timed

    def peak(self, work: Work) -> int:
        """Bytes by which memory grows at most in the first call, once the library has warmed up on a tiny problem."""
        tiny = work.problem._replace(time=2, lengths=(2, 1))
        self.prepare(work._replace(problem=tiny))
        ready = self._prepared(work)
        with ready.around():
            return peak_of(ready.call)

    def drop(self) -> None:
        """Forget all prepared work."""
        self._ready.clear()
        self._seconds.clear()
        gc.collect()


def _call(ready: Prepared, calls: int, seconds: float) -> Burst:
    """Call at least once and at most `calls` times, no more after thrice the seconds: others may hold the machine."""
    call, done = ready.call, 0
    portion = max(1, calls // 16)
    reading, start = Reading(), time.perf_counter()
    while True:
        for _ in range(portion):
            call()
        done += portion
        elapsed = time.perf_counter() - start
        if done >= calls or elapsed > 3 * seconds:
            break
    window = reading.since()
    return Burst(elapsed / done, done, window, window.is_quiet(processors()))


def main(environment: str, threads: int) -> None:
    requests, replies = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    if environment == "jax":  # before it is imported: it starts a thread for each processor, and has no option for it
        keep_to(threads)
    worker = Worker(environment, threads)
    while True:
        try:
            name, arguments = pickle.load(requests)
        except EOFError:
            return
        pickle.dump(getattr(worker, name)(*arguments), replies, protocol=4)
        replies.flush()


if __name__ == "__main__":
    from benchmarks import worker as named  # the classes that are pickled must be the module's, not __main__'s

    named.main(sys.argv[1], int(sys.argv[2]))
