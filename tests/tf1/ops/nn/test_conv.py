"""Convolutions: TensorFlow's padding, layouts, groups, static shapes and errors."""

import numpy as np
import pytest

import dynrnn.tf1 as tf

IMAGE = np.arange(20.0).reshape(1, 4, 5, 1)
FILTER = (np.arange(6.0) - 2).reshape(2, 3, 1, 1)

# Values of TensorFlow 2.21 for IMAGE and FILTER.
CASES = {
    "same": (([1, 2, 2, 1], "SAME"), (1, 2, 3, 1), [28, 40, 16, 68, 70, 16]),
    "valid": (([1, 1, 2, 1], "VALID"), (1, 3, 2, 1), [37, 43, 52, 58, 67, 73]),
    "explicit": (
        ([1, 1, 2, 1], [[0, 0], [1, 0], [0, 2], [0, 0]]),
        (1, 4, 3, 1),
        [8, 20, 4, 37, 43, 1, 52, 58, -4, 67, 73, -9],
    ),
}


@pytest.mark.parametrize(("arguments", "shape", "expected"), CASES.values(), ids=CASES)
def test_paddings_and_strides_are_tensorflows(arguments: tuple, shape: tuple[int, ...], expected: list[float]):
    y = tf.nn.conv2d(tf.constant(IMAGE), FILTER, *arguments)
    assert y.shape == shape
    with tf.Session() as sess:
        assert sess.run(y).reshape(-1).tolist() == expected


def test_channels_may_come_first():
    random = np.random.RandomState(0)
    x, w = random.normal(size=(2, 5, 6, 3)), random.normal(size=(2, 3, 3, 4))
    last = tf.nn.conv2d(x, w, [1, 2, 1, 1], "SAME", dilations=[1, 1, 2, 1])
    first = tf.nn.conv2d(x.transpose(0, 3, 1, 2), w, [1, 1, 2, 1], "SAME", data_format="NCHW", dilations=[1, 1, 1, 2])
    assert first.shape.as_list() == [2, 4, 3, 6]
    with tf.Session() as sess:
        a, b = sess.run([last, first])
    np.testing.assert_allclose(a, b.transpose(0, 2, 3, 1), rtol=1e-12)


def test_a_dilated_convolution_is_tensorflows():
    expected = [31, 36, 46, 22, 25, 56, 60, 74, 32, 32, 76, 80, 89, 32, 32, -10, -11, -32, -35, -38]
    y = tf.nn.atrous_conv2d(IMAGE, FILTER, 2, "SAME")
    with tf.Session() as sess:
        assert sess.run(y).reshape(-1).tolist() == expected
        assert sess.run(tf.nn.conv2d(IMAGE, FILTER, 1, "SAME", dilations=2)).reshape(-1).tolist() == expected


def test_sequences_are_convolved():
    x, w = np.arange(10.0).reshape(1, 5, 2), np.arange(12.0).reshape(3, 2, 2) - 5
    y = tf.nn.conv1d(x, w, 2, "SAME")
    assert y.shape.as_list() == [1, 3, 2]
    with tf.Session() as sess:
        assert sess.run(y).tolist() == [[[22, 28], [35, 62], [-50, -20]]]


def test_depthwise_channels_have_filters_of_their_own():
    x, w = np.arange(18.0).reshape(1, 3, 3, 2), np.arange(16.0).reshape(2, 2, 2, 2) - 7
    y = tf.nn.depthwise_conv2d(x, w, [1, 1, 1, 1], "VALID")
    assert y.shape.as_list() == [1, 2, 2, 4]
    with tf.Session() as sess:
        assert sess.run(y).tolist() == [
            [[[40, 56, 76, 96], [32, 56, 84, 112]], [[16, 56, 100, 144], [8, 56, 108, 160]]]
        ]


def test_groups_follow_from_the_filters_depth():
    random = np.random.RandomState(0)
    x, w = random.normal(size=(1, 3, 3, 4)), random.normal(size=(2, 2, 2, 6))
    halves = [tf.nn.conv2d(x[..., 2 * i : 2 * i + 2], w[..., 3 * i : 3 * i + 3], 1, "VALID") for i in range(2)]
    with tf.Session() as sess:
        a, b = sess.run([tf.nn.conv2d(x, w, 1, "VALID"), tf.concat(halves, 3)])
    np.testing.assert_allclose(a, b, rtol=1e-12)


