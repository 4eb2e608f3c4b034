"""Writes `docs/native.md`: the names of the PyTorch API, their arguments, and which implementation runs each cell.

python docs/make_native.py
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import torch
from signatures import arguments, sentence

import dynrnn
from dynrnn.kernels.layouts import cell_of
from dynrnn.nn.paths import parts_of

PAGE = Path(__file__).with_name("native.md")
HEAD = """# The PyTorch API

Every public name of `dynrnn`, with its arguments. The [tour](tour.md) shows them in use, and `help(dynrnn.LSTMCell)`
prints the full documentation: shapes, dtypes, errors and an example. `python docs/make_native.py` writes this page.
"""
GROUPS = {
    "Modules in place of torch.nn's": ["LSTM", "GRU", "RNN", "convert", "Conversion"],
    "Loops": ["dynamic_rnn", "bidirectional_dynamic_rnn"],
    "Cells": ["LSTMCell", "GRUCell", "BasicRNNCell", "LayerNormLSTMCell", "RNNCell"],
    "Cells around cells": ["MultiRNNCell", "DropoutWrapper", "ResidualWrapper", "ZoneoutWrapper"],
    "Long sequences and streams": ["Stream", "truncated_bptt", "Chunk", "chunk_lengths", "frozen"],
    "Results": ["LSTMState", "LSTMGates", "GRUGates", "last_output", "plot", "plot_gates"],
    "Which implementation runs": ["explain_dispatch"],
}
METHODS = {
    "LSTM": {"lstm": "forward"},
    "GRU": {"gru": "forward"},
    "RNN": {"rnn": "forward"},
    "RNNCell": {"cell": "forward", "cell.zero_state": "zero_state"},
    "Stream": {
        "stream": "__call__",
        "stream.reset": "reset",
        "stream.detach": "detach",
        "stream.state": "state",
        "stream.batch_size": "batch_size",
    },
}
FUSED = """
On a CPU, in float32 and float64, cells and modules run as follows; the [README](../README.md#platforms-and-devices) has
the other devices and dtypes. No argument of `dynamic_rnn` but `implementation` changes this.

| cell or module | runs through |
|---|---|
"""
CASES = [
    "LSTM(4, 8, num_layers=2, bidirectional=True, proj_size=3)",
    "GRU(4, 8, bias=False)",
    'RNN(4, 8, nonlinearity="relu")',
    "LSTMCell(8)",
    "LSTMCell(8, use_peepholes=True, cell_clip=3.0, forget_bias=0.0)",
    "LSTMCell(8, num_proj=4, proj_clip=3.0)",
    "LSTMCell(8, activation=torch.relu)",
    "GRUCell(8)",
    "GRUCell(8, reset_after=True)",
    "GRUCell(8, activation=torch.relu)",
    "BasicRNNCell(8)",
    "BasicRNNCell(8, activation=torch.relu)",
    "BasicRNNCell(8, activation=torch.sigmoid)",
    "BasicRNNCell(8, activation=torch.sin)",
    "LayerNormLSTMCell(8)",
    "MultiRNNCell([LSTMCell(8), GRUCell(8)])",
    "ResidualWrapper(GRUCell(8))",
    "DropoutWrapper(GRUCell(8), input_dropout=0.1, output_dropout=0.1)",
    "DropoutWrapper(GRUCell(8), state_dropout=0.1)",
    "DropoutWrapper(GRUCell(8), state_dropout=0.1).eval()",
    "ZoneoutWrapper(GRUCell(8))",
    "RNNCell()",
]
SHOWN = {"RNNCell()": "a cell of your own"}


def page() -> str:
    """The page's text."""
    parts = [HEAD]
    for title, names in GROUPS.items():
        parts.append(f"\n## {title}\n\n" + "\n".join(line for name in names for line in _lines(name)) + "\n")
    rows = [f"| {SHOWN.get(case, f'`{case}`')} | {way(case)} |" for case in CASES]
    return "".join(parts) + FUSED + "\n".join(rows) + "\n"


def _lines(name: str) -> Iterator[str]:
    value = getattr(dynrnn, name)
    is_plain = getattr(value, "__init__", None) is torch.nn.Module.__init__  # takes anything, for subclasses
    yield f"- `{name}{'()' if is_plain else arguments(value)}`: {sentence(value)}"
    for shown, method in METHODS.get(name, {}).items():
        function = getattr(value, method)
        given = arguments(function).replace("(self, ", "(").replace("(self)", "()")
        yield f"  - `{shown}{given}`: {sentence(function)}"


def made(case: str) -> torch.nn.Module:
    """Make the cell or module that `case` writes down."""
    return eval(case, {"torch": torch, **{name: getattr(dynrnn, name) for name in dynrnn.__all__}})


def way(case: str) -> str:
    """What runs the cell or module that `case` makes, found without the compiled module.

    >>> way("GRUCell(8)")
    'fused kernels'
    """
    cell = made(case)
    if isinstance(cell, torch.nn.RNNBase):
        return "fused kernels"
    parts = list(parts_of(cell))
    if any(part.by_steps for part in parts):
        return "one call of the cell for each step"
    fused = all(cell_of(part.cell.spec.name, part.cell.options) is not None for part in parts)
    return "fused kernels" if fused else "reference loop"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
