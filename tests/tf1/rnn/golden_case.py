"""Reading a golden case: its cell, its graph, and the values that TensorFlow found for it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from tf1.rnn.described_cells import DESCRIBED, Trio

import dynrnn.tf1 as tf

GOLDEN = Path(__file__).parents[2] / "golden"
RESIDUALS = {
    "half_output": lambda inputs, outputs: inputs + 0.5 * outputs,
    "product": lambda inputs, outputs: inputs * outputs,
}
ACTIVATIONS = {"tanh": tf.tanh, "sigmoid": tf.sigmoid, "relu": tf.nn.relu, "softsign": tf.nn.softsign, "elu": tf.nn.elu}
NAMED = {"LSTMStateTuple": tf.nn.rnn_cell.LSTMStateTuple, "Trio": Trio}
BOUNDS = {"float16": (0.0, 0.0), "float32": (2e-5, 2e-6), "float64": (1e-10, 1e-12)}  # relative, absolute
NOISE = 8  # how often TensorFlow's own distance from float64 a result may be off


def read_cases(folder: str) -> dict[str, dict[str, Any]]:
    return {case["id"]: case for case in json.loads((GOLDEN / folder / "cases.json").read_text())["cases"]}


def make_cell(spec: dict[str, Any]) -> Any:
    kwargs = dict(spec["kwargs"])
    for name, read in (("activation", ACTIVATIONS.get), ("residual_fn", RESIDUALS.get), ("input_size", tf.TensorShape)):
        if name in kwargs:
            kwargs[name] = read(kwargs[name])
    if spec["class"].startswith("custom:"):
        return DESCRIBED[spec["class"].removeprefix("custom:")](**kwargs)
    cls = getattr(tf.nn.rnn_cell, spec["class"])
    if "cells" in spec:
        cells: list[Any] = []
        for inner in spec["cells"]:
            cells.append(cells[inner["same_as"]] if "same_as" in inner else make_cell(inner))
        return cls(cells, **kwargs)
    return cls(make_cell(spec["cell"]), **kwargs) if "cell" in spec else cls(**kwargs)


# Structures: nests as the file writes them


def leaves(structure: Any) -> list[dict[str, Any]]:
    if structure is None:
        return []
    if structure["type"] == "tensor":
        return [structure]
    return [leaf for item in structure["items"] for leaf in leaves(item)]


def build(structure: dict[str, Any], make: Callable[[dict[str, Any]], Any]) -> Any:
    if structure["type"] == "tensor":
        return make(structure)
    items = [build(item, make) for item in structure["items"]]
    if structure["type"] == "namedtuple":
        return NAMED[structure["name"]](*items)
    if structure["type"] == "dict":
        return dict(zip(structure["keys"], items, strict=True))
    return tuple(items) if structure["type"] == "tuple" else items


def flatten(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return [leaf for key in sorted(value) for leaf in flatten(value[key])]
    if isinstance(value, (tuple, list)):
        return [leaf for item in value for leaf in flatten(item)]
    return [value]


def assert_structure(value: Any, structure: dict[str, Any]) -> None:
    """The very types of the file: a plain tuple is no namedtuple, a list is no tuple."""
    kind = structure["type"]
    if kind == "tensor":
        assert isinstance(value, tf.Tensor)
        return
    wanted = NAMED[structure["name"]] if kind == "namedtuple" else {"tuple": tuple, "list": list, "dict": dict}[kind]
    assert type(value) is wanted
    items = [value[key] for key in structure["keys"]] if kind == "dict" else list(value)
    for item, inner in zip(items, structure["items"], strict=True):
        assert_structure(item, inner)


class Graph(NamedTuple):
    """A case's graph: what to fetch by array key, what to feed, and the variables in the order they were made."""

    outputs: Any
    state: Any
    fetches: dict[str, Any]
    gradients: dict[str, Any]
    feeds: dict[Any, np.ndarray]
    variables: list[Any]


