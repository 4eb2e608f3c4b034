"""A variable's methods that go by index."""

import pytest

import dynrnn.tf1 as tf


@pytest.fixture
def sess(fresh_graph):
    with tf.Session() as sess:
        yield sess


def rows(values, indices):
    return tf.IndexedSlices(tf.constant(values), tf.constant(indices))


@pytest.mark.parametrize(
    ("name", "value"), [("update", 3), ("add", 9), ("sub", 3), ("mul", 18), ("div", 2), ("min", 3), ("max", 6)]
)
def test_slices_update_rows(name, value, sess):
    v = tf.Variable([[1.0], [6.0]])
    sess.run(v.initializer)
    result = getattr(v, f"scatter_{name}")(rows([[3.0]], [1]))
    assert result.op.type == f"Scatter{name.title()}"
    assert sess.run(result).tolist() == [[1.0], [value]]


def test_only_slices_are_taken():
    with pytest.raises(TypeError, match="sparse_delta is not IndexedSlices"):
        tf.Variable([1.0]).scatter_add([1.0])


def test_index_vectors(sess):
    v = tf.Variable([[1.0, 2.0]])
    sess.run(v.initializer)
    assert sess.run(v.scatter_nd_add([[0, 1]], [5.0])).tolist() == [[1.0, 7.0]]
    assert sess.run(v.scatter_nd_sub([[0, 1]], [1.0])).tolist() == [[1.0, 6.0]]
    assert sess.run(v.scatter_nd_update([[0, 0]], [9.0])).tolist() == [[9.0, 6.0]]
    assert sess.run(v.gather_nd([[0, 1]])).tolist() == [6.0]
    assert sess.run(v.sparse_read([0])).tolist() == [[9.0, 6.0]]


def test_counting(sess):
    v = tf.Variable(0)
    sess.run(v.initializer)
    assert sess.run(v.count_up_to(1)) == 0
