"""The basic cells called by hand: their numbers are TensorFlow's, and so are the rules of their states and dtypes."""

import numpy as np
import pytest

import dynrnn.tf1 as tf

C = tf.nn.rnn_cell
X = [[1.0, 2.0]]
PAIR = ([[0.1, 0.3]], [[0.2, -0.4]])
TUPLE = C.LSTMStateTuple(*PAIR)
GRU_NAMES = [f"gru_cell/{part}/{name}" for part in ("gates", "candidate") for name in ("kernel", "bias")]
PEEPHOLES = ["w_f_diag", "w_i_diag", "w_o_diag"]

# name: cell, inputs, state, then TensorFlow's output, new state and variables, with every initializer 0.5
KNOWN = {
    "basic_rnn": (
        *(lambda: C.BasicRNNCell(2), X, [[0.1, 0.3]]),
        *([[0.935409, 0.935409]], [[0.935409, 0.935409]], ["basic_rnn_cell/kernel", "basic_rnn_cell/bias"]),
    ),
    "gru": (
        *(lambda: C.GRUCell(2), X, [[0.1, 0.3]]),
        *([[0.152508, 0.339914]], [[0.152508, 0.339914]], GRU_NAMES),
    ),
    "gru of another width": (
        *(lambda: C.GRUCell(2), [[1.0, 2.0, 3.0]], [[0.1, 0.3]]),
        *([[0.113247, 0.310293]], [[0.113247, 0.310293]], GRU_NAMES),
    ),
    "lstm": (
        *(lambda: C.LSTMCell(2), X, TUPLE),
        *([[0.53353, 0.605918]], ([[0.801898, 0.985263]], [[0.53353, 0.605918]])),
        ["lstm_cell/kernel", "lstm_cell/bias"],
    ),
    "lstm, peepholes and projection": (
        *(lambda: C.LSTMCell(2, use_peepholes=True, num_proj=3), X, C.LSTMStateTuple(PAIR[0], [[0.2, -0.4, 0.5]])),
        *([[0.670774] * 3], ([[0.879084, 1.079901]], [[0.670774] * 3])),
        [f"lstm_cell/{name}" for name in ("kernel", "bias", *PEEPHOLES, "projection/kernel")],
    ),
    "lstm, no forget bias": (
        *(lambda: C.BasicLSTMCell(2, forget_bias=0.0), X, TUPLE),
        *([[0.528362, 0.593758]], ([[0.790433, 0.95087]], [[0.528362, 0.593758]])),
        ["basic_lstm_cell/kernel", "basic_lstm_cell/bias"],
    ),
    "lstm, clipped to zero": (
        *(lambda: C.LSTMCell(2, use_peepholes=True, cell_clip=0.0), X, TUPLE),
        *([[0.0, 0.0]], ([[0.0, 0.0]], [[0.0, 0.0]])),
        [f"lstm_cell/{name}" for name in ("kernel", "bias", *PEEPHOLES)],
    ),
    "lstm, one state": (
        *(lambda: C.BasicLSTMCell(2, state_is_tuple=False), X, [[0.1, 0.3, 0.2, -0.4]]),
        *([[0.53353, 0.605918]], [[0.801898, 0.985263, 0.53353, 0.605918]]),
        ["basic_lstm_cell/kernel", "basic_lstm_cell/bias"],
    ),
    "gru, relu and initializers": (
        lambda: C.GRUCell(
            2, tf.nn.relu, None, tf.constant_initializer(0.1), bias_initializer=tf.constant_initializer(0.2)
        ),
        *(X, [[0.1, 0.3]]),
        *([[0.25658, 0.382943]], [[0.25658, 0.382943]], GRU_NAMES),
    ),
}
OWN = {"basic_rnn": C.BasicRNNCell, "gru": C.GRUCell, "lstm": C.LSTMCell, "basic_lstm": C.BasicLSTMCell}
EACH_CLASS = pytest.mark.parametrize("cls", OWN.values(), ids=OWN)


