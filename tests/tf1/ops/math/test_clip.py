"""Clipping: values and gradients at the bounds, norms, lists with None and IndexedSlices. Numbers are TensorFlow's."""

import numpy as np
import pytest

import dynrnn.tf1 as tf


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def value(fetches):
    return tf.Session().run(fetches)


def slices():
    return tf.IndexedSlices(tf.constant([[3.0, 4.0], [0.0, 0.0]]), tf.constant([1, 0]), tf.constant([3, 2]))


def test_clipping_by_value_passes_gradients_inside_and_on_the_bounds():
    x = tf.constant([-2.0, -1.0, 0.0, 1.0, 2.0])
    low, high = tf.constant(-1.0), tf.constant(1.0)
    y = tf.clip_by_value(x, low, high)
    assert y.op.name == "clip_by_value"
    values, grads = value([y, tf.gradients(y, [x, low, high])])
    assert values.tolist() == [-1, -1, 0, 1, 1]
    assert [grad.tolist() for grad in grads] == [[0, 1, 1, 1, 0], 1, 1]


def test_bounds_that_change_the_shape_are_refused():
    with pytest.raises(ValueError, match=r"Shapes .* are incompatible|not compatible"):
        tf.clip_by_value(tf.constant([1.0, 2.0]), [[0.0, 0.0]], 1.0)


@pytest.mark.parametrize(
    ("norm", "values", "gradient"),
    [(5.0, [3.0, 4.0], [0.16, -0.12]), (1.0, [0.6, 0.8], [0.032, -0.024]), (9.0, [3.0, 4.0], [1.0, 1.0])],
)
def test_clipping_by_norm_scales_what_is_longer(norm, values, gradient):
    x = tf.constant([3.0, 4.0], tf.float64)
    y = tf.clip_by_norm(x, norm)
    result, grad = value([y, tf.gradients(y, [x])[0]])
    np.testing.assert_allclose(result, values, rtol=1e-15)
    np.testing.assert_allclose(grad, gradient, rtol=1e-13)


def test_clipping_zeros_by_norm_has_a_gradient():
    x = tf.zeros([2])
    y = tf.clip_by_norm(x, 1.0)
    assert [part.tolist() for part in value([y, tf.gradients(y, [x])[0]])] == [[0, 0], [1, 1]]


def test_the_global_norm_clips_all_tensors_and_keeps_what_is_none():
    clipped, norm = tf.clip_by_global_norm([tf.constant([3.0]), None, slices(), tf.constant(0.0)], 2.5)
    assert clipped[1] is None
    assert isinstance(clipped[2], tf.IndexedSlices)
    assert norm.op.name == "global_norm/global_norm"
    assert clipped[0].op.name == "clip_by_global_norm/clip_by_global_norm/_0"
    first, rows, last, length = value([clipped[0], clipped[2], clipped[3], norm])
    np.testing.assert_allclose(length, np.sqrt(34.0), rtol=1e-7)
    np.testing.assert_allclose(first, [3 * 2.5 / np.sqrt(34.0)], rtol=1e-6)
    np.testing.assert_allclose(rows.values[0], np.array([3, 4]) * 2.5 / np.sqrt(34.0), rtol=1e-6)
    assert last == 0


def test_the_global_norm_scales_with_tensorflows_bits():
    (clipped,), _ = tf.clip_by_global_norm([tf.constant([3.0, 4.0, 0.1])], 0.7)
    assert value(clipped).tolist() == [0.4199160039424896, 0.5598880052566528, 0.013997199945151806]


@pytest.mark.parametrize("wrong", [np.inf, np.nan])
def test_a_norm_that_is_not_finite_makes_everything_nan(wrong):
    (first, second), _ = tf.clip_by_global_norm([tf.constant([wrong, 0.0]), tf.constant([1.0])], 1.0)
    assert all(np.isnan(part).all() for part in value([first, second]))


def test_short_tensors_keep_their_values():
    (clipped,), norm = tf.clip_by_global_norm([tf.constant([0.3, 0.4])], 5.0)
    assert value(clipped).tolist() == np.array([0.3, 0.4], np.float32).tolist()
    assert value(norm) == np.float32(0.5)


def test_a_norm_that_is_known_is_used():
    (clipped,), norm = tf.clip_by_global_norm([tf.constant([3.0, 4.0])], 1.0, use_norm=tf.constant(10.0))
    np.testing.assert_allclose(value(clipped), [0.3, 0.4], rtol=1e-6)
    assert value(norm) == 10


def test_a_tensor_instead_of_a_list_is_refused():
    with pytest.raises(TypeError, match="t_list should be a sequence"):
        tf.clip_by_global_norm(tf.constant([1.0]), 1.0)
    with pytest.raises(ValueError, match="at least one tensor"):
        tf.global_norm([None])


def test_slices_are_clipped_in_their_values():
    by_value, by_norm = tf.clip_by_value(slices(), -1.0, 1.0), tf.clip_by_norm(slices(), 1.0)
    assert value(by_value.values).tolist() == [[1, 1], [0, 0]]
    np.testing.assert_allclose(value(by_norm.values), [[0.6, 0.8], [0, 0]], rtol=1e-6)


def test_clipping_by_average_norm_divides_by_the_number_of_elements():
    np.testing.assert_allclose(value(tf.clip_by_average_norm(tf.constant([3.0, 4.0]), 1.0)), [1.2, 1.6], rtol=1e-6)
