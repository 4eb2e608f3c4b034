import pytest

import dynrnn.tf1 as tf


def test_dynamic_partition_deals_rows_out():
    x = tf.placeholder(tf.float32, [None, 3])
    parts = tf.dynamic_partition(x, tf.placeholder(tf.int32, [None]), 2)
    assert [part.shape.as_list() for part in parts] == [[None, 3]] * 2
    with tf.Session() as sess:
        first, second = sess.run(tf.dynamic_partition([1.0, 2.0, 3.0], [0, 1, 0], 2))
        assert (first.tolist(), second.tolist()) == ([1, 3], [2])
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"partitions\[1\] = 2 is not in \[0, 2\)"):
            sess.run(tf.dynamic_partition([1.0, 2.0, 3.0], [0, 2, 0], 2))


def test_dynamic_stitch_puts_rows_together_and_the_later_one_wins():
    with tf.Session() as sess:
        assert sess.run(tf.dynamic_stitch([[0, 2], [1]], [[1.0, 2.0], [3.0]])).tolist() == [1, 3, 2]
        assert sess.run(tf.dynamic_stitch([[0, 0], [0]], [[1.0, 2.0], [3.0]])).tolist() == [3]
        assert sess.run(tf.dynamic_stitch([[0, 2]], [[1, 2]])).tolist() == [1, 0, 2]


def test_dynamic_stitch_infers_the_static_shape():
    row = tf.placeholder(tf.float32, [None, 3])
    assert tf.dynamic_stitch([[0, 5], [2]], [tf.placeholder(tf.float32, [2, 3]), row]).shape.as_list() == [6, 3]
    assert tf.dynamic_stitch([tf.placeholder(tf.int32, [None])], [row]).shape.as_list() == [None, 3]


def test_dynamic_stitch_of_rows_of_no_elements():
    with tf.Session() as sess:
        assert sess.run(tf.dynamic_stitch([[2, 0]], [tf.zeros([2, 0])])).shape == (3, 0)
