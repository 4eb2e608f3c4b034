"""Which shapes are measured, and what is asked of them. No arrays and no clocks here."""

from __future__ import annotations

import random
from typing import NamedTuple

from benchmarks.problem import Problem

CELLS = ("lstm", "gru", "rnn")
MODES = ("inference", "training")
_SEED = 20170


class Configuration(NamedTuple):
    """One shape: sizes, and the shortest length as a share of `time`; lengths are uniform between it and `time`."""

    key: str
    batch: int
    time: int
    input_size: int
    units: int
    shortest: float = 0.0

    def problem(self, cell: str) -> Problem:
        """Return the problem for a cell; lengths are the same in every run, and one row is full."""
        draw = random.Random(f"{_SEED} {self.key}")
        least = max(1, round(self.shortest * self.time))
        lengths = [self.time, *(draw.randint(least, self.time) for _ in range(self.batch - 1))]
        draw.shuffle(lengths)
        return Problem(cell, self.time, self.input_size, self.units, tuple(lengths))

    def __str__(self) -> str:
        return f"{self.key}: B{self.batch} T{self.time} I{self.input_size} H{self.units}"


# A to G: from one row to wide layers, about half of the steps valid. L to O: about 60 percent of the steps valid.
CONFIGURATIONS = {
    configuration.key: configuration
    for configuration in (
        Configuration("A", 32, 100, 128, 256),
        Configuration("B", 1, 100, 64, 128),
        Configuration("C", 128, 50, 256, 512),
        Configuration("D", 64, 30, 32, 64),
        Configuration("E", 8, 1000, 64, 128),
        Configuration("F", 256, 20, 512, 1024),
        Configuration("G", 16, 200, 40, 320),
        Configuration("L", 32, 100, 64, 64, shortest=0.2),
        Configuration("M", 16, 500, 128, 128, shortest=0.2),
        Configuration("N", 32, 200, 256, 256, shortest=0.2),
        Configuration("O", 8, 100, 512, 512, shortest=0.2),
    )
}
MAIN = tuple("ABCDEFG")
RAGGED = tuple("LMNO")

_LSTM = {"A": (1.9, 2.4), "B": (1.9, 2.4), "C": (1.75, 2.5), "D": (2.0, 2.4), "E": (2.1, 4.3), "F": (1.45, 2.2)}
_LSTM["G"] = (2.2, 2.4)
_OTHERS = (1.5, 2.0)
TENSORFLOW = 3.0


def asked(cell: str, key: str, mode: str) -> float:
    """How many times as fast as the best peer a layer should be; on the ragged shapes, no slower than a padded one.

    Example:
        >>> asked("lstm", "E", "training"), asked("gru", "E", "inference"), asked("lstm", "L", "training")
        (4.3, 1.5, 1.0)
    """
    if key in RAGGED:
        return 1.0
    return (_LSTM[key] if cell == "lstm" else _OTHERS)[MODES.index(mode)]
