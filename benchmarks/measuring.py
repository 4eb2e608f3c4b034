"""How work is timed: rounds in shuffled order, a rest before every burst, disturbed windows taken again."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

from benchmarks.cpu_time import Reading, processors
from benchmarks.processes import Workers
from benchmarks.summary import Timing, summarize
from benchmarks.worker import Burst, Work


class Plan(NamedTuple):
    """How long to measure: rounds, seconds of a burst and of the rest before it, and of waiting for a quiet machine.

    The rest lasts until the thread pools of those who ran before have stopped spinning. `patience` is spent once for
    all the work that is measured together; after it, or where it is 0, disturbed windows are kept and marked.
    """

    rounds: int = 5
    burst: float = 0.12
    rest: float = 0.05
    patience: float = 6.0


def measure(
    workers: Workers,
    works: Sequence[Work],
    plan: Plan,
    *,
    seed: int = 0,
    told: Callable[[Work], None] = lambda work: None,
) -> dict[Work, Timing]:
    """Time prepared work side by side; `told` hears of each burst before it begins."""
    shuffle, waiting = random.Random(seed), _Patience(plan.patience)
    bursts: dict[Work, list[Burst]] = {work: [] for work in works}
    for _ in range(plan.rounds):
        for work in shuffle.sample(list(works), len(works)):
            told(work)
            bursts[work].append(_quiet_burst(workers, work, plan, waiting))
    return {work: summarize(taken) for work, taken in bursts.items()}


class _Patience:
    """Seconds that may still be spent on waiting and on taking windows again."""

    def __init__(self, seconds: float) -> None:
        self.left = seconds

    def rest(self, seconds: float) -> None:
        """Rest, and as long as the machine is busy and patience lasts, once more."""
        while True:
            reading = Reading()
            time.sleep(seconds)
            if self.left <= 0 or reading.since().is_quiet(processors()):
                return
            self.left -= seconds


def _quiet_burst(workers: Workers, work: Work, plan: Plan, waiting: _Patience) -> Burst:
    waiting.rest(plan.rest)
    best = workers.burst(work, plan.burst)
    while not best.quiet and waiting.left > 0:
        start = time.perf_counter()
        waiting.rest(plan.rest)
        best = min(best, workers.burst(work, plan.burst), key=_disturbance)
        waiting.left -= time.perf_counter() - start
    return best


def _disturbance(burst: Burst) -> tuple[bool, float]:
    return not burst.quiet, burst.window.foreign / burst.window.wall
