"""Processors that this process may use, and their time, ours and that of all others: quiet windows and disturbed ones.

Linux only.
"""

from __future__ import annotations

import os
import resource
import time
from pathlib import Path
from typing import NamedTuple

_TICKS = os.sysconf("SC_CLK_TCK")
_IDLE, _IOWAIT, _GUEST = 3, 4, 8  # columns of /proc/stat; guests' time is counted among the user's as well


class Window(NamedTuple):
    """What passed between two readings, in seconds: on the clock, of our processor time, of everybody else's."""

    wall: float
    own: float
    foreign: float

    def is_quiet(self, processors: int) -> bool:
        """Say whether others, the hypervisor among them, had less than 4 percent of the processors.

        The kernel counts in ticks of 10 ms, so that two of them are forgiven in a short window.

        Example:
            >>> Window(0.5, 1.0, 0.03).is_quiet(2), Window(0.5, 0.7, 0.3).is_quiet(2)
            (True, False)
        """
        return self.foreign <= max(0.04 * processors * self.wall, 2.5 / _TICKS)


class Reading:
    """The clocks at one moment; `since` gives the window that began then."""

    def __init__(self) -> None:
        self._busy = _busy()
        self._own = _own()
        self._wall = time.perf_counter()

    def since(self) -> Window:
        wall = time.perf_counter() - self._wall
        own = _own() - self._own
        return Window(wall, own, max(0.0, _busy() - self._busy - own))


def processors() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0))


def keep_to(count: int) -> None:
    """Keep this thread, and those that it starts from now on, to `count` of the processors, of as many cores as can be.

    For libraries that take as many threads as there are processors and cannot be told otherwise. Where there are no
    more than `count`, nothing changes.
    """
    order = sorted(os.sched_getaffinity(0), key=lambda processor: (_place_in_core(processor), processor))
    os.sched_setaffinity(0, order[:count])


def _place_in_core(processor: int) -> int:
    """Which of its core's hardware threads a processor is: 0 for the first one, and where the kernel does not say."""
    siblings = Path(f"/sys/devices/system/cpu/cpu{processor}/topology/thread_siblings_list")
    if not siblings.exists():
        return 0
    ranges = [part.partition("-") for part in siblings.read_text().split(",")]
    of_core = [index for first, _, last in ranges for index in range(int(first), int(last or first) + 1)]
    return of_core.index(processor)


def _own() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def _busy() -> float:
    """Seconds for which the processors that we may use were not idle, since the machine began."""
    ours = {f"cpu{index}" for index in os.sched_getaffinity(0)}
    ticks = 0
    with open("/proc/stat") as lines:
        for line in lines:
            name, *columns = line.split()
            if name in ours:
                counts = [int(column) for column in columns]
                ticks += sum(counts[:_GUEST]) - counts[_IDLE] - counts[_IOWAIT]
    return ticks / _TICKS
