"""The same work while other processes hold all processors: shown, not judged."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from benchmarks.claims import Claim, Told
from benchmarks.configurations import CONFIGURATIONS
from benchmarks.cpu_time import processors
from benchmarks.measuring import Plan, measure
from benchmarks.peers import PEERS
from benchmarks.processes import Workers
from benchmarks.worker import Work

_PEERS = ("dynrnn", "padded", "packed", "onnxruntime")
_KEYS = ("A", "B")


def while_busy(workers: Workers, plan: Plan, told: Told) -> list[Claim]:
    """How many times as long each takes while as many others compute as there are processors."""
    claims = []
    for key in _KEYS:
        for mode in ("inference", "training"):
            problem = CONFIGURATIONS[key].problem("lstm")
            peers = [peer for peer in _PEERS if workers.has(peer) and (PEERS[peer].training or mode == "inference")]
            works = [Work(peer, problem, mode) for peer in peers]
            for work in works:
                workers.prepare(work)
            told(f"under load, {mode} {key}: quiet")
            quiet = measure(workers, works, plan)
            told(f"under load, {mode} {key}: busy")
            with others():
                busy = measure(workers, works, plan._replace(rounds=3, patience=0.0))
            workers.drop()
            for work in works:
                before, after = quiet[work].median, busy[work].median
                text = f"{mode} {key}, {work.peer}: {before * 1e3:.2f} ms, under load {after * 1e3:.2f} ms"
                figures = {"quiet": before, "busy": after}
                claims.append(Claim(text, after / before, "times", None, figures, quiet[work].disturbed))
    return claims


@contextmanager
def others() -> Iterator[None]:
    """Keep every processor busy with a process that does nothing else."""
    busy = [subprocess.Popen([sys.executable, "-S", "-c", "while True: pass"]) for _ in range(processors())]
    try:
        time.sleep(0.2)  # until they run
        yield
    finally:
        for process in busy:
            process.kill()
            process.wait()
