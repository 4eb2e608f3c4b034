"""One TensorFlow 1 program with `tf.nn.dynamic_rnn`, run by TensorFlow and by dynrnn's TF1 face."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from benchmarks.layouts import from_tf1, to_tf1
from benchmarks.peers import Prepared
from benchmarks.problem import Problem


def on_dynrnn(problem: Problem, mode: str, threads: int) -> Prepared:
    return _program(importlib.import_module("dynrnn.tf1"), problem, mode, threads)


def on_tensorflow(problem: Problem, mode: str, threads: int) -> Prepared:
    tf = importlib.import_module("tensorflow.compat.v1")
    tf.disable_v2_behavior()
    tf.logging.set_verbosity(tf.logging.ERROR)
    return _program(tf, problem, mode, threads)


def _program(tf: Any, problem: Problem, mode: str, threads: int) -> Prepared:
    """Feed the batch, fetch outputs, final state and, in training, gradients.

    Time comes first, which saves TensorFlow a transpose.
    """
    inputs, lengths, weights = problem.arrays()
    with tf.Graph().as_default():
        x, rows = tf.placeholder(tf.float32, inputs.shape), tf.placeholder(tf.int64, lengths.shape)
        outputs, state = tf.nn.dynamic_rnn(
            _cell(tf, problem), x, sequence_length=rows, dtype=tf.float32, time_major=True, scope="layer"
        )
        variables = tf.trainable_variables()
        grads = tf.gradients(tf.reduce_sum(tf.square(outputs)), variables) if mode == "training" else []
        session = tf.Session(
            config=tf.ConfigProto(intra_op_parallelism_threads=threads, inter_op_parallelism_threads=threads)
        )
        params = to_tf1(problem.cell, weights)
        assert [tuple(v.shape.as_list()) for v in variables] == [value.shape for value in params.values()]
        for variable, value in zip(variables, params.values(), strict=True):
            variable.load(value, session)
    run = session.make_callable([outputs, state, *grads], feed_list=[x, rows])

    def gradients(results: list[Any]) -> dict[str, np.ndarray]:
        return from_tf1(problem.cell, dict(zip(params, results[2:], strict=True)), problem.input_size)

    return Prepared(lambda: run(inputs, lengths), lambda results: results[0], gradients if grads else None)


def _cell(tf: Any, problem: Problem) -> Any:
    if problem.cell == "lstm":
        return tf.nn.rnn_cell.LSTMCell(problem.units, forget_bias=0.0)
    cells = {"gru": tf.nn.rnn_cell.GRUCell, "rnn": tf.nn.rnn_cell.BasicRNNCell}
    return cells[problem.cell](problem.units)
