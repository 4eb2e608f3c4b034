import numpy as np
import pytest

import dynrnn.tf1 as tf

X = np.arange(24.0, dtype=np.float32).reshape(2, 3, 4)


@pytest.mark.parametrize(
    "index",
    [
        0,
        -1,
        (slice(None), -1),
        (Ellipsis, 0),
        (slice(None), None, 0),
        (slice(None, None, -1), slice(3, None, -2)),
        (0, Ellipsis, slice(1, 9)),
        (1, 2, 3),
        (),
        slice(5, 2),
        (slice(None), np.int64(1)),
        (None, Ellipsis, None),
        (slice(-100, 100), slice(-2, -1)),
        (slice(None), slice(1, 100, 2), slice(-1, None, -3)),
    ],
    ids=str,
)
@pytest.mark.parametrize("dims", [[2, 3, 4], [None, None, None], None], ids=["known", "partial", "unknown"])
def test_an_index_means_what_it_means_to_numpy(index, dims):
    x = tf.placeholder(tf.float32, dims)
    y = x[index]
    with tf.Session() as sess:
        value = sess.run(y, {x: X})
    assert np.array_equal(value, X[index])
    assert y.shape.is_compatible_with(X[index].shape)
    if dims == [2, 3, 4]:
        assert y.shape.as_list() == list(X[index].shape)


def test_an_index_has_tensorflows_name_and_type():
    y = tf.constant(X)[0]
    assert (y.name, y.op.type) == ("strided_slice:0", "StridedSlice")


@pytest.mark.parametrize(
    ("index", "expected"),
    [
        (lambda t: (slice(None), t), X[:, 2]),
        (lambda t: (slice(None, t), slice(t, None), 1), X[:2, 2:, 1]),
        (lambda t: (Ellipsis, slice(-t, None)), X[..., -2:]),
        (lambda t: (slice(None), slice(None, None, -t)), X[:, ::-2]),
        (lambda t: (0, None, t - 3, t), X[0, None, -1, 2]),
    ],
)
@pytest.mark.parametrize("dtype", [tf.int32, tf.int64])
def test_scalar_tensors_stand_for_ints(index, expected, dtype):
    x, t = tf.placeholder(tf.float32, [2, 3, None]), tf.placeholder(dtype, [])
    y = x[index(t)]
    with tf.Session() as sess:
        assert np.array_equal(sess.run(y, {x: X, t: 2}), expected)
    assert y.shape.is_compatible_with(expected.shape)


def test_a_constant_index_can_be_fed():
    n = tf.constant(3)
    y = tf.constant([1, 2, 3, 4])[:n]
    assert y.shape.as_list() == [3]
    with tf.Session() as sess:
        assert sess.run(y, {n: 1}).tolist() == [1]


@pytest.mark.parametrize(
    ("index", "expected"),
    [
        ((slice(None), 0), [None, 3]),
        ((slice(1, 5),), [None, 10, 3]),
        ((slice(None, None, 2), slice(1, 8, 3)), [None, 3, 3]),
        ((slice(None, None, -1), slice(None, None, -2)), [None, 5, 3]),
        ((slice(0, tf.Dimension(None)), 0), [None, 3]),
    ],
)
def test_unknown_sizes_stay_unknown(index, expected):
    assert tf.placeholder(tf.float32, [None, 10, 3])[index].shape.as_list() == expected


def test_bounds_from_a_shape():
    x = tf.placeholder(tf.float32, [None, None, 3])
    y = x[:, : tf.shape(x)[1] - 1]
    assert y.shape.as_list() == [None, None, 3]
    assert tf.zeros([tf.shape(tf.placeholder(tf.float32, [None, 7]))[1]]).shape.as_list() == [7]


@pytest.mark.parametrize(
    ("index", "words"),
    [
        (2, "slice index 2 of dimension 0 out of bounds"),
        ((0, -4), "slice index -4 of dimension 1 out of bounds"),
        ((0, 0, 0, 0), "input has only 3 dims"),
        (slice(None, None, 0), "must be non-zero"),
        ((Ellipsis, Ellipsis), "Multiple ellipses"),
    ],
)
def test_an_index_that_never_fits_is_refused_at_once(index, words):
    with pytest.raises(ValueError, match=words):
        tf.constant(X)[index]
    with pytest.raises(ValueError, match="Attempting to slice scalar input"):
        tf.constant(1.0)[0]


@pytest.mark.parametrize("index", [0.5, "a", np.array([0, 1]), [[0, 1]]], ids=str)
def test_an_index_of_another_type_is_refused(index):
    with pytest.raises(TypeError, match="Only integers, slices"):
        tf.constant(X)[index]
    with pytest.raises(TypeError, match="Only integers, slices"):
        tf.constant(X)[tf.constant([0, 1])]


@pytest.mark.parametrize(
    ("index", "words"),
    [
        (lambda t: t, "slice index 5 of dimension 0"),
        (lambda t: (0, t), "slice index 5 of dimension 1"),
        (lambda t: (t,) * 4, "only 3 dims"),
    ],
)
def test_an_index_that_does_not_fit_in_a_run_says_where(index, words):
    x, t = tf.placeholder(tf.float32), tf.placeholder(tf.int32, [])
    with pytest.raises(tf.errors.InvalidArgumentError, match=words), tf.Session() as sess:
        sess.run(x[index(t)], {x: X, t: 5})


def test_a_boolean_mask_chooses_rows():
    x = tf.constant([1.0, 2.0, 3.0])
    with tf.Session() as sess:
        assert sess.run(x[x > 1.5]).tolist() == [2, 3]


def test_a_failed_index_leaves_the_graph_as_it_was():
    x = tf.constant(X)
    before = len(tf.get_default_graph().get_operations())
    with pytest.raises(ValueError, match="out of bounds"):
        x[5]
    assert len(tf.get_default_graph().get_operations()) == before
