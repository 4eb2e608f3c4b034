"""What a session can be fed: which keys, which values, and how they are cast."""

import numpy as np
import pytest
import torch

import dynrnn.tf1 as tf


@pytest.fixture
def sess():
    with tf.Session() as session:
        yield session


def test_any_tensor_may_be_fed(sess):
    c = tf.constant(1.0, name="c")
    y = c * 2
    z = y + 1
    v = tf.Variable(1.0, name="v")
    assert sess.run([z, y], {c: 5.0}) == [11, 10]
    assert sess.run([z, y], {y: 7.0}) == [8, 7]
    assert sess.run(z, {z: 9.0}) == 9
    assert sess.run([v, v + 1], {v: 4.0}) == [4, 5]


def test_a_zero_state_may_be_fed_as_a_nest(sess):
    cell = tf.nn.rnn_cell.MultiRNNCell([tf.nn.rnn_cell.BasicLSTMCell(2) for _ in range(2)])
    start = cell.zero_state(1, tf.float32)
    _, final = tf.nn.dynamic_rnn(cell, tf.ones([1, 3, 2]), initial_state=start)
    sess.run(tf.global_variables_initializer())
    state = sess.run(start)
    found = []
    for _ in range(2):
        state = sess.run(final, {start: state})
        found.append(state)
    assert type(state[0]) is tf.nn.rnn_cell.LSTMStateTuple
    again = sess.run(final, {start[0]: found[0][0], start[1].c: found[0][1].c, start[1].h: found[0][1].h})
    np.testing.assert_array_equal(np.array(again), np.array(found[1]))


@pytest.mark.parametrize("key", ["x:0", b"x:0"])
def test_names_are_keys(key, sess):
    x = tf.placeholder(tf.float32, name="x")
    assert sess.run(x * 2, {key: 3}) == 6


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (object, "Can not convert a object into a Tensor"),
        (lambda: "nowhere:0", "The name 'nowhere:0' refers to a Tensor which does not exist. The operation, 'nowhere'"),
        (lambda: "x", "The name 'x' refers to an Operation, not a Tensor"),
        (lambda: tf.get_default_graph().get_operation_by_name("x"), "Can not convert a Operation into a Tensor"),
        (lambda: 3, "Can not convert a int into a Tensor"),
        (lambda: _other(), "is not an element of this graph"),
    ],
)
def test_other_keys_are_refused(make, words, sess):
    x = tf.placeholder(tf.float32, [1], name="x")
    with pytest.raises(TypeError, match=f"Cannot interpret feed_dict key as Tensor: .*{words}"):
        sess.run(x * 2, {make(): [1.0]})


def _other():
    with tf.Graph().as_default():
        return tf.placeholder(tf.float32)


def test_a_nest_of_keys_needs_values_of_its_structure(sess):
    x, y = tf.placeholder(tf.float32), tf.placeholder(tf.float32)
    assert sess.run(x - y, {(x, y): [3, 1]}) == 2
    for value in ((1,), np.ones((2, 2))):
        with pytest.raises(
            ValueError, match=r"Could not flatten dictionary. Key had 2 elements, but value had 1 elements"
        ):
            sess.run(x - y, {(x, y): value})
    with pytest.raises(TypeError, match="feed_dict must be a dictionary"):
        sess.run(x, [(x, 1.0)])


# what numpy 1 and TensorFlow make of these values
CASTS = [
    ("float32", "2.5", np.float32(2.5)),
    ("float32", True, np.float32(1)),
    ("float32", ["1", "2"], np.float32([1, 2])),
    ("float32", None, np.float32(np.nan)),
    ("float32", range(3), np.float32([0, 1, 2])),
    ("float32", np.zeros((1, 1)), np.zeros((1, 1), np.float32)),
    ("float32", [[1, 2], [3, 4]], np.float32([[1, 2], [3, 4]])),
    ("float32", 16777217, np.float32(16777216)),
    ("float16", 1e6, np.float16(np.inf)),
    ("int32", 1.7, np.int32(1)),
    ("int32", [1.7, -1.7], np.int32([1, -1])),
    ("int32", np.zeros((1, 1)), np.zeros((1, 1), np.int32)),
    ("int32", True, np.int32(1)),
    ("int32", "3", np.int32(3)),
    ("int32", [2**40], np.int32([0])),
    ("int64", np.float64(3.9), np.int64(3)),
    ("uint8", [300, 1], np.uint8([44, 1])),
    ("uint8", np.array([300]), np.uint8([44])),
    ("int8", [-200], np.int8([56])),
    ("bool", [0.5, 0], np.array([True, False])),
    ("complex64", 1, np.complex64(1)),
    ("string", "a", b"a"),
    ("string", ["a", b"b"], np.array([b"a", b"b"], object)),
    ("string", np.array(["x", "yy"]), np.array([b"x", b"yy"], object)),
]


