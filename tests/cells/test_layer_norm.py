"""The layer-normalised LSTM: its formula written out again, rows of equal values, dropout of the candidate."""

import pytest
import torch

from dynrnn.cells import LAYER_NORM_LSTM, LSTM, LayerNormLSTMOptions, LSTMOptions


def random_params(spec, options, size=3):
    random = torch.Generator().manual_seed(1)
    return {
        param.name: torch.randn(*param.shape, generator=random, dtype=torch.float64)
        for param in spec.params(size, options)
    }


def normalised(value, gain, shift, epsilon):
    """The formula with its sums written out, as no library writes it."""
    count = value.shape[1]
    mean = value.sum(1, keepdim=True) / count
    variance = ((value - mean) ** 2).sum(1, keepdim=True) / count
    return (value - mean) / (variance + epsilon) ** 0.5 * gain + shift


@pytest.mark.parametrize("epsilon", [1e-12, 0.1])
def test_a_step_is_the_formula(epsilon):
    options = LayerNormLSTMOptions(5, forget_bias=0.7, activation=torch.sin, epsilon=epsilon)
    params = random_params(LAYER_NORM_LSTM, options)
    x, c, h = (torch.randn(2, size, dtype=torch.float64) for size in (3, 5, 5))

    def norm(value, scope):
        return normalised(value, params[f"{scope}/gamma"], params[f"{scope}/beta"], epsilon)

    i, j, f, o = (torch.cat((x, h), 1) @ params["kernel"]).split(5, 1)
    i, j, f, o = norm(i, "input"), norm(j, "transform"), norm(f, "forget"), norm(o, "output")
    new_c = norm(c * torch.sigmoid(f + 0.7) + torch.sigmoid(i) * torch.sin(j), "state")
    new_h = torch.sin(new_c) * torch.sigmoid(o)
    output, state = LAYER_NORM_LSTM.step(params, x, (c, h), options)
    for found, wanted in zip((output, *state), (new_h, new_c, new_h), strict=True):
        torch.testing.assert_close(found, wanted, rtol=0, atol=1e-12)


def test_without_norms_it_is_the_basic_lstm():
    options = LayerNormLSTMOptions(4, layer_norm=False, forget_bias=0.3)
    params = random_params(LAYER_NORM_LSTM, options)
    x, state = torch.randn(2, 3).double(), (torch.randn(2, 4).double(), torch.randn(2, 4).double())
    found = LAYER_NORM_LSTM.step(params, x, state, options)
    wanted = LSTM.step(params, x, state, LSTMOptions(4, forget_bias=0.3))
    assert torch.equal(found[0], wanted[0]) and torch.equal(found[1][0], wanted[1][0])


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_rows_of_equal_values_become_the_shift_and_have_finite_gradients(dtype):
    options = LayerNormLSTMOptions(4, norm_shift=0.25)
    params = {
        param.name: torch.full(param.shape, 0.5 if param.initial is None else param.initial, dtype=dtype)
        for param in LAYER_NORM_LSTM.params(3, options)
    }
    leaves = [value.requires_grad_() for value in params.values()]
    zeros = torch.zeros(2, 4, dtype=dtype)
    output, (c, _) = LAYER_NORM_LSTM.step(params, torch.full((2, 3), 0.3, dtype=dtype), (zeros, zeros), options)
    assert torch.equal(c, torch.full_like(c, 0.25))
    assert all(torch.isfinite(grad).all() for grad in torch.autograd.grad(output.sum(), leaves))


def test_dropout_drops_entries_of_the_candidate_and_scales_the_others():
    options = LayerNormLSTMOptions(100, layer_norm=False, dropout=0.5)
    params = random_params(LAYER_NORM_LSTM, options)
    weights = LAYER_NORM_LSTM.prepare(params, options)
    product = LAYER_NORM_LSTM.product(weights, torch.ones(1, 3).double())
    state = (torch.zeros(1, 100).double(),) * 2
    torch.manual_seed(0)
    _, _, (_, dropped, _, _) = LAYER_NORM_LSTM.gated(weights, product, state, options)
    _, _, (_, whole, _, _) = LAYER_NORM_LSTM.gated(weights, product, state, LayerNormLSTMOptions(100, layer_norm=False))
    kept = dropped != 0
    assert 30 < int(kept.sum()) < 70
    torch.testing.assert_close(dropped[kept], 2 * whole[kept], rtol=0, atol=1e-12)


@pytest.mark.parametrize(("value", "error"), [(0, ValueError), (2.0, TypeError), (True, TypeError)])
def test_num_units_that_is_no_positive_int_is_refused(value, error):
    with pytest.raises(error, match="num_units"):
        LayerNormLSTMOptions(value)
