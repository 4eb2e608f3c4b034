"""The cells that have kernels, the options that are tested, and the reference loop in the form that kernels take."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest
import torch
from cells.cell_cases import Case, Variant, draw
from torch import Tensor

from dynrnn import kernels
from dynrnn.cells import BASIC_RNN, GRU, LSTM, BasicRNNOptions, GRUOptions, LSTMOptions
from dynrnn.rnn.pieces import Pieces
from dynrnn.rnn.reference import trace_reference

# what tests of the kernels themselves are marked with
needs_module = pytest.mark.skipif(kernels.missing() is not None, reason=str(kernels.missing()))


def variants(units: int) -> dict[str, Variant]:
    """Every cell and every option of it that the kernels know, at one width."""
    narrow = max(1, units // 2)
    return {
        "lstm": Variant(LSTM, LSTMOptions(units)),
        "lstm-forget_bias": Variant(LSTM, LSTMOptions(units, forget_bias=-0.5)),
        "lstm-peepholes": Variant(LSTM, LSTMOptions(units, use_peepholes=True)),
        "lstm-cell_clip": Variant(LSTM, LSTMOptions(units, cell_clip=0.3)),
        "lstm-projection": Variant(LSTM, LSTMOptions(units, num_proj=narrow)),
        "lstm-proj_clip": Variant(LSTM, LSTMOptions(units, num_proj=units + 1, proj_clip=0.2)),
        "lstm-everything": Variant(
            LSTM, LSTMOptions(units, use_peepholes=True, cell_clip=0.4, num_proj=narrow, proj_clip=0.3, forget_bias=0.5)
        ),
        "gru": Variant(GRU, GRUOptions(units)),
        "gru-reset_after": Variant(GRU, GRUOptions(units, reset_after=True)),
        "basic_rnn": Variant(BASIC_RNN, BasicRNNOptions(units)),
        "basic_rnn-relu": Variant(BASIC_RNN, BasicRNNOptions(units, activation=torch.relu)),
        "basic_rnn-sigmoid": Variant(BASIC_RNN, BasicRNNOptions(units, activation=torch.sigmoid)),
    }


NAMES = list(variants(1))
every_variant = pytest.mark.parametrize("name", NAMES)


class Run(NamedTuple):
    """How a layer is run, besides its tensors."""

    lengths: Tensor | None = None
    time_major: bool = False
    reverse: bool = False
    pieces: Pieces | None = None
    keep_states: bool = False
    keep_gates: bool = False


def case_of(variant: Variant, batch: int, time: int, *, size: int = 2, dtype: torch.dtype = torch.float64) -> Case:
    """Random tensors, small enough for the gates not to saturate."""
    case = draw(variant, batch, time, dtype=torch.float64, size=size)
    scale = variant.options.num_units**-0.5
    leaves = [leaf.detach().mul(scale if leaf.ndim == 2 else 1.0).to(dtype).requires_grad_() for leaf in case.leaves()]
    return case.with_leaves(leaves)


def laid_out(case: Case, time_major: bool) -> Case:
    """The same with inputs time first."""
    return case._replace(inputs=case.inputs.transpose(0, 1)) if time_major else case


def reference_of(variant: Variant, run: Run) -> Any:
    """The reference loop in the form in which `kernels.run_layer` takes it."""
    spec, options = variant

    def reference(inputs: Tensor, state: Any, params: Any, lengths: Tensor | None) -> Any:
        return trace_reference(spec, params, inputs, state, options=options, **{**run._asdict(), "lengths": lengths})

    return reference


def fused(variant: Variant, case: Case, run: Run, **options: Any) -> Any:
    """Run a case by the kernels; its inputs are laid out as `run` says already."""
    return kernels.run_layer(
        variant.spec,
        case.params,
        case.inputs,
        case.state,
        options=variant.options,
        reference=reference_of(variant, run),
        **run._asdict(),
        **options,
    )


def reference(variant: Variant, case: Case, run: Run) -> Any:
    """Run a case by the reference loop."""
    return reference_of(variant, run)(case.inputs, case.state, case.params, run.lengths)


def flat(results: Any, run: Run) -> list[Tensor]:
    """All results in one list; the padding of states is set to 0, since the reference promises nothing there."""
    outputs, final, states, gates = results
    return [outputs, *final, *(only_valid(value, run) for value in states), *gates]


def only_valid(value: Tensor, run: Run) -> Tensor:
    """Set the padding of what is laid out as outputs are to 0."""
    time = value.shape[0 if run.time_major else 1]
    lengths = run.lengths
    if run.pieces is not None:
        batch = value.shape[1 if run.time_major else 0]
        lengths = torch.zeros(batch, dtype=torch.int64).index_add(0, run.pieces.row, run.pieces.length)
    if lengths is None:
        return value
    mask = torch.arange(time) < lengths.unsqueeze(1)
    mask = (mask.t() if run.time_major else mask).unsqueeze(2)
    return torch.where(mask, value, value.new_zeros(()))


def gradients(results: list[Tensor], leaves: list[Tensor]) -> list[Tensor]:
    """Gradients of a sum in which every element of every result has a weight of its own."""
    loss = sum(
        ((value.double() * torch.arange(1.0, 1 + value.numel()).reshape(value.shape).cos()).sum() for value in results),
        start=torch.zeros((), dtype=torch.float64),
    )
    found = torch.autograd.grad(loss, leaves, allow_unused=True, retain_graph=True)
    return [torch.zeros_like(leaf) if grad is None else grad for leaf, grad in zip(leaves, found, strict=True)]


# Sums in another order: roundings of values near 1, and of gradients that sum over all rows and steps.
TOLERANCES = {torch.float32: 2e-6, torch.float64: 1e-12}


def close(found: Any, expected: Any, tolerance: float | None = None) -> None:
    """Compare values as far as their dtype goes; large ones, such as sums of gradients, in proportion."""
    for one, other in zip(found, expected, strict=True):
        assert one.shape == other.shape and one.dtype == other.dtype
        bound = tolerance or TOLERANCES[one.dtype]
        scale = max(1.0, float(other.detach().abs().max())) if other.numel() else 1.0
        torch.testing.assert_close(one, other, rtol=0, atol=bound * scale)


def case_for(
    name: str,
    run: Run,
    units: int = 7,
    dtype: torch.dtype = torch.float64,
    batch: int = 4,
    time: int = 5,
    size: int = 3,
) -> Case:
    """A case whose state has a row for each piece, where there are pieces."""
    case = case_of(variants(units)[name], batch, time, size=size, dtype=dtype)
    if run.pieces is not None:
        rows = len(run.pieces.row)
        state = [torch.rand(rows, value.shape[1], dtype=dtype, requires_grad=True) for value in case.state]
        case = case._replace(state=tuple(state))
    return laid_out(case, run.time_major)


def agree(name: str, run: Run, case: Case, units: int = 7, **options: Any) -> None:
    """Compare the kernels with the reference loop: all results and all gradients."""
    variant = variants(units)[name]
    found = flat(fused(variant, case, run, **options), run)
    expected = flat(reference(variant, case, run), run)
    close(found, expected)
    close(gradients(found, case.leaves()), gradients(expected, case.leaves()))
