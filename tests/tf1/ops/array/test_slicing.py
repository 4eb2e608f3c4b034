import numpy as np
import pytest

import dynrnn.tf1 as tf

X = np.arange(24.0, dtype=np.float32).reshape(2, 3, 4)


def test_slice_infers_the_static_shape():
    x = tf.placeholder(tf.float32, [None, 4])
    assert (tf.slice(x, [0, 1], [-1, 2]).shape.as_list(), tf.slice(x, [0, 1], [-1, 2]).name) == ([None, 2], "Slice_1:0")
    assert tf.slice(x, [0, 1], [tf.shape(x)[0], -1]).shape.as_list() == [None, 3]
    assert tf.slice(x, tf.placeholder(tf.int32, [2]), [-1, 2]).shape.as_list() == [None, 2]
    assert tf.slice(tf.placeholder(tf.float32), [0, 0], [1, -1]).shape.as_list() == [1, None]


@pytest.mark.parametrize(("begin", "size"), [([0], [1]), ([0, 0], [1]), (0, 1)])
def test_slice_needs_an_item_for_every_axis(begin, size):
    with pytest.raises(ValueError, match="slice"):
        tf.slice(tf.placeholder(tf.float32, [3, 4]), begin, size)


@pytest.mark.parametrize(
    ("begin", "size", "words"),
    [
        ([0, 1], [4, 2], r"Expected size\[1\] in \[0, 1\], but got 2"),
        ([0, 3], [4, -1], r"Expected begin\[1\] in \[0, 2\], but got 3"),
        ([-1, 0], [1, 1], r"Expected begin\[0\] in \[0, 4\], but got -1"),
    ],
)
def test_slice_in_a_run_says_what_passes_the_end(begin, size, words):
    x = tf.placeholder(tf.float32)
    with pytest.raises(tf.errors.InvalidArgumentError, match=words), tf.Session() as sess:
        sess.run(tf.slice(x, begin, size), {x: np.zeros((4, 2))})


@pytest.mark.parametrize(
    ("arguments", "options", "expected"),
    [
        (([0, 0], [2, -1], [1, 1]), {}, X[:2, :-1]),
        (([-1], [0], [-1]), {}, X[-1:0:-1]),
        (([0, 0, 0], [1, 2, 3], [1, 1, 2]), {"begin_mask": 1, "end_mask": 2, "shrink_axis_mask": 1}, X[0, :, 0:3:2]),
        (([0, 1], [0, 2]), {"ellipsis_mask": 1}, X[..., 1:2]),
        (([0, 0], [0, 1]), {"new_axis_mask": 1}, X[None, 0:1]),
    ],
)
def test_strided_slice_means_the_index_that_its_masks_say(arguments, options, expected):
    y = tf.strided_slice(X, *arguments, **options)
    assert (y.name, y.shape.as_list()) == ("StridedSlice:0", list(expected.shape))
    with tf.Session() as sess:
        assert np.array_equal(sess.run(y), expected)


def test_strided_slice_takes_bounds_from_tensors():
    x, n = tf.placeholder(tf.float32, [None, 3]), tf.placeholder(tf.int32, [])
    ends = tf.placeholder(tf.int32, [2])
    with tf.Session() as sess:
        assert sess.run(tf.strided_slice(x, [0, 0], [n, -1]), {x: X[0, :, :3], n: 2}).shape == (2, 2)
        assert sess.run(tf.strided_slice(x, [0, 0], ends, [1, 1]), {x: X[0, :, :3], ends: [1, 3]}).shape == (1, 3)
        with pytest.raises(ValueError, match="length is known"):
            tf.strided_slice(x, [0], tf.placeholder(tf.int32, [None]))


def test_strided_slice_refuses_bounds_of_several_lengths_and_a_variable():
    with pytest.raises(ValueError, match="one length, got 1, 2 and 1"):
        tf.strided_slice(X, [0], [1, 1])
    with pytest.raises(ValueError, match="var must be None"):
        tf.strided_slice(X, [0], [1], var=object())


def test_strided_slice_refuses_a_second_ellipsis():
    with pytest.raises(ValueError, match="Multiple ellipses"):
        tf.strided_slice(X, [0, 0], [1, 1], ellipsis_mask=3)
    assert tf.strided_slice(X, [0], [1], ellipsis_mask=3).shape.as_list() == list(X.shape)  # there is no second item
