"""Further things that are asked of the layers, each timed with dynrnn's module alone or beside torch's padded layer.

Work follows the lengths, however uneven; the order of rows does not matter; one step of one row costs little more than
its arithmetic. What memory training takes is in `footprint.py`, what a busy machine does in `under_load.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from benchmarks.configurations import CONFIGURATIONS
from benchmarks.measuring import Plan, measure
from benchmarks.problem import Problem
from benchmarks.processes import Workers
from benchmarks.summary import Timing
from benchmarks.worker import Work

Told = Callable[[str], None]
_LONG, _SHORT, _ROWS = 1000, 10, 32
_STEPS = 64


class Claim(NamedTuple):
    """One figure with the bound that is asked of it (None: it is only reported), and what it was computed from."""

    text: str
    value: float
    unit: str
    asked: float | None
    figures: dict[str, float]
    disturbed: bool = False

    @property
    def passes(self) -> bool:
        return self.asked is None or self.value <= self.asked


def one_long_row(workers: Workers, plan: Plan, told: Told) -> list[Claim]:
    """One row of 1000 steps with 31 of 10, against 32 rows of 1000."""
    uneven = Problem("lstm", _LONG, 64, 128, (_LONG, *[_SHORT] * (_ROWS - 1)))
    full = uneven._replace(lengths=(_LONG,) * _ROWS)
    claims = []
    for mode in ("inference", "training"):
        told(f"one long row, {mode}")
        few, many = _time(workers, plan, [Work("dynrnn", uneven, mode), Work("dynrnn", full, mode)])
        text = f"{mode}: 1 row of {_LONG} steps with {_ROWS - 1} of {_SHORT}, against {_ROWS} of {_LONG}"
        figures = {"uneven": few.median, "full": many.median}
        claims.append(Claim(text, few.median / many.median, "of it", 0.25, figures, few.disturbed or many.disturbed))
    return claims


def any_order(workers: Workers, plan: Plan, told: Told) -> list[Claim]:
    """The same rows sorted one way, the other way, and as they come."""
    claims = []
    for key in ("A", "C"):
        given = CONFIGURATIONS[key].problem("lstm")
        ways = {"given": given.lengths, "rising": sorted(given.lengths), "falling": sorted(given.lengths, reverse=True)}
        for mode in ("inference", "training"):
            told(f"any order of rows, {mode} {key}")
            works = [Work("dynrnn", given._replace(lengths=tuple(lengths)), mode) for lengths in ways.values()]
            timings = _time(workers, plan, works)
            medians = [timing.median for timing in timings]
            claims.append(
                Claim(
                    f"{mode} {key}: the slowest order of rows, against the fastest",
                    max(medians) / min(medians),
                    "times",
                    1.1,
                    dict(zip(ways, medians, strict=True)),
                    any(timing.disturbed for timing in timings),
                )
            )
    return claims


def one_step(workers: Workers, plan: Plan, told: Told) -> list[Claim]:
    """One step of one row: what it takes beyond its arithmetic, which is what each further step adds."""
    one, more = (Problem("lstm", time, 128, 128, (time,)) for time in (1, 1 + _STEPS))
    claims = []
    for mode, asked in (("inference", 25.0), ("recording", 60.0)):
        told(f"one step, {mode}")
        works = [Work("dynrnn", one, mode), Work("dynrnn", more, mode), Work("padded", one, mode)]
        timings = _time(workers, plan, works)
        ours, longer, torch = (timing.median * 1e6 for timing in timings)
        step = (longer - ours) / _STEPS
        disturbed = any(timing.disturbed for timing in timings)
        figures = {"one step": ours, "each further step": step, "nn.LSTM": torch}
        text = f"{mode}: one step of one row (H 128) over its arithmetic; in all {ours:.0f} us, nn.LSTM {torch:.0f} us"
        claims.append(Claim(text, ours - step, "us", asked, figures, disturbed))
    return claims


def _time(workers: Workers, plan: Plan, works: list[Work]) -> list[Timing]:
    """Time works together; where one comes twice, as orders of one row do, its timing does too."""
    for work in dict.fromkeys(works):
        workers.prepare(work)
    timings = measure(workers, list(dict.fromkeys(works)), plan)
    workers.drop()
    return [timings[work] for work in works]
