"""`tf.nn.rnn_cell`: cells, wrappers and what a user's own cell builds on."""

from .base import RNNCell
from .cells import BasicLSTMCell, BasicRNNCell, GRUCell, LSTMCell, LSTMStateTuple
from .dropout import DropoutWrapper
from .multi import MultiRNNCell
from .wrappers import DeviceWrapper, ResidualWrapper

__all__ = [
    "BasicLSTMCell",
    "BasicRNNCell",
    "DeviceWrapper",
    "DropoutWrapper",
    "GRUCell",
    "LSTMCell",
    "LSTMStateTuple",
    "MultiRNNCell",
    "RNNCell",
    "ResidualWrapper",
]
