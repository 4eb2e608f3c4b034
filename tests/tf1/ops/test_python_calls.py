"""`tf.py_func`: what the function gets, what it may return, and what becomes of its errors."""

import numpy as np
import pytest

import dynrnn.tf1 as tf


@pytest.fixture
def session():
    with tf.Session() as session:
        yield session


def test_the_function_gets_arrays_scalars_and_bytes(session):
    seen = []

    def note(*values):
        seen.extend((type(value), getattr(value, "dtype", None)) for value in values)
        return np.float32(0)

    session.run(tf.py_func(note, [1.0, [1, 2], "a", ["a", "b"], True, np.int64(3)], tf.float32))
    assert seen == [
        (np.float32, np.float32),
        (np.ndarray, np.int32),
        (bytes, None),
        (np.ndarray, np.dtype(object)),
        (np.bool_, np.bool_),
        (np.int64, np.int64),
    ]


def test_one_result_a_list_of_them_or_none(session):
    x = tf.constant([1.0, 2.0])
    one = tf.py_func(lambda x: x * 2, [x], tf.float32)
    assert one.name == "PyFunc:0" and one.shape.ndims is None and session.run(one).tolist() == [2, 4]
    listed = tf.py_func(lambda x: x, [x], [tf.float32])
    assert isinstance(listed, list) and session.run(listed)[0].tolist() == [1, 2]
    total, count = tf.py_func(lambda x: (x.sum(), np.int64(x.size)), [x], [tf.float32, tf.int64], name="sums")
    assert session.run([total, count]) == [3, 2] and count.name == "sums:1"
    calls = []
    operation = tf.py_func(lambda x: calls.append(1), [x], [])
    assert isinstance(operation, tf.Operation) and session.run(operation) is None and calls == [1]


@pytest.mark.parametrize("value", ["hé", "hé".encode(), np.array("hé"), np.array("hé", object)])
def test_strings_come_out_as_bytes(session, value):
    assert session.run(tf.py_func(lambda: value, [], tf.string)) == "hé".encode()
    assert session.run(tf.py_func(lambda: np.array([value, b"x"], object), [], tf.string)).tolist()[1] == b"x"


def test_python_numbers_are_of_numpys_types(session):
    assert session.run(tf.py_func(lambda: 2.5, [], tf.float64)) == 2.5
    assert session.run(tf.py_func(lambda: 2, [], tf.int64)) == 2
    assert session.run(tf.py_func(lambda: True, [], tf.bool))


@pytest.mark.parametrize(
    ("value", "dtype", "text"),
    [
        (2.5, tf.float32, "0-th value returned by PyFunc is float64, but expects float32"),
        (2, tf.int32, "is int64, but expects int32"),
        (1.0, tf.string, "is float64, but expects string"),
        ([1.0, 2.0], tf.float64, "returns 2 values, but expects to see 1 values"),
        (None, tf.float32, "returns 0 values, but expects to see 1"),
    ],
)
def test_other_results_than_declared_are_errors(session, value, dtype, text):
    with pytest.raises(tf.errors.InvalidArgumentError, match=text):
        session.run(tf.py_func(lambda: value, [], dtype))


def test_what_the_function_does_to_its_arrays_stays_there(session):
    x = tf.constant([1.0, 2.0])
    kept = []

    def change(array):
        array[0] = 9.0
        kept.append(array)
        return array

    result = tf.py_func(change, [x], tf.float32)
    assert [value.tolist() for value in session.run([result, x])] == [[9, 2], [1, 2]]
    found = session.run(result)
    kept[-1][1] = 7.0
    assert found.tolist() == [9, 2]


class MineError(Exception):
    """An exception of the program's own."""


@pytest.mark.parametrize("kind", [MineError, ValueError, RuntimeError, KeyError, IndexError, TypeError, StopIteration])
@pytest.mark.parametrize("where", ["top", "branch", "body"])
def test_what_the_function_raises_comes_out_as_it_is_with_its_line(session, kind, where):
    def fail(x):
        raise kind("mine")

    call = lambda: tf.py_func(fail, [1.0], tf.float32)  # noqa: E731
    result = {
        "top": call,
        "branch": lambda: tf.cond(tf.constant(True), call, lambda: 1.0),
        "body": lambda: tf.while_loop(lambda x: x < 1.0, lambda x: tf.reshape(call(), []), [0.0]),
    }[where]()
    with pytest.raises(kind, match="mine") as caught:
        session.run(result)
    assert type(caught.value) is kind and caught.traceback[-1].name == "fail"


def test_no_gradient_passes():
    x = tf.constant(2.0)
    y = tf.py_func(lambda x: x * 2, [x], tf.float32)
    assert tf.gradients(y, x) == [None]


def test_stateful_is_in_the_operations_type():
    assert tf.py_func(abs, [1.0], tf.float32, stateful=False).op.type == "PyFuncStateless"
    assert tf.numpy_function(abs, [1.0], tf.float32).op.type == "PyFunc"


def test_the_function_must_be_callable():
    with pytest.raises(ValueError, match="Expected func to be callable"):
        tf.py_func(1, [1.0], tf.float32)
