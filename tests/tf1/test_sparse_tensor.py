import numpy as np
import pytest

import dynrnn.tf1 as tf


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default():
        yield


def run(fetches, feed=None):
    return tf.Session().run(fetches, feed)


def sparse():
    return tf.SparseTensor(indices=[[0, 0], [1, 2]], values=[1, 2], dense_shape=[3, 4])


VALUE = tf.SparseTensorValue(np.array([[0, 1]]), np.array([2.0]), np.array([2, 2]))


def test_a_sparse_tensor_shows_its_parts():
    made = sparse()
    assert (made.dtype, made.shape, made.get_shape().as_list()) == (tf.int32, tf.TensorShape([3, 4]), [3, 4])
    assert [part.name for part in (made.indices, made.values, made.dense_shape)] == [
        "SparseTensor/indices:0",
        "SparseTensor/values:0",
        "SparseTensor/dense_shape:0",
    ]
    assert (made.op, made.graph) == (made.values.op, tf.get_default_graph())
    assert repr(made).startswith('SparseTensor(indices=Tensor("SparseTensor/indices:0", shape=(2, 2), dtype=int64)')
    tf.abs(made.values)
    assert [op.type for op in made.consumers()] == ["Abs"]


@pytest.mark.parametrize(
    ("parts", "error", "text"),
    [
        (([[0, 1]], [1], [2, 2, 2]), ValueError, "Dimensions 2 and 3 are not compatible"),
        (([[0, 1]], [1, 2], [2, 2]), ValueError, "Dimensions 1 and 2 are not compatible"),
        (([0, 1], [1, 2], [2, 2]), ValueError, r"Shape \(2,\) must have rank 2"),
        (([[0, 1]], [1], [2.0, 2]), TypeError, "Expected int64, got 2.0"),
    ],
)
def test_parts_that_do_not_fit_are_refused_and_leave_nothing(parts, error, text):
    with pytest.raises(error, match=text):
        tf.SparseTensor(*parts)


def test_a_fetch_gives_the_value_in_any_nest():
    found = run({"a": [sparse()]})["a"][0]
    assert isinstance(found, tf.SparseTensorValue)
    assert [part.tolist() for part in found] == [[[0, 0], [1, 2]], [1, 2], [3, 4]]
    with tf.Session().as_default():
        assert sparse().eval().values.tolist() == [1, 2]


@pytest.mark.parametrize("given", [VALUE, tuple(VALUE), [part.tolist() for part in VALUE]])
def test_a_placeholder_is_fed_with_a_value_or_its_parts(given):
    placeholder = tf.sparse_placeholder(tf.float32, name="x")
    assert [t.name for t in (placeholder.indices, placeholder.dense_shape)] == ["x/indices:0", "x/shape:0"]
    assert placeholder.shape.ndims is None
    assert run(tf.sparse_tensor_to_dense(placeholder), {placeholder: given}).tolist() == [[0, 2], [0, 0]]


def test_a_placeholder_knows_the_shape_that_it_is_given():
    placeholder = tf.sparse_placeholder(tf.float32, [None, 2])
    assert placeholder.shape.as_list() == [None, 2] and placeholder.indices.shape.as_list() == [None, 2]
    assert tf.cast(placeholder, tf.int32).shape.as_list() == [None, 2]
    assert run(placeholder, {placeholder: VALUE}).dense_shape.tolist() == [2, 2]


def test_what_is_no_value_of_a_placeholder_is_refused():
    placeholder = tf.sparse_placeholder(tf.float32)
    dense = tf.sparse_tensor_to_dense(placeholder)
    with pytest.raises(ValueError, match=r"Cannot feed value of shape \(2,\) for Tensor"):
        run(dense, {placeholder: np.zeros((2, 2))})
    with pytest.raises(tf.errors.InvalidArgumentError, match="must feed a value for placeholder"):
        run(dense, {placeholder: ([[0, 1]], [2.0])})


def test_a_value_becomes_a_sparse_tensor():
    assert run(tf.SparseTensor.from_value(VALUE)).indices.tolist() == [[0, 1]]
    made = sparse()
    assert tf.SparseTensor.from_value(made) is made is tf.convert_to_tensor_or_sparse_tensor(made)
    assert tf.convert_to_tensor_or_sparse_tensor([1]).dtype == tf.int32
    with pytest.raises(TypeError, match="is neither a SparseTensor nor SparseTensorValue"):
        tf.SparseTensor.from_value(3)
    with pytest.raises(RuntimeError, match="requested = float32, actual = int32"):
        tf.convert_to_tensor_or_sparse_tensor(made, tf.float32)


def test_no_tensor_is_made_of_it_silently():
    with pytest.raises(TypeError, match="SparseTensor"):
        tf.convert_to_tensor(sparse())
    with pytest.raises(TypeError, match="unsupported operand"):
        sparse() + 1


def test_a_cast_keeps_the_places():
    made = tf.cast(sparse(), tf.float32)
    assert (made.dtype, run(made).indices.tolist()) == (tf.float32, [[0, 0], [1, 2]])
    assert tf.to_int64(made).dtype == tf.int64


def test_indexed_slices_are_fed_by_their_parts():
    slices = tf.IndexedSlices(tf.placeholder(tf.float32), tf.placeholder(tf.int32), tf.constant([2, 1]))
    assert run(slices.values, {slices: ([[1.0]], [0], [2, 1])}).tolist() == [[1.0]]