def constants(state, dtype):
    if isinstance(state, C.LSTMStateTuple):
        return C.LSTMStateTuple(*[tf.constant(part, dtype) for part in state])
    return tf.constant(state, dtype)


def run(fetches, feeds=None):
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return session.run(fetches, feeds)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("name", KNOWN)
def test_a_step_gives_tensorflows_numbers(name, dtype):
    make, inputs, state, output, new_state, variables = KNOWN[name]
    with tf.variable_scope("root", initializer=tf.constant_initializer(0.5)):
        cell = make()
        assert cell.dtype is None
        found = cell(tf.constant(inputs, dtype), constants(state, dtype))
    assert cell.dtype == dtype
    assert [variable.op.name for variable in tf.global_variables()] == [f"root/{name}" for name in variables]
    assert {variable.dtype.base_dtype.name for variable in cell.variables} == {dtype}
    found_output, found_state = run(found)
    assert found_output.dtype == dtype
    tolerance = 2e-3 if dtype == "float16" else 2e-6
    np.testing.assert_allclose(found_output, output, 0, tolerance)
    for one, other in zip(found_state, new_state, strict=True):
        np.testing.assert_allclose(one, other, 0, tolerance)
    assert isinstance(found_state, C.LSTMStateTuple) == isinstance(state, C.LSTMStateTuple)


@EACH_CLASS
def test_steps_called_by_hand_are_the_loop(cls):
    cell, inputs = cls(3), tf.constant(np.random.default_rng(0).normal(size=[2, 4, 2]).astype(np.float32))
    with tf.variable_scope("rnn"):
        state, outputs = cell.zero_state(2, tf.float32), []
        for step in tf.unstack(inputs, axis=1):
            output, state = cell(step, state)
            outputs.append(output)
    looped, final = tf.nn.dynamic_rnn(cell, inputs, dtype=tf.float32)
    assert len(tf.global_variables()) == len(cell.variables)
    found, expected, found_state, expected_state = run([tf.stack(outputs, 1), looped, state, final])
    np.testing.assert_allclose(found, expected, 0, 1e-6)
    np.testing.assert_allclose(found_state, expected_state, 0, 1e-6)


@pytest.mark.parametrize("form", [tuple, list])
def test_a_plain_tuple_is_a_state_for_a_step_called_by_hand(form):
    cell = C.LSTMCell(2)
    _, state = cell(tf.ones([1, 2]), form([tf.zeros([1, 2]), tf.zeros([1, 2])]))
    assert type(state) is C.LSTMStateTuple
    assert state.dtype == tf.float32


def test_the_parts_of_a_state_tuple_must_have_one_dtype():
    with pytest.raises(TypeError, match=r"Inconsistent internal state: .*float32.* vs .*float64"):
        _ = C.LSTMStateTuple(tf.zeros([1]), tf.zeros([1], tf.float64)).dtype


def test_a_projection_clip_without_a_projection_is_ignored():
    cell = C.LSTMCell(2, proj_clip=1e-3)
    output, _ = cell(tf.ones([1, 2]), cell.zero_state(1, tf.float32))
    assert np.abs(run(output)).max() > 1e-3


def test_sizes_follow_the_arguments():
    assert C.LSTMCell(4, num_proj=3).state_size == C.LSTMStateTuple(c=4, h=3)
    assert C.LSTMCell(4, num_proj=3).output_size == 3
    assert C.LSTMCell(4, num_proj=3, state_is_tuple=False).state_size == 7
    assert C.LSTMCell(4, num_proj=0).output_size == 4
    assert (C.GRUCell(4).state_size, C.GRUCell(4).output_size) == (4, 4)
    assert C.BasicLSTMCell(4, state_is_tuple=False).state_size == 8


