"""The residual wrapper: what is joined with what."""

import torch

import dynrnn as dr

INPUTS = torch.randn(4, 6, 3, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
LENGTHS = [3, 0, 6, 1]
DOUBLE = {"dtype": torch.float64}


def test_a_residual_fn_sees_valid_rows_only():
    seen = []

    def join(inputs, outputs):
        seen.append(inputs.shape)
        return torch.cat((inputs.sqrt(), outputs), 1)

    inputs = INPUTS.abs().clone()
    for row, length in enumerate(LENGTHS):
        inputs[row, length:] = -1.0
    cell = dr.ResidualWrapper(dr.GRUCell(2, 3, **DOUBLE), residual_fn=join)
    outputs, _ = dr.dynamic_rnn(cell, inputs.requires_grad_(), sequence_length=LENGTHS)
    assert seen == [(sum(LENGTHS), 3)]
    outputs.sum().backward()
    assert torch.isfinite(inputs.grad).all() and not inputs.grad[1].any()
    assert not any(outputs[row, length:].any() for row, length in enumerate(LENGTHS))
