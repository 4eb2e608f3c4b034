import numpy as np
import pytest

import dynrnn.tf1 as tf

TABLE = np.arange(12.0, dtype=np.float32).reshape(6, 2)


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default():
        yield


def run(fetches):
    return tf.Session().run(fetches)


def sparse(values, dtype=None):
    return tf.SparseTensor([[0, 0], [0, 1], [2, 0]], tf.constant(values, dtype), [4, 2])


@pytest.mark.parametrize(
    ("options", "total", "most"),
    [
        ({}, 3.5, 3.0),
        ({"axis": 1}, [0.5, 0, 3, 0], [2, 0, 3, 0]),
        ({"axis": [0]}, [1.5, 2], [3, 2]),
        ({"axis": -1, "keepdims": True}, [[0.5], [0], [3], [0]], [[2], [0], [3], [0]]),
        ({"reduction_axes": [0, 1], "keep_dims": True}, [[3.5]], [[3]]),
    ],
)
def test_reductions_are_over_the_items_there_are(options, total, most):
    items = sparse([-1.5, 2.0, 3.0])
    assert run(tf.sparse_reduce_sum(items, **options)).tolist() == total
    assert run(tf.sparse_reduce_max(items, **options)).tolist() == most


def test_a_row_of_negative_items_has_a_negative_maximum():
    assert run(tf.sparse_reduce_max(sparse([-1.5, -2.0, -3.0]), 1)).tolist() == [-1.5, 0, -3, 0]


def test_a_sum_with_a_dense_tensor_is_dense():
    dense = np.ones((4, 2), np.float32)
    for result in (tf.sparse_add(sparse([1.0, 2.0, 3.0]), dense), tf.sparse_add(dense, sparse([1.0, 2.0, 3.0]))):
        assert run(result).tolist() == [[2, 3], [1, 1], [4, 1], [1, 1]]
    with pytest.raises(TypeError, match="one of the arguments must be a SparseTensor and one a tensor"):
        tf.sparse_add(dense, dense)
    with pytest.raises(ValueError, match="thresh must be 0"):
        tf.sparse_add(sparse([1.0, 2.0, 3.0]), dense, thresh=0.1)


# What TensorFlow 2.21 gives for these calls.
LOOKUPS = [
    ("mean", None, [[4, 5], [0, 0], [0, 1]]),
    ("mean", [0.5, 2.0, 3.0], [[5.2, 6.2], [0, 0], [0, 1]]),
    ("sum", None, [[8, 10], [0, 0], [0, 1]]),
    ("sum", [0.5, 2.0, 3.0], [[13, 15.5], [0, 0], [0, 3]]),
    ("sqrtn", None, [[5.656854, 7.071068], [0, 0], [0, 1]]),
    ("sqrtn", [0.5, 2.0, 3.0], [[6.3059263, 7.5186048], [0, 0], [0, 1]]),
    (None, None, [[4, 5], [0, 0], [0, 1]]),
]


@pytest.mark.parametrize(("combiner", "weights", "expected"), LOOKUPS)
@pytest.mark.parametrize("kind", [tf.int32, tf.int64])
def test_embeddings_of_sparse_ids_are_combined(combiner, weights, expected, kind):
    weights = None if weights is None else sparse(weights)
    found = tf.nn.embedding_lookup_sparse(TABLE, sparse([1, 3, 0], kind), weights, combiner=combiner)
    assert found.shape.as_list() == [None, 2]
    np.testing.assert_allclose(run(found), expected, rtol=1e-6)  # float32


def test_a_variable_looked_up_by_sparse_ids_has_a_sparse_gradient():
    table = tf.get_variable("table", initializer=TABLE)
    found = tf.nn.embedding_lookup_sparse(table, sparse([1, 3, 0], tf.int64), None, combiner="sum")
    (grad,) = tf.gradients(found, [table])
    assert isinstance(grad, tf.IndexedSlices)
    session = tf.Session()
    session.run(tf.global_variables_initializer())
    assert session.run(tf.convert_to_tensor(grad))[:4].tolist() == [[1, 1], [1, 1], [0, 0], [1, 1]]


@pytest.mark.parametrize(
    ("args", "error", "text"),
    [
        ((TABLE, None, None), TypeError, "sp_ids must be SparseTensor"),
        ((TABLE, "ids", [1.0]), TypeError, "sp_weights must be either None or SparseTensor"),
        ((TABLE, "ids", None, "mod", None, "most"), ValueError, "combiner must be one of 'mean', 'sqrtn' or 'sum'"),
    ],
)
def test_wrong_arguments_are_refused(args, error, text):
    with pytest.raises(error, match=text):
        tf.nn.embedding_lookup_sparse(
            *[sparse([1, 3, 0]) if isinstance(arg, str) and arg == "ids" else arg for arg in args]
        )
