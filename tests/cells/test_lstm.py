"""The LSTM against its equations, written out with numpy row by row, with all options combined."""

import itertools

import numpy as np
import pytest
import torch

from dynrnn.cells import LSTM, LSTMOptions, lstm_step

UNITS, INPUT = 4, 3
ACTIVATIONS = {"tanh": (torch.tanh, np.tanh), "relu": (torch.relu, lambda x: np.maximum(x, 0))}
COMBINATIONS = list(
    itertools.product([False, True], [None, 0.0, 0.3], [None, 3], [None, 0.2], [1.0, 0.0, -2.5], ACTIVATIONS)
)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def row_step(params, x, c, h, options, activation):
    """One row, one step."""
    i, j, f, o = np.split(np.concatenate([x, h]) @ params["kernel"] + params["bias"], 4)
    if options.use_peepholes:
        i, f = i + params["w_i_diag"] * c, f + params["w_f_diag"] * c
    c = sigmoid(f + options.forget_bias) * c + sigmoid(i) * activation(j)
    if options.cell_clip is not None:
        c = np.minimum(np.maximum(c, -options.cell_clip), options.cell_clip)
    if options.use_peepholes:
        o = o + params["w_o_diag"] * c
    h = sigmoid(o) * activation(c)
    if options.num_proj is not None:
        h = h @ params["projection/kernel"]
        if options.proj_clip is not None:
            h = np.minimum(np.maximum(h, -options.proj_clip), options.proj_clip)
    return c, h


@pytest.mark.parametrize(("peepholes", "cell_clip", "num_proj", "proj_clip", "forget_bias", "activation"), COMBINATIONS)
def test_steps_follow_the_equations(peepholes, cell_clip, num_proj, proj_clip, forget_bias, activation):
    ours, theirs = ACTIVATIONS[activation]
    options = LSTMOptions(
        UNITS,
        use_peepholes=peepholes,
        cell_clip=cell_clip,
        num_proj=num_proj,
        proj_clip=proj_clip,
        forget_bias=forget_bias,
        activation=ours,
    )
    random = np.random.default_rng(0)
    params = {param.name: random.normal(size=param.shape) for param in LSTM.params(INPUT, options)}
    tensors = {name: torch.tensor(value) for name, value in params.items()}
    c, h = (random.normal(size=(3, size)) for size in LSTM.state_sizes(options))
    state = torch.tensor(c), torch.tensor(h)
    for x in random.normal(size=(3, 3, INPUT)):
        output, state = lstm_step(tensors, torch.tensor(x), state, options)
        rows = [row_step(params, x[row], c[row], h[row], options, theirs) for row in range(3)]
        c, h = (np.stack(values) for values in zip(*rows, strict=True))
        np.testing.assert_allclose(state[0].numpy(), c, rtol=0, atol=1e-13)
        np.testing.assert_allclose(state[1].numpy(), h, rtol=0, atol=1e-13)
        assert torch.equal(output, state[1])


def test_forget_bias_of_one_is_added_at_run_time_and_the_gates_are_i_j_f_o():
    # values of real TensorFlow for this kernel; other gate orders and no forget bias give other ones
    params = {"kernel": torch.arange(32.0).reshape(4, 8) / 32 - 0.5, "bias": torch.zeros(8)}
    state = torch.zeros(1, 2), torch.zeros(1, 2)
    outputs = []
    for x in torch.arange(6.0).reshape(3, 1, 2) / 10:
        output, state = lstm_step(params, x, state, LSTMOptions(2))
        outputs.append(output)
    expected = [[-0.004614, -0.003857], [-0.034595, -0.031295], [-0.073984, -0.069041]]
    torch.testing.assert_close(torch.cat(outputs), torch.tensor(expected), rtol=0, atol=1e-6)


def test_proj_clip_without_projection_has_no_effect():
    params = {"kernel": torch.ones(3, 8), "bias": torch.zeros(8)}
    state = torch.ones(1, 2), torch.ones(1, 2)
    plain, _ = lstm_step(params, torch.ones(1, 1), state, LSTMOptions(2))
    clipped, _ = lstm_step(params, torch.ones(1, 1), state, LSTMOptions(2, proj_clip=1e-3))
    assert torch.equal(plain, clipped)


def test_parameters_are_created_in_the_order_of_tensorflow():
    params = LSTM.params(2, LSTMOptions(4, use_peepholes=True, num_proj=3))
    names = ["kernel", "bias", "w_f_diag", "w_i_diag", "w_o_diag", "projection/kernel"]
    assert [param.name for param in params] == names
    assert [param.initial for param in params] == [None, 0.0, None, None, None, None]


def test_state_is_c_then_h_with_the_width_of_units_and_of_the_output():
    options = LSTMOptions(4, num_proj=3)
    assert LSTM.state_names(options) == ("c", "h")
    assert LSTM.state_sizes(options) == (4, 3)
    assert LSTM.output_size(options) == 3


@pytest.mark.parametrize("size", [1e4, -1e4, 1e30, -1e30])
def test_saturated_gates_stay_finite_forward_and_backward(size):
    params = {"kernel": torch.full((3, 8), 0.5, requires_grad=True), "bias": torch.zeros(8, requires_grad=True)}
    inputs = torch.full((2, 1), size, requires_grad=True)
    state = torch.full((2, 2), 0.5, requires_grad=True), torch.full((2, 2), 0.5, requires_grad=True)
    output, (c, h) = lstm_step(params, inputs, state, LSTMOptions(2))
    leaves = [inputs, *state, *params.values()]
    grads = torch.autograd.grad((output + c + h).sum(), leaves)
    assert all(value.isfinite().all() for value in (output, c, h, *grads))


def test_options_refuse_a_projection_to_nothing():
    with pytest.raises(ValueError, match="LSTMOptions: num_proj must be at least 1, got 0"):
        LSTMOptions(4, num_proj=0)
