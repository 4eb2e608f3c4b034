import numpy as np
import pytest

import dynrnn.tf1 as tf


def test_transpose_infers_the_static_shape():
    x = tf.placeholder(tf.float32, [1, None, 3])
    assert (tf.transpose(x).shape.as_list(), tf.transpose(x).name) == ([3, None, 1], "transpose_1:0")
    assert tf.transpose(x, [1, 0, 2]).shape.as_list() == [None, 1, 3]
    assert tf.transpose(x, tf.constant([1, 0, 2])).shape.as_list() == [None, 1, 3]
    assert tf.transpose(tf.placeholder(tf.float32), [1, 0]).shape.as_list() == [None, None]
    assert tf.matrix_transpose(x).shape.as_list() == [1, 3, None]
    assert tf.matrix_transpose(x).name == "matrix_transpose_1/transpose:0"


def test_transpose_of_a_list_of_tensors_stacks_it():
    x = tf.placeholder(tf.float32, [3])
    assert tf.transpose([x, x]).shape.as_list() == [3, 2]


def test_transpose_by_an_order_known_only_in_the_run():
    x = tf.placeholder(tf.float32)
    order = tf.concat([[1, 0], tf.range(2, tf.rank(x))], 0)
    with tf.Session() as sess:
        value = sess.run(tf.transpose(x, order), {x: np.arange(24).reshape(2, 3, 4)})
    assert np.array_equal(value, np.arange(24).reshape(2, 3, 4).transpose(1, 0, 2))


@pytest.mark.parametrize(
    ("perm", "words"),
    [
        ([1, 0], "Dimension must be 3 but is 2"),
        ([1, 0, 3], "perm dim 3 is out of range of input rank 3"),
        ([1, 0, 0], "2 is missing from"),
    ],
)
def test_transpose_refuses_what_is_no_permutation(perm, words):
    with pytest.raises(ValueError, match=words):
        tf.transpose(tf.placeholder(tf.float32, [1, 2, 3]), perm)


def test_matrix_transpose_needs_a_matrix():
    with pytest.raises(ValueError, match="rank >= 2"):
        tf.matrix_transpose(tf.placeholder(tf.float32, [3]))


def test_transpose_of_what_turns_out_a_scalar():
    x = tf.placeholder(tf.float32)
    with tf.Session() as sess:
        assert sess.run(tf.transpose(x), {x: 2.5}) == 2.5
