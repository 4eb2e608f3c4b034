import warnings

import numpy as np
import pytest

import dynrnn.tf1 as tf
from dynrnn.tf1.export import NAMES
from dynrnn.tf1.legacy import names, notice

X = np.arange(6.0).reshape(2, 3)
STEPS = [np.ones([2, 3], np.float32)] * 2


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default():
        yield


@pytest.fixture(autouse=True)
def nothing_told(monkeypatch):
    """Every test hears each warning again."""
    monkeypatch.setattr(notice, "_told", set())


def value(fetches):
    return tf.Session().run(fetches)


@pytest.mark.parametrize(("old", "today"), names.TODAY.items())
def test_every_old_name_has_a_name_of_today(old, today):
    assert old in NAMES and today in NAMES


@pytest.mark.parametrize(
    ("old", "args", "expected"),
    [
        ("pack", ([1, 2],), [1, 2]),
        ("unpack", ([1, 2],), [1, 2]),
        ("mul", (2, 3), 6),
        ("sub", (2, 3), -1),
        ("neg", (2,), -2),
        ("inv", (4.0,), 0.25),
        ("complex_abs", (3 + 4j,), 5.0),
        ("listdiff", ([1, 2, 3], [2]), ([1, 3], [0, 2])),
        ("concat_v2", ([[1], [2]], 0), [1, 2]),
        ("batch_matmul", (X[None], X[None], False, True), (X @ X.T)[None]),
        ("batch_matrix_transpose", (X,), X.T),
        ("select", ([True, False], [1, 2], [3, 4]), [1, 4]),
    ],
)
def test_an_old_name_does_what_todays_does_and_names_it(old, args, expected):
    today = {**names.TODAY, **names.CHANGED}[old]
    with pytest.warns(notice.LegacySpellingWarning, match=rf"^tf\.{old} is TensorFlow 0\.x's spelling of tf\.{today}$"):
        made = getattr(tf, old)(*args)
    for found, wanted in zip(np.atleast_1d(value(made)), np.atleast_1d(expected), strict=True):
        np.testing.assert_array_equal(found, wanted)


def test_old_loops_are_the_static_ones_in_their_own_scopes():
    cell = tf.nn.rnn_cell.GRUCell
    with pytest.warns(notice.LegacySpellingWarning, match="nn.static_rnn"):
        outputs, state = tf.nn.rnn(cell(4), STEPS, dtype=tf.float32)
    with pytest.warns(notice.LegacySpellingWarning, match="nn.static_bidirectional_rnn"):
        both, _, _ = tf.nn.bidirectional_rnn(cell(4), cell(4), STEPS, dtype=tf.float32)
    assert [t.shape.as_list() for t in (outputs[0], state, both[0])] == [[2, 4], [2, 4], [2, 8]]
    scopes = {variable.name.split("/")[0] for variable in tf.global_variables()}
    assert scopes == {"RNN", "BiRNN"}


def test_an_old_loop_takes_its_state_from_a_saver():
    class Saver:
        def __init__(self):
            self.saved = {}

        def state(self, name):
            return tf.zeros([2, 4], name=name)

        def save_state(self, name, value):
            self.saved[name] = value
            return tf.no_op()

    saver = Saver()
    with pytest.warns(notice.LegacySpellingWarning, match="nn.static_state_saving_rnn"):
        tf.nn.state_saving_rnn(tf.nn.rnn_cell.GRUCell(4), STEPS, saver, "h")
    assert saver.saved["h"].shape.as_list() == [2, 4]


def test_the_warning_comes_once_for_each_spelling_at_the_programs_line():
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        for _ in range(3):
            tf.pack([1, 2])
        tf.mul(1, 2)
    assert [str(item.message).split(" is")[0] for item in heard] == ["tf.pack", "tf.mul"]
    assert {item.filename for item in heard} == {__file__}


def test_todays_spellings_warn_of_nothing():
    tf.stack([1, 2]), tf.multiply(2, 3), tf.concat([[1], [2]], 0), tf.split(X, 3, 1), tf.reverse(X, [1])
    tf.nn.static_rnn(tf.nn.rnn_cell.LSTMCell(2, True), STEPS, dtype=tf.float32)


def test_linear_joins_its_inputs_and_makes_a_kernel_and_a_bias():
    with tf.variable_scope("a"):
        product = tf.nn.rnn_cell._linear([X, X[:, :2]], 4, True, 1.0)
    assert {v.name: v.shape.as_list() for v in tf.global_variables()} == {"a/kernel:0": [5, 4], "a/bias:0": [4]}
    session = tf.Session()
    session.run(tf.global_variables_initializer())
    kernel, found = session.run([tf.global_variables()[0], product])
    np.testing.assert_allclose(found, np.concatenate([X, X[:, :2]], 1) @ kernel + 1.0, rtol=1e-12)


@pytest.mark.parametrize("args", [[], [tf.TensorShape([2])]])
def test_linear_refuses_what_has_no_columns(args):
    args = [tf.placeholder(tf.float32, shape) for shape in args]
    with pytest.raises(ValueError, match=r"linear: args must be specified|must have rank 2"):
        tf.nn.rnn_cell._linear(args, 4, False)


def test_zero_state_tensors_are_there_for_old_cells():
    states = tf.nn.rnn_cell._zero_state_tensors((2, 3), 5, tf.float32)
    assert [state.shape.as_list() for state in states] == [[5, 2], [5, 3]]


def test_cells_stand_where_tensorflow_1_0_had_them():
    assert tf.contrib.rnn.core_rnn_cell.BasicLSTMCell is tf.nn.rnn_cell.BasicLSTMCell
    assert tf.contrib.rnn.rnn_cell.LSTMStateTuple is tf.nn.rnn_cell.LSTMStateTuple
