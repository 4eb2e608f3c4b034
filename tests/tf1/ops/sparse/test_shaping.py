import numpy as np
import pytest

import dynrnn.tf1 as tf

DENSE = np.array([[0, 1, 0], [2, 0, 3]])


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default():
        yield


def run(fetches):
    return tf.Session().run(fetches)


def sparse():
    return tf.SparseTensor([[0, 1], [1, 0], [1, 2]], [1, 2, 3], [2, 3])


def dense(made):
    return run(tf.sparse_tensor_to_dense(made)).tolist()


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda x: tf.sparse_transpose(x), DENSE.T),
        (lambda x: tf.sparse_transpose(x, [0, 1]), DENSE),
        (lambda x: tf.sparse_reshape(x, [3, -1]), DENSE.reshape(3, 2)),
        (lambda x: tf.sparse_reshape(x, [6]), DENSE.reshape(6)),
        (lambda x: tf.sparse_slice(x, [1, 0], [5, 2]), DENSE[1:, :2]),
        (lambda x: tf.sparse_slice(x, [0, 0], [1, 1]), DENSE[:1, :1]),
        (lambda x: tf.sparse_retain(x, [True, False, True]), DENSE * (DENSE != 2)),
        (lambda x: tf.sparse_reset_shape(x, [3, 4]), np.pad(DENSE, [[0, 1], [0, 1]])),
        (lambda x: tf.sparse_reset_shape(tf.sparse_slice(x, [0, 0], [2, 2])), DENSE[:, :2]),
        (lambda x: tf.sparse_concat(0, [x, x]), np.concatenate([DENSE, DENSE])),
        (lambda x: tf.sparse_concat(-1, [x, x]), np.concatenate([DENSE, DENSE], 1)),
        (
            lambda x: tf.sparse_concat(0, [x, tf.SparseTensor([[0, 3]], [9], [1, 4])], expand_nonconcat_dim=True),
            np.concatenate([np.pad(DENSE, [[0, 0], [0, 1]]), [[0, 0, 0, 9]]]),
        ),
    ],
)
def test_sparse_tensors_change_as_dense_ones_do(change, expected):
    assert dense(change(sparse())) == expected.tolist()


def test_reorder_sorts_the_places():
    mixed = tf.SparseTensor([[1, 2], [0, 1], [1, 0]], [3, 1, 2], [2, 3])
    found = run(tf.sparse_reorder(mixed))
    assert (found.indices.tolist(), found.values.tolist()) == ([[0, 1], [1, 0], [1, 2]], [1, 2, 3])


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (lambda x: tf.sparse_reshape(x, [5]), "tensor with 6 dense values, but the requested shape"),
        (lambda x: tf.sparse_reset_shape(x, [1, 9]), r"new_shape must hold the old one, \[2, 3\]"),
        (
            lambda x: tf.sparse_concat(0, [x, tf.SparseTensor([[0, 3]], [9], [1, 4])]),
            "should match except along axis 0",
        ),
    ],
)
def test_shapes_that_do_not_fit_are_refused_in_the_run(change, text):
    with pytest.raises(tf.errors.InvalidArgumentError, match=text):
        run(change(sparse()))


@pytest.mark.parametrize("inputs", [[], 3, [np.ones(2)]])
def test_concat_takes_a_list_of_sparse_tensors(inputs):
    with pytest.raises(TypeError, match="SparseTensor"):
        tf.sparse_concat(0, inputs)


def test_an_empty_sparse_tensor_is_an_ordinary_one():
    empty = tf.SparseTensor(np.zeros([0, 2], np.int64), np.zeros([0], np.float32), [0, 3])
    assert dense(tf.sparse_reorder(empty)) == []
    assert dense(tf.sparse_reshape(empty, [3, 0])) == [[], [], []]
    assert run(tf.sparse_reduce_sum(empty, 0)).tolist() == [0, 0, 0]
