import numpy as np
import pytest

import dynrnn.tf1 as tf


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default():
        yield


def run(fetches):
    return tf.Session().run(fetches)


# What TensorFlow 2.21 gives for these calls.
@pytest.mark.parametrize(
    ("value", "options", "expected"),
    [
        ([1.5, 1e10, np.nan, np.inf], {}, [b"1.500000", b"10000000000.000000", b"nan", b"inf"]),
        (np.array([1.5]), {}, [b"1.500000"]),
        ([1, -2], {}, [b"1", b"-2"]),
        ([True, False], {}, [b"true", b"false"]),
        ([3.14159, 2.0], {"precision": 2}, [b"3.14", b"2.00"]),
        ([3.14159, 2.0], {"scientific": True}, [b"3.141590e+00", b"2.000000e+00"]),
        ([3.14159, 2.0], {"shortest": True}, [b"3.14159", b"2"]),
        ([3.14159], {"precision": 2, "width": 8, "fill": "0"}, [b"00003.14"]),
        ([3, 24], {"width": 5}, [b"    3", b"   24"]),
        ([3, 24], {"width": 5, "fill": "-"}, [b"3    ", b"24   "]),
        ([1 + 2j], {}, [b"(1.000000,2.000000)"]),
        (["a"], {}, [b"a"]),
    ],
)
def test_numbers_are_written_as_tensorflow_does(value, options, expected):
    assert run(tf.as_string(value, **options)).tolist() == expected


@pytest.mark.parametrize(
    ("options", "text"),
    [({"scientific": True, "shortest": True}, "exclude each other"), ({"fill": "x"}, "fill must be one of")],
)
def test_formats_that_are_none_are_refused(options, text):
    with pytest.raises(ValueError, match=text):
        tf.as_string([1.5], **options)
    with pytest.raises(ValueError, match="are for floats"):
        tf.as_string([1], precision=2)


def test_strings_are_read_as_numbers():
    assert run(tf.string_to_number(["1.5", " 2 ", "1e3", "inf", "-.5"])).tolist() == [1.5, 2, 1000, np.inf, -0.5]
    assert run(tf.string_to_number(["1", "-2"], tf.int64)).dtype == np.int64
    assert np.isnan(run(tf.string_to_number("nan")))


@pytest.mark.parametrize(
    ("text", "dtype"), [("x", "float32"), ("", "float32"), ("0x10", "float32"), ("1_0", "int32"), ("1.5", "int32"),
                        ("3000000000", "int32")],
)  # fmt: skip
def test_what_is_no_number_is_refused_in_the_run(text, dtype):
    with pytest.raises(tf.errors.InvalidArgumentError, match=f"could not correctly convert string: {text}"):
        run(tf.string_to_number([text], dtype))


def test_numbers_are_read_from_bytes():
    raw = [b"\x01\x00\x02\x00", b"\x03\x00\x04\x00"]
    assert tf.decode_raw(raw, tf.int16).shape.as_list() == [2, None]
    assert run(tf.decode_raw(raw, tf.int16)).tolist() == [[1, 2], [3, 4]]
    assert run(tf.decode_raw(raw[0], tf.int16, little_endian=False)).tolist() == [256, 512]
    assert run(tf.decode_raw([np.float32([1.5]).tobytes()], tf.float32)).tolist() == [[1.5]]


@pytest.mark.parametrize(
    ("raw", "text"), [(["ab", "a"], "element 1 has size 1 != 2"), (["abc"], "length 3 that is not a multiple of 2")]
)
def test_bytes_of_wrong_lengths_are_refused_in_the_run(raw, text):
    with pytest.raises(tf.errors.InvalidArgumentError, match=text):
        run(tf.decode_raw(raw, tf.int16))


def test_types_that_are_no_numbers_are_refused():
    with pytest.raises(TypeError, match="out_type must be one of float32, float64, int32, int64, got uint8"):
        tf.string_to_number("1", tf.uint8)
    with pytest.raises(TypeError, match="out_type must be a type of numbers, got string"):
        tf.decode_raw("ab", tf.string)
