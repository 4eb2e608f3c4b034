"""Random numbers: TensorFlow's own for given seeds, repeated ones for a graph seed, fresh ones else."""

import ast
import subprocess
import sys

import numpy as np
import pytest

import dynrnn.tf1 as tf
from dynrnn.tf1.ops.random.distributions import uniform_steps


def test_float_range_is_rounded_to_the_dtype_before_it_is_used():
    tf.set_random_seed(3)
    x = tf.random_uniform([4], -1, 2.3, tf.bfloat16, seed=5)
    with tf.Session() as sess:
        # Values of TensorFlow 2.21 for these seeds.
        assert sess.run(x).astype(np.float64).tolist() == [1.140625, 0.8046875, -0.484375, 1.59375]


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        ("random_normal", [-2.515625, 1.8125, -4.4375, -5.9375]),
        ("truncated_normal", [-2.515625, 1.8125, -4.4375, -1.3671875]),
    ],
)
def test_normal_numbers_of_bfloat16_are_those_of_tensorflow(function: str, expected: list[float]):
    tf.set_random_seed(3)
    x = getattr(tf, function)([4], 0.1, 2.3, tf.bfloat16, seed=5)
    with tf.Session() as sess:
        assert sess.run(x).astype(np.float64).tolist() == expected


def test_steps_are_the_draws_of_as_many_executions():
    tf.set_random_seed(1)
    one, all_ = tf.random_uniform([2, 3], seed=4), uniform_steps(tf.constant(5), [2, 3], seed=4)
    with tf.Session() as sess:
        single = [sess.run(one) for _ in range(10)]
        np.testing.assert_array_equal(sess.run(all_), single[:5])
        np.testing.assert_array_equal(sess.run(all_), single[5:])


def test_steps_know_their_static_shape():
    assert uniform_steps(5, [2, 3]).shape.as_list() == [5, 2, 3]
    assert uniform_steps(tf.placeholder(tf.int32, []), [2, 3]).shape.as_list() == [None, 2, 3]


def test_a_stream_goes_on_in_a_session_and_starts_again_in_another():
    x = tf.random_normal([3], seed=2)
    with tf.Session() as one, tf.Session() as other:
        first, second = one.run(x), one.run(x)
        assert not np.array_equal(first, second)
        np.testing.assert_array_equal(other.run(x), first)


def test_a_draw_is_made_once_in_a_run():
    x = tf.random_uniform([3])
    with tf.Session() as sess:
        a, b = sess.run([x + 0.0, x * 1.0])
        np.testing.assert_array_equal(a, b)


def test_without_any_seed_numbers_are_fresh_in_every_session():
    x = tf.random_uniform([8])
    with tf.Session() as one, tf.Session() as other:
        assert not np.array_equal(one.run(x), other.run(x))


SEEDED = """
import dynrnn.tf1 as tf
with tf.Graph().as_default(), tf.Session() as sess:
    tf.set_random_seed(7)
    ops = [tf.random_uniform([3]), tf.random_normal([3]), tf.truncated_normal([3]), tf.random_shuffle([1, 2, 3, 4, 5]),
           tf.random_gamma([3], 2.0), tf.random_poisson(9.0, [3]), tf.random_uniform([3])]
    print([value.tolist() for _ in range(2) for value in sess.run(ops)])
"""


def test_with_a_graph_seed_numbers_repeat_from_process_to_process_and_differ_from_op_to_op(
    capsys: pytest.CaptureFixture[str],
):
    elsewhere = subprocess.run([sys.executable, "-c", SEEDED], capture_output=True, text=True, check=True).stdout
    exec(SEEDED, {})
    here = capsys.readouterr().out
    assert here == elsewhere
    values = [tuple(value) for value in ast.literal_eval(here)]
    assert len(set(values)) == len(values)


def test_a_graph_seed_counts_modulo_2_31_minus_1():
    draws = []
    for seed in (4, 4 + 2**31 - 1):
        with tf.Graph().as_default(), tf.Session() as sess:
            tf.set_random_seed(seed)
            draws.append(sess.run(tf.random_uniform([4])))
    np.testing.assert_array_equal(*draws)


def test_get_seed_gives_a_pair_of_numbers_where_a_seed_was_set():
    assert tf.get_seed(None) == (None, None)
    assert tf.get_seed(5) == (87654321, 5)
    tf.set_random_seed(3)
    first, second = tf.get_seed(None)
    assert first == 3 and isinstance(second, int)


