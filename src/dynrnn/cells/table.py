"""The table of cells: one row a cell. Generic tests and both faces walk it."""

from __future__ import annotations

from dynrnn.cells.basic import BASIC_RNN
from dynrnn.cells.gru import GRU
from dynrnn.cells.layer_norm import LAYER_NORM_LSTM
from dynrnn.cells.lstm import LSTM
from dynrnn.cells.spec import CellSpec

CELLS: dict[str, CellSpec] = {spec.name: spec for spec in (BASIC_RNN, LSTM, GRU, LAYER_NORM_LSTM)}
