"""Whatever may stand for a tensor may stand everywhere: arrays, lists, lists of tensors, numpy's scalars, sizes."""

import operator

import numpy as np
import pytest

import dynrnn.tf1 as tf

X = np.arange(6.0, dtype=np.float32).reshape(2, 3)


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default():
        yield


def value(fetches):
    session = tf.Session()
    session.run(tf.global_variables_initializer())
    return session.run(fetches)


# Ways to give X; each is called in the test's own graph.
SAME = {
    "array": lambda: X,
    "list": lambda: X.tolist(),
    "tensor": lambda: tf.constant(X),
    "variable": lambda: tf.Variable(X),
    "list of tensors": lambda: [tf.constant(row) for row in X],
    "list of tensors and arrays": lambda: [tf.constant(X[0]), X[1]],
    "nested list of tensors": lambda: [[tf.constant(item) for item in row] for row in X],
}
FUNCTIONS = {
    "tanh": (lambda x: tf.tanh(x), np.tanh(X)),
    "negative": (lambda x: tf.negative(x), -X),
    "add": (lambda x: tf.add(x, x), X + X),
    "reduce_sum": (lambda x: tf.reduce_sum(x, 1), X.sum(1)),
    "reshape": (lambda x: tf.reshape(x, [-1]), X.reshape(-1)),
    "transpose": (lambda x: tf.transpose(x), X.T),
    "matmul": (lambda x: tf.matmul(x, X.T), X @ X.T),
    "concat": (lambda x: tf.concat([x, X], 0), np.concatenate([X, X])),
    "stack": (lambda x: tf.stack([x, x]), np.stack([X, X])),
    "unstack": (lambda x: tf.unstack(x), list(X)),
    "split": (lambda x: tf.split(x, 3, 1), np.split(X, 3, 1)),
    "gather": (lambda x: tf.gather(x, [1]), X[[1]]),
    "expand_dims": (lambda x: tf.expand_dims(x, 0), X[None]),
    "tile": (lambda x: tf.tile(x, [2, 1]), np.tile(X, (2, 1))),
    "cast": (lambda x: tf.cast(x, tf.int32), X.astype(np.int32)),
    "where": (lambda x: tf.where([True, False], x, tf.zeros_like(X)), X * [[1], [0]]),
    "boolean_mask": (lambda x: tf.boolean_mask(x, [False, True]), X[1:]),
    "reverse_sequence": (lambda x: tf.reverse_sequence(x, [1, 3], 1, 0), [X[0], X[1][::-1]]),
    "softmax": (lambda x: tf.nn.softmax(x), np.exp(X) / np.exp(X).sum(1, keepdims=True)),
    "argmax": (lambda x: tf.argmax(x, 1), [2, 2]),
    "identity": (lambda x: tf.identity(x), X),
    "slice": (lambda x: tf.slice(x, [0, 1], [2, 2]), X[:, 1:]),
    "pad": (lambda x: tf.pad(x, [[1, 0], [0, 0]]), np.pad(X, [[1, 0], [0, 0]])),
    "clip": (lambda x: tf.clip_by_value(x, 1.0, 3.0), X.clip(1, 3)),
    "map_fn": (lambda x: tf.map_fn(lambda row: row * 2, tf.convert_to_tensor(x)), X * 2),
    "top_k": (lambda x: tf.nn.top_k(x, 1).values, X[:, 2:]),
}


@pytest.mark.parametrize("kind", SAME)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_function_takes_values_in_every_form(name, kind):
    function, expected = FUNCTIONS[name]
    # Exponentials differ in the last bit between torch and numpy.
    np.testing.assert_allclose(value(function(SAME[kind]())), expected, rtol=1e-6)


SHAPES = {
    "list": lambda: [2, 3],
    "tuple": lambda: (2, 3),
    "range": lambda: range(2, 4),
    "array": lambda: np.array([2, 3]),
    "numpy scalars": lambda: [np.int64(2), np.int32(3)],
    "sizes": lambda: [tf.Dimension(2), tf.Dimension(3)],
    "shape": lambda: tf.TensorShape([2, 3]),
    "tensor": lambda: tf.constant([2, 3]),
    "size beside a tensor": lambda: [tf.constant(2), tf.Dimension(3)],
    "size of a tensor": lambda: [tf.shape(X)[0], 3],
    "stack": lambda: tf.stack([tf.shape(X)[0], 3]),
}
MAKERS = {
    "zeros": lambda shape: tf.zeros(shape),
    "ones": lambda shape: tf.ones(shape),
    "fill": lambda shape: tf.fill(shape, 1.5),
    "reshape": lambda shape: tf.reshape(X, shape),
    "broadcast_to": lambda shape: tf.broadcast_to(1.0, shape),
    "random_uniform": lambda shape: tf.random_uniform(shape),
    "random_normal": lambda shape: tf.random_normal(shape, stddev=np.float64(0.1)),
}


