"""A problem that every peer solves: sizes, lengths, and the arrays that follow from them. numpy only."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

GATES = {"lstm": 4, "gru": 3, "rnn": 1}


class Arrays(NamedTuple):
    """Inputs `[time, batch, input_size]`, lengths int64 `[batch]`, and weights under torch's names, in its layout."""

    inputs: np.ndarray
    lengths: np.ndarray
    weights: dict[str, np.ndarray]


class Problem(NamedTuple):
    """One layer in one direction over rows of different lengths, in float32; what a peer computes is `mode`'s matter.

    Modes: "inference" (nothing is recorded), "recording" (forward, keeping what a backward pass would need) and
    "training" (forward, sum of squares of the valid outputs, gradients of all weights; inputs need none).
    """

    cell: str
    time: int
    input_size: int
    units: int
    lengths: tuple[int, ...]

    @property
    def batch(self) -> int:
        return len(self.lengths)

    @property
    def steps(self) -> int:
        return sum(self.lengths)

    def arrays(self) -> Arrays:
        """Make the arrays: the same numbers in every process."""
        draw = np.random.default_rng(7)
        inputs = draw.standard_normal((self.time, self.batch, self.input_size), np.float32)
        rows, bound = GATES[self.cell] * self.units, self.units**-0.5
        shapes = {
            "weight_ih": (rows, self.input_size),
            "weight_hh": (rows, self.units),
            "bias_ih": (rows,),
            "bias_hh": (rows,),
        }
        weights = {name: draw.uniform(-bound, bound, shape).astype(np.float32) for name, shape in shapes.items()}
        return Arrays(inputs, np.array(self.lengths, np.int64), weights)

    def operations(self, mode: str) -> int:
        """Floating-point operations of the products over valid steps; training's are those without inputs' gradients.

        Example:
            >>> Problem("rnn", 5, 2, 3, (5, 1)).operations("inference")
            180
        """
        columns = 2 * self.steps * GATES[self.cell] * self.units
        forward, back_through_time = columns * (self.input_size + self.units), columns * self.units
        return 2 * forward + back_through_time if mode == "training" else forward
