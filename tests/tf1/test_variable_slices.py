"""Assigning to a part of a variable."""

import numpy as np
import pytest

import dynrnn.tf1 as tf

START = np.arange(12.0, dtype=np.float32).reshape(3, 4)


@pytest.mark.parametrize(
    "index",
    [1, -1, slice(1, None), (slice(None), 2), (0, 3), (slice(None, None, 2), slice(3, 0, -1)), (Ellipsis, 1)],
    ids=str,
)
def test_a_part_is_replaced_as_in_numpy(index):
    expected = START.copy()
    value = -1.0 - np.arange(expected[index].size, dtype=np.float32).reshape(np.shape(expected[index]))
    expected[index] = value
    v = tf.Variable(START)
    update = v[index].assign(value)
    with tf.Session() as session:
        session.run(v.initializer)
        np.testing.assert_array_equal(session.run(update), expected)
        np.testing.assert_array_equal(session.run(v), expected)


def test_a_scalar_fills_a_part_and_what_was_read_before_stays():
    v = tf.Variable(START)
    with tf.Session() as session:
        session.run(v.initializer)
        before = session.run(v)
        session.run(v[1].assign(5.0))
        np.testing.assert_array_equal(session.run(v)[1], [5.0] * 4)
        np.testing.assert_array_equal(before, START)


def test_a_part_is_still_a_tensor_with_a_gradient():
    v = tf.Variable(START)
    gradient = tf.gradients(tf.reduce_sum(v[1:] * 2.0), [v])[0]
    with tf.Session() as session:
        session.run(v.initializer)
        np.testing.assert_array_equal(session.run(gradient), [[0] * 4, [2] * 4, [2] * 4])


def test_what_does_not_fit_is_refused_and_leaves_the_graph():
    v = tf.Variable(START)
    part = v[1:]
    count = len(v.graph.get_operations())
    with pytest.raises(ValueError, match=r"\(2, 4\) and \(3,\) are incompatible"):
        part.assign([1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match="dtype"):
        part.assign(tf.zeros([2, 4], tf.int32))
    assert len(v.graph.get_operations()) - count <= 1


def test_a_place_known_only_in_a_run_cannot_be_assigned_to():
    v = tf.Variable(START)
    assert not hasattr(v[tf.constant(1) + tf.placeholder_with_default(0, [])], "assign")