@pytest.mark.parametrize("peepholes", [False, True])
def test_shards_cut_the_kernels_into_parts_that_give_the_same_numbers(peepholes):
    with tf.variable_scope("net", initializer=tf.constant_initializer(0.3)):
        plain = C.LSTMCell(4, peepholes, num_proj=2, name="plain")
        cut = C.LSTMCell(4, peepholes, num_proj=2, num_unit_shards=2, num_proj_shards=2, name="cut")
        start = plain.zero_state(2, tf.float32)
        steps = [cell(tf.ones([2, 3]), start) for cell in (plain, cut)]
    names = [variable.op.name for variable in cut.variables]
    assert [name for name in names if "kernel" in name] == [
        *("net/cut/kernel/part_0", "net/cut/kernel/part_1"),
        *("net/cut/projection/kernel/part_0", "net/cut/projection/kernel/part_1"),
    ]
    one, other = run(steps)
    np.testing.assert_allclose(one[0], other[0], 0, 1e-6)


@EACH_CLASS
def test_a_cell_that_is_not_trainable_makes_no_trainable_variable(cls):
    cell = cls(2, trainable=False)
    cell(tf.ones([1, 2]), cell.zero_state(1, tf.float32))
    assert tf.trainable_variables() == [] == cell.trainable_weights
    assert len(cell.non_trainable_weights) == len(tf.global_variables()) > 0


@EACH_CLASS
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_build_makes_variables_of_the_cells_own_dtype(cls, dtype):
    cell = cls(3, dtype=dtype)
    cell.build(tf.TensorShape([None, 2]))
    assert cell.built
    assert {variable.dtype.base_dtype.name for variable in tf.global_variables()} == {dtype}
    output, _ = cell(tf.ones([4, 2], dtype), cell.zero_state(4, dtype))
    assert output.get_shape().as_list() == [4, 3]
    assert run(output).dtype == dtype


BAD_STEPS = {
    "other batch": (lambda: C.GRUCell(3)(tf.zeros([2, 4]), tf.zeros([3, 3])), ValueError, "equal.*2, 3.*3, 3"),
    "other width": (lambda: C.GRUCell(3)(tf.zeros([2, 4]), tf.zeros([2, 5])), ValueError, "equal.*2, 3.*2, 5"),
    "one tensor for two": (lambda: C.LSTMCell(3)(tf.zeros([2, 4]), tf.zeros([2, 6])), TypeError, "LSTMStateTuple"),
    "three for two": (lambda: C.LSTMCell(3)(tf.zeros([2, 4]), [tf.zeros([2, 3])] * 3), ValueError, "got 3"),
    "one state too wide": (
        lambda: C.LSTMCell(3, state_is_tuple=False)(tf.zeros([2, 4]), tf.zeros([2, 7])),
        *(ValueError, r"\[batch, 6\].*\(2, 7\)"),
    ),
    "integers": (
        lambda: C.GRUCell(3)(tf.zeros([2, 4], tf.int32), tf.zeros([2, 3], tf.int32)),
        *(ValueError, "only supports floating point inputs.*int32"),
    ),
    "two dtypes": (
        lambda: C.GRUCell(3)(tf.zeros([2, 4], tf.float64), tf.zeros([2, 3])),
        *(TypeError, "match.*float64.*float32"),
    ),
    "the cell's other dtype": (
        lambda: C.GRUCell(3, dtype=tf.float64)(tf.zeros([2, 4]), tf.zeros([2, 3])),
        *(TypeError, "match.*float32.*float64"),
    ),
    "rank 3": (
        lambda: C.LSTMCell(3)(tf.zeros([2, 3, 4]), C.LSTMCell(3).zero_state(2, tf.float32)),
        *(ValueError, "lstm_cell.*expected ndim=2, found ndim=3"),
    ),
    "unknown depth": (
        lambda: C.GRUCell(3)(tf.placeholder(tf.float32, [2, None]), tf.zeros([2, 3])),
        *(ValueError, r"inputs.shape\[-1\] to be known"),
    ),
}


