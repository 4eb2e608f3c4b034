"""The cells' math: pure functions on tensors, one `CellSpec` a cell. No modules, no variables, no time."""

from dynrnn.cells.basic import BASIC_RNN, BasicRNNOptions, basic_rnn_step
from dynrnn.cells.gru import GRU, GRUOptions, gru_step
from dynrnn.cells.layer_norm import LAYER_NORM_LSTM, LayerNormLSTMOptions, layer_norm_lstm_step
from dynrnn.cells.lstm import LSTM, LSTMOptions, lstm_step
from dynrnn.cells.spec import CellSpec, Param
from dynrnn.cells.table import CELLS

__all__ = [
    "BASIC_RNN",
    "CELLS",
    "GRU",
    "LAYER_NORM_LSTM",
    "LSTM",
    "BasicRNNOptions",
    "CellSpec",
    "GRUOptions",
    "LSTMOptions",
    "LayerNormLSTMOptions",
    "Param",
    "basic_rnn_step",
    "gru_step",
    "layer_norm_lstm_step",
    "lstm_step",
]
