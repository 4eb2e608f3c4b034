"""Counts of integers and of pairs."""

import numpy as np
import pytest

import dynrnn.tf1 as tf


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def value(fetches):
    return tf.Session().run(fetches)


def test_counts_of_integers():
    assert value(tf.bincount([1, 1, 3])).tolist() == [0, 2, 0, 1]
    assert value(tf.bincount(tf.constant([1, 1, 3], tf.int64), maxlength=2, dtype=tf.float32)).tolist() == [0, 2]
    assert value(tf.bincount(np.zeros(0, np.int32))).tolist() == []
    with pytest.raises(tf.errors.InvalidArgumentError, match="must be non-negative"):
        value(tf.bincount([-1]))


def test_pairs_of_labels_and_predictions_are_counted():
    assert value(tf.confusion_matrix([0, 1, 1], [0, 1, 0])).tolist() == [[1, 0], [1, 1]]
    weighted = tf.confusion_matrix([0, 1], [0, 0], num_classes=3, weights=[0.5, 2.0], dtype=tf.float32)
    assert weighted.shape.as_list() == [3, 3]
    assert value(weighted).tolist() == [[0.5, 0, 0], [2, 0, 0], [0, 0, 0]]


def test_classes_that_are_not_there_fail_in_the_run():
    for labels, message in (([2, 0], "`labels` out of bound"), ([-1, 0], "`labels` contains negative values")):
        with pytest.raises(tf.errors.InvalidArgumentError, match=message):
            value(tf.confusion_matrix(labels, [0, 1], num_classes=2))
