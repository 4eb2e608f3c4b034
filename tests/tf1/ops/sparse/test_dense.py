import numpy as np
import pytest

import dynrnn.tf1 as tf


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default():
        yield


def run(fetches):
    return tf.Session().run(fetches)


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        (([1, 3], [5], [7, 8], -1), [-1, 7, -1, 8, -1]),
        ((2, [5], 7), [0, 0, 7, 0, 0]),
        (([[0, 1], [1, 0]], [2, 2], 5), [[0, 5], [5, 0]]),
        (([], [2], []), [0, 0]),
    ],
)
def test_sparse_to_dense_puts_values_at_their_places(args, expected):
    args = (tf.convert_to_tensor(args[0], tf.int32), *args[1:])
    assert run(tf.sparse_to_dense(*args)).tolist() == expected


@pytest.mark.parametrize(
    ("places", "text"),
    [
        ([[1, 1], [0, 0]], r"indices\[1\] = \[0,0\] is out of order"),
        ([[1, 1], [1, 1]], r"indices\[1\] = \[1,1\] is repeated"),
        ([[0, 0], [1, 3]], r"indices\[1\] = \[1,3\] is out of bounds: need 0 <= index < \[2,2\]"),
    ],
)
def test_places_that_are_no_order_are_named(places, text):
    dense = tf.sparse_tensor_to_dense(tf.SparseTensor(places, [1, 2], [2, 2]))
    with pytest.raises(tf.errors.InvalidArgumentError, match=text):
        run(dense)


def test_unordered_places_pass_on_request():
    sparse = tf.SparseTensor([[1, 1], [0, 0]], [1, 2], [2, 2])
    assert run(tf.sparse_tensor_to_dense(sparse, validate_indices=False)).tolist() == [[2, 0], [0, 1]]


def test_strings_are_filled_with_empty_ones():
    sparse = tf.SparseTensor([[0, 1]], ["a"], [1, 2])
    assert run(tf.sparse.to_dense(sparse)).tolist() == [[b"", b"a"]]
    assert run(tf.sparse_tensor_to_dense(sparse, "-")).tolist() == [[b"-", b"a"]]


@pytest.mark.parametrize("dense", [[[0, 5], [7, 0]], [["", "a"], ["b", ""]]])
def test_dense_to_sparse_and_back_is_the_same(dense):
    back = run(tf.sparse.to_dense(tf.sparse.from_dense(dense)))
    np.testing.assert_array_equal(back, run(tf.constant(dense)))


def test_an_end_of_sequence_mark_is_what_is_left_out():
    found = run(tf.contrib.layers.dense_to_sparse([[1, 9], [9, 2]], eos_token=9))
    assert found.indices.tolist() == [[0, 0], [1, 1]]


def test_a_product_with_a_dense_matrix():
    sparse = tf.SparseTensor([[0, 1]], [3.0], [2, 2])
    product = tf.sparse_tensor_dense_matmul(sparse, [[1.0, 2.0], [3.0, 4.0]])
    assert product.op.name == "SparseTensorDenseMatMul/SparseTensorDenseMatMul"
    assert (product.shape.as_list(), run(product).tolist()) == ([2, 2], [[9, 12], [0, 0]])
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"inner dimension does not match: 2 vs\. 1"):
        run(tf.sparse_tensor_dense_matmul(sparse, [[1.0, 2.0]]))


def test_items_are_multiplied_and_divided_by_dense_ones():
    sparse = tf.SparseTensor([[0, 0], [1, 2]], [1.0, 6.0], [2, 3])
    assert run(sparse * tf.constant([[1.0, 2.0, 3.0]])).values.tolist() == [1, 18]
    assert run(sparse / 2.0).values.tolist() == [0.5, 3]


@pytest.mark.parametrize("function", [tf.sparse_tensor_to_dense, tf.sparse_reorder, tf.sparse_reduce_sum])
def test_what_is_not_sparse_is_refused(function):
    with pytest.raises(TypeError, match="must be a SparseTensor"):
        function([[1.0]])
