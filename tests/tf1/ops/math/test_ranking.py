"""Which elements are largest: ties, types, k that is known late."""

import numpy as np
import pytest

import dynrnn.tf1 as tf


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def value(fetches):
    return tf.Session().run(fetches)


def test_the_first_of_equal_elements_is_found():
    x = tf.constant([[1.0, 3.0, 3.0], [2.0, 2.0, 2.0]])
    assert value(tf.argmax(x, 1)).tolist() == [1, 0]
    assert value(tf.argmin(x, axis=-1)).tolist() == [0, 0]


def test_indices_are_int64_unless_asked_otherwise():
    x = tf.ones([2, 3])
    assert tf.argmax(x, 1).dtype == tf.int64
    assert tf.argmax(x, 1, output_type=tf.int32).dtype == tf.int32
    assert tf.argmax(x).shape.as_list() == [3]


def test_old_names_of_the_axis():
    x = tf.constant([[1.0, 3.0], [2.0, 0.0]])
    assert value([tf.argmax(x, dimension=1), tf.arg_max(x, 1), tf.arg_min(x, 1)])[0].tolist() == [1, 0]
    with pytest.raises(ValueError, match="Cannot specify both 'dimension' and 'axis'"):
        tf.argmax(x, axis=1, dimension=1)


def test_no_gradient_passes_an_index():
    x = tf.constant([1.0, 2.0])
    assert tf.gradients(tf.cast(tf.argmax(x), tf.float32), [x]) == [None]


def test_the_largest_come_first_and_ties_by_index():
    top = tf.nn.top_k([[1.0, 3.0, 3.0, 2.0], [1.0, 1.0, 1.0, 1.0]], 3)
    assert value(top.values).tolist() == [[3, 3, 2], [1, 1, 1]]
    assert value(top.indices).tolist() == [[1, 2, 3], [0, 1, 2]]
    assert top.indices.dtype == tf.int32


def test_k_may_be_known_only_in_the_run():
    k = tf.placeholder(tf.int32, [])
    values, _ = tf.nn.top_k(tf.constant([[4, 5, 6]]), k)
    assert values.shape.as_list() == [1, None]
    session = tf.Session()
    assert session.run(values, {k: 2}).tolist() == [[6, 5]]
    with pytest.raises(tf.errors.InvalidArgumentError, match="input must have last dimension >= k = 4 but is 3"):
        session.run(values, {k: 4})


def test_k_that_is_too_large_is_refused():
    with pytest.raises(ValueError, match="input must have last dimension >= k = 5 but is 2"):
        tf.nn.top_k([1.0, 2.0], 5)


def test_the_gradient_goes_to_the_largest():
    x = tf.constant([[1.0, 3.0, 2.0]])
    assert value(tf.gradients(tf.nn.top_k(x, 2).values, [x])[0]).tolist() == [[0, 1, 1]]


def test_targets_are_among_the_largest_also_in_a_tie():
    predictions = tf.constant([[1.0, 3.0, 3.0], [1.0, 2.0, np.inf], [1.0, 2.0, 3.0]])
    result = tf.nn.in_top_k(predictions, [2, 2, 7], 1)
    assert result.op.name == "in_top_k/InTopKV2"
    assert value(result).tolist() == [True, False, False]


def test_targets_are_a_vector_and_predictions_a_matrix():
    with pytest.raises(ValueError, match="must be rank 2 but is rank 1"):
        tf.nn.in_top_k(tf.placeholder(tf.float32, [None]), tf.placeholder(tf.int32, [None]), 1)
    with pytest.raises(ValueError, match="must be rank 1 but is rank 2"):
        tf.nn.in_top_k(tf.zeros([3, 2]), [[0]], 1)


NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize(
    ("function", "values", "expected"),
    [
        (tf.argmax, [1.0, NAN, 3.0, NAN], 2),
        (tf.argmin, [NAN, 3.0, 1.0], 2),
        (tf.argmax, [[NAN, 1.0], [2.0, NAN]], [1, 0]),
        (tf.argmax, [NAN, -INF], 0),
        (tf.argmin, [NAN, NAN], 0),
    ],
)
def test_a_nan_is_neither_largest_nor_smallest(function, values, expected):
    assert value(function(values)).tolist() == expected
