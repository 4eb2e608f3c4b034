"""dynrnn: TensorFlow 1's dynamic_rnn system on PyTorch.

Here are the names of the PyTorch API, nothing else; each is loaded when it is first used. The TensorFlow 1 API is
`dynrnn.tf1`, and `dynrnn run PROGRAM` runs a program that imports tensorflow.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dynrnn.nn.bidirectional import bidirectional_dynamic_rnn
    from dynrnn.nn.cell import RNNCell
    from dynrnn.nn.cells import BasicRNNCell, GRUCell, LayerNormLSTMCell, LSTMCell
    from dynrnn.nn.chunks import Chunk, chunk_lengths, truncated_bptt
    from dynrnn.nn.convert import Conversion, convert
    from dynrnn.nn.dropout import DropoutWrapper
    from dynrnn.nn.dynamic import dynamic_rnn
    from dynrnn.nn.explain import explain_dispatch
    from dynrnn.nn.frozen import frozen
    from dynrnn.nn.gates import GRUGates, LSTMGates
    from dynrnn.nn.modules import GRU, LSTM, RNN
    from dynrnn.nn.multi import MultiRNNCell
    from dynrnn.nn.outputs import last_output
    from dynrnn.nn.pictures import plot, plot_gates
    from dynrnn.nn.residual import ResidualWrapper
    from dynrnn.nn.state import LSTMState
    from dynrnn.nn.stream import Stream
    from dynrnn.nn.zoneout import ZoneoutWrapper

__version__ = "0.1.0"

# Where each public name is defined. `import dynrnn` alone loads no torch, which the command line need not wait for.
_HOMES = {
    "BasicRNNCell": "cells",
    "Chunk": "chunks",
    "Conversion": "convert",
    "DropoutWrapper": "dropout",
    "GRU": "modules",
    "GRUCell": "cells",
    "GRUGates": "gates",
    "LSTM": "modules",
    "LSTMCell": "cells",
    "LSTMGates": "gates",
    "LSTMState": "state",
    "LayerNormLSTMCell": "cells",
    "MultiRNNCell": "multi",
    "RNN": "modules",
    "RNNCell": "cell",
    "ResidualWrapper": "residual",
    "Stream": "stream",
    "ZoneoutWrapper": "zoneout",
    "bidirectional_dynamic_rnn": "bidirectional",
    "chunk_lengths": "chunks",
    "convert": "convert",
    "dynamic_rnn": "dynamic",
    "explain_dispatch": "explain",
    "frozen": "frozen",
    "last_output": "outputs",
    "plot": "pictures",
    "plot_gates": "pictures",
    "truncated_bptt": "chunks",
}

__all__ = [
    "GRU",
    "LSTM",
    "RNN",
    "BasicRNNCell",
    "Chunk",
    "Conversion",
    "DropoutWrapper",
    "GRUCell",
    "GRUGates",
    "LSTMCell",
    "LSTMGates",
    "LSTMState",
    "LayerNormLSTMCell",
    "MultiRNNCell",
    "RNNCell",
    "ResidualWrapper",
    "Stream",
    "ZoneoutWrapper",
    "__version__",
    "bidirectional_dynamic_rnn",
    "chunk_lengths",
    "convert",
    "dynamic_rnn",
    "explain_dispatch",
    "frozen",
    "last_output",
    "plot",
    "plot_gates",
    "truncated_bptt",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"dynrnn.nn.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
