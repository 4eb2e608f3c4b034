"""Weights in the layouts of others: TensorFlow 1's and ONNX's, from torch's and back. numpy only.

torch keeps `[gates * units, width]` with the gates i, f, g, o (LSTM) or r, z, n (GRU). TensorFlow 1 keeps
`[width, gates * units]`, input rows above recurrent ones, as i, j, f, o, or as r, u and apart from them c; ONNX has
torch's shape with i, o, f, c or z, r, h.
"""

from __future__ import annotations

import numpy as np

Weights = dict[str, np.ndarray]
_TF1_ORDER = {"lstm": (0, 2, 1, 3), "gru": (0, 1, 2), "rnn": (0,)}  # each its own inverse
_ONNX_ORDER = {"lstm": (0, 3, 1, 2), "gru": (1, 0, 2), "rnn": (0,)}


def _reorder(value: np.ndarray, order: tuple) -> np.ndarray:
    """Reorder the gates along the first axis."""
    blocks = np.split(value, len(order))
    return np.concatenate([blocks[index] for index in order])


def to_tf1(cell: str, weights: Weights) -> Weights:
    """Return TensorFlow 1's parameters, under its names below the cell's scope and in the order of its creation."""
    order = _TF1_ORDER[cell]
    kernel = _reorder(np.concatenate([weights["weight_ih"], weights["weight_hh"]], 1), order).T
    bias = _reorder(weights["bias_ih"] + weights["bias_hh"], order)
    if cell != "gru":
        return {"kernel": np.ascontiguousarray(kernel), "bias": bias}
    gates = 2 * weights["weight_hh"].shape[1]
    return {
        "gates/kernel": np.ascontiguousarray(kernel[:, :gates]),
        "gates/bias": bias[:gates],
        "candidate/kernel": np.ascontiguousarray(kernel[:, gates:]),
        "candidate/bias": bias[gates:],
    }


def from_tf1(cell: str, params: Weights, input_size: int) -> Weights:
    """Bring TensorFlow 1's parameters, or their gradients, back: `weight_ih`, `weight_hh` and one `bias_ih`."""
    if cell == "gru":
        parts = ("gates", "candidate")
        kernel = np.concatenate([params[f"{part}/kernel"] for part in parts], 1)
        bias = np.concatenate([params[f"{part}/bias"] for part in parts])
    else:
        kernel, bias = params["kernel"], params["bias"]
    rows = _reorder(kernel.T, _TF1_ORDER[cell])
    return {
        "weight_ih": rows[:, :input_size],
        "weight_hh": rows[:, input_size:],
        "bias_ih": _reorder(bias, _TF1_ORDER[cell]),
    }


def to_onnx(cell: str, weights: Weights) -> Weights:
    """Return the inputs W, R and B of ONNX's nodes for one direction."""
    order = _ONNX_ORDER[cell]
    biases = [_reorder(weights[name], order) for name in ("bias_ih", "bias_hh")]
    return {
        "W": _reorder(weights["weight_ih"], order)[None],
        "R": _reorder(weights["weight_hh"], order)[None],
        "B": np.concatenate(biases)[None],
    }
