"""Numbers and bytes are those of TensorFlow's `HistogramSummary`."""

import struct

import numpy as np
import pytest

import dynrnn.tf1 as tf
from dynrnn.tf1.summary.histogram import histogram_fields, limits

LARGEST = np.finfo(np.float64).max


def doubles(data):
    return list(struct.unpack(f"<{len(data) // 8}d", data))


CASES = {
    "wide": (
        np.array([-1.5, 0, 0, 2, 1e-13, 3e21, -5e22]),
        b"\xff\xff\xff\xff\xff\xff\xef\xffLT\x9f\x02#\x83\x15\xc4yL\xfa\xe2\xd3\xff\xf9\xbf\x85E\xcc\x9f\xc0\xa2\xf7\xbf"
        b"\x00\x00\x00\x00\x00\x00\x00\x00\x11\xea-\x81\x99\x97q=\xdc\x94\xcd.\x8du\xff?\xe0\x11\xf1\x0ctM\x01@"
        b"LT\x9f\x02#\x83\x15D\xff\xff\xff\xff\xff\xff\xef\x7f",
        [0, 1, 0, 1, 0, 3, 0, 1, 0, 1],
    ),
    "ones": (
        np.float32([1, 1, 1, 50]),
        b"\x08\x99i\x19\x15Z\xed?+\x14\xfa\xcd\xbe$\xf0?R\xb7\x1e\xd1'\xd5F@t\x96n\xcc\xab\x1dI@"
        b"\xff\xff\xff\xff\xff\xff\xef\x7f",
        [0, 3, 0, 1, 0],
    ),
    "scalar": (
        np.float32(2),
        b"\xdc\x94\xcd.\x8du\xff?\xe0\x11\xf1\x0ctM\x01@\xff\xff\xff\xff\xff\xff\xef\x7f",
        [0, 1, 0],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_buckets_are_tensorflows(case):
    values, edges, counts = CASES[case]
    fields = histogram_fields(np.asarray(values))
    assert fields["bucket_limit"] == doubles(edges) and fields["bucket"] == counts


def test_numbers_of_the_whole_are_tensorflows():
    fields = histogram_fields(np.array([-1.5, 0, 0, 2, 1e-13, 3e21, -5e22]))
    found = struct.pack("<5d", *(fields[name] for name in ("min", "max", "num", "sum", "sum_squares")))
    assert found == (
        b"\xf6J\xe1\xc7\x02-\xa5\xc4|3*\xa1+TdD\x00\x00\x00\x00\x00\x00\x1c@\xbe\xa7\xce\r\xc0\xe7\xa3\xc4"
        b"y\xb01\x14z \\I"
    )


def test_addends_are_added_in_their_order_as_tensorflow_does():
    values = np.random.RandomState(0).randn(1000).astype(np.float32)
    fields = histogram_fields(values)
    assert struct.pack("<2d", fields["sum"], fields["sum_squares"]) == b"\x00@!\xc6\xdb\xa0F\xc0l\xa4G\xd1B\x82\x8e@"
    assert sum(fields["bucket"]) == 1000


def test_nothing_is_a_histogram_too():
    summary = tf.summary.histogram("w", np.zeros([0], np.float32))
    with tf.Session() as sess:
        assert sess.run(summary) == (
            b"\n+\n\x01w*&\t\xff\xff\xff\xff\xff\xff\xef\x7f\x11\xff\xff\xff\xff\xff\xff\xef\xff"
            b"2\x08\xff\xff\xff\xff\xff\xff\xef\x7f:\x08\x00\x00\x00\x00\x00\x00\x00\x00"
        )


@pytest.mark.parametrize("dtype", [tf.float16, tf.bfloat16, tf.float64, tf.int8, tf.int64, tf.uint16])
def test_every_real_type_has_a_histogram(dtype):
    with tf.Session() as sess:
        text = sess.run(tf.summary.histogram("w", tf.constant([[1, 1], [1, 50]], dtype)))
    found = tf.Summary.FromString(text).value[0].histo
    assert list(found.bucket) == [0, 3, 0, 1, 0] and (found.min, found.max, found.sum) == (1, 50, 53)


def test_limits_ascend_and_end_at_the_largest_float():
    edges = limits()
    assert np.all(np.diff(edges) > 0) and np.array_equal(edges, -edges[::-1])
    assert (edges[0], edges[-1]) == (-LARGEST, LARGEST) and len(edges) == 1551


def test_a_value_at_a_limit_falls_above_it_and_the_largest_into_the_last():
    edges = limits()
    assert histogram_fields(edges[800:801])["bucket_limit"][1] == edges[801]
    assert histogram_fields(np.array([LARGEST]))["bucket"] == [0, 1]
