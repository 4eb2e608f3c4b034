import numpy as np
import pytest

import dynrnn.tf1 as tf

X = np.arange(24.0, dtype=np.float32).reshape(2, 3, 4)


def test_reverse_turns_axes_around():
    y = tf.reverse(X, [0, -1])
    assert (y.name, y.shape.as_list()) == ("ReverseV2:0", [2, 3, 4])
    with tf.Session() as sess:
        assert np.array_equal(sess.run(y), X[::-1, :, ::-1])
        assert np.array_equal(sess.run(tf.reverse(X, [])), X)


@pytest.mark.parametrize(("axis", "words"), [([3], "not in"), ([1, -2], "more than once"), (1, "rank 1 but is rank 0")])
def test_reverse_refuses_axes_that_do_not_fit(axis, words):
    with pytest.raises(ValueError, match=words):
        tf.reverse(X, axis)


@pytest.mark.parametrize(
    "options", [{"seq_axis": 1}, {"seq_axis": 1, "batch_axis": 0}, {"seq_dim": 1, "batch_dim": 0}], ids=str
)
def test_reverse_sequence_takes_new_and_old_names(options):
    y = tf.reverse_sequence(X, [2, 3], **options)
    assert y.name == "ReverseSequence:0"
    with tf.Session() as sess:
        assert np.array_equal(sess.run(y), np.stack([X[0, [1, 0, 2]], X[1, ::-1]]))


def test_reverse_sequence_of_rank_five_with_an_empty_row():
    x = np.arange(3 * 2 * 4 * 1 * 2).reshape(3, 2, 4, 1, 2)
    with tf.Session() as sess:
        y = sess.run(tf.reverse_sequence(x, np.int32([0, 3]), seq_axis=2, batch_axis=1))
    assert np.array_equal(y, np.stack([x[:, 0], x[:, 1][:, [2, 1, 0, 3]]], 1))


def test_reverse_sequence_infers_the_static_shape():
    holes = tf.placeholder(tf.float32, [None, 3, 4]), tf.placeholder(tf.int32, [2])
    assert tf.reverse_sequence(*holes, 1).shape.as_list() == [2, 3, 4]
    assert tf.reverse_sequence(tf.placeholder(tf.float32), tf.placeholder(tf.int64), 1).shape.ndims is None


@pytest.mark.parametrize(
    ("lengths", "seq_axis", "batch_axis", "words"),
    [
        ([2, 2, 2], 1, 0, "Dimensions must be equal, but are 2 and 3"),
        ([2, 2], 3, 0, "seq_dim must be < input rank: 3 vs. 3"),
        ([2, 2], 1, 3, "batch_dim must be < input rank: 3 vs. 3"),
        ([2, 2], 1, -3, "batch_dim must be >=0, got -3"),
        ([[2, 2]], 1, 0, "Shape must be rank 1 but is rank 2"),
    ],
)
def test_reverse_sequence_refuses_what_never_fits(lengths, seq_axis, batch_axis, words):
    with pytest.raises(ValueError, match=words):
        tf.reverse_sequence(X, lengths, seq_axis, batch_axis)


@pytest.mark.parametrize(
    ("lengths", "seq_axis", "batch_axis", "words"),
    [
        ([5, 2], 1, 0, r"seq_lens\(0\) > input.dims\(1\)"),
        ([2, 4], 1, 0, r"seq_lens\(1\) > input.dims\(1\)"),
        ([-2, 2], 1, 0, r"seq_lens\(0\) < 0"),
        ([2, 2], 0, 0, "batch_dim == seq_dim == 0"),
        ([1, 1, 1], 1, 0, r"Length of seq_lengths != input.dims\(0\)"),
        ([1, 1], 5, 0, "seq_dim must be < input rank"),
        ([1, 1], -1, 0, "Invalid seq_dim -1"),
        ([1, 1], 1, 3, "batch_dim must be < input rank"),
    ],
)
def test_reverse_sequence_of_unknown_ranks_fails_in_the_run(lengths, seq_axis, batch_axis, words):
    x, n = tf.placeholder(tf.float32), tf.placeholder(tf.int32)
    with pytest.raises(tf.errors.InvalidArgumentError, match=words), tf.Session() as sess:
        sess.run(tf.reverse_sequence(x, n, seq_axis, batch_axis), {x: X, n: lengths})


def test_reverse_sequence_takes_each_axis_once():
    with pytest.raises(ValueError, match="Cannot specify both"):
        tf.reverse_sequence(X, [2, 2], seq_axis=1, seq_dim=1)
    with pytest.raises(TypeError, match="Expected int for argument 'seq_dim'"):
        tf.reverse_sequence(X, [2, 2])
    with pytest.raises(TypeError, match="float32 not in list of allowed values"):
        tf.reverse_sequence(X, [2.0, 2.0], 1)


def test_roll_comes_in_again_at_the_start():
    with tf.Session() as sess:
        assert sess.run(tf.roll([1, 2, 3], 1, 0)).tolist() == [3, 1, 2]
        assert np.array_equal(sess.run(tf.roll(X, [1, 2], [0, 1])), np.roll(X, (1, 2), (0, 1)))


@pytest.mark.parametrize(("x", "words"), [([2, 0, 0], "0 is duplicated"), ([3, 0, 0], "3 is not between 0 and 3")])
def test_invert_permutation_refuses_what_is_none(x, words):
    with tf.Session() as sess:
        assert sess.run(tf.invert_permutation([2, 0, 1])).tolist() == [1, 2, 0]
        with pytest.raises(tf.errors.InvalidArgumentError, match=words):
            sess.run(tf.invert_permutation(x))


def test_invert_permutation_of_nothing():
    with tf.Session() as sess:
        assert sess.run(tf.invert_permutation([])).tolist() == []
