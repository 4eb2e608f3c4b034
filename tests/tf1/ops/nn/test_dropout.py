"""Dropout's arithmetic, bit for bit, and its arguments."""

import numpy as np
import pytest

import dynrnn.tf1 as tf

X = np.arange(1.0, 7.0, dtype=np.float32)


def run(fetches: object, feeds: dict | None = None) -> object:
    with tf.Session() as sess:
        return sess.run(fetches, feeds)


def seeded(*args: object, **kwargs: object) -> tf.Tensor:
    tf.set_random_seed(3)
    return tf.nn.dropout(*args, seed=5, **kwargs)


def test_a_fed_keep_prob_divides_as_tensorflow_does():
    x, keep = tf.placeholder(tf.float32, [6]), tf.placeholder(tf.float32, [])
    y = seeded(x, keep)
    values, (to_x, to_keep) = run([y, tf.gradients(y, [x, keep])], {x: X, keep: 0.7})
    # Values of TensorFlow 2.21 for these seeds.
    assert values.tolist() == np.float32([1.4285715, 2.857143, 0.0, 5.714286, 7.142857, 8.571428]).tolist()
    assert to_x.tolist() == np.where(values > 0, np.float32(1.4285715), 0).tolist()
    np.testing.assert_allclose(to_keep, -X[values > 0].sum() / 0.49, rtol=1e-5)  # float32, five products


def test_a_constant_keep_prob_multiplies_as_tensorflow_does():
    y = seeded(tf.constant(X), tf.constant(0.7))
    assert run(y).tolist() == np.float32([1.4285715, 2.857143, 0.0, 5.714286, 7.1428576, 8.571428]).tolist()


@pytest.mark.parametrize(
    ("dtype", "expected"),
    [
        ("bfloat16", [1.4296875, 2.859375, 0, 5.71875, 0, 8.5625, 0, 11.4375]),
        ("float16", [1.4287109375, 2.857421875, 0, 0, 0, 0, 10.0, 11.4296875]),
    ],
)
def test_halves_have_tensorflows_bits(dtype: str, expected: list[float]):
    y = seeded(tf.cast(tf.constant(np.arange(1.0, 9.0)), dtype), 0.7)
    assert run(y).astype(np.float64).tolist() == expected


def test_what_is_dropped_is_zero_whatever_it_was_and_so_is_its_gradient():
    x = tf.constant([np.nan, np.inf] * 50)
    y = seeded(x, 0.5)
    value, grad = run([y, tf.gradients(y, x)[0]])
    dropped = grad == 0
    assert 20 < dropped.sum() < 80
    assert (value[dropped] == 0).all() and not np.isfinite(value[~dropped]).any()
    assert (grad[~dropped] == 2).all()


def test_keep_prob_and_rate_are_two_words_for_one_thing():
    x = tf.constant(X)
    np.testing.assert_array_equal(*run([seeded(x, keep_prob=0.75), seeded(x, rate=0.25)]))


def test_noise_shape_shares_draws():
    x = tf.ones([4, 3, 50])
    y = run(tf.nn.dropout(x, 0.5, noise_shape=[4, 1, None], seed=1))
    assert (y == y[:, :1]).all()
    assert 0 < (y == 0).mean() < 1


@pytest.mark.parametrize("form", ["list", "tensor", "tensors"])
def test_noise_shape_may_depend_on_a_run(form: str):
    x = tf.placeholder(tf.float32, [None, 3])
    n = tf.shape(x)[0]
    shape = {"list": [None, 1], "tensor": tf.stack([n, 1]), "tensors": [n, 1]}[form]
    y = tf.nn.dropout(x, 0.5, noise_shape=shape, seed=1)
    assert y.shape.as_list() == [None, 3]
    value = run(y, {x: np.ones([20, 3])})
    assert (value == value[:, :1]).all() and 0 < (value == 0).mean() < 1


def test_keeping_everything_returns_the_input_itself(fresh_graph: tf.Graph):
    x = tf.constant(X)
    before = len(fresh_graph.get_operations())
    assert tf.nn.dropout(x, 1.0) is x and tf.nn.dropout(x, rate=0) is x and tf.nn.dropout(x, keep_prob=1) is x
    assert len(fresh_graph.get_operations()) == before


def test_a_tensor_that_keeps_everything_still_draws():
    y = tf.nn.dropout(tf.constant(X), tf.constant(1.0))
    assert y.op.type != "Const"
    np.testing.assert_array_equal(run(y), X)


def test_one_rate_serves_training_and_evaluation():
    x, keep = tf.constant(np.ones([1000], np.float32)), tf.placeholder_with_default(1.0, [])
    y = tf.nn.dropout(x, keep)
    with tf.Session() as sess:
        assert (sess.run(y) == 1).all()
        assert 300 < (sess.run(y, {keep: 0.5}) == 0).sum() < 700


def test_a_variable_may_be_the_keep_prob():
    keep = tf.Variable(0.5, trainable=False)
    y = tf.nn.dropout(tf.ones([100]), keep)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        assert set(sess.run(y).tolist()) == {0.0, 2.0}


def test_the_result_has_the_name_that_tensorflow_gives():
    assert tf.nn.dropout(tf.constant(X), 0.5).name == "dropout/mul_1:0"
    assert tf.nn.dropout(tf.constant(X), 0.5, name="drop").name == "drop/mul_1:0"


ERRORS = {
    "zero": (lambda x: tf.nn.dropout(x, keep_prob=0.0), r"\[0, 1\), got 1.0"),
    "above one": (lambda x: tf.nn.dropout(x, keep_prob=1.5), r"\[0, 1\), got -0.5"),
    "rate one": (lambda x: tf.nn.dropout(x, rate=1.0), r"\[0, 1\), got 1.0"),
    "both": (lambda x: tf.nn.dropout(x, keep_prob=0.5, rate=0.5), "Cannot specify both 'keep_prob' and 'rate'"),
    "neither": (lambda x: tf.nn.dropout(x), "must provide a rate"),
    "text": (lambda x: tf.nn.dropout(x, "a"), "keep_prob must be a floating point number or Tensor, got 'a'"),
    "ints": (lambda x: tf.nn.dropout(tf.constant([1, 2]), 0.5), "floating point tensor"),
    "dtype": (lambda x: tf.nn.dropout(x, rate=tf.placeholder(tf.float64, [])), "float64"),
    "vector": (lambda x: tf.nn.dropout(x, tf.constant([0.5])), "rank 0"),
    "noise": (lambda x: tf.nn.dropout(x, 0.5, noise_shape=[4]), "Dimensions must be equal, but are"),
    "noise rank": (lambda x: tf.nn.dropout(x, 0.5, noise_shape=[None, 1]), "x's rank"),
}


@pytest.mark.parametrize(("call", "words"), ERRORS.values(), ids=ERRORS)
def test_bad_arguments_are_refused(call: object, words: str):
    with pytest.raises(ValueError, match=words):
        call(tf.constant(X))  # type: ignore[operator]
