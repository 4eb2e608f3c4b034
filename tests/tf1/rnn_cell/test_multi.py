"""`MultiRNNCell`: its states, its numbers, its names, and what happens if one cell object stands for several layers."""

import numpy as np
import pytest

import dynrnn.tf1 as tf

C = tf.nn.rnn_cell
X = [[1.0, 2.0]]


def run(fetches):
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return session.run(fetches)


def names():
    return [variable.op.name for variable in tf.global_variables()]


@pytest.mark.parametrize(("dtype", "tolerance"), [("float16", 2e-3), ("float32", 2e-6)])
def test_two_lstms_with_one_state_tensor_give_tensorflows_numbers(dtype, tolerance):
    with tf.variable_scope("root", initializer=tf.constant_initializer(0.5)):
        layers = [C.BasicLSTMCell(2, state_is_tuple=False) for _ in range(2)]
        cell = C.MultiRNNCell(layers, state_is_tuple=False)
        assert cell.dtype is None
        output, state = run(cell(tf.constant(X, dtype), tf.fill([1, 8], tf.constant(0.1, dtype))))
    assert cell.dtype == dtype
    np.testing.assert_allclose(output, [[0.294245] * 2], 0, tolerance)
    expected = [[0.859931] * 2 + [0.57927] * 2 + [0.476484] * 2 + [0.294245] * 2]
    np.testing.assert_allclose(state, expected, 0, tolerance)
    assert names() == [
        f"root/multi_rnn_cell/cell_{number}/basic_lstm_cell/{name}" for number in (0, 1) for name in ("kernel", "bias")
    ]
    assert cell.trainable_variables == tf.global_variables()


@pytest.mark.parametrize("form", [tuple, list])
def test_two_grus_with_a_tuple_state_give_tensorflows_numbers(form):
    with tf.variable_scope("root", initializer=tf.constant_initializer(0.5)):
        cell = C.MultiRNNCell([C.GRUCell(2), C.GRUCell(2)])
        state = form([tf.constant([[0.1, 0.1]]), tf.constant([[0.2, 0.3]])])
        output, new_state = run(cell(tf.constant(X), state))
    assert type(new_state) is tuple
    np.testing.assert_allclose(output, [[0.228146, 0.308471]], 0, 2e-6)
    np.testing.assert_allclose(new_state, [[[0.156736, 0.156736]], [[0.228146, 0.308471]]], 0, 2e-6)


def test_two_grus_with_one_state_tensor_give_tensorflows_numbers():
    with tf.variable_scope("root", initializer=tf.constant_initializer(0.5)):
        cell = C.MultiRNNCell([C.GRUCell(2), C.GRUCell(2)], state_is_tuple=False)
        assert cell.state_size == 4
        output, state = run(cell(tf.constant(X), tf.fill([1, 4], 0.1)))
    np.testing.assert_allclose(output, [[0.128882, 0.128882]], 0, 2e-6)
    np.testing.assert_allclose(state, [[0.156736, 0.156736, 0.128882, 0.128882]], 0, 2e-6)


@pytest.mark.parametrize("state", [lambda: tf.zeros([1, 5]), lambda: (tf.zeros([1, 2]),)], ids=["tensor", "too_few"])
def test_a_state_that_is_no_tuple_of_all_layers_is_refused(state):
    cell = C.MultiRNNCell([C.GRUCell(2), C.GRUCell(3)])
    with pytest.raises(ValueError, match="Expected state to be a tuple of length 2, but received"):
        cell(tf.constant(X), state())
    assert names() == []


def test_sizes_nest_as_the_cells_do():
    inner = C.MultiRNNCell([C.GRUCell(2), C.LSTMCell(3)])
    cell = C.MultiRNNCell([inner, C.BasicRNNCell(4)])
    assert cell.state_size == ((2, C.LSTMStateTuple(3, 3)), 4)
    assert (cell.output_size, inner.output_size) == (4, 3)
    zero = cell.zero_state(5, tf.float32)
    assert type(zero) is tuple and type(zero[0][1]) is C.LSTMStateTuple
    assert zero[1].get_shape().as_list() == [5, 4]