@pytest.mark.parametrize("kind", SHAPES)
@pytest.mark.parametrize("name", MAKERS)
def test_shapes_may_be_given_in_every_form(name, kind):
    assert value(MAKERS[name](SHAPES[kind]())).shape == (2, 3)


NUMBERS = {"int": int, "int64": np.int64, "int32": np.int32, "size": tf.Dimension}
COUNTS = {
    "range": (lambda n: tf.range(n), [0, 1, 2]),
    "range of three": (lambda n: tf.range(0, n, 1), [0, 1, 2]),
    "one_hot": (lambda n: tf.one_hot([1], n), [[0, 1, 0]]),
    "sequence_mask": (lambda n: tf.sequence_mask([2], n), [[True, True, False]]),
    "eye": (lambda n: tf.eye(n), np.eye(3)),
    "split": (lambda n: tf.split(X, n, 1), np.split(X, 3, 1)),
    "unsorted_segment_sum": (lambda n: tf.unsorted_segment_sum([1.0, 2.0], [0, 2], n), [1, 0, 2]),
    "scatter_nd": (lambda n: tf.scatter_nd([[0]], [1.0], [n]), [1, 0, 0]),
    "slice": (lambda n: tf.constant(X)[:, : n - 1], X[:, :2]),
    "cell": (lambda n: tf.nn.rnn_cell.GRUCell(n).zero_state(n, tf.float32), np.zeros((3, 3))),
}


@pytest.mark.parametrize("kind", NUMBERS)
@pytest.mark.parametrize("name", COUNTS)
def test_counts_may_be_given_in_every_form(name, kind):
    function, expected = COUNTS[name]
    np.testing.assert_array_equal(value(function(NUMBERS[kind](3))), expected)


@pytest.mark.parametrize("sign", [operator.add, operator.sub, operator.mul, operator.floordiv, operator.mod])
def test_sizes_calculate_with_tensors_on_either_side(sign):
    sizes = tf.constant([3, 4])
    np.testing.assert_array_equal(value(sign(tf.Dimension(2), sizes)), sign(2, np.array([3, 4])))
    np.testing.assert_array_equal(value(sign(sizes, tf.Dimension(2))), sign(np.array([3, 4]), 2))


@pytest.mark.parametrize("sign", [operator.add, operator.sub, operator.mul, operator.truediv, operator.pow])
@pytest.mark.parametrize("other", [2.0, np.float32(2), [1.0, 2.0, 3.0], X, np.array([1, 2, 3])], ids=repr)
def test_operators_take_plain_values_on_either_side(sign, other):
    plain = np.asarray(other, np.float32)
    with np.errstate(divide="ignore", invalid="ignore"):
        expected = sign(X, plain), sign(plain, X)
    np.testing.assert_allclose(value(sign(tf.constant(X), other)), expected[0], rtol=1e-6)
    np.testing.assert_allclose(value(sign(other, tf.constant(X))), expected[1], rtol=1e-6)


def test_an_array_of_another_kind_keeps_its_type_and_is_refused():
    with pytest.raises(TypeError, match="float64"):
        tf.add(tf.constant(X), tf.convert_to_tensor(X.astype(np.float64)))


def test_loops_take_arrays_and_lists():
    inputs, lengths = np.ones([2, 3, 4], np.float32), [tf.constant(1), 3]
    states = tf.nn.rnn_cell.LSTMStateTuple(np.zeros([2, 5], np.float32), np.zeros([2, 5], np.float32))
    with tf.variable_scope("a"):
        outputs, _ = tf.nn.dynamic_rnn(tf.nn.rnn_cell.LSTMCell(5), inputs, lengths, initial_state=states)
    with tf.variable_scope("b"):
        steps, _ = tf.nn.static_rnn(tf.nn.rnn_cell.GRUCell(5), list(inputs), dtype="float32")
    assert (outputs.shape.as_list(), steps[0].shape.as_list()) == ([2, 3, 5], [3, 5])


def test_slices_and_sparse_tensors_are_fetched_as_their_values():
    slices = tf.IndexedSlices(tf.constant([[1.0]]), tf.constant([0]), tf.constant([2, 1]))
    sparse = tf.SparseTensor([[0, 1]], [2.0], [1, 2])
    fetched = value({"slices": slices, "sparse": [sparse]})
    assert fetched["slices"].dense_shape.tolist() == [2, 1]
    assert isinstance(fetched["sparse"][0], tf.SparseTensorValue)
    np.testing.assert_array_equal(value(tf.convert_to_tensor(slices) + 1.0), [[2.0], [1.0]])
