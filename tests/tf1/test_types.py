import pytest

import dynrnn.tf1 as tf


def test_types_stand_under_their_names():
    assert (tf.float32.name, tf.bool.name, tf.string.name, tf.half is tf.float16, tf.double is tf.float64) == (
        "float32",
        "bool",
        "string",
        True,
        True,
    )
    assert (tf.as_dtype("float") is tf.float32, tf.dtypes.int64 is tf.int64, isinstance(tf.int32, tf.DType)) == (
        True,
    ) * 3


def test_shapes_stand_under_their_names():
    assert tf.TensorShape([None, 3]).as_list() == [None, 3]
    assert (tf.dimension_value(tf.Dimension(3)), tf.compat.dimension_value(None), tf.newaxis) == (3, None, None)
    assert (
        tf.dimension_at_index(tf.TensorShape([4]), 0).value,
        tf.dimension_at_index(tf.TensorShape(None), 1).value,
    ) == (
        4,
        None,
    )


def test_what_is_no_type_is_refused():
    with pytest.raises(TypeError, match="Cannot convert value 'foo'"):
        tf.as_dtype("foo")