@pytest.mark.parametrize("loop", ["dynamic_rnn", "static_rnn", "by_hand"])
def test_one_cell_object_for_several_layers_of_one_width_shares_its_variables(loop):
    cell = C.MultiRNNCell([C.LSTMCell(2)] * 2)
    if loop == "by_hand":
        cell(tf.ones([3, 2]), cell.zero_state(3, tf.float32))
    elif loop == "static_rnn":
        tf.nn.static_rnn(cell, [tf.ones([3, 2])] * 2, dtype=tf.float32)
    else:
        tf.nn.dynamic_rnn(cell, tf.ones([3, 2, 2]), dtype=tf.float32)
    prefix = "" if loop == "by_hand" else "rnn/"
    assert names() == [f"{prefix}multi_rnn_cell/cell_0/lstm_cell/{name}" for name in ("kernel", "bias")]
    assert len(cell.trainable_weights) == 2


def test_one_cell_object_for_layers_of_unlike_widths_is_explained():
    cell = C.MultiRNNCell([C.LSTMCell(4)] * 2)
    with pytest.raises(ValueError, match=r"same cell object is used for layers 0 and 1.*equal, but are 8 and 6"):
        tf.nn.dynamic_rnn(cell, tf.ones([3, 2, 2]), dtype=tf.float32)
    assert names() == []


def test_layers_that_share_an_object_give_the_numbers_of_shared_weights():
    shared = C.BasicRNNCell(2)
    with tf.variable_scope("net", initializer=tf.constant_initializer(0.5)):
        _, found = tf.nn.dynamic_rnn(C.MultiRNNCell([shared, shared]), tf.ones([1, 3, 2]), dtype=tf.float32)
        own = C.MultiRNNCell([C.BasicRNNCell(2), C.BasicRNNCell(2)])
        _, expected = tf.nn.dynamic_rnn(own, tf.ones([1, 3, 2]), dtype=tf.float32, scope="own")
    found, expected = run([found, expected])
    np.testing.assert_array_equal(found, expected)


def test_what_is_no_list_of_cells_is_refused():
    with pytest.raises(TypeError, match="cells must be a list or tuple, but saw"):
        C.MultiRNNCell(C.GRUCell(3))
    with pytest.raises(ValueError, match="Must specify at least one cell"):
        C.MultiRNNCell([])
    with pytest.raises(TypeError, match=r"cells\[1\].*is not an RNNCell"):
        C.MultiRNNCell([C.GRUCell(3), "gru"])
    with pytest.raises(ValueError, match=r"(?i)some cells return tuples of states.*LSTMStateTuple\(c=3, h=3\)"):
        C.MultiRNNCell([C.LSTMCell(3)], state_is_tuple=False)


def test_the_scope_argument_stands_in_place_of_the_stacks_name():
    cell = C.MultiRNNCell([C.GRUCell(4), C.BasicRNNCell(3)])
    for _ in range(2):
        cell(tf.ones([2, 3]), cell.zero_state(2, tf.float32), scope="mine")
    assert [name for name in names() if "bias" not in name] == [
        *("mine/cell_0/gru_cell/gates/kernel", "mine/cell_0/gru_cell/candidate/kernel"),
        "mine/cell_1/basic_rnn_cell/kernel",
    ]


def test_a_failed_call_leaves_the_inner_cells_as_they_were():
    cells = [C.GRUCell(3), C.LSTMCell(3)]
    stack = C.MultiRNNCell(cells)
    bad = (tf.zeros([2, 3]), C.LSTMStateTuple(tf.zeros([2, 3]), tf.zeros([2, 4])))
    with pytest.raises(ValueError, match=r"LSTMCell: state.h.*2, 3.*2, 4"):
        tf.nn.dynamic_rnn(stack, tf.ones([2, 5, 3]), initial_state=bad, scope="bad")
    assert names() == [] == stack.variables and not any(cell.built for cell in cells)
    tf.nn.dynamic_rnn(stack, tf.ones([2, 5, 3]), dtype=tf.float32, scope="good")
    assert all(name.startswith("good/multi_rnn_cell/cell_") for name in names())
