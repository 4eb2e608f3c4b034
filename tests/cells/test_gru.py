"""The GRU against its equations, written out with numpy row by row."""

import numpy as np
import pytest
import torch

from dynrnn.cells import GRU, GRUOptions, gru_step

ACTIVATIONS = {"tanh": (torch.tanh, np.tanh), "relu": (torch.relu, lambda x: np.maximum(x, 0))}


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("units", [1, 7])
def test_step_follows_the_equations(units, activation):
    random = np.random.default_rng(0)
    ours, theirs = ACTIVATIONS[activation]
    x, h = random.normal(size=(4, 3)), random.normal(size=(4, units))
    shapes = {
        "gates/kernel": (3 + units, 2 * units),
        "gates/bias": 2 * units,
        "candidate/kernel": (3 + units, units),
        "candidate/bias": units,
    }
    params = {name: random.normal(size=shape) for name, shape in shapes.items()}
    expected = []
    for row in range(4):
        gates = sigmoid(np.concatenate([x[row], h[row]]) @ params["gates/kernel"] + params["gates/bias"])
        r, u = gates[:units], gates[units:]
        reset = np.concatenate([x[row], r * h[row]])
        c = theirs(reset @ params["candidate/kernel"] + params["candidate/bias"])
        expected.append(u * h[row] + (1 - u) * c)
    tensors = {name: torch.tensor(value) for name, value in params.items()}
    output, state = gru_step(tensors, torch.tensor(x), (torch.tensor(h),), GRUOptions(units, activation=ours))
    np.testing.assert_allclose(output.numpy(), expected, rtol=0, atol=1e-14)
    assert torch.equal(output, state[0])


@pytest.mark.parametrize("units", [1, 7])
def test_reset_after_is_the_gru_of_torch(units):
    theirs = torch.nn.GRUCell(3, units, dtype=torch.float64)
    x, h = torch.randn(4, 3, dtype=torch.float64), torch.randn(4, units, dtype=torch.float64)
    gates, candidate = slice(0, 2 * units), slice(2 * units, None)
    params = {
        "gates/kernel": torch.cat((theirs.weight_ih[gates], theirs.weight_hh[gates]), 1).t(),
        "gates/bias": (theirs.bias_ih + theirs.bias_hh)[gates],
        "candidate/input_projection/kernel": theirs.weight_ih[candidate].t(),
        "candidate/hidden_projection/kernel": theirs.weight_hh[candidate].t(),
        "candidate/input_projection/bias": theirs.bias_ih[candidate],
        "candidate/hidden_projection/bias": theirs.bias_hh[candidate],
    }
    output, (state,) = gru_step(params, x, (h,), GRUOptions(units, reset_after=True))
    torch.testing.assert_close(output, theirs(x, h), rtol=0, atol=1e-14)
    assert torch.equal(output, state)


def test_reset_after_applies_the_activation_to_the_candidate():
    params = {param.name: torch.ones(param.shape) for param in GRU.params(2, GRUOptions(3, reset_after=True))}
    options = GRUOptions(3, activation=lambda x: x * 0 + 5, reset_after=True)
    output, _ = gru_step(params, torch.ones(1, 2), (torch.zeros(1, 3),), options)
    u = torch.sigmoid(torch.tensor(3.0))  # two inputs of 1 and a bias of 1
    torch.testing.assert_close(output, ((1 - u) * 5).expand(1, 3))


def test_gate_biases_start_at_one_and_candidate_biases_at_zero():
    assert [param.initial for param in GRU.params(2, GRUOptions(3))] == [None, 1.0, None, 0.0]


def test_a_saturated_update_gate_keeps_the_state_bit_for_bit():
    params = {
        "gates/kernel": torch.zeros(4, 6),
        "gates/bias": torch.full((6,), 1e4),
        "candidate/kernel": torch.ones(4, 3),
        "candidate/bias": torch.zeros(3),
    }
    h = torch.randn(5, 3)
    output, _ = gru_step(params, torch.ones(5, 1), (h,), GRUOptions(3))
    assert torch.equal(output, h)


def test_options_refuse_a_width_that_is_no_integer():
    with pytest.raises(TypeError, match=r"GRUOptions: num_units must be an int, got 2\.0"):
        GRUOptions(2.0)  # pyright: ignore[reportArgumentType]
