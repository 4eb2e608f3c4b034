"""Initializers whose spread follows from the shape: fans, parts of variables, orthogonality."""

import numpy as np
import pytest

import dynrnn.tf1 as tf


def run(fetches: object) -> object:
    with tf.Session() as sess:
        return sess.run(fetches)


def test_functions_return_variance_scaling():
    for name, scale, distribution in (
        ("he_normal", 2.0, "truncated_normal"),
        ("he_uniform", 2.0, "uniform"),
        ("lecun_normal", 1.0, "truncated_normal"),
        ("lecun_uniform", 1.0, "uniform"),
    ):
        made = getattr(tf.initializers, name)(seed=3)
        expected = {"scale": scale, "mode": "fan_in", "distribution": distribution, "seed": 3, "dtype": "float32"}
        assert isinstance(made, tf.variance_scaling_initializer) and made.get_config() == expected


def test_fans_count_all_leading_axes():
    tf.set_random_seed(3)
    # A value of TensorFlow 2.21 for these seeds: fan_in is 2 * 2.
    assert abs(run(tf.variance_scaling_initializer(seed=5)([2, 2, 3]))[0, 0, 0] - -0.6450127) < 2e-6
    assert abs(run(tf.uniform_unit_scaling_initializer(seed=5)([4]))[1] - 1.1866909) < 1e-6
    assert run(tf.glorot_uniform_initializer()([])).shape == ()


@pytest.mark.parametrize("shape", [[6, 4], [4, 6], [2, 3, 4], [2, 2, 7]], ids=str)
def test_orthogonal_rows_or_columns_are_orthonormal(shape: list[int]):
    x = run(tf.orthogonal_initializer(gain=2.0, dtype=tf.float64)(shape)).reshape(-1, shape[-1])
    product = x.T @ x if x.shape[0] >= x.shape[1] else x @ x.T
    np.testing.assert_allclose(product, 4 * np.eye(min(x.shape)), atol=1e-12)


def test_a_part_is_scaled_as_the_whole():
    whole = tf.get_variable("w", [600, 400], partitioner=tf.fixed_size_partitioner(30))
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        largest = np.abs(sess.run(tf.convert_to_tensor(whole))).max()
    limit = np.sqrt(6 / 1000)
    assert 0.99 * limit < largest <= limit


ERRORS = {
    "orthogonal rank": (lambda: tf.orthogonal_initializer()([3]), "at least two-dimensional"),
    "scale": (lambda: tf.variance_scaling_initializer(-1), "positive float, got -1"),
    "mode": (lambda: tf.variance_scaling_initializer(mode="x"), "`mode`"),
    "distribution": (lambda: tf.variance_scaling_initializer(distribution="x"), "`distribution`"),
    "glorot dtype": (lambda: tf.glorot_uniform_initializer(dtype=tf.int32), "Expected floating point type"),
}


@pytest.mark.parametrize(("call", "words"), ERRORS.values(), ids=ERRORS)
def test_bad_arguments_are_refused(call: object, words: str):
    with pytest.raises(ValueError, match=words):
        call()  # type: ignore[operator]