@pytest.mark.parametrize(
    ("padding", "shape", "expected"),
    [
        ("SAME", [1, 4, 3, 1], [-1, -4, -2, 2, 5, 4, -3, -8, -4, 6, 13, 8]),
        ("VALID", [1, 4, 5, 1], [-2, -1, -4, -2, 0, 1, 2, 5, 4, 6, -6, -3, -8, -4, 0, 3, 6, 13, 8, 12]),
    ],
)
def test_a_transposed_convolution_is_tensorflows(padding: str, shape: list[int], expected: list[float]):
    x = np.arange(1.0, 5.0).reshape(1, 2, 2, 1)
    y = tf.nn.conv2d_transpose(x, FILTER, shape, [1, 2, 2, 1], padding)
    assert y.shape.as_list() == shape
    with tf.Session() as sess:
        assert sess.run(y).reshape(-1).tolist() == expected


@pytest.mark.parametrize("padding", ["SAME", "VALID"])
@pytest.mark.parametrize("stride", [1, 2, 3])
def test_a_transposed_convolution_is_the_gradient_of_a_convolution(padding: str, stride: int):
    random = np.random.RandomState(0)
    x, w = tf.constant(random.normal(size=(2, 7, 8, 3))), random.normal(size=(2, 3, 3, 4))
    y = tf.nn.conv2d(x, w, stride, padding)
    weights = random.normal(size=y.shape.as_list())
    transposed = tf.nn.conv2d_transpose(weights, w, tf.shape(x), stride, padding)
    with tf.Session() as sess:
        a, b = sess.run([tf.gradients(y, x, grad_ys=tf.constant(weights))[0], transposed])
    np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-12)


def test_unknown_sizes_stay_unknown():
    x = tf.placeholder(tf.float32, [None, None, 5, 2])
    assert tf.nn.conv2d(x, tf.ones([3, 3, 2, 4]), 2, "SAME").shape.as_list() == [None, None, 3, 4]
    assert tf.nn.conv2d(tf.placeholder(tf.float32), tf.ones([3, 3, 2, 4]), 2, "SAME").shape.as_list() == [
        None,
        None,
        None,
        4,
    ]


def test_names_are_those_of_tensorflow():
    assert tf.nn.conv2d(IMAGE, FILTER, 1, "SAME").name == "Conv2D:0"
    assert tf.nn.conv2d_transpose(IMAGE, FILTER, [1, 4, 5, 1], 1).name == "conv2d_transpose:0"


ERRORS = {
    "depth": (
        lambda: tf.nn.conv2d(tf.ones([1, 4, 4, 4]), tf.ones([2, 2, 5, 3]), 1, "SAME"),
        "not a multiple of input depth of filter",
    ),
    "padding": (lambda: tf.nn.conv2d(IMAGE, FILTER, 1, "FULL"), "SAME"),
    "no padding": (lambda: tf.nn.conv2d(IMAGE, FILTER, 1), "padding must be given"),
    "rank": (lambda: tf.nn.conv2d(IMAGE[0], FILTER, 1, "SAME"), "rank 4 but is rank 3"),
    "filter rank": (lambda: tf.nn.conv2d(IMAGE, FILTER[0], 1, "SAME"), "rank 4 but is rank 3"),
    "layout": (lambda: tf.nn.conv2d(IMAGE, FILTER, 1, "SAME", data_format="HWC"), "data_format"),
    "stride": (lambda: tf.nn.conv2d(IMAGE, FILTER, [2, 1, 1, 1], "SAME"), "batch or channels"),
    "strides": (lambda: tf.nn.conv2d(IMAGE, FILTER, [1, 1, 1], "SAME"), "strides"),
    "too long": (
        lambda: tf.nn.conv2d(IMAGE, np.ones([5, 1, 1, 1]), 1, "VALID"),
        "Negative dimension size caused by subtracting 5 from 4",
    ),
    "two filters": (lambda: tf.nn.conv2d(IMAGE, FILTER, 1, "SAME", filters=FILTER), "'filter' and 'filters'"),
}


@pytest.mark.parametrize(("call", "words"), ERRORS.values(), ids=ERRORS)
def test_what_does_not_fit_is_refused_while_building(call: object, words: str):
    with pytest.raises(ValueError, match=words):
        call()  # type: ignore[operator]


def test_what_does_not_fit_is_refused_in_a_run():
    x = tf.placeholder(tf.float64)
    y, z = tf.nn.conv2d(x, np.ones([1, 1, 2, 1]), 1, "SAME"), tf.nn.conv2d_transpose(x, FILTER, [1, 9, 9, 1], 2)
    with tf.Session() as sess:
        with pytest.raises(tf.errors.InvalidArgumentError, match="input depth"):
            sess.run(y, {x: IMAGE})
        with pytest.raises(tf.errors.InvalidArgumentError, match="output_shape"):
            sess.run(z, {x: IMAGE})
