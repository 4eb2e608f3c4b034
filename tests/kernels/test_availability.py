"""Reasons: why the compiled module is missing, and why it does not serve a cell or its inputs."""

import subprocess
import sys

import pytest
import torch
from kernels.kernel_cases import NAMES, needs_module, variants

from dynrnn import kernels
from dynrnn.cells import GRU, LAYER_NORM_LSTM, LSTM, GRUOptions, LayerNormLSTMOptions, LSTMOptions
from dynrnn.rnn import run_layer

WITHOUT = """
import sys
sys.modules["dynrnn._kernels"] = None
import torch
from dynrnn import kernels
from dynrnn.cells import LSTM, LSTMOptions
from dynrnn.rnn import run_layer
assert "dynrnn._kernels cannot be imported" in kernels.missing(), kernels.missing()
assert kernels.isas() == []
options, inputs = LSTMOptions(3), torch.ones(2, 4, 5)
assert kernels.why_not(LSTM, options, inputs=inputs) == kernels.missing()
params = {param.name: torch.ones(param.shape) for param in LSTM.params(5, options)}
outputs, _ = run_layer(LSTM, params, inputs, None, lengths=torch.tensor([4, 1]), options=options)
assert outputs.shape == (2, 4, 3)
print("works without")
"""


def test_without_the_compiled_module_there_is_a_reason_and_the_reference():
    done = subprocess.run([sys.executable, "-c", WITHOUT], capture_output=True, text=True, timeout=120)
    assert done.stdout == "works without\n", done.stderr


@needs_module
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("name", NAMES)
def test_every_cell_with_a_kernel_is_served(name, dtype):
    spec, options = variants(3)[name]
    assert kernels.why_not(spec, options, inputs=torch.zeros(1, 2, 3, dtype=dtype)) is None


@needs_module
@pytest.mark.parametrize(
    ("spec", "options", "inputs", "reason"),
    [
        (LAYER_NORM_LSTM, LayerNormLSTMOptions(2), torch.zeros(1, 2, 3), "there is no kernel for layer_norm_lstm"),
        (
            LSTM,
            LSTMOptions(2, activation=torch.relu),
            torch.zeros(1, 2, 3),
            "no kernel of lstm has the activation relu",
        ),
        (GRU, GRUOptions(2, activation=abs), torch.zeros(1, 2, 3), "no kernel of gru has the activation abs"),
        (GRU, GRUOptions(2), torch.zeros(1, 2, 3).half(), "inputs are float16, and the kernels compute in float32"),
        (GRU, GRUOptions(2), torch.zeros(1, 2, 3, device="meta"), "inputs are on meta, and the kernels run on the CPU"),
        (GRU, GRUOptions(2), torch.zeros(1, 2, 3).to_sparse(), "inputs have the layout torch.sparse_coo"),
    ],
)
def test_a_reason_says_what_is_in_the_way(spec, options, inputs, reason):
    assert reason in kernels.why_not(spec, options, inputs=inputs)


@needs_module
def test_instruction_sets_end_with_the_plain_one():
    assert set(kernels.isas()) <= {"avx512", "avx2", "plain", "neon"}
    assert kernels.isas()[-1] in ("plain", "neon")


def test_an_unhashable_activation_is_only_a_reason():
    class Odd:
        __hash__ = None

        def __call__(self, value):
            return value.tanh()

    options = GRUOptions(2, activation=Odd())
    params = {param.name: torch.ones(param.shape) for param in GRU.params(3, options)}
    outputs, _ = run_layer(GRU, params, torch.ones(1, 2, 3), None, lengths=None, options=options)
    assert outputs.shape == (1, 2, 2)
