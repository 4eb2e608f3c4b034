"""Shuffles, classes, crops, gamma and Poisson numbers."""

import numpy as np
import pytest

import dynrnn.tf1 as tf


def test_classes_are_those_of_tensorflow():
    tf.set_random_seed(3)
    logits = tf.constant([[0.0, 1.0, 2.0], [1.0, 1.0, 1.0]])
    draws = tf.multinomial(logits, 6, seed=5), tf.random.categorical(logits, 6, dtype=tf.int32, seed=5)
    assert [draw.dtype for draw in draws] == [tf.int64, tf.int32]
    with tf.Session() as sess:
        for values in sess.run(draws):
            assert values.tolist() == [[1, 0, 2, 2, 2, 2], [0, 0, 1, 1, 2, 2]]


@pytest.mark.parametrize("size", [[2, 3], np.array([2, 3], np.int64)], ids=["int32", "int64"])
def test_crops_are_those_of_tensorflow(size: object):
    tf.set_random_seed(3)
    x = tf.constant(np.arange(30).reshape(5, 6))
    with tf.Session() as sess:
        assert sess.run(tf.random_crop(x, size, seed=5)).tolist() == [[20, 21, 22], [26, 27, 28]]


def test_a_shuffle_keeps_rows_whole_and_returns_scalars_and_empty_values():
    x = np.arange(12).reshape(6, 2)
    with tf.Session() as sess:
        shuffled = sess.run(tf.random_shuffle(x, seed=1))
        assert sorted(shuffled.tolist()) == x.tolist() and shuffled.tolist() != x.tolist()
        assert sess.run(tf.random_shuffle(5)) == 5
        assert sess.run(tf.random_shuffle(tf.zeros([0, 3]))).shape == (0, 3)


def test_a_shuffle_has_no_gradient_as_in_tensorflow():
    x = tf.placeholder(tf.float32, [3])
    assert tf.gradients(tf.random_shuffle(x), x) == [None]


def test_gamma_and_poisson_have_their_means_and_shapes():
    gamma = tf.random_gamma([20000], [0.5, 4.0], beta=2.0, seed=1)
    poisson = tf.random_poisson([0.5, 30.0], [20000], dtype=tf.int32, seed=1)
    assert gamma.shape.as_list() == poisson.shape.as_list() == [20000, 2]
    assert poisson.dtype == tf.int32
    with tf.Session() as sess:
        # Means of 20000 draws: within five of their standard errors.
        np.testing.assert_allclose(sess.run(gamma).mean(0), [0.25, 2.0], atol=0.04)
        np.testing.assert_allclose(sess.run(poisson).mean(0), [0.5, 30.0], atol=0.2)


def test_the_gradient_reaches_gammas_alpha():
    alpha = tf.constant([2.0])
    x = tf.random_gamma([3], alpha, seed=1)
    with tf.Session() as sess:
        assert (sess.run(tf.gradients(x, alpha)[0]) > 0).all()


def test_names_are_those_of_tensorflow():
    names = [
        tf.random_shuffle([2]).name,
        tf.multinomial([[1.0]], 1).name,
        tf.random.categorical([[1.0]], 1).name,
    ]
    assert names == ["RandomShuffle:0", "multinomial/Multinomial:0", "categorical/Multinomial:0"]


def test_an_impossible_class_is_never_drawn():
    with tf.Session() as sess:
        for seed in (None, 1):
            draws = sess.run(tf.multinomial([[0.0, -np.inf, 0.0]], 200, seed=seed))
            assert set(draws[0].tolist()) == {0, 2}


BUILD_ERRORS = {
    "logits rank": (lambda: tf.multinomial([1.0, 2.0], 2), "rank 2"),
    "num_samples": (lambda: tf.multinomial([[1.0, 2.0]], -2), "non-negative but is -2"),
    "crop rank": (lambda: tf.random_crop(tf.zeros([2, 3]), [1]), "2 dimensions"),
}


@pytest.mark.parametrize(("build", "words"), BUILD_ERRORS.values(), ids=BUILD_ERRORS)
def test_what_cannot_be_is_refused_while_building(build: object, words: str):
    with pytest.raises(ValueError, match=words):
        build()  # type: ignore[operator]


RUN_ERRORS = {
    "crop": (lambda n: tf.random_crop(tf.zeros([2, 3]), tf.stack([n, 2])), 3, "Need value.shape >= size"),
    "num_samples": (lambda n: tf.multinomial([[1.0, 2.0]], n), -1, "num_samples"),
}


@pytest.mark.parametrize(("build", "value", "words"), RUN_ERRORS.values(), ids=RUN_ERRORS)
def test_what_cannot_be_is_refused_in_a_run(build: object, value: int, words: str):
    n = tf.placeholder(tf.int32, [])
    x = build(n)  # type: ignore[operator]
    with tf.Session() as sess, pytest.raises(tf.errors.InvalidArgumentError, match=words):
        sess.run(x, {n: value})
