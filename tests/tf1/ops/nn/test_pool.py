"""Pooling: TensorFlow's padding, layouts, ties and errors."""

import numpy as np
import pytest

import dynrnn.tf1 as tf

IMAGE = np.arange(20.0).reshape(1, 4, 5, 1)


def run(fetches: object) -> object:
    with tf.Session() as sess:
        return sess.run(fetches)


def test_margins_neither_win_nor_count():
    largest = tf.nn.max_pool(tf.constant(IMAGE - 100), [1, 3, 2, 1], [1, 2, 2, 1], "SAME")
    mean = tf.nn.avg_pool(tf.constant(IMAGE), [1, 3, 2, 1], [1, 2, 2, 1], "SAME")
    assert largest.shape.as_list() == mean.shape.as_list() == [1, 2, 3, 1]
    # Values of TensorFlow 2.21.
    assert (run(largest) + 100).reshape(-1).tolist() == [11, 13, 14, 16, 18, 19]
    np.testing.assert_allclose(run(mean).reshape(-1), [5.5, 7.5, 9, 13, 15, 16.5], rtol=1e-15)


@pytest.mark.parametrize("name", ["max_pool", "avg_pool"])
def test_channels_may_come_first_and_sizes_may_be_numbers(name: str):
    pool = getattr(tf.nn, name)
    x = np.random.RandomState(0).normal(size=(2, 5, 6, 3))
    last = pool(x, 2, [1, 2, 1, 1], "VALID")
    first = pool(x.transpose(0, 3, 1, 2), [1, 1, 2, 2], [2, 1], "VALID", data_format="NCHW")
    a, b = run([last, first])
    np.testing.assert_array_equal(a, b.transpose(0, 2, 3, 1))


def test_of_equal_items_the_first_gets_the_gradient():
    x = tf.constant(np.float32([1, 1, 1, 3, 3]).reshape(1, 1, 5, 1))
    y = tf.nn.max_pool(x, [1, 1, 3, 1], [1, 1, 2, 1], "SAME")
    assert run(tf.gradients(y, x)[0]).reshape(-1).tolist() == [1, 0, 0, 2, 0]


def test_sequences_are_pooled():
    x = np.arange(10.0).reshape(1, 5, 2)
    assert run(tf.nn.max_pool1d(x, 2, 2, "VALID")).tolist() == [[[2, 3], [6, 7]]]
    assert run(tf.nn.avg_pool1d(x, 2, 2, "SAME")).tolist() == [[[1, 2], [5, 6], [8, 9]]]


def test_unknown_sizes_stay_unknown():
    x = tf.placeholder(tf.float32, [None, None, 5, 2])
    y = tf.nn.max_pool(x, 2, 2, "VALID")
    assert y.shape.as_list() == [None, None, 2, 2] and y.name == "MaxPool:0"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (([2, 1, 1, 1], 1, "SAME"), "batch or channels"),
        ((2, 2, "FULL"), "SAME"),
        ((2, 2, None), "must be given"),
        ((7, 1, "VALID"), "Negative dimension size caused by subtracting 7 from 4"),
    ],
)
def test_what_does_not_fit_is_refused(arguments: tuple, words: str):
    with pytest.raises(ValueError, match=words):
        tf.nn.max_pool(tf.constant(IMAGE), *arguments)
