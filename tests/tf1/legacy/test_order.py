import numpy as np
import pytest

import dynrnn.tf1 as tf
from dynrnn.tf1.legacy import notice

X = np.arange(6.0).reshape(2, 3)


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default():
        yield


@pytest.fixture(autouse=True)
def nothing_told(monkeypatch):
    monkeypatch.setattr(notice, "_told", set())


def value(fetches):
    return np.asarray(tf.Session().run(fetches))


OLD = [
    (lambda: tf.concat(0, [X, X]), lambda: tf.concat([X, X], 0), r"tf\.concat\(values, axis\)"),
    (lambda: tf.concat(1, values=[X, X]), lambda: tf.concat([X, X], 1), r"tf\.concat"),
    (lambda: tf.concat(concat_dim=1, values=[X, X]), lambda: tf.concat([X, X], 1), r"tf\.concat"),
    (lambda: tf.concat(np.int64(1), [X, X], "name"), lambda: tf.concat([X, X], 1), r"tf\.concat"),
    (lambda: tf.concat(tf.constant(1), [X, X]), lambda: tf.concat([X, X], 1), r"tf\.concat"),
    (lambda: tf.split(1, 3, X), lambda: tf.split(X, 3, 1), r"tf\.split\(value, num, axis\)"),
    (lambda: tf.split(0, 2, value=X), lambda: tf.split(X, 2, 0), r"tf\.split"),
    (lambda: tf.split(value=X, split_dim=1, num_split=3), lambda: tf.split(X, 3, 1), r"tf\.split"),
    (lambda: tf.split(1, 3, tf.constant(X)), lambda: tf.split(X, 3, 1), r"tf\.split"),
    (lambda: tf.reverse(X, [False, True]), lambda: tf.reverse(X, [1]), r"tf\.reverse\(x, \[axes\]\)"),
    (lambda: tf.reverse(X, dims=np.array([True, False])), lambda: tf.reverse(X, [0]), r"tf\.reverse"),
]


@pytest.mark.parametrize(("old", "today", "spelling"), OLD)
def test_old_arguments_mean_what_todays_do(old, today, spelling):
    with pytest.warns(notice.LegacySpellingWarning, match=spelling):
        made = old()
    np.testing.assert_array_equal(value(made), value(today()))


TODAY = [
    lambda: tf.concat([X, X], 0),
    lambda: tf.concat(values=[X, X], axis=0),
    lambda: tf.concat([tf.constant(X)], tf.constant(1)),
    lambda: tf.concat(tf.constant(X), 0),
    lambda: tf.split(X, 3, 1),
    lambda: tf.split(X, 2),
    lambda: tf.split(value=X, num_or_size_splits=[1, 2], axis=1),
    lambda: tf.split(X, [1, 2], 1),
    lambda: tf.reverse(X, [0, 1]),
    lambda: tf.reverse(X, axis=[1]),
    lambda: tf.nn.rnn_cell.LSTMCell(4, True),
    lambda: tf.nn.rnn_cell.GRUCell(4, tf.tanh),
    lambda: tf.nn.rnn_cell.BasicLSTMCell(4, 1.0, True),
]


@pytest.mark.parametrize("call", TODAY)
def test_calls_of_today_are_left_alone(call):
    call()  # a warning would be an error


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: tf.concat([X, X]), "missing 1 required positional argument: 'axis'"),
        (lambda: tf.split(X), "missing 1 required positional argument"),
        (lambda: tf.concat([X], 0, concat_axis=1), "unexpected keyword argument 'concat_axis'"),
    ],
)
def test_wrong_calls_fail_as_pythons_own(call, text):
    with pytest.raises(TypeError, match=text):
        call()


@pytest.mark.parametrize(
    "make",
    [
        lambda cells: cells.BasicLSTMCell(4, input_size=3),
        lambda cells: cells.BasicLSTMCell(4, 1.0, 3),
        lambda cells: cells.LSTMCell(4, 3),
        lambda cells: cells.GRUCell(4, 3),
        lambda cells: cells.GRUCell(4, input_size=3),
        lambda cells: cells.BasicRNNCell(4, 3),
    ],
)
def test_cells_find_the_size_of_their_inputs_by_themselves(make):
    with pytest.warns(notice.LegacySpellingWarning, match=r"Cell\(num_units, input_size\)"):
        cell = make(tf.nn.rnn_cell)
    output, _ = cell(tf.zeros([2, 7]), cell.zero_state(2, tf.float32))
    assert output.shape.as_list() == [2, 4]
