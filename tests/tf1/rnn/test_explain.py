"""`explain_dispatch` over a graph: each cell below a fetch, the way that it is run, and why."""

import pytest

import dynrnn.tf1 as tf
from dynrnn.kernels import isas, missing
from dynrnn.tf1.rnn.explain import explain_dispatch

C = tf.nn.rnn_cell
INPUTS = [[[0.0] * 4] * 5] * 3
FUSED = f"through the fused kernels ({isas()[0] if isas() else ''}), because there is one for"
needs_kernels = pytest.mark.skipif(missing() is not None, reason="there are no kernels")


class Own(C.RNNCell):
    state_size = output_size = 4

    def call(self, inputs, state):
        return inputs, state


@needs_kernels
@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: C.LSTMCell(2), f"rnn/lstm_cell/lstm_sequence runs {FUSED} lstm in float32 on the CPU."),
        (
            lambda: C.LSTMCell(2, activation=lambda x: tf.tanh(2 * x)),
            "rnn/lstm_cell/lstm_sequence runs through the reference loop, because its activation is a function of your "
            "own.",
        ),
        (
            lambda: C.GRUCell(2, activation=tf.nn.softsign),
            "rnn/gru_cell/gru_sequence runs through the reference loop, because no kernel of gru has the activation "
            "softsign.",
        ),
        (
            lambda: C.MultiRNNCell([C.DropoutWrapper(C.ResidualWrapper(C.GRUCell(4)), 0.5), C.BasicRNNCell(2)]),
            f"rnn/multi_rnn_cell/cell_0/gru_cell/gru_sequence runs {FUSED} gru in float32 on the CPU; "
            f"rnn/multi_rnn_cell/cell_1/basic_rnn_cell/basic_rnn_sequence runs {FUSED} basic_rnn in float32 on the "
            "CPU.",
        ),
        (
            Own,
            "rnn/while_1 runs step by step, because the cell is one of your own, or a wrapper changes it at every "
            "step.",
        ),
    ],
)
@pytest.mark.parametrize("loop", ["dynamic", "static"])
def test_it_says_the_way_and_why(make, sentence, loop, fresh_graph):
    if loop == "dynamic":
        outputs, state = tf.nn.dynamic_rnn(make(), tf.constant(INPUTS), dtype=tf.float32)
    elif make is Own:
        pytest.skip("an unrolled loop has the steps of a cell of one's own as nodes of its own")
    else:
        outputs, state = tf.nn.static_rnn(make(), tf.unstack(tf.constant(INPUTS), axis=1), dtype=tf.float32)
        outputs = outputs[-1]
    leaf = state
    while isinstance(leaf, tuple):
        leaf = leaf[-1]
    for fetch in (outputs, leaf, leaf.op):
        assert explain_dispatch(fetch) == sentence


def test_a_single_call_of_a_cell_is_a_step(fresh_graph):
    cell = C.GRUCell(2)
    output, _ = cell(tf.ones([3, 4]), cell.zero_state(3, tf.float32))
    assert explain_dispatch(output).endswith("gru_step runs as a single step, by torch's operators.")


def test_what_depends_on_no_cell_and_what_is_no_fetch_are_refused(fresh_graph):
    with pytest.raises(ValueError, match="ones depends on no cell"):
        explain_dispatch(tf.ones([2]))
    with pytest.raises(TypeError, match="fetch must be a tensor or an operation, got int"):
        explain_dispatch(3)
