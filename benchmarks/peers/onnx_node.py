"""ONNX Runtime as a peer: one LSTM, GRU or RNN node with sequence_lens. Inference only."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

from benchmarks.layouts import to_onnx
from benchmarks.peers import Prepared
from benchmarks.problem import Problem

_OPSET = 14
_STATES = {"lstm": ("Y_h", "Y_c"), "gru": ("Y_h",), "rnn": ("Y_h",)}


def node(problem: Problem, mode: str, threads: int) -> Prepared:
    """A session of one node; its weights are constants, which it lays out for itself before the first call."""
    if mode != "inference":
        raise ValueError(f"onnxruntime: only inference can be measured, got {mode!r}")
    inputs, lengths, weights = problem.arrays()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    model = _model(problem, to_onnx(problem.cell, weights)).SerializeToString()
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    feeds = {"X": inputs, "sequence_lens": lengths.astype(np.int32)}
    return Prepared(lambda: session.run(None, feeds), lambda results: results[0][:, 0])


def _model(problem: Problem, weights: dict[str, np.ndarray]) -> onnx.ModelProto:
    attributes: dict[str, Any] = {"hidden_size": problem.units}
    if problem.cell == "gru":
        attributes["linear_before_reset"] = 1  # as torch's
    outputs = ["Y", *_STATES[problem.cell]]
    layer = helper.make_node(problem.cell.upper(), ["X", "W", "R", "B", "sequence_lens"], outputs, **attributes)
    x = helper.make_tensor_value_info("X", TensorProto.FLOAT, [problem.time, problem.batch, problem.input_size])
    lengths = helper.make_tensor_value_info("sequence_lens", TensorProto.INT32, [problem.batch])
    results = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in outputs]
    constants = [numpy_helper.from_array(np.ascontiguousarray(value), name) for name, value in weights.items()]
    graph = helper.make_graph([layer], "layer", [x, lengths], results, constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", _OPSET)], ir_version=8)