@pytest.mark.parametrize(("dtype", "value", "expected"), CASTS, ids=lambda item: repr(item)[:30])
def test_values_are_cast_with_numpys_rules_in_silence(dtype, value, expected, sess):
    x = tf.placeholder(dtype)
    found = sess.run(tf.identity(x), {x: value})
    assert type(found) is type(expected)
    np.testing.assert_array_equal(found, expected)
    assert getattr(found, "dtype", None) == getattr(expected, "dtype", None)


def test_nan_becomes_some_integer_in_silence(sess):
    x = tf.placeholder(tf.int32)
    assert sess.run(tf.identity(x), {x: float("nan")}).dtype == np.int32


@pytest.mark.parametrize(("dtype", "value"), [("uint8", 300), ("int8", -200), ("int32", 2**40), ("bool", 2)], ids=repr)
def test_a_single_integer_that_does_not_fit_is_refused(dtype, value, sess):
    x = tf.placeholder(dtype)
    with pytest.raises(
        TypeError, match=f"Type of feed value {value} with type <class 'int'> is not compatible with Tensor type"
    ):
        sess.run(tf.identity(x), {x: value})


@pytest.mark.parametrize(
    ("dtype", "value", "kind", "words"),
    [
        ("float32", "x", ValueError, "could not convert string to float"),
        ("int32", "3.5", ValueError, "invalid literal for int"),
        ("float32", [[1], [2, 3]], ValueError, "inhomogeneous"),
        ("float32", {1: 2}, TypeError, "float"),
        ("string", 5, TypeError, "Expected binary or unicode string, got 5"),
    ],
    ids=lambda item: repr(item)[:30],
)
def test_what_cannot_be_cast_is_refused_by_the_tensors_name(dtype, value, kind, words, sess):
    x = tf.placeholder(dtype, name="inputs")
    with pytest.raises(kind, match=f"Cannot feed .* for Tensor 'inputs:0' of type {dtype}: .*{words}"):
        sess.run(tf.identity(x), {x: value})


def test_a_tensor_is_no_value(sess):
    x = tf.placeholder(tf.float32, [1])
    with pytest.raises(
        TypeError, match=r"The value of a feed cannot be a tf.Tensor object: .*Python scalars, strings, lists and numpy"
    ):
        sess.run(x * 2, {x: tf.zeros([1])})


@pytest.mark.parametrize(
    ("shape", "value", "fed", "static"),
    [
        ([None, None, 2], np.zeros((2, 3, 5)), r"\(2, 3, 5\)", r"\(\?, \?, 2\)"),
        ([2, 3], np.zeros((4, 3)), r"\(4, 3\)", r"\(2, 3\)"),
        ([2], 3.0, r"\(\)", r"\(2,\)"),
        ([], [3.0], r"\(1,\)", r"\(\)"),
    ],
)
def test_a_value_must_fit_the_static_shape(shape, value, fed, static, sess):
    x = tf.placeholder(tf.float32, shape, name="inp")
    with pytest.raises(
        ValueError, match=f"Cannot feed value of shape {fed} for Tensor inp:0, which has shape {static}"
    ):
        sess.run(x * 2, {x: value})


def test_one_graph_serves_every_size(sess):
    x = tf.placeholder(tf.float32, [None, None, 2])
    y = tf.reduce_sum(x, 1)
    for shape in ((2, 5, 2), (7, 1, 2), (0, 3, 2), (3, 0, 2)):
        assert sess.run(y, {x: np.ones(shape)}).shape == (shape[0], 2)
    assert sess.run(tf.shape(tf.placeholder(tf.float32, name="any")), {"any:0": np.zeros((1, 2))}).tolist() == [1, 2]


def test_layouts_byte_orders_and_torch_tensors_are_taken(sess):
    x = tf.placeholder(tf.float32, [2, 3])
    array = np.arange(6.0).reshape(2, 3)
    for value in (
        np.asfortranarray(array),
        array[:, ::-1][:, ::-1],
        array.astype(">f4"),
        torch.tensor(array),
        array.tolist(),
    ):
        found = sess.run(x + 0, {x: value})
        np.testing.assert_array_equal(found, array)
