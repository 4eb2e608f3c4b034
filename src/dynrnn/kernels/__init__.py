"""Doors to the compiled kernels: one layer in one direction over whole sequences. They may be missing (`missing()`)."""

from dynrnn.kernels import flops as _flops  # noqa: F401 - registers what a flop counter asks for
from dynrnn.kernels.availability import isas, missing, why_not
from dynrnn.kernels.layer import (
    known_layer,
    known_torch_layer,
    pack_layer,
    pack_torch_layer,
    run_layer,
    run_plainly,
    run_torch_layer,
)

__all__ = [
    "isas",
    "known_layer",
    "known_torch_layer",
    "missing",
    "pack_layer",
    "pack_torch_layer",
    "run_layer",
    "run_plainly",
    "run_torch_layer",
    "why_not",
]
