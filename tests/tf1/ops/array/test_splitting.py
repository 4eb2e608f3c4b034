import numpy as np
import pytest

import dynrnn.tf1 as tf


def hole(*dims):
    return tf.placeholder(tf.float32, dims)


def shapes(tensors):
    return [tensor.shape.as_list() for tensor in tensors]


def test_split_infers_the_static_shapes():
    parts = tf.split(hole(None, 4), 2, 1)
    assert [part.name for part in parts] == ["split:0", "split:1"]
    assert shapes(parts) == [[None, 2]] * 2
    assert shapes(tf.split(hole(None, 4), [1, -1], axis=-1)) == [[None, 1], [None, 3]]
    assert shapes(tf.split(value=hole(None, 4), num_or_size_splits=tf.constant([3, 1]), axis=1)) == [
        [None, 3],
        [None, 1],
    ]
    assert shapes(tf.split(hole(2, 4), tf.Dimension(2))) == [[1, 4]] * 2
    assert shapes(tf.split(hole(2, 4), tf.placeholder(tf.int32, [2]), 1)) == [[2, None]] * 2
    assert len(tf.split(hole(2, 4), tf.placeholder(tf.int32, [None]), 1, num=2)) == 2


@pytest.mark.parametrize(
    ("splits", "words"),
    [
        (3, "evenly divisible by 3 but is 4"),
        ([1, 2], r"can't split axis of size 4 into pieces of size \[1, 2\]"),
        (0, "at least 1"),
    ],
)
def test_split_refuses_parts_that_never_add_up(splits, words):
    with pytest.raises(ValueError, match=words):
        tf.split(hole(None, 4), splits, 1)


def test_split_needs_to_know_the_number_of_parts():
    with pytest.raises(ValueError, match="Cannot infer argument `num`"):
        tf.split(hole(4), tf.placeholder(tf.int32, [None]))
    with pytest.raises(ValueError, match="Rank-0 tensors are not supported"):
        tf.split(hole(4), tf.constant(2))


@pytest.mark.parametrize(("splits", "words"), [(3, "should evenly divide"), ([1, 2], "Determined shape must")])
def test_split_in_a_run_says_what_does_not_add_up(splits, words):
    x = tf.placeholder(tf.float32)
    with pytest.raises(tf.errors.InvalidArgumentError, match=words), tf.Session() as sess:
        sess.run(tf.split(x, splits), {x: np.zeros(4)})


def test_unstack_infers_the_number_and_the_shapes():
    parts = tf.unstack(hole(None, 2), axis=1)
    assert [part.name for part in parts] == ["unstack:0", "unstack:1"]
    assert shapes(parts) == [[None]] * 2
    assert shapes(tf.unstack(hole(None, 2), num=3)) == [[2]] * 3
    assert tf.unstack(hole(0, 2)) == []


def test_unstack_needs_to_know_the_number():
    with pytest.raises(ValueError, match=r"Cannot infer argument `num` from shape \(\?, 2\)"):
        tf.unstack(hole(None, 2))
    with pytest.raises(ValueError, match="Dimension must be 2 but is 3"):
        tf.unstack(hole(3, 2), num=2)
    with pytest.raises(ValueError, match=r"Argument `axis` = 2 is not in \[-2, 2\)"):
        tf.unstack(hole(3, 2), axis=2)


def test_unstack_in_a_run_checks_the_number():
    x = hole(None, 2)
    words = "Input shape axis 0 must equal 3, got shape"
    with pytest.raises(tf.errors.InvalidArgumentError, match=words), tf.Session() as sess:
        sess.run(tf.unstack(x, num=3), {x: np.zeros((4, 2))})
