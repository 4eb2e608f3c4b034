"""A flop counter sees the same work by the kernels as by torch's operators."""

import pytest
import torch
from cells.cell_cases import VARIANTS, draw
from torch.utils.flop_counter import FlopCounterMode

from dynrnn import kernels
from dynrnn.rnn import run_layer

CELLS = ["basic_rnn", "gru", "gru-reset_after", "lstm", "lstm-everything"]

pytestmark = pytest.mark.skipif(kernels.missing() is not None, reason="there are no kernels")


@pytest.mark.parametrize("name", CELLS)
@pytest.mark.parametrize("lengths", [None, [3, 0, 5, 1], [0, 0, 0, 0]], ids=str)
@pytest.mark.parametrize("with_inputs", [True, False])
def test_forward_and_backward_count_as_the_reference_does(name, lengths, with_inputs):
    spec, options = VARIANTS[name]
    counts = []
    for implementation in ("fused", "reference"):
        case = draw(VARIANTS[name], 4, 6)
        inputs = case.inputs if with_inputs else case.inputs.detach()
        with FlopCounterMode(display=False) as counter:
            outputs, state = run_layer(
                spec, case.params, inputs, case.state, options=options, implementation=implementation,
                lengths=None if lengths is None else torch.tensor(lengths),
            )  # fmt: skip
            forward = counter.get_total_flops()
            sum(value.sum() for value in (outputs, *state)).backward()
        counts.append((forward, counter.get_total_flops()))
    assert counts[0] == counts[1]
