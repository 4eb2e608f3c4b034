"""The golden cases of dynamic_rnn and bidirectional_dynamic_rnn through the native face, weights loaded by name."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from nn.custom_cells import CUSTOM, Trio

import dynrnn
from dynrnn import _nest

GOLDEN = Path(__file__).parents[1] / "golden" / "rnn"
ACTIVATIONS = {
    "tanh": torch.tanh, "sigmoid": torch.sigmoid, "relu": torch.relu, "softsign": torch.nn.functional.softsign,
    "elu": torch.nn.functional.elu,
}  # fmt: skip
RESIDUALS = {"half_output": lambda i, o: i + 0.5 * o, "product": lambda i, o: i * o}
NAMED = {"LSTMStateTuple": dynrnn.LSTMState, "Trio": Trio}
BOUNDS = {"float16": (0.0, 0.0), "float32": (2e-5, 2e-6), "float64": (1e-10, 1e-12)}  # relative, absolute
NOISE = 8  # how often TensorFlow's own distance from float64 a result may be off
REFUSED = {"edge_lens_float_truncated", "edge_lens_over_time", "edge_lens_negative"}  # mistakes here, by design
SCOPES = {"multi_rnn_cell", "basic_rnn_cell", "basic_lstm_cell", "lstm_cell", "gru_cell"}


def is_native(case):
    return "dynamic" in case["api"] and "state_is_tuple" not in json.dumps(case) and case["id"] not in REFUSED


CASES = {case["id"]: case for case in json.loads((GOLDEN / "cases.json").read_text())["cases"] if is_native(case)}


def make_cell(spec, weights, dtype):
    """Make a cell of the native face; `weights` maps TF1's names below the cell's own scope to tensors."""
    kwargs = dict(spec["kwargs"])
    kind = spec["class"]
    if kind.startswith("custom:"):
        named = {name.rpartition("/")[2]: value for name, value in weights.items()}
        return CUSTOM[kind.removeprefix("custom:")](named, **kwargs)
    if "activation" in kwargs:
        kwargs["activation"] = ACTIVATIONS[kwargs["activation"]]
    if kind == "DeviceWrapper":
        return make_cell(spec["cell"], weights, dtype)
    if kind == "MultiRNNCell":
        below = {name.partition("cell_")[2]: value for name, value in weights.items()}  # "0/lstm_cell/kernel"
        parts = [
            {name.partition("/")[2]: value for name, value in below.items() if name.startswith(f"{index}/")}
            for index in range(len(spec["cells"]))
        ]
        return dynrnn.MultiRNNCell(
            [make_cell(inner, part, dtype) for inner, part in zip(spec["cells"], parts, strict=True)]
        )
    if kind == "ResidualWrapper":
        residual = RESIDUALS.get(kwargs.get("residual_fn"))
        return dynrnn.ResidualWrapper(make_cell(spec["cell"], weights, dtype), residual_fn=residual)
    if kind == "DropoutWrapper":
        rates = {
            name.replace("keep_prob", "dropout"): 1 - kwargs[name] for name in kwargs if name.endswith("keep_prob")
        }
        return dynrnn.DropoutWrapper(make_cell(spec["cell"], weights, dtype), **rates)
    hidden = kwargs.pop("num_units")
    cell = getattr(dynrnn, "LSTMCell" if kind == "BasicLSTMCell" else kind)(hidden, dtype=dtype, **kwargs)
    parts = ([part for part in name.split("/") if part not in SCOPES] for name in weights)
    cell.load_state_dict(dict(zip((".".join(part) for part in parts), weights.values(), strict=True)))
    return cell


def below_scope(case, data, direction=None):
    """The case's variables by their names below `rnn` or below the direction's scope."""
    found = {}
    for meta in case["variables"]:
        name = meta["name"]
        marker = "rnn/" if direction is None else f"/{direction}/"
        if marker in name:
            found[name.split(marker, 1)[1]] = torch.from_numpy(data[meta["key"]])
    return found


def build(structure, data):
    if structure is None:
        return None
    if structure["type"] == "tensor":
        value = torch.from_numpy(data[structure["key"]])
        return value.requires_grad_() if value.is_floating_point() else value
    items = [build(item, data) for item in structure["items"]]
    if structure["type"] == "namedtuple":
        return NAMED[structure["name"]](*items)
    if structure["type"] == "dict":
        return dict(zip(structure["keys"], items, strict=True))
    return tuple(items) if structure["type"] == "tuple" else items


def keys_of(structure):
    if structure["type"] == "tensor":
        return [structure["key"]]
    return [key for item in structure["items"] for key in keys_of(item)]


def run(case, data):
    """Return arrays by key: outputs, states and gradients."""
    dtype = getattr(torch, case["dtype"])
    inputs, initial = build(case["inputs"], data), build(case["initial_state"], data)
    call = case["call"]
    options = {"time_major": call["time_major"], "swap_memory": call["swap_memory"]}
    if call["parallel_iterations"]:
        options["parallel_iterations"] = call["parallel_iterations"]
    if call["sequence_length"]:
        options["sequence_length"] = data[call["sequence_length"]["key"]]
    if case["api"] == "dynamic_rnn":
        cells = [make_cell(case["cell"], below_scope(case, data), dtype)]
        outputs, state = dynrnn.dynamic_rnn(cells[0], inputs, initial_state=initial, **options)
    else:
        cells = [make_cell(case[f"cell_{way}"], below_scope(case, data, way), dtype) for way in ("fw", "bw")]
        forward, backward = initial or (None, None)
        outputs, state = dynrnn.bidirectional_dynamic_rnn(
            *cells, inputs, initial_state_fw=forward, initial_state_bw=backward, **options
        )
    found = dict(zip(keys_of(case["outputs"]), _nest.flatten(outputs), strict=True))
    found |= zip(keys_of(case["state"]), _nest.flatten(state), strict=True)
    begun = [] if initial is None else _nest.flatten(initial)
    found |= gradients(case, data, found, cells, _nest.flatten(inputs), begun)
    return {key: value.detach().numpy() for key, value in found.items()}


def gradients(case, data, found, cells, inputs, initial):
    if case["gradients"] is None:
        return {}
    kind = getattr(torch, case["loss"]["dtype"])
    loss = sum(
        (found[t["tensor"]].to(kind) * torch.from_numpy(data[t["weight"]]).to(kind)).sum()
        for t in case["loss"]["terms"]
    )
    # the parameters in the order of the variables: found by their values, which are all different
    parameters = [parameter for cell in cells for parameter in cell.parameters()]
    ordered = [
        next(p for p in parameters if p.shape == tuple(meta["shape"]) and np.array_equal(p.detach(), data[meta["key"]]))
        for meta in case["variables"]
    ]
    keys = [key for group in ("variables", "inputs", "initial_state") for key in case["gradients"][group]]
    leaves = [*ordered, *inputs, *initial]
    pairs = [(key, leaf) for key, leaf in zip(keys, leaves, strict=True) if key is not None]
    grads = torch.autograd.grad(loss, [leaf for _, leaf in pairs], allow_unused=True, materialize_grads=True)
    return {"loss": loss} | dict(zip([key for key, _ in pairs], grads, strict=True))


def assert_close(key, found, expected, noise):
    assert found.shape == expected.shape, key
    if found.dtype.kind != "f":
        np.testing.assert_array_equal(found, expected, key)
        return
    relative, absolute = BOUNDS[found.dtype.name]
    kind = {"o": "outputs", "s": "state", "l": "loss", "g": "gradients"}[key[0]]
    np.testing.assert_allclose(
        found, expected, relative, max(absolute, NOISE * (noise or {}).get(kind, 0)), err_msg=key
    )


@pytest.mark.parametrize("name", CASES)
def test_values_and_gradients_are_tensorflows(name):
    case = CASES[name]
    with np.load(GOLDEN / case["file"], allow_pickle=False) as arrays:
        data = dict(arrays)
    found = run(case, data)
    for key, value in found.items():
        # where padding made TensorFlow's gradients NaN, ours are those of clean padding, which are finite
        if key in case["nonfinite"]:
            assert np.isfinite(value).all()
        else:
            assert_close(key, value, data[key], case["noise_vs_float64"])


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_lengths_that_tensorflow_bends_are_refused(name):
    case = next(c for c in json.loads((GOLDEN / "cases.json").read_text())["cases"] if c["id"] == name)
    with (
        np.load(GOLDEN / case["file"], allow_pickle=False) as arrays,
        pytest.raises((ValueError, TypeError), match="sequence_length"),
    ):
        run(case, dict(arrays))


def test_most_cases_are_native():
    assert len(CASES) >= 55
