import numpy as np
import pytest

import dynrnn.tf1 as tf


def hole(*dims):
    return tf.placeholder(tf.float32, dims)


def test_static_shapes():
    assert tf.diag(hole(None, 3)).shape.as_list() == [None, 3, None, 3]
    assert tf.diag_part(hole(None, 3)).shape.as_list() == [3]
    assert tf.matrix_diag(hole(None, 3)).shape.as_list() == [None, 3, 3]
    assert tf.matrix_diag_part(hole(None, 3, 4)).shape.as_list() == [None, 3]
    assert tf.matrix_set_diag(hole(None, 3, 4), hole(None, 3)).shape.as_list() == [None, 3, 4]
    assert tf.matrix_band_part(hole(3, None), 1, -1).shape.as_list() == [3, None]


def test_diag_part_of_rank_four():
    with tf.Session() as sess:
        value = sess.run(tf.diag_part(np.arange(36.0).reshape(2, 3, 2, 3)))
    assert value.tolist() == [[0, 7, 14], [21, 28, 35]]


@pytest.mark.parametrize(
    ("function", "dims"),
    [(tf.diag_part, (2, 3)), (tf.diag_part, (3,)), (tf.matrix_diag, ()), (tf.matrix_diag_part, (3,))],
)
def test_shapes_that_never_fit_are_refused(function, dims):
    with pytest.raises(ValueError):
        function(hole(*dims))


def test_eye():
    n = tf.placeholder(tf.int32, [])
    assert (tf.eye(3).name, tf.eye(n).shape.as_list()) == ("eye/diag:0", [None, None])
    assert tf.eye(3, batch_shape=tf.placeholder(tf.int32, [2])).shape.as_list() == [None, None, 3, 3]
    with tf.Session() as sess:
        assert sess.run(tf.eye(3, 2, batch_shape=[2], dtype=tf.int32)).tolist() == [[[1, 0], [0, 1], [0, 0]]] * 2
        assert np.array_equal(sess.run(tf.eye(n), {n: 2}), np.eye(2))


def test_band_part_keeps_all_on_a_side_with_a_negative_number():
    x = np.ones((3, 4))
    with tf.Session() as sess:
        assert np.array_equal(sess.run(tf.matrix_band_part(x, 1, 0)), np.tril(x) * np.triu(x, -1))
        assert np.array_equal(sess.run(tf.matrix_band_part(x, -1, 0)), np.tril(x))
