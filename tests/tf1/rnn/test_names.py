"""The names by which programs fetch the results of loops (they are real TensorFlow's)."""

import numpy as np
import pytest

import dynrnn.tf1 as tf

CELLS = {
    "basic_rnn": lambda: tf.nn.rnn_cell.BasicRNNCell(2),
    "gru": lambda: tf.nn.rnn_cell.GRUCell(2),
    "lstm": lambda: tf.nn.rnn_cell.LSTMCell(2, num_proj=1),
    "multi": lambda: tf.nn.rnn_cell.MultiRNNCell([tf.nn.rnn_cell.BasicLSTMCell(2), tf.nn.rnn_cell.GRUCell(2)]),
}
STATES = {"basic_rnn": 1, "gru": 1, "lstm": 2, "multi": 3}


def names(structure):
    return [tensor.name for tensor in tf.contrib.framework.nest.flatten(structure)]


class Pair(tf.nn.rnn_cell.RNNCell):
    """A cell with two outputs: its inputs."""

    state_size = (2, 2)
    output_size = (3, 1)

    def call(self, inputs, state):
        return inputs, state


@pytest.mark.parametrize("lengths", [None, [2, 1]])
@pytest.mark.parametrize(
    ("time_major", "outputs"), [(False, "transpose_1:0"), (True, "TensorArrayStack/TensorArrayGatherV3:0")]
)
@pytest.mark.parametrize("cell", CELLS)
def test_dynamic_rnn(cell, time_major, outputs, lengths):
    x = tf.placeholder(tf.float32, [None, None, 3])
    got = tf.nn.dynamic_rnn(CELLS[cell](), x, lengths, dtype=tf.float32, time_major=time_major)
    states = [f"rnn/while/Exit_{3 + k}:0" for k in range(STATES[cell])]
    assert names(got) == [f"rnn/{outputs}", *states]
    again = tf.nn.dynamic_rnn(CELLS[cell](), x, lengths, dtype=tf.float32, time_major=time_major, scope="enc")
    assert names(again)[0] == f"enc/{outputs}"


def test_dynamic_rnn_of_nests():
    x = (tf.placeholder(tf.float32, [None, None, 3]), tf.placeholder(tf.float32, [None, None, 1]))
    got = tf.nn.dynamic_rnn(Pair(), x, dtype=tf.float32)
    assert names(got) == ["rnn/transpose_2:0", "rnn/transpose_3:0", "rnn/while/Exit_4:0", "rnn/while/Exit_5:0"]
    got = tf.nn.dynamic_rnn(Pair(), x, dtype=tf.float32, time_major=True)
    assert names(got)[:2] == [
        "rnn_1/TensorArrayStack/TensorArrayGatherV3:0",
        "rnn_1/TensorArrayStack_1/TensorArrayGatherV3:0",
    ]


@pytest.mark.parametrize(("lengths", "reversed_by"), [(None, "ReverseV2"), ([2, 1], "ReverseSequence")])
@pytest.mark.parametrize(
    ("time_major", "last"), [(False, "transpose_1"), (True, "TensorArrayStack/TensorArrayGatherV3")]
)
def test_bidirectional_dynamic_rnn(time_major, last, lengths, reversed_by):
    x = tf.placeholder(tf.float32, [None, None, 3])
    for scope, number in (("bidirectional_rnn", ""), ("b", "_1")):
        fw, bw = CELLS["gru"](), CELLS["lstm"]()
        got = tf.nn.bidirectional_dynamic_rnn(
            fw, bw, x, lengths, dtype=tf.float32, time_major=time_major, scope=None if scope != "b" else scope
        )
        assert names(got) == [
            f"{scope}/fw/fw/{last}:0",
            f"{reversed_by}{number}:0",
            f"{scope}/fw/fw/while/Exit_3:0",
            f"{scope}/bw/bw/while/Exit_3:0",
            f"{scope}/bw/bw/while/Exit_4:0",
        ]


def test_results_are_fetched_by_name(fresh_graph):
    x = tf.placeholder(tf.float32, [None, None, 3], name="x")
    outputs, state = tf.nn.dynamic_rnn(CELLS["gru"](), x, dtype=tf.float32)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        feed = {"x:0": np.ones([2, 4, 3])}
        by_name = sess.run(["rnn/transpose_1:0", "rnn/while/Exit_3:0"], feed)
        for got, wanted in zip(by_name, sess.run([outputs, state], feed), strict=True):
            np.testing.assert_array_equal(got, wanted)
