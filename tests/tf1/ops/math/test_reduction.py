"""Reductions: the spellings of axes, integers, empty tensors, ties, names."""

import numpy as np
import pytest

import dynrnn.tf1 as tf


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def value(fetches):
    return tf.Session().run(fetches)


@pytest.mark.parametrize("axis", [1, -1, [1], (1,), np.int64(1), np.array([1]), tf.Dimension(1)])
def test_axes_may_be_spelled_in_many_ways(axis):
    assert value(tf.reduce_sum([[1.0, 2.0], [3.0, 4.0]], axis)).tolist() == [3, 7]


def test_an_axis_may_be_a_tensor_that_is_known_while_building():
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    assert value(tf.reduce_sum(x, tf.rank(x) - 1)).tolist() == [3, 7]
    with pytest.raises(ValueError, match="axis must be known while the graph is built"):
        tf.reduce_sum(x, tf.placeholder(tf.int32, []))


def test_old_argument_names_work_and_exclude_the_new_ones():
    x = tf.ones([2, 3])
    assert tf.reduce_sum(x, reduction_indices=[0], keep_dims=True).shape.as_list() == [1, 3]
    with pytest.raises(ValueError, match="Cannot specify both 'reduction_indices' and 'axis'"):
        tf.reduce_sum(x, axis=0, reduction_indices=0)
    with pytest.raises(ValueError, match="Cannot specify both 'keep_dims' and 'keepdims'"):
        tf.reduce_mean(x, keepdims=True, keep_dims=True)


def test_an_axis_that_is_not_there_is_refused():
    with pytest.raises(ValueError, match="Invalid reduction dimension"):
        tf.reduce_sum(tf.ones([2, 3]), 2)


def test_static_shapes_follow_what_is_known():
    x = tf.placeholder(tf.float32, [None, 3])
    unknown = tf.placeholder(tf.float32)
    shapes = [tf.reduce_sum(x, 1).shape, tf.reduce_sum(x, 0, True).shape, tf.reduce_mean(unknown).shape]
    assert [shape.as_list() for shape in shapes] == [[None], [1, 3], []]
    assert tf.reduce_max(unknown, 1).shape.ndims is None


def test_means_of_integers_round_towards_zero():
    assert value(tf.reduce_mean([1, 2, 4])) == 2
    assert value(tf.reduce_mean([-1, -2, -4])) == -2


def test_sums_keep_the_type():
    assert value(tf.reduce_sum(tf.constant([100, 100], tf.int8))) == np.int8(-56)


def test_reductions_of_nothing():
    empty = tf.zeros([2, 0])
    results = value(
        [tf.reduce_sum(empty, 1), tf.reduce_prod(empty, 1), tf.reduce_max(empty, 1), tf.reduce_mean(empty, 1)]
    )
    np.testing.assert_array_equal(results, [[0, 0], [1, 1], [-np.inf, -np.inf], [np.nan, np.nan]])


def test_no_axes_reduce_nothing():
    assert value(tf.reduce_max(tf.constant([1.0, 2.0]), axis=[])).tolist() == [1, 2]


def test_equal_maxima_share_the_gradient():
    x = tf.constant([[1.0, 1.0, 0.0], [2.0, 5.0, 5.0]])
    assert value(tf.gradients(tf.reduce_max(x, 1), [x])[0]).tolist() == [[0.5, 0.5, 0], [0, 0.5, 0.5]]


def test_the_gradient_of_a_product_with_zeros_is_finite():
    x = tf.constant([[1.0, 0.0, 2.0], [0.0, 0.0, 3.0]])
    assert value(tf.gradients(tf.reduce_prod(x, 1), [x])[0]).tolist() == [[0, 2, 0], [0, 0, 0]]


def test_logsumexp_of_infinities():
    x = tf.constant([[-np.inf, -np.inf], [np.inf, 1.0], [1000.0, 1000.0]])
    np.testing.assert_allclose(value(tf.reduce_logsumexp(x, 1)), [-np.inf, np.inf, 1000 + np.log(2)], rtol=1e-6)


def test_bools_reduce_to_bools_and_numbers_do_not():
    assert value(tf.reduce_any([[True, False], [False, False]], 1)).tolist() == [True, False]
    with pytest.raises(TypeError, match="expected type of bool"):
        tf.reduce_all(tf.constant([1]))


def test_names_are_tensorflows():
    x = tf.ones([2])
    made = [tf.reduce_mean(x), tf.reduce_logsumexp(x), tf.count_nonzero(x), tf.cumsum(x), tf.math.reduce_std(x)]
    assert [t.op.name for t in made] == ["Mean", "ReduceLogSumExp", "count_nonzero/Sum", "Cumsum", "reduce_std/Sqrt"]


def test_running_sums_and_products_leave_out_or_turn_around():
    x = tf.constant([1.0, 2.0, 3.0])
    options = [{}, {"exclusive": True}, {"reverse": True}, {"exclusive": True, "reverse": True}]
    assert [value(tf.cumsum(x, **o)).tolist() for o in options] == [[1, 3, 6], [0, 1, 3], [6, 5, 3], [5, 3, 0]]
    assert [value(tf.cumprod(x, **o)).tolist() for o in options] == [[1, 2, 6], [1, 1, 2], [6, 6, 3], [6, 3, 1]]
