"""Random values of real TensorFlow for given seeds, through the face: `golden/random/random.json`."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dynrnn.tf1 as tf

FOLDER = Path(__file__).parents[1] / "golden" / "random"
DATA = json.loads((FOLDER / "random.json").read_text())
# Made of normal numbers, which are within 2e-6 of TensorFlow's; everything else is to be the same bits.
ROUNDED = ("RandomStandardNormal", "TruncatedNormal")


@pytest.fixture(scope="module")
def arrays() -> Any:
    return np.load(FOLDER / "random.npz", allow_pickle=False)


@pytest.mark.parametrize("case", DATA["cases"], ids=lambda case: case["id"])
def test_values_are_tensorflows(case: dict[str, Any], arrays: Any):
    if case["graph_seed"] is not None:
        tf.set_random_seed(case["graph_seed"])
    scope: dict[str, Any] = {"tf": tf, "np": np, "S": case["op_seed"]}
    feeds = {}
    if "before" in case:
        exec(case["before"], scope)
    if "x_key" in case:
        scope["x"] = tf.placeholder(case["dtype"], arrays[case["x_key"]].shape)
        feeds[scope["x"]] = arrays[case["x_key"]]
    value = eval(case["expr"], scope)
    with tf.Session() as sess:
        if case.get("variable"):
            sess.run(tf.global_variables_initializer())
        for key in case["runs"]:
            got, expected = sess.run(value, feeds), arrays[key]
            if "stored_as" in case:
                got = np.asarray(got).view(np.uint16)
            assert (got.shape, got.dtype) == (expected.shape, expected.dtype)
            if any(op["type"] in ROUNDED for op in case["ops"]):
                np.testing.assert_allclose(got, expected, rtol=0, atol=2e-6 * max(1, np.abs(expected).max()))
            else:
                np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("case", DATA["get_seed"], ids=lambda case: f"{case['graph_seed']}-{case['op_seed']}")
def test_seeds_are_joined_as_tensorflow_does(case: dict[str, Any]):
    if case["graph_seed"] is not None:
        tf.set_random_seed(case["graph_seed"])
    assert tf.get_seed(case["op_seed"]) == (case["seed"], case["seed2"])
