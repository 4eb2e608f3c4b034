"""The generic step of a CellSpec."""

import torch

from dynrnn.cells import BASIC_RNN, BasicRNNOptions


def test_step_is_prepare_then_product_then_recur():
    options = BasicRNNOptions(2)
    params = {"kernel": torch.randn(5, 2), "bias": torch.randn(2)}
    inputs, state = torch.randn(4, 3), (torch.randn(4, 2),)
    weights = BASIC_RNN.prepare(params, options)
    output, (h,) = BASIC_RNN.recur(weights, BASIC_RNN.product(weights, inputs), state, options)
    again, (same,) = BASIC_RNN.step(params, inputs, state, options)
    assert torch.equal(output, again) and torch.equal(h, same)
