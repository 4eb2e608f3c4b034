"""Doors to the compiled kernels: one layer in one direction over whole sequences. They may be missing (`missing()`)."""

from dynrnn.kernels import flops as _flops  # noqa: F401 - registers what a flop counter asks for
from dynrnn.kernels.availability import isas, missing, why_not
from dynrnn.kernels.layer import layer_for, run_layer, run_short, run_torch_layer, torch_layer_for
from dynrnn.kernels.packing import pack_layer, pack_torch_layer

__all__ = [
    "isas",
    "layer_for",
    "missing",
    "pack_layer",
    "pack_torch_layer",
    "run_layer",
    "run_short",
    "run_torch_layer",
    "torch_layer_for",
    "why_not",
]
