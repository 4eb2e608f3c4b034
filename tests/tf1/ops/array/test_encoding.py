import numpy as np
import pytest

import dynrnn.tf1 as tf


@pytest.mark.parametrize(
    ("options", "expected", "dtype"),
    [
        ({}, [[1, 0, 0], [0, 0, 1]], "float32"),
        ({"on_value": 5, "off_value": 6}, [[5, 6, 6], [6, 6, 5]], "int32"),
        ({"on_value": 5}, [[5, 0, 0], [0, 0, 5]], "int32"),
        ({"on_value": True, "off_value": False}, [[True, False, False], [False, False, True]], "bool"),
        ({"dtype": tf.int32}, [[1, 0, 0], [0, 0, 1]], "int32"),
        ({"on_value": 1, "dtype": tf.float32}, [[1, 0, 0], [0, 0, 1]], "float32"),
        ({"on_value": "a", "off_value": "b"}, [[b"a", b"b", b"b"], [b"b", b"b", b"a"]], "string"),
        ({"axis": 0}, [[1, 0], [0, 0], [0, 1]], "float32"),
    ],
    ids=str,
)
def test_one_hot_has_the_values_and_the_dtype_that_are_asked_for(options, expected, dtype):
    made = tf.one_hot([0, 2], 3, **options)
    assert (made.name, made.dtype, made.shape.as_list()) == ("one_hot:0", dtype, list(np.shape(expected)))
    with tf.Session() as sess:
        assert sess.run(made).tolist() == expected


def test_one_hot_infers_the_static_shape():
    rows = tf.placeholder(tf.int32, [None, 2])
    assert tf.one_hot(rows, 3, axis=0).shape.as_list() == [3, None, 2]
    assert tf.one_hot(rows, 3, axis=1).shape.as_list() == [None, 3, 2]
    assert tf.one_hot(rows, tf.placeholder(tf.int32, [])).shape.as_list() == [None, 2, None]
    assert tf.one_hot(tf.placeholder(tf.uint8), 3).shape.ndims is None


def test_one_hot_on_an_axis_in_the_middle():
    with tf.Session() as sess:
        value = sess.run(tf.one_hot([[0, 1], [2, 2]], 3, axis=1))
    assert np.array_equal(value, np.eye(3)[[[0, 1], [2, 2]]].transpose(0, 2, 1))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (
            {"on_value": 1.0, "off_value": 0, "dtype": tf.int32},
            "float32 of on_value does not match dtype parameter int32",
        ),
        ({"on_value": 1.0, "off_value": 0}, "float32 of on_value does not match dtype int32 of off_value"),
    ],
)
def test_one_hot_refuses_values_of_several_dtypes(options, words):
    with pytest.raises(TypeError, match=words):
        tf.one_hot([0], 3, **options)


def test_one_hot_refuses_what_never_fits():
    with pytest.raises(TypeError, match="float32 not in list of allowed values: int32, int64, uint8"):
        tf.one_hot([0.0], 3)
    with pytest.raises(ValueError, match="must be non-negative but is -3"):
        tf.one_hot([0], -3)
    with pytest.raises(ValueError, match="Expected axis to be -1 or between"):
        tf.one_hot([0], 3, axis=5)


@pytest.mark.parametrize(
    ("lengths", "options", "expected"),
    [
        ([1, 3, 0], {}, [[1, 0, 0], [1, 1, 1], [0, 0, 0]]),
        ([1, 3], {"maxlen": 2}, [[1, 0], [1, 1]]),
        ([[1, 2], [0, 1]], {}, [[[1, 0], [1, 1]], [[0, 0], [1, 0]]]),
        (2, {"maxlen": 3}, [1, 1, 0]),
        ([1.5, 2.0], {"maxlen": 3}, [[1, 0, 0], [1, 1, 0]]),
        ([-1, 1], {}, [[0], [1]]),
    ],
)
def test_sequence_mask_holds_before_the_length(lengths, options, expected):
    plain, cast = tf.sequence_mask(lengths, **options), tf.sequence_mask(lengths, dtype=tf.float32, name="q", **options)
    assert (plain.name, cast.name) == ("SequenceMask/Less:0", "q/Cast_1:0")
    assert plain.shape.as_list() == list(np.shape(expected))
    with tf.Session() as sess:
        values = sess.run([plain, cast])
    assert [value.tolist() for value in values] == [expected, expected]
    assert [value.dtype for value in values] == ["bool", "float32"]


def test_sequence_mask_infers_the_static_shape():
    lengths = tf.placeholder(tf.int64, [None])
    assert tf.sequence_mask(lengths, 5).shape.as_list() == [None, 5]
    assert tf.sequence_mask(lengths, maxlen=tf.placeholder(tf.int32, [])).shape.as_list() == [None, None]
    assert tf.sequence_mask(lengths).shape.as_list() == [None, None]
    with pytest.raises(ValueError, match="must be scalar for sequence_mask"):
        tf.sequence_mask(lengths, [4])


def test_sequence_mask_of_no_rows():
    lengths = tf.placeholder(tf.int32, [None])
    with tf.Session() as sess:
        assert sess.run(tf.sequence_mask(lengths), {lengths: []}).shape == (0, 0)


def test_one_hot_of_no_indices():
    with tf.Session() as sess:
        assert sess.run(tf.one_hot([], 3)).shape == (0, 3)


def test_one_hot_cuts_the_numbers_of_an_array_to_integers():
    arrays = np.array([1.9, 2.0]), np.array([1, 2], np.int8), np.array([True, False])
    with tf.Session() as sess:
        rows = [sess.run(tf.one_hot(array, 3)).argmax(1).tolist() for array in arrays]
    assert rows == [[1, 2], [1, 2], [1, 0]]
    for floats in ([1.0, 2.0], tf.constant([1.0, 2.0])):
        with pytest.raises(TypeError, match="float32 not in list of allowed values"):
            tf.one_hot(floats, 3)
