"""IndexedSlices as tensors."""

import pytest

import dynrnn.tf1 as tf


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def value(fetches):
    return tf.Session().run(fetches)


def slices(dense_shape):
    return tf.IndexedSlices(tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]), tf.constant([2, 0, 2]), dense_shape)


def test_slices_become_a_tensor_with_equal_indices_added():
    dense = tf.convert_to_tensor(slices(tf.constant([4, 2])))
    assert dense.shape.as_list() == [4, 2]
    assert value(dense).tolist() == [[3, 4], [0, 0], [6, 8], [0, 0]]


def test_slices_stand_in_any_operation():
    assert value(tf.reduce_sum(slices(tf.constant([4, 2])))) == 21
    assert value(tf.add_n([slices(tf.constant([3, 2])), tf.ones([3, 2])])).tolist() == [[4, 5], [1, 1], [7, 9]]


def test_slices_of_unknown_size_are_refused():
    with pytest.raises(ValueError, match="without dense_shape"):
        tf.convert_to_tensor(slices(None))


def test_an_index_outside_fails_in_the_run():
    with pytest.raises(tf.errors.InvalidArgumentError):
        value(tf.convert_to_tensor(slices(tf.constant([2, 2]))))
