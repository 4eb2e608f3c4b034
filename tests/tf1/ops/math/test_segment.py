"""Segments: empty ones, dropped and wrong ids, sizes known late."""

import numpy as np
import pytest

import dynrnn.tf1 as tf


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def value(fetches):
    return tf.Session().run(fetches)


DATA = np.array([[1.0, 2.0], [1.0, 5.0], [4.0, 3.0]])


def test_equal_extremes_share_the_gradient():
    x = tf.constant(DATA)
    for function in (tf.segment_max, tf.segment_min):
        grad = value(tf.gradients(function(x, [0, 0, 2]), [x])[0])
        assert grad[:, 0].tolist() == [0.5, 0.5, 1]


def test_ids_that_fall_or_do_not_fit_fail_in_the_run():
    for ids in ([1, 0, 2], [-1, 0, 1], [0, 1]):
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"not increasing|same size"):
            value(tf.segment_sum(DATA, ids))


def test_ids_that_are_too_large_fail_in_the_run():
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"segment_ids\[0\] = 3 is out of range \[0, 3\)"):
        value(tf.unsorted_segment_sum(DATA, [3, -1, 0], 3))


def test_empty_segments_have_the_neutral_value():
    ids = [1, -1, 1]
    first = {
        kind: value(getattr(tf, f"unsorted_segment_{kind}")(DATA, ids, 2))[0, 0]
        for kind in ("sum", "mean", "prod", "max", "min")
    }
    assert first == {"sum": 0, "mean": 0, "prod": 1, "max": np.finfo(float).min, "min": np.finfo(float).max}


def test_integers_average_towards_zero():
    assert value(tf.segment_mean([-1, -2, 5], [0, 0, 1])).tolist() == [-1, 5]


def test_the_number_of_segments_may_be_known_only_in_the_run():
    count = tf.placeholder(tf.int32, [])
    result = tf.unsorted_segment_sum(DATA, [0, 1, 0], count)
    assert result.shape.as_list() == [None, 2]
    assert tf.Session().run(result, {count: 3}).tolist() == [[5, 5], [1, 5], [0, 0]]


def test_ids_must_lead_the_shape():
    with pytest.raises(ValueError, match="segment_ids: shape"):
        tf.unsorted_segment_sum(DATA, [0, 1], 2)


def test_no_rows_make_no_segments():
    assert value(tf.segment_sum(tf.zeros([0, 2]), np.zeros(0, np.int32))).shape == (0, 2)
    assert value(tf.unsorted_segment_prod(tf.zeros([0, 2]), np.zeros(0, np.int32), 1)).tolist() == [[1, 1]]


def test_rows_of_no_elements_are_summed_too():
    x = tf.placeholder(tf.float32)
    with tf.Session() as sess:
        assert sess.run(tf.unsorted_segment_sum(x, [1, 0, 0], 3), {x: np.zeros((3, 0))}).shape == (3, 0)
