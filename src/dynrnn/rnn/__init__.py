"""Time: loops over sequences of different lengths. They know a cell only as a step."""

from dynrnn.rnn.layer import LayerTrace, pack_layer, run_layer, trace_layer
from dynrnn.rnn.lengths import carry_states, clamp_lengths, length_mask, reverse_sequence
from dynrnn.rnn.loop import run_steps
from dynrnn.rnn.short import run_short_layer, run_short_torch_layer
from dynrnn.rnn.torch_layer import pack_torch_layer, run_torch_layer

__all__ = [
    "LayerTrace",
    "carry_states",
    "clamp_lengths",
    "length_mask",
    "pack_layer",
    "pack_torch_layer",
    "reverse_sequence",
    "run_layer",
    "run_short_layer",
    "run_short_torch_layer",
    "run_steps",
    "run_torch_layer",
    "trace_layer",
]
