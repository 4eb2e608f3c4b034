import pytest

import dynrnn.tf1 as tf


@pytest.mark.parametrize(
    ("x", "items"),
    [([3, 1, 3, 2, 1], [3, 1, 2]), (["b", "a", "b", "c", "a"], ["b", "a", "c"])],
    ids=["numbers", "strings"],
)
def test_unique_keeps_the_order_in_which_items_come(x, items):
    y, idx = tf.unique(x)
    assert (y.name, y.shape.as_list(), idx.shape.as_list()) == ("Unique:0", [None], [5])
    with tf.Session() as sess:
        y, idx, count = sess.run(tf.unique_with_counts(x, out_idx=tf.int64))
    assert [item.decode() if isinstance(item, bytes) else item for item in y.tolist()] == items
    assert (idx.tolist(), idx.dtype, count.tolist()) == ([0, 1, 0, 2, 1], "int64", [2, 2, 1])


def test_setdiff1d_keeps_order_and_repeats():
    out, idx = tf.setdiff1d([1, 2, 3, 1], [2, 9])
    assert (out.name, idx.dtype) == ("ListDiff:0", tf.int32)
    with tf.Session() as sess:
        assert [value.tolist() for value in sess.run([out, idx])] == [[1, 3, 1], [0, 2, 3]]


def test_only_vectors_are_sets():
    with pytest.raises(ValueError, match="Shape must be rank 1 but is rank 2"):
        tf.unique([[1]])
    with pytest.raises(ValueError, match="Shape must be rank 1 but is rank 0"):
        tf.setdiff1d([1], 1)
