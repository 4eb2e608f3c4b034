"""What `dynamic_rnn` costs over a user's own cell: against a hand-written loop, and what two ways to be faster bring.

Usage, from the project's root: `.venv/bin/python benchmarks/user_cells.py [--rounds N] [--no-compile]`. Four ways take
turns in shuffled order in one process, and medians are compared:

    hand      a loop over time as one writes it by hand: the full batch, masks where rows have other lengths
    plain     dynamic_rnn over the same module
    product   dynamic_rnn over the same cell with `input_product` and `recur`
    compiled  dynamic_rnn over torch.compile(cell)
    both      dynamic_rnn over the cell with `input_product`, whose `recur` is compiled

Times are milliseconds of processor time for a whole pass on one thread, so that what else runs on the machine disturbs
them little; the columns after the first are ratios to the hand-written loop. Compiling takes a few minutes in all.
"""

from __future__ import annotations

import argparse
import random
import statistics
import time
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import layer_norm

from dynrnn import dynamic_rnn

SIZES = ((1, 32), (16, 64), (32, 128))  # batch, units and input size
TIME = 100
WAYS = ("hand", "plain", "product", "compiled", "both")


class Halves(nn.Module):
    """A cell in two halves that do not say so; `Apart` says it."""

    def forward(self, inputs: Tensor, state: Any) -> tuple[Tensor, Any]:
        return self.later(self.before(inputs), state)

    def before(self, inputs: Tensor) -> Tensor:
        raise NotImplementedError

    def later(self, product: Tensor, state: Any) -> tuple[Tensor, Any]:
        raise NotImplementedError


class LSTMLike(Halves):
    """Two matrix products and ten pointwise operations."""

    def __init__(self, units: int) -> None:
        super().__init__()
        self.inward, self.across = nn.Linear(units, 4 * units), nn.Linear(units, 4 * units, bias=False)
        self.state_size = (units, units)

    def before(self, inputs: Tensor) -> Tensor:
        return self.inward(inputs)

    def later(self, product: Tensor, state: Any) -> tuple[Tensor, Any]:
        c, h = state
        i, j, f, o = (product + self.across(h)).chunk(4, 1)
        c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(j)
        h = torch.sigmoid(o) * torch.tanh(c)
        return h, (c, h)


class NormalisedLSTM(LSTMLike):
    """The same with peepholes and layer norms: two matrix products and some thirty operations."""

    def __init__(self, units: int) -> None:
        super().__init__(units)
        self.peepholes, self.gains = nn.Parameter(torch.zeros(3, units)), nn.Parameter(torch.ones(5, units))

    def later(self, product: Tensor, state: Any) -> tuple[Tensor, Any]:
        c, h = state
        size = (c.shape[1],)
        i, j, f, o = (product + self.across(h)).chunk(4, 1)
        i = layer_norm(i + self.peepholes[0] * c, size) * self.gains[0]
        f = layer_norm(f + self.peepholes[1] * c, size) * self.gains[1] + 1
        c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(layer_norm(j, size) * self.gains[2])
        o = layer_norm(o + self.peepholes[2] * c, size) * self.gains[3]
        h = torch.sigmoid(o) * torch.tanh(layer_norm(c, size) * self.gains[4])
        return h, (c, h)


class LiquidCell(Halves):
    """A continuous-time cell, whose state is moved by six small steps: two products and eighty pointwise operations."""

    def __init__(self, units: int) -> None:
        super().__init__()
        self.inward, self.across = nn.Linear(units, units), nn.Linear(units, units, bias=False)
        self.scale, self.rest, self.slowness = (nn.Parameter(torch.rand(units) + 0.5) for _ in range(3))
        self.state_size = units

    def before(self, inputs: Tensor) -> Tensor:
        return self.inward(inputs)

    def later(self, product: Tensor, state: Any) -> tuple[Tensor, Any]:
        drive = product + self.across(state)
        for _ in range(6):
            flow = torch.sigmoid(drive * self.scale - state * self.slowness) * self.rest
            state = (state + flow * torch.tanh(drive + state) / 6) / (1 + (self.slowness + flow) / 6)
        return state, state


CELLS = {"LSTM": LSTMLike, "layer-normed LSTM": NormalisedLSTM, "liquid": LiquidCell}


