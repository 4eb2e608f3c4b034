"""`DropoutWrapper` with a seed draws TensorFlow's own masks, step by step, so values and gradients agree."""

import numpy as np
import pytest
from tf1.rnn.golden_case import GOLDEN, assert_close, build_graph, read_cases, run_graph

FOLDER = "random/dropout_rnn"
CASES = read_cases(FOLDER)


@pytest.mark.parametrize("name", CASES)
def test_values_and_gradients_under_a_seed_are_tensorflows(name):
    case = CASES[name]
    with np.load(GOLDEN / FOLDER / case["file"], allow_pickle=False) as arrays:
        data = dict(arrays)
    found = run_graph(case, data, build_graph(case, data))
    for key, value in found.items():
        assert_close(key, value, data[key], case["noise_vs_float64"])