def build_graph(case: dict[str, Any], data: Any) -> Graph:
    """Build a case in the current default graph."""
    if "graph_seed" in case:
        tf.set_random_seed(case["graph_seed"])
    feeds: dict[Any, np.ndarray] = {}

    def placeholder(leaf: dict[str, Any]) -> Any:
        tensor = tf.placeholder(leaf["dtype"], leaf["static_shape"])
        feeds[tensor] = data[leaf["key"]]
        return tensor

    inputs = build(case["inputs"], placeholder)
    initial = None if case["initial_state"] is None else build(case["initial_state"], placeholder)
    call = dict(case["call"])
    lengths = call.pop("sequence_length")
    if lengths is not None:
        shape = [None] if "batch" in case["unknown_dims"] else data[lengths["key"]].shape
        call["sequence_length"] = placeholder({**lengths, "static_shape": shape})
    assert call.pop("initial_state_given") == (initial is not None)
    outputs, state = _call(case, inputs, initial, call)
    tensors = dict(zip([leaf["key"] for leaf in leaves(case["outputs"])], flatten(outputs), strict=True))
    tensors |= dict(zip([leaf["key"] for leaf in leaves(case["state"])], flatten(state), strict=True))
    variables = tf.global_variables()
    loss = _loss(case, data, tensors)
    gradients = {}
    if case["gradients"] is not None:
        keys = [key for kind in ("variables", "inputs", "initial_state") for key in case["gradients"][kind]]
        xs = [*variables, *flatten(inputs), *([] if initial is None else flatten(initial))]
        gradients = dict(zip(keys, tf.gradients(loss, xs), strict=True)) if None not in keys else _some(keys, loss, xs)
    return Graph(outputs, state, {**tensors, "loss": loss}, gradients, feeds, variables)


def _call(case: dict[str, Any], inputs: Any, initial: Any, call: dict[str, Any]) -> tuple[Any, Any]:
    function = getattr(tf.nn, case["api"])
    if "bidirectional" not in case["api"]:
        return function(make_cell(case["cell"]), inputs, initial_state=initial, **call)
    forward, backward = initial or (None, None)
    cells = make_cell(case["cell_fw"]), make_cell(case["cell_bw"])
    found = function(*cells, inputs, initial_state_fw=forward, initial_state_bw=backward, **call)
    return found if len(found) == 2 else (found[0], found[1:])


def _loss(case: dict[str, Any], data: Any, tensors: dict[str, Any]) -> Any:
    dtype = case["loss"]["dtype"]
    return tf.add_n(
        [
            tf.reduce_sum(tf.cast(tensors[term["tensor"]], dtype) * tf.constant(data[term["weight"]], dtype))
            for term in case["loss"]["terms"]
        ]
    )


def _some(keys: list[str | None], loss: Any, xs: list[Any]) -> dict[str, Any]:
    """Gradients by key where some are to be None, as for integers."""
    found = list(zip(keys, tf.gradients(loss, xs), strict=True))
    assert all((key is None) == (gradient is None) for key, gradient in found)
    return {key: gradient for key, gradient in found if key is not None}


def run_graph(case: dict[str, Any], data: Any, graph: Graph, feeds: dict[Any, np.ndarray] | None = None) -> Any:
    """Run a case with its own values of the variables; returns arrays by key."""
    with tf.Session() as session:
        for variable, meta in zip(graph.variables, case["variables"], strict=True):
            variable.load(data[meta["key"]], session)
        return session.run({**graph.fetches, **graph.gradients}, graph.feeds if feeds is None else feeds)


def assert_close(key: str, found: Any, expected: np.ndarray, noise: dict[str, float] | None) -> None:
    found = np.asarray(found)
    assert (found.dtype, found.shape) == (expected.dtype, expected.shape), key
    if found.dtype.kind != "f":
        np.testing.assert_array_equal(found, expected, key)
        return
    relative, absolute = BOUNDS[found.dtype.name]
    kind = {"o": "outputs", "s": "state", "l": "loss", "g": "gradients"}[key[0]]
    absolute = max(absolute, NOISE * (noise or {}).get(kind, 0.0))
    np.testing.assert_allclose(found, expected, relative, absolute, equal_nan=True, err_msg=key)
