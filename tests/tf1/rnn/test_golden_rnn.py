"""Every loop against TensorFlow's own outputs, states, losses and gradients, and its structures, shapes and names."""

import numpy as np
import pytest
from tf1.rnn.golden_case import (
    GOLDEN,
    assert_close,
    assert_structure,
    build_graph,
    flatten,
    leaves,
    read_cases,
    run_graph,
)

import dynrnn.tf1 as tf

# those of raw_rnn are in test_golden_raw.py
CASES = {name: case for name, case in read_cases("rnn").items() if case["api"] != "raw_rnn"}


@pytest.fixture(params=CASES)
def case(request):
    return CASES[request.param]


@pytest.fixture
def data(case):
    with np.load(GOLDEN / "rnn" / case["file"], allow_pickle=False) as arrays:
        return dict(arrays)


def test_values_and_gradients_are_tensorflows(case, data):
    graph = build_graph(case, data)
    found = run_graph(case, data, graph)
    for key, value in found.items():
        # where padding made TensorFlow's gradients NaN, ours are those of clean padding: the next test
        if not (key.startswith("g") and key in case["nonfinite"]):
            assert_close(key, value, data[key], case["noise_vs_float64"])


@pytest.mark.parametrize("case", [case for case in CASES.values() if "padding" in case["tags"]], ids=lambda c: c["id"])
def test_what_stands_in_padding_changes_no_bit(case, data):
    graph = build_graph(case, data)
    clean = {tensor: np.where(np.abs(value) < 1e29, value, 0) for tensor, value in graph.feeds.items()}
    assert any(not np.array_equal(clean[tensor], value, equal_nan=True) for tensor, value in graph.feeds.items())
    found = run_graph(case, data, graph)
    for key, value in run_graph(case, data, graph, clean).items():
        assert np.isfinite(value).all(), key
        np.testing.assert_array_equal(found[key], value, key)


def test_structures_dtypes_and_static_shapes_are_tensorflows(case, data):
    graph = build_graph(case, data)
    for value, structure in ((graph.outputs, case["outputs"]), (graph.state, case["state"])):
        assert_structure(value, structure)
        for tensor, leaf in zip(flatten(value), leaves(structure), strict=True):
            assert tensor.dtype.name == leaf["dtype"]
            assert tensor.get_shape().as_list() == leaf["static_shape"]


def test_variables_have_tensorflows_names_shapes_dtypes_and_order(case, data):
    graph = build_graph(case, data)
    trainable = tf.trainable_variables()
    found = [
        (variable.op.name, variable.get_shape().as_list(), variable.dtype.base_dtype.name, variable in trainable)
        for variable in graph.variables
    ]
    assert found == [(meta["name"], meta["shape"], meta["dtype"], meta["trainable"]) for meta in case["variables"]]
