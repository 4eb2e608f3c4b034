"""What lengths may be: every number type in every form, what is out of range, and the work that follows from them."""

import numpy as np
import pytest
from tf1.rnn.unrolling import LOOPS, OURS, USERS, WIDTH, assert_same_bits, draw, unroll
from torch.utils.flop_counter import FlopCounterMode

import dynrnn.tf1 as tf

LENGTHS = [3, 0, 5, 1]
TIME = 6
INPUTS = draw([4, TIME, WIDTH])
INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16"]
ONE_WAY = ("dynamic_rnn", "static_rnn")
CELLS = {"lstm": OURS["lstm"], "wide_output": USERS["wide_output"]}
EACH_CELL = pytest.mark.parametrize("cell", CELLS)


@EACH_CELL
@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize(
    "form", [list, tuple, lambda lengths: np.array(lengths, np.int64)], ids=["list", "tuple", "array"]
)
def test_law_6_lengths_may_be_a_list_a_tuple_or_an_array(cell, loop, form):
    """`unroll` feeds arrays to a placeholder; lists and tuples become constants."""
    expected = unroll(CELLS[cell], INPUTS, np.array(LENGTHS, np.int32), loop=loop)
    assert_same_bits(unroll(CELLS[cell], INPUTS, form(LENGTHS), loop=loop), expected)


@EACH_CELL
def test_law_6_lengths_may_be_a_constant_array(cell):
    with tf.Session() as session:
        _, state = tf.nn.dynamic_rnn(
            tf.nn.rnn_cell.GRUCell(2), INPUTS, sequence_length=np.array(LENGTHS, np.int64), dtype=tf.float64
        )
        session.run(tf.global_variables_initializer())
        assert not session.run(state)[1].any()


@EACH_CELL
@pytest.mark.parametrize("kind", INTEGERS)
@pytest.mark.parametrize("loop", ONE_WAY)
def test_law_6_lengths_may_have_any_integer_type(cell, kind, loop):
    expected = unroll(CELLS[cell], INPUTS, LENGTHS, loop=loop)
    assert_same_bits(unroll(CELLS[cell], INPUTS, np.array(LENGTHS, kind), loop=loop), expected)


@pytest.mark.parametrize("kind", ["int32", "int64"])
@pytest.mark.parametrize("loop", ["bidirectional_dynamic_rnn", "static_bidirectional_rnn"])
def test_law_6_bidirectional_lengths_are_int32_or_int64(kind, loop):
    expected = unroll(CELLS["lstm"], INPUTS, LENGTHS, loop=loop)
    assert_same_bits(unroll(CELLS["lstm"], INPUTS, np.array(LENGTHS, kind), loop=loop), expected)
    with pytest.raises(TypeError, match=r"int16.*int32, int64"):
        unroll(CELLS["lstm"], INPUTS, np.array(LENGTHS, np.int16), loop=loop)


@EACH_CELL
@pytest.mark.parametrize("kind", ["float16", "float32", "float64"])
def test_float_lengths_are_cut_off(cell, kind):
    expected = unroll(CELLS[cell], INPUTS, LENGTHS)
    assert_same_bits(unroll(CELLS[cell], INPUTS, np.array([3.75, 0.5, 5.0, 1.25], kind)), expected)


@EACH_CELL
def test_bool_lengths_are_zero_and_one(cell):
    expected = unroll(CELLS[cell], INPUTS, [1, 0, 0, 1])
    assert_same_bits(unroll(CELLS[cell], INPUTS, np.array([True, False, False, True])), expected)


@EACH_CELL
@pytest.mark.parametrize("loop", ONE_WAY)
def test_lengths_out_of_range_act_as_the_nearest_length_in_it(cell, loop):
    expected = unroll(CELLS[cell], INPUTS, [TIME, 0, TIME, 1], loop=loop)
    assert_same_bits(unroll(CELLS[cell], INPUTS, [TIME + 1, -2, 1000, 1], loop=loop), expected)


@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize("time_major", [False, True], ids=["batch_major", "time_major"])
@pytest.mark.parametrize(("bad", "says"), [(7, "> input.dims({})"), (-1, "< 0")])
def test_bidirectional_lengths_out_of_range_are_refused_in_run(cell, time_major, bad, says):
    lengths = np.array([1, bad, 2, 3], np.int32)
    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        unroll(CELLS[cell], INPUTS, lengths, loop="bidirectional_dynamic_rnn", time_major=time_major)
    text = str(caught.value)
    assert "seq_lens(1) " + says.format(int(not time_major)) in text
    assert str(bad) in text


@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize(
    ("lengths", "shape"), [(3, r"\(\)"), ([[3], [0], [5], [1]], r"\(4, 1\)"), (np.ones([4, 6], np.int32), r"\(4, 6\)")]
)
def test_lengths_that_are_no_vector_are_refused_while_building(loop, lengths, shape):
    with pytest.raises(ValueError, match=f"sequence_length must be a vector of length batch_size.*{shape}.*4"):
        unroll(CELLS["lstm"], INPUTS, lengths, loop=loop)


@EACH_CELL
@pytest.mark.parametrize("fed", [3, 5])
def test_fed_lengths_for_another_batch_are_refused_in_run(cell, fed, fresh_graph):
    inputs = tf.placeholder(tf.float32, [None, TIME, WIDTH])
    lengths = tf.placeholder(tf.int32, [None])
    outputs, _ = tf.nn.dynamic_rnn(CELLS[cell](), inputs, sequence_length=lengths, dtype=tf.float32)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        with pytest.raises(tf.errors.InvalidArgumentError, match=rf"Expected shape for Tensor .*\[4\].*\[{fed}\]"):
            session.run(outputs, {inputs: INPUTS, lengths: [1] * fed})


def test_lengths_of_unknown_rank_are_taken(fresh_graph):
    lengths = tf.placeholder(tf.int32)
    outputs, _ = tf.nn.dynamic_rnn(CELLS["lstm"](), INPUTS, sequence_length=lengths, dtype=tf.float64)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert not session.run(outputs, {lengths: [0, 0, 0, 0]}).any()
        with pytest.raises(tf.errors.InvalidArgumentError, match="Expected shape"):
            session.run(outputs, {lengths: [[1], [1], [1], [1]]})


@pytest.mark.parametrize("cell", ["basic_rnn", "gru", "lstm", "lstm-everything", "stack", "residual"])
@pytest.mark.parametrize("loop", ["dynamic_rnn", "static_rnn", "bidirectional_dynamic_rnn"])
def test_law_4_work_follows_the_sum_of_lengths_forward_and_backward(cell, loop):
    def work(lengths):
        with FlopCounterMode(display=False) as counter:
            unroll(OURS[cell], INPUTS, lengths, loop=loop)
        return counter.get_total_flops()

    full = work([TIME] * 4)
    assert 0 < work(LENGTHS) <= full * sum(LENGTHS) / (4 * TIME)
    assert work([0] * 4) == 0
    assert work([1, 0, 0, 0]) * 4 * TIME <= full


@pytest.mark.parametrize("cell", ["wide_output", "namedtuple_state"])
def test_law_4_a_users_cell_runs_up_to_the_longest_row(cell):
    def work(lengths):
        with FlopCounterMode(display=False) as counter:
            unroll(USERS[cell], INPUTS, lengths)
        return counter.get_total_flops()

    assert work([2, 0, 1, 1]) == work([2] * 4) < work([3, 0, 0, 0]) < work([TIME] * 4)
    assert work([0] * 4) == 0
