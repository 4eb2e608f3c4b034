"""Where weights lie: names and shapes of the table of cells, and torch's weights as they are."""

import pytest
import torch
from kernels.kernel_cases import Run, close, every_variant, gradients, needs_module, reference_of, variants
from torch import nn

from dynrnn import kernels
from dynrnn.cells import LAYER_NORM_LSTM, LSTM, LayerNormLSTMOptions, LSTMOptions
from dynrnn.kernels.layouts import cell_of, layout_of, torch_layout
from dynrnn.kernels.weights import places_of
from dynrnn.rnn.torch_weights import cell_of as torch_cell_of
from dynrnn.rnn.torch_weights import cell_params

MODULES = {
    "LSTM": lambda **options: nn.LSTM(3, 7, **options),
    "LSTM-projected": lambda **options: nn.LSTM(3, 7, proj_size=4, **options),
    "GRU": lambda **options: nn.GRU(3, 7, **options),
    "RNN_TANH": lambda **options: nn.RNN(3, 7, **options),
    "RNN_RELU": lambda **options: nn.RNN(3, 7, nonlinearity="relu", **options),
}
TENSORFLOW_GRU = ("gates/kernel", "gates/bias", "candidate/kernel", "candidate/bias")


@every_variant
def test_names_shapes_and_state_are_those_of_the_table_of_cells(name):
    spec, options = variants(6)[name]
    layout = layout_of(spec.name, options)
    expected = {param.name: param.shape for param in spec.params(5, options)}
    assert dict(zip(layout.names, places_of(layout, 5, 4).shapes, strict=True)) == expected
    assert tuple(layout.state_sizes.items()) == tuple(
        zip(spec.state_names(options), spec.state_sizes(options), strict=True)
    )
    assert layout.output_size == spec.output_size(options)
    assert layout.gates == len(spec.gate_names(options))


def test_an_address_is_found_for_each_field_and_nothing_else():
    places = places_of(layout_of("gru", variants(2)["gru"].options), 3, 8)
    fields = places.addresses([1000, 2000, 3000, 4000])
    r, u, c, none = (fields[8 * slot : 8 * slot + 8] for slot in range(4))
    assert r == [1000, 4, 1, 1000 + 3 * 4 * 8, 4, 1, 2000, 0]
    assert u == [1016, 4, 1, 1016 + 3 * 4 * 8, 4, 1, 2016, 0]
    assert c == [3000, 2, 1, 3000 + 3 * 2 * 8, 2, 1, 4000, 0]
    assert none == [0] * 8 and fields[32:] == [0] * 6
    some = places.addresses_of_some([0, 2000, 3000, 0])
    assert some[:8] == [0, 4, 1, 0, 4, 1, 2000, 0] and some[16:24] == [3000, 2, 1, 3048, 2, 1, 0, 0]


def test_torchs_gates_are_found_in_our_order():
    places = places_of(torch_layout("LSTM", 2, 0, True), 3, 4)
    fields = places.addresses([0, 1000, 2000, 3000])
    assert [fields[8 * slot + 3] for slot in range(4)] == [1000, 1032, 1016, 1048]  # i, g, f, o stand at 0, 2, 1, 3
    assert [fields[8 * slot + 6] for slot in range(4)] == [2000, 2016, 2008, 2024]
    assert fields[:3] == [0, 1, 3]  # [gates * units, input_size]: the next input is the next element


def test_a_cell_without_a_kernel_is_none():
    assert cell_of("layer_norm_lstm", LayerNormLSTMOptions(3)) is None
    assert cell_of("lstm", LSTMOptions(3, activation=torch.relu)) is None
    assert cell_of("lstm", LSTMOptions(3, activation=nn.functional.tanh)) == cell_of("lstm", LSTMOptions(3))
    with pytest.raises(ValueError, match="no kernel for layer_norm_lstm"):
        layout_of(LAYER_NORM_LSTM.name, LayerNormLSTMOptions(3))


@needs_module
@pytest.mark.parametrize("biased", [True, False])
@pytest.mark.parametrize("name", MODULES)
def test_torchs_weights_as_they_lie_give_torchs_values_and_gradients(name, biased):
    module = MODULES[name](bias=biased, dtype=torch.float64)
    weights = {key.removesuffix("_l0"): value for key, value in module.named_parameters()}
    inputs = torch.randn(5, 4, 3, dtype=torch.float64, requires_grad=True)
    shapes = [(4, 7), (4, 4 if "projected" in name else 7)][-2 if "LSTM" in name else 1 :]
    state = tuple(torch.randn(shape, dtype=torch.float64, requires_grad=True) for shape in shapes)
    given = (state[1][None], state[0][None]) if len(state) == 2 else state[0][None]
    outputs, final = module(inputs, given)
    final = (final[1][0], final[0][0]) if len(state) == 2 else (final[0],)
    mode = name.partition("-")[0]
    found = kernels.run_torch_layer(mode, weights, inputs, state, lengths=None, reference=None)
    close((found[0], *found[1]), (outputs, *final))
    leaves = [inputs, *state, *weights.values()]
    close(gradients([found[0], *found[1]], leaves), gradients([outputs, *final], leaves))


@needs_module
@pytest.mark.parametrize("name", MODULES)
def test_torchs_weights_run_backwards_with_lengths_and_gates(name):
    module = MODULES[name](dtype=torch.float64)
    mode, weights = name.partition("-")[0], {key.removesuffix("_l0"): value for key, value in module.named_parameters()}
    cell = torch_cell_of(mode, 7, 4 if "projected" in name else 0)
    inputs = torch.randn(4, 5, 3, dtype=torch.float64, requires_grad=True)
    run = Run(torch.tensor([5, 0, 2, 4]), reverse=True, keep_gates=True)
    found = kernels.run_torch_layer(mode, weights, inputs, None, reference=None, **run._asdict())
    reference = reference_of((cell.spec, cell.options), run)
    zeros = tuple(torch.zeros(4, size, dtype=torch.float64) for size in cell.spec.state_sizes(cell.options))
    expected = reference(inputs, zeros, cell_params(mode, weights), run.lengths)
    pairs = [[one[0], *one[1], *one[3]] for one in (found, expected)]
    close(*pairs)
    leaves = [inputs, *weights.values()]
    close(*(gradients(one, leaves) for one in pairs))


@needs_module
def test_missing_and_foreign_weights_are_named():
    spec, options = LSTM, LSTMOptions(2)
    inputs, zeros = torch.zeros(1, 2, 3), {"kernel": torch.zeros(5, 8), "bias": torch.zeros(8)}
    wrong = [{"kernel": zeros["kernel"]}, {**zeros, "w_f_diag": torch.zeros(2)}, {"weight": zeros["kernel"], **zeros}]
    for params in wrong:
        with pytest.raises(ValueError, match=r"run_layer: params of lstm must be \['kernel', 'bias'\], got \["):
            kernels.run_layer(spec, params, inputs, None, lengths=None, options=options, reference=None)
    turned = dict(reversed(zeros.items()))
    kernels.run_layer(spec, turned, inputs, None, lengths=None, options=options, reference=None)
