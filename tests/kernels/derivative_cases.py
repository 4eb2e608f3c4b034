"""Layers as functions of tensors, by the kernels and by the reference loop, for the tests of derivatives and maps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from kernels.kernel_cases import Run, case_of, flat, fused, laid_out, reference, variants
from torch import Tensor

from dynrnn.rnn.pieces import cut_rows

LENGTHS = torch.tensor([3, 0, 2])
RESETS = torch.tensor([[0, 1, 0], [1, 0, 0], [0, 1, 0]], dtype=torch.bool)
RUNS = {
    "ragged": Run(LENGTHS),
    "reverse, time-major": Run(LENGTHS, time_major=True, reverse=True),
    "states and gates": Run(LENGTHS, keep_states=True, keep_gates=True),
    "pieces": Run(pieces=cut_rows(RESETS, LENGTHS)),
}
SECOND = 1e-10  # second derivatives sum over many products


def functions(name: str, run: Run, units: int = 3) -> tuple[Callable[..., Any], Callable[..., Any], list[Tensor]]:
    """The kernels and the reference as functions of leaves, and leaves."""
    variant = variants(units)[name]
    case = case_of(variant, 3, 3)
    if run.pieces is not None:
        rows = len(run.pieces.row)
        case = case._replace(state=tuple(torch.rand(rows, value.shape[1]).double() for value in case.state))
    case = laid_out(case, run.time_major)

    def of(which: Any) -> Callable[..., Any]:
        return lambda *leaves: tuple(flat(which(variant, case.with_leaves(leaves), run), run))

    return of(fused), of(reference), [leaf.detach() for leaf in case.leaves()]


def loss(function: Callable[..., Any]) -> Callable[..., Any]:
    """A number made of all results of a function."""
    return lambda *leaves: sum(value.sin().sum() for value in function(*leaves))
