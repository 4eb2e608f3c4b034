"""The basic cell against its equation, written out with numpy row by row."""

import numpy as np
import pytest
import torch

from dynrnn.cells import BASIC_RNN, BasicRNNOptions, basic_rnn_step

ACTIVATIONS = {"tanh": (torch.tanh, np.tanh), "relu": (torch.relu, lambda x: np.maximum(x, 0))}


@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("units", [1, 7])
def test_step_follows_the_equation(units, activation):
    random = np.random.default_rng(0)
    ours, theirs = ACTIVATIONS[activation]
    x, h = random.normal(size=(4, 3)), random.normal(size=(4, units))
    kernel, bias = random.normal(size=(3 + units, units)), random.normal(size=units)
    params = {"kernel": torch.tensor(kernel), "bias": torch.tensor(bias)}
    output, state = basic_rnn_step(params, torch.tensor(x), (torch.tensor(h),), BasicRNNOptions(units, activation=ours))
    expected = [theirs(x[row] @ kernel[:3] + h[row] @ kernel[3:] + bias) for row in range(4)]
    np.testing.assert_allclose(output.numpy(), expected, rtol=0, atol=1e-14)
    assert torch.equal(output, state[0])


def test_bias_starts_at_zero_and_the_kernel_is_left_to_the_face():
    assert [param.initial for param in BASIC_RNN.params(2, BasicRNNOptions(3))] == [None, 0.0]


def test_options_refuse_a_width_below_one():
    with pytest.raises(ValueError, match="BasicRNNOptions: num_units must be at least 1, got 0"):
        BasicRNNOptions(0)