@pytest.mark.parametrize("name", BAD_STEPS)
def test_a_bad_step_is_refused_and_leaves_nothing_behind(name, fresh_graph):
    call, error, says = BAD_STEPS[name]
    with pytest.raises(error, match=says):
        call()
    assert tf.global_variables() == []


@EACH_CLASS
def test_a_cell_is_fit_for_a_good_call_after_a_bad_one(cls, fresh_graph):
    cell, inputs, sequence = cls(3), tf.ones([2, 4]), tf.ones([2, 3, 4])
    bad, good = cell.zero_state(5, tf.float32), cell.zero_state(2, tf.float32)
    before = fresh_graph.get_operations()
    with tf.variable_scope("wrong"), pytest.raises(ValueError):
        cell(inputs, bad)
    with tf.variable_scope("wrong"), pytest.raises(ValueError):
        tf.nn.dynamic_rnn(cell, sequence, initial_state=bad)
    assert fresh_graph.get_operations() == before
    assert not cell.built and cell.dtype is None and cell.variables == []
    with tf.variable_scope("right"):
        output, _ = cell(inputs, good)
    assert {variable.op.name.split("/")[0] for variable in tf.global_variables()} == {"right"}
    assert run(output).shape == (2, 3)


@pytest.mark.parametrize("bound", [True, 1, np.float32(1), np.array([1.0])], ids=repr)
def test_a_number_may_come_in_each_form_that_tensorflow_takes(bound, fresh_graph):
    with tf.variable_scope("cells", initializer=tf.constant_initializer(0.5)):
        cell = C.LSTMCell(2, cell_clip=bound, num_proj=2, proj_clip=bound, forget_bias=bound)
        _, state = tf.nn.dynamic_rnn(cell, tf.constant([[[1.0, 2.0]] * 3]), dtype=tf.float32)
    c, h = run(state)
    assert np.array_equal(c, [[1.0, 1.0]])
    np.testing.assert_allclose(h, [[0.683685, 0.683685]], rtol=0, atol=2e-6)


@pytest.mark.parametrize(
    ("make", "error", "says"),
    [
        (lambda: C.LSTMCell(2, cell_clip=-0.5), ValueError, "LSTMCell: cell_clip must be at least 0, got -0.5"),
        (
            lambda: C.LSTMCell(2, num_proj=2, proj_clip=np.nan),
            ValueError,
            "LSTMCell: proj_clip must be at least 0, got",
        ),
        (lambda: C.LSTMCell(2, cell_clip="a"), TypeError, "LSTMCell: cell_clip must be a number, got 'a'"),
        (lambda: C.BasicLSTMCell(2, forget_bias="1"), TypeError, "BasicLSTMCell: forget_bias must be a number, got"),
        (lambda: C.GRUCell(0), ValueError, "GRUCell: num_units must be at least 1, got 0"),
    ],
)
def test_an_option_without_a_meaning_is_refused_when_the_cell_is_made(make, error, says):
    with pytest.raises(error) as caught:
        make()
    assert says in str(caught.value)


@pytest.mark.parametrize("size", [3, 3.0, np.int64(3), np.float32(3), tf.TensorShape([3])[0]], ids=repr)
def test_a_width_may_be_a_whole_number_of_any_type(size):
    assert tf.nn.rnn_cell.GRUCell(size).state_size == 3
    assert tf.nn.rnn_cell.LSTMCell(5, num_proj=size).output_size == 3


@pytest.mark.parametrize("size", [3.5, np.float32(2.5), "3", [3], float("nan")], ids=repr)
def test_a_width_that_is_no_whole_number_is_refused(size):
    with pytest.raises(TypeError, match="num_units must be an int"):
        tf.nn.rnn_cell.GRUCell(size)
    with pytest.raises(TypeError, match="num_proj must be an int"):
        tf.nn.rnn_cell.LSTMCell(5, num_proj=size)
