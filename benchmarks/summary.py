"""From bursts to figures: medians, spread, how many windows were disturbed. No clocks and no printing here."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from benchmarks.worker import Burst


class Timing(NamedTuple):
    """Seconds a call: the median of the bursts, the least and the greatest; of how many bursts how many were quiet."""

    median: float
    least: float
    greatest: float
    bursts: int
    quiet: int

    @property
    def disturbed(self) -> bool:
        """Say whether the figure rests on windows in which others used the processors."""
        return self.quiet < self.needed

    @property
    def needed(self) -> int:
        return self.bursts // 2 + 1


def summarize(bursts: Sequence[Burst]) -> Timing:
    """Take the quiet bursts where they are the greater part, otherwise all.

    Example:
        >>> from benchmarks.cpu_time import Window
        >>> window = Window(1.0, 1.0, 0.0)
        >>> bursts = [Burst(seconds, 1, window, quiet) for seconds, quiet in ((3.0, True), (9.0, False), (4.0, True))]
        >>> summarize(bursts)
        Timing(median=3.5, least=3.0, greatest=4.0, bursts=3, quiet=2)
    """
    quiet = [burst.seconds for burst in bursts if burst.quiet]
    taken = quiet if len(quiet) > len(bursts) // 2 else [burst.seconds for burst in bursts]
    return Timing(statistics.median(taken), min(taken), max(taken), len(bursts), len(quiet))


def fastest(timings: Mapping[str, Timing]) -> str | None:
    """The name with the least median, None of none.

    Example:
        >>> fastest({"slow": Timing(2.0, 1.0, 3.0, 5, 5), "fast": Timing(1.5, 1.5, 1.5, 5, 5)})
        'fast'
    """
    return min(timings, key=lambda name: timings[name].median, default=None)
