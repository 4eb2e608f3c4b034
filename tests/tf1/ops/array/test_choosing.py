import numpy as np
import pytest

import dynrnn.tf1 as tf

X = np.arange(24.0, dtype=np.float32).reshape(2, 3, 4)


def hole(*dims):
    return tf.placeholder(tf.float32, dims)


def test_where_gives_places():
    places = tf.where([[True, False], [True, True]])
    assert (places.name, places.dtype, places.shape.as_list()) == ("Where:0", tf.int64, [None, 2])
    with tf.Session() as sess:
        assert sess.run(places).tolist() == [[0, 0], [1, 0], [1, 1]]
        assert sess.run(tf.where([0, 3])).tolist() == [[1]]


def test_where_infers_the_static_shape():
    chosen = tf.where(tf.placeholder(tf.bool), hole(None, 2), hole(3, None))
    assert (chosen.name, chosen.op.type, chosen.shape.as_list()) == ("Select:0", "Select", [3, 2])
    assert tf.where(tf.placeholder(tf.bool, [3]), hole(None, 2), hole(None, 2)).shape.as_list() == [3, 2]


@pytest.mark.parametrize(
    ("condition", "x", "y"),
    [([3], [2, 1], [2, 1]), ([2], [2, 1], [2, 2]), ([1, 2], [2, 1], [2, 1]), ([2], [2], [])],
)
def test_where_does_not_broadcast(condition, x, y):
    with pytest.raises(ValueError, match="must be equal"):
        tf.where(tf.placeholder(tf.bool, condition), hole(*x), hole(*y))


def test_where_refuses_half_a_choice_and_numbers_for_a_condition():
    with pytest.raises(ValueError, match="both be non-None or both be None"):
        tf.where([True], [1.0])
    with pytest.raises(TypeError, match="expected type of bool"):
        tf.where(tf.constant([1]), [1.0], [2.0])


@pytest.mark.parametrize(
    ("shapes", "words"),
    [(((1,), (2, 3), (2, 3)), "Number of batches"), (((2,), (2, 3), (2, 1)), "must have the same size")],
)
def test_where_in_a_run_says_which_shapes_differ(shapes, words):
    holes = [tf.placeholder(dtype) for dtype in (tf.bool, tf.float32, tf.float32)]
    with pytest.raises(tf.errors.InvalidArgumentError, match=words), tf.Session() as sess:
        sess.run(tf.where(*holes), {tensor: np.ones(shape) for tensor, shape in zip(holes, shapes, strict=True)})


def test_a_nan_that_is_not_chosen_leaves_the_gradient_of_the_choice_finite():
    x, bad = hole(2), tf.constant([np.nan, 1.0])
    grads = tf.gradients(tf.where([False, True], bad, x) * 2.0, [x, bad])
    with tf.Session() as sess:
        first, second = sess.run(grads, {x: [1, 2]})
    assert (first.tolist(), second.tolist()) == ([2, 0], [0, 2])


@pytest.mark.parametrize(
    ("mask", "axis"), [(np.array([True, False]), None), (X[..., 0] % 8 == 0, None), (np.array([True, False, True]), 1)]
)
def test_boolean_mask_means_what_it_means_to_numpy(mask, axis):
    found = tf.boolean_mask(X, mask, axis=axis)
    assert found.name == "boolean_mask/GatherV2:0"
    expected = X[mask] if axis is None else X[:, mask]
    with tf.Session() as sess:
        assert np.array_equal(sess.run(found), expected)
    assert found.shape.as_list() == ([None, *X.shape[mask.ndim :]] if axis is None else [2, None, 4])


def test_boolean_mask_refuses_a_mask_that_never_fits():
    for mask, words in (([True] * 3, "incompatible"), (True, "scalar"), (tf.placeholder(tf.bool), "must be specified")):
        with pytest.raises(ValueError, match=words):
            tf.boolean_mask(X, mask)


def test_boolean_mask_of_unknown_shapes():
    x, mask = tf.placeholder(tf.float32), tf.placeholder(tf.bool, [None, None])
    found = tf.boolean_mask(x, mask)
    assert found.shape.ndims is None
    with tf.Session() as sess:
        assert sess.run(found, {x: X, mask: X[..., 0] > 4}).shape == (4, 4)
