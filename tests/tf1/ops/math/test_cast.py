"""Conversions between types: rounding, limits, gradients, complex numbers."""

import numpy as np
import pytest

import dynrnn.tf1 as tf


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def value(fetches):
    return tf.Session().run(fetches)


def test_floats_lose_their_fraction():
    assert value(tf.cast([-1.7, 1.7, 0.5], tf.int32)).tolist() == [-1, 1, 0]
    assert value(tf.to_int64(2.9)) == 2


def test_a_tensor_that_has_the_type_comes_back_itself():
    x = tf.constant([1.0])
    assert tf.cast(x, tf.float32) is x
    assert tf.to_float(x) is x


def test_gradients_pass_between_floats_only():
    x = tf.constant([1.0, 2.0])
    assert value(tf.gradients(tf.cast(x, tf.float64), [x])[0]).dtype == np.float32
    assert tf.gradients(tf.cast(tf.cast(x, tf.int32), tf.float32), [x]) == [None]


def test_old_names_are_the_default_names():
    x = tf.constant([1])
    assert [tf.cast(x, "float32").op.name, tf.to_float(x).op.name, tf.to_double(x).op.name] == [
        "Cast",
        "ToFloat",
        "ToDouble",
    ]


@pytest.mark.parametrize(
    ("values", "dtype", "expected"),
    [
        (np.array([-3.0, 300.0, 7.9]), "uint8", [0, 255, 7]),
        (np.array([-300, 300, 7]), "int8", [-128, 127, 7]),
        (np.array([-3e20, 3e20, 7.9], np.float32), "int32", [-(2**31), 2**31 - 1, 7]),
        (np.array([-3e20, 3e20, 7.9], np.float32), "int64", [-(2**63), 2**63 - 1, 7]),
        (np.array([1, 2], np.int8), "int32", [1, 2]),
    ],
)
def test_saturation_stops_at_the_limits(values, dtype, expected):
    result = tf.saturate_cast(tf.constant(values), dtype)
    assert result.op.name == "saturate_cast"
    assert value(result).tolist() == expected


def test_slices_are_cast_in_their_values():
    slices = tf.IndexedSlices(tf.constant([[1.0]]), tf.constant([0]), tf.constant([2, 1]))
    assert tf.cast(slices, tf.float64).values.dtype == tf.float64


def test_strings_are_refused():
    with pytest.raises(tf.errors.UnimplementedError, match="Cast string to int32 is not supported"):
        value(tf.cast(tf.constant("1"), tf.int32))
    with pytest.raises(TypeError, match=r"tf.as_string"):
        tf.cast(tf.constant(1), tf.string)


def test_parts_of_complex_numbers():
    z = tf.complex(tf.constant([3.0]), [4.0])
    assert z.dtype == tf.complex64
    assert [part.tolist() for part in value([tf.abs(z), tf.real(z), tf.imag(z), tf.conj(z)])] == [
        [5],
        [3],
        [4],
        [3 - 4j],
    ]
    x = tf.constant([-1.0])
    assert tf.real(x) is x and tf.conj(x) is x
    assert value(tf.imag(x)).tolist() == [0]
    assert value(tf.angle(x)).tolist() == [np.float32(np.pi)]
