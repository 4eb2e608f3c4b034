import pytest

import dynrnn.tf1 as tf


def test_sizes_that_are_known_are_constants():
    x = tf.placeholder(tf.float32, [3, 2])
    assert [t.op.type for t in (tf.shape(x), tf.size(x), tf.rank(x))] == ["Const"] * 3
    assert tf.shape(x, out_type=tf.int64).dtype == tf.int64


def test_sizes_that_are_not_known_come_from_the_run():
    x = tf.placeholder(tf.float32)
    found = [tf.shape(x), tf.size(x), tf.rank(x)]
    assert [t.name for t in found] == ["Shape:0", "Size:0", "Rank:0"]
    with tf.Session() as sess:
        shape, size, rank = sess.run(found, {x: [[1, 2, 3]]})
    assert (shape.tolist(), size, rank) == ([1, 3], 3, 2)


def test_shape_n_gives_a_shape_for_each():
    x, y = tf.placeholder(tf.float32, [None, 2]), tf.placeholder(tf.float32, [2])
    first, second = tf.shape_n([x, y])
    assert (first.shape.as_list(), second.name) == ([2], "ShapeN:1")


def test_broadcast_shapes():
    assert tf.broadcast_static_shape(tf.TensorShape([1, None]), tf.TensorShape([3, 1])).as_list() == [3, None]
    with pytest.raises(ValueError, match="Incompatible shapes for broadcasting"):
        tf.broadcast_static_shape(tf.TensorShape([2]), tf.TensorShape([3]))
    with tf.Session() as sess:
        assert sess.run(tf.broadcast_dynamic_shape([1, 2], [3, 1])).tolist() == [3, 2]
        with pytest.raises(tf.errors.InvalidArgumentError, match="Incompatible shapes"):
            sess.run(tf.broadcast_dynamic_shape([1, 2], [3, 3]))