def apart(cell: Halves) -> nn.Module:
    """The same cell, sharing its weights, that says where it can be cut."""
    twin = type("Apart", (type(cell),), {"input_product": type(cell).before, "recur": type(cell).later})
    copy = twin.__new__(twin)
    copy.__dict__ = dict(cell.__dict__)
    return copy


def by_hand(cell: Any, inputs: Tensor, lengths: Tensor | None) -> tuple[Tensor, Any]:
    """The loop that one writes by hand."""
    batch, longest = inputs.shape[0], inputs.shape[1] if lengths is None else int(lengths.max())
    sizes = cell.state_size if isinstance(cell.state_size, tuple) else (cell.state_size,)
    state: Any = tuple(inputs.new_zeros(batch, size) for size in sizes)
    state = state if isinstance(cell.state_size, tuple) else state[0]
    outputs = []
    if lengths is None:
        for t in range(longest):
            output, state = cell(inputs[:, t], state)
            outputs.append(output)
        return torch.stack(outputs, 1), state
    valid = (torch.arange(longest) < lengths.unsqueeze(1)).unsqueeze(2)
    for t in range(longest):
        output, new = cell(inputs[:, t], state)
        mask = valid[:, t]
        if isinstance(new, tuple):
            state = tuple(torch.where(mask, now, before) for now, before in zip(new, state, strict=True))
        else:
            state = torch.where(mask, new, state)
        outputs.append(output)
    return torch.where(valid, torch.stack(outputs, 1), 0.0), state


def cells_by_way(cell: Halves, compiled: bool) -> dict[str, Any]:
    """The cell as each way takes it; all share their weights."""
    cells: dict[str, Any] = {"hand": cell, "plain": cell, "product": apart(cell)}
    if compiled:
        torch._dynamo.reset()  # what was compiled for other sizes would count against a limit
        cells["compiled"], cells["both"] = torch.compile(cell), apart(cell)
        cells["both"].recur = torch.compile(cells["both"].recur)
    return cells


def one_pass(way: str, cell: Any, inputs: Tensor, lengths: Tensor | None, weights: list[Tensor]) -> Callable[[], None]:
    """A function that runs a whole pass, and backward too where there are weights to train."""

    def run() -> None:
        with torch.set_grad_enabled(bool(weights)):
            if way == "hand":
                outputs, state = by_hand(cell, inputs, lengths)
            else:
                outputs, state = dynamic_rnn(cell, inputs, sequence_length=lengths)
        if weights:
            last = state[0] if isinstance(state, tuple) else state
            torch.autograd.grad(outputs.sum() + last.sum(), weights)

    return run


def medians(functions: dict[str, Callable[[], None]], rounds: int) -> dict[str, float]:
    """Median milliseconds of each function; they take turns in shuffled order."""
    times: dict[str, list[float]] = {name: [] for name in functions}
    for function in functions.values():
        function()  # compiles
        function()
    for _ in range(rounds):
        for name in random.sample(list(functions), len(functions)):
            start = time.process_time()
            functions[name]()
            times[name].append(time.process_time() - start)
    return {name: statistics.median(values) * 1e3 for name, values in times.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--no-compile", action="store_true")
    arguments = parser.parse_args()
    ways = WAYS[:3] if arguments.no_compile else WAYS
    torch.set_num_threads(1)
    random.seed(0)
    print(f"torch {torch.__version__}, {TIME} steps")
    print(f"{'cell':18} {'batch':>5} {'units':>5} {'rows':6} {'pass':9} {'hand ms':>8}", *(f"{w:>8}" for w in ways[1:]))
    for name, kind in CELLS.items():
        for batch, units in SIZES:
            torch.manual_seed(0)
            cell, inputs, ragged = kind(units), torch.randn(batch, TIME, units), torch.randint(1, TIME + 1, (batch,))
            ragged[0] = TIME
            cells = cells_by_way(cell, not arguments.no_compile)
            for rows, lengths in (("full", None), ("ragged", ragged)):
                for what, weights in (("inference", []), ("training", list(cell.parameters()))):
                    functions = {way: one_pass(way, cells[way], inputs, lengths, weights) for way in ways}
                    found = medians(functions, arguments.rounds)
                    ratios = (f"{found[way] / found['hand']:8.2f}" for way in ways[1:])
                    print(f"{name:18} {batch:5} {units:5} {rows:6} {what:9} {found['hand']:8.2f}", *ratios, flush=True)


if __name__ == "__main__":
    main()
