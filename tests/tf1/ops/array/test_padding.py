import numpy as np
import pytest

import dynrnn.tf1 as tf

X = np.array([[1.0, 2.0, 3.0]])


def test_pad_infers_the_static_shape():
    x = tf.placeholder(tf.float32, [None, 2])
    assert tf.pad(x, [[1, 1], [2, 0]]).shape.as_list() == [None, 4]
    assert tf.pad(tf.placeholder(tf.float32, [3, 2]), [[0, 5 - tf.shape(x)[0]], [0, 0]]).shape.as_list() == [None, 2]
    assert tf.pad(tf.placeholder(tf.float32), [[1, 0], [0, 0]]).shape.as_list() == [None, None]


def test_pad_has_another_type_for_each_way():
    assert [
        tf.pad(X, [[0, 0], [1, 1]], **options).op.type for options in ({}, {"constant_values": 3}, {"mode": "reflect"})
    ] == [
        "Pad",
        "PadV2",
        "MirrorPad",
    ]


@pytest.mark.parametrize(
    ("dtype", "value", "expected"),
    [("int32", 7, [7, 1]), ("bool", True, [True, True]), ("float32", np.inf, [np.inf, 1])],
)
def test_pad_takes_a_constant_of_any_dtype(dtype, value, expected):
    x = tf.placeholder(dtype, [None])
    with tf.Session() as sess:
        assert sess.run(tf.pad(x, [[1, 0]], constant_values=value), {x: [1]}).tolist() == expected


@pytest.mark.parametrize(
    ("paddings", "mode", "words"),
    [
        ([[0, 0]], "CONSTANT", r"Shape must be \[rank, 2\]"),
        ([[0, 0], [-1, 0]], "CONSTANT", "Paddings must be non-negative"),
        ([[0, 0], [1, 0]], "FOO", "Unknown padding mode"),
    ],
)
def test_pad_refuses_what_never_fits(paddings, mode, words):
    with pytest.raises(ValueError, match=words):
        tf.pad(X, paddings, mode)


@pytest.mark.parametrize(("mode", "count", "words"), [("REFLECT", 3, "less than"), ("SYMMETRIC", 4, "no greater than")])
def test_pad_mirrors_no_more_than_there_is(mode, count, words):
    words = f"paddings must be {words} the dimension size"
    with pytest.raises(tf.errors.InvalidArgumentError, match=words), tf.Session() as sess:
        sess.run(tf.pad(X, [[0, 0], [count, 1]], mode))


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, [b"", b"a", b"b", b""]),
        ({"constant_values": "z"}, [b"z", b"a", b"b", b"z"]),
        ({"mode": "REFLECT"}, [b"b", b"a", b"b", b"a"]),
    ],
    ids=str,
)
def test_pad_serves_strings(options, expected):
    with tf.Session() as sess:
        assert sess.run(tf.pad(["a", "b"], [[1, 1]], **options)).tolist() == expected