def test_the_gradient_reaches_the_parameters():
    low, high = tf.constant(1.0), tf.constant(3.0)
    x = tf.random_uniform([5], low, high, seed=1)
    with tf.Session() as sess:
        value, (to_low, to_high) = sess.run([x, tf.gradients(x, [low, high])])
        share = (value - 1) / 2
        np.testing.assert_allclose(to_high, share.sum(), rtol=1e-6)
        np.testing.assert_allclose(to_low, (1 - share).sum(), rtol=1e-6)


def test_fresh_normal_numbers_are_cut_where_they_should_be():
    with tf.Session() as sess:
        for dtype in (tf.float32, tf.float64, tf.float16):
            values = sess.run(tf.truncated_normal([5000], 1.0, 2.0, dtype)).astype(np.float64)
            assert np.abs(values - 1).max() <= 4.0 and values.std() > 1.5


@pytest.mark.parametrize(
    ("shape", "dims"),
    [([], ()), ([2, 0], (2, 0)), (tf.TensorShape([2]), (2,)), (np.array([3]), (3,)), ((), ())],
    ids=str,
)
def test_shapes_may_be_given_in_any_form(shape: object, dims: tuple[int, ...]):
    x = tf.random_normal(shape)
    assert x.shape == dims
    with tf.Session() as sess:
        assert np.shape(sess.run(x)) == dims


def test_a_shape_may_depend_on_a_run():
    x = tf.placeholder(tf.float32, [None, 3])
    noise = tf.random_uniform([tf.shape(x)[0], 4], seed=1)
    assert noise.shape.as_list() == [None, 4]
    with tf.Session() as sess:
        assert sess.run(noise, {x: np.zeros([5, 3])}).shape == (5, 4)


def test_names_are_those_of_tensorflow():
    names = [
        tf.random_uniform([2]).name,
        tf.random_uniform([2], 0, 5, tf.int32).name,
        tf.random_normal([2]).name,
        tf.truncated_normal([2]).name,
        tf.random_normal([2], name="noise").name,
    ]
    assert names == [
        "random_uniform:0",
        "random_uniform_1:0",
        "random_normal:0",
        "truncated_normal:0",
        "noise:0",
    ]


BUILD_ERRORS = {
    "no maxval": (lambda: tf.random_uniform([2], dtype=tf.int32), "Must specify maxval for integer dtype"),
    "dtype": (lambda: tf.random_uniform([2], 0, 3, tf.uint8), "uint8"),
    "normal dtype": (lambda: tf.random_normal([2], dtype=tf.int32), "int32"),
    "scalar shape": (lambda: tf.random_uniform(3), "rank 1 but is rank 0"),
    "negative size": (lambda: tf.random_uniform([-2]), "-2"),
    "no broadcast": (lambda: tf.random_uniform([2, 3], tf.zeros([4])), "Dimensions must be equal, but are"),
    "vector maxval": (lambda: tf.random_uniform([2], 0, tf.constant([1, 2]), tf.int32), "rank 0 but is rank 1"),
}


@pytest.mark.parametrize(("build", "words"), BUILD_ERRORS.values(), ids=BUILD_ERRORS)
def test_what_cannot_be_is_refused_while_building(build: object, words: str):
    with pytest.raises(ValueError, match=words):
        build()  # type: ignore[operator]


RUN_ERRORS = {
    "empty range": (lambda n: tf.random_uniform([2], n, 5, tf.int32), 5, "Need minval < maxval, got 5 >= 5"),
    "negative size": (lambda n: tf.random_uniform([n]), -2, "-2"),
}


@pytest.mark.parametrize(("build", "value", "words"), RUN_ERRORS.values(), ids=RUN_ERRORS)
def test_what_cannot_be_is_refused_in_a_run(build: object, value: int, words: str):
    n = tf.placeholder(tf.int32, [])
    x = build(n)  # type: ignore[operator]
    with tf.Session() as sess, pytest.raises(tf.errors.InvalidArgumentError, match=words):
        sess.run(x, {n: value})


def test_a_refused_call_leaves_no_trace(fresh_graph: tf.Graph):
    with pytest.raises(ValueError):
        tf.random_uniform([2, 3], tf.zeros([4]))
    assert tf.random_uniform([2]).name == "random_uniform:0"
