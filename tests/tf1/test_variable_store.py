"""get_variable: nodes, sharing, initial values, wrong arguments."""

import numpy as np
import pytest

import dynrnn.tf1 as tf


def get(*args, **kwargs):
    """The name, without `:0`, of the variable that get_variable returns."""
    return tf.get_variable(*args, **kwargs).op.name


# Nodes (the lists are real TensorFlow's)


def test_nodes_of_a_variable():
    with tf.variable_scope("s"):
        v = tf.get_variable("w", [2, 3])
    names = [op.name for op in tf.get_default_graph().get_operations()]
    assert names[-4:] == ["s/w/Initializer/random_uniform", "s/w", "s/w/Assign", "s/w/read"]
    assert all(name.startswith("s/w") for name in names)
    assert v.initial_value.name == "s/w/Initializer/random_uniform:0"


@pytest.mark.parametrize("dtype", ["int8", "int32", "int64", "uint8", "uint16", "bool", "string"])
def test_whole_numbers_bools_and_strings_start_at_zero(dtype):
    v = tf.get_variable("w", [2], dtype)
    names = [op.name for op in tf.get_default_graph().get_operations()]
    assert names == ["w/Initializer/zeros", "w", "w/Assign", "w/read"]
    with tf.Session() as sess:
        sess.run(v.initializer)
        assert not any(sess.run(v))


@pytest.mark.parametrize("dtype", [tf.float16, tf.float32, tf.float64])
def test_floats_start_within_the_glorot_limits(dtype):
    v = tf.get_variable("w", [50, 100], dtype)
    with tf.Session() as sess:
        sess.run(v.initializer)
        value = sess.run(v)
    assert value.dtype == dtype.as_numpy_dtype
    assert 0.19 < np.abs(value).max() <= 0.2001  # sqrt(6 / 150), and float16's rounding


def test_complex_numbers_need_an_initializer():
    with pytest.raises(ValueError, match=r"An initializer for variable w of .*complex64"):
        tf.get_variable("w", [2], tf.complex64)


# Sharing


def test_a_second_variable_of_one_name_is_refused():
    with tf.variable_scope("a"):
        tf.get_variable("w", [2])
        with pytest.raises(
            ValueError, match=r"Variable a/w already exists, disallowed\. Did you mean to set reuse=True "
        ):
            tf.get_variable("w", [2])
    with (
        tf.variable_scope("a"),
        pytest.raises(
            ValueError, match=r"reuse=tf.AUTO_REUSE in VarScope\? Originally defined at: .*test_variable_store"
        ),
    ):
        tf.get_variable("w", [2])
    assert len(tf.global_variables()) == 1


def test_reuse_finds_and_never_makes():
    with tf.variable_scope("a"):
        w = tf.get_variable("w", [2])
    with tf.variable_scope("a", reuse=True):
        assert tf.get_variable("w", [2]) is w
        assert tf.get_variable("w") is w
        assert tf.get_variable("w", [None]) is w
        with pytest.raises(
            ValueError, match=r"Variable a/v does not exist, or was not .*Did you mean to set reuse=tf\.AUTO_REUSE"
        ):
            tf.get_variable("v", [2])


def test_a_variable_made_by_its_class_is_not_found():
    tf.Variable(1.0, name="w")
    with tf.variable_scope("", reuse=True), pytest.raises(ValueError, match=r"not created with tf\.get_variable"):
        tf.get_variable("w", [])


def test_auto_reuse_makes_or_finds():
    def layer():
        with tf.variable_scope("a", reuse=tf.AUTO_REUSE):
            return tf.get_variable("w", [2])

    assert layer() is layer()
    assert len(tf.global_variables()) == 1


def test_reuse_is_inherited_and_cannot_be_taken_back():
    with tf.variable_scope("a", reuse=True) as a, tf.variable_scope("b", reuse=False) as b:
        assert b.reuse is True
    with tf.variable_scope(a, reuse=False) as again:
        assert again.reuse is True
    with tf.variable_scope(a, reuse=tf.AUTO_REUSE) as again:
        assert again.reuse is tf.AUTO_REUSE
    with tf.variable_scope("a", reuse=tf.AUTO_REUSE), tf.variable_scope("b") as b:
        assert b.reuse is tf.AUTO_REUSE
    with tf.variable_scope("a") as a:
        assert a.reuse is False


def test_reuse_variables_acts_on_the_current_scope_only():
    with tf.variable_scope("a") as a:
        tf.get_variable("w", [1])
        tf.get_variable_scope().reuse_variables()
        assert a is tf.get_variable_scope()
        assert get("w", [1]) == "a/w"
        with tf.variable_scope("b") as b:
            assert b.reuse is True
        with pytest.raises(ValueError, match="does not exist"):
            tf.get_variable("v", [1])
    assert tf.get_variable_scope().reuse is False
    with tf.variable_scope(a):
        assert get("w", [1]) == "a/w"


@pytest.mark.parametrize(
    ("shape", "dtype", "match"),
    [
        ([3], None, r"Trying to share variable w, but specified shape \(3,\) and found shape \(2,\)\."),
        ([2, 1], None, r"Trying to share variable w, but specified shape \(2, 1\) and found shape \(2,\)\."),
        ([2], tf.int32, "Trying to share variable w, but specified dtype int32 and found dtype float32_ref"),
    ],
)
def test_a_shared_variable_must_fit(shape, dtype, match):
    tf.get_variable("w", [2])
    with tf.variable_scope(tf.get_variable_scope(), reuse=True), pytest.raises(ValueError, match=match):
        tf.get_variable("w", shape, dtype)


# Initial values


@pytest.mark.parametrize(
    ("value", "dtype", "found"),
    [
        (3.0, None, tf.float32),
        (4, tf.int32, tf.int32),
        ([1, 2], None, tf.int32),
        (np.ones([2]), None, tf.float64),
        (np.array([1, 2]), tf.int64, tf.int64),
        (True, None, tf.bool),
    ],
)
def test_a_value_gives_shape_and_dtype(value, dtype, found):
    v = tf.get_variable("w", dtype=dtype, initializer=value)
    assert v.dtype.base_dtype is found
    assert v.shape.as_list() == list(np.shape(value))
    assert v.initial_value.name == "w/initial_value:0"
    with tf.Session() as sess:
        sess.run(v.initializer)
        np.testing.assert_array_equal(sess.run(v), value)


def test_a_tensor_gives_shape_and_dtype():
    value = tf.constant([[1, 2]], tf.int64)
    v = tf.get_variable("w", initializer=value)
    assert v.initial_value is value
    with tf.variable_scope("", reuse=True):
        assert tf.get_variable("w", dtype=tf.int64) is v


@pytest.mark.parametrize(
    ("arguments", "error", "match"),
    [
        ({"initializer": {"a": 1}}, TypeError, "Failed to convert object of type <class 'dict'>"),
        ({"shape": [2], "initializer": [1.0, 2.0]}, ValueError, "If initializer is a constant, do not specify shape"),
        (
            {"dtype": tf.float64, "initializer": 3.0},
            ValueError,
            "Initializer type .*float32.* and explicit dtype .*float64.* don't match",
        ),
        ({}, ValueError, "Variable w did not get an initializer, so its `shape` argument must be specified"),
        (
            {"shape": [None, 3]},
            ValueError,
            r"Shape of a new variable \(w\) must be fully defined, but instead was \(\?, 3\)",
        ),
        ({"initializer": lambda shape, dtype: 1.0}, ValueError, "should be a callable with no arguments and the shape"),
        (
            {"shape": [3], "initializer": lambda shape, dtype: tf.zeros([2])},
            ValueError,
            "Dimension 0 in both shapes must be equal",
        ),
        ({"shape": [2], "custom_getter": 3}, ValueError, "Passed a custom_getter which is not callable: 3"),
        (
            {"shape": [2], "trainable": True, "synchronization": tf.VariableSynchronization.ON_READ},
            ValueError,
            "non-trainable",
        ),
    ],
)
def test_wrong_arguments(arguments, error, match):
    count = len(tf.get_default_graph().get_operations())
    with pytest.raises(error, match=match):
        tf.get_variable("w", **arguments)
    assert len(tf.get_default_graph().get_operations()) == count
    assert tf.global_variables() == []
    assert get("w", [1]) == "w"


@pytest.mark.parametrize(
    "initializer",
    [
        tf.ones_initializer,
        tf.ones_initializer(),
        lambda shape, dtype: tf.ones(shape, dtype),
        lambda shape, dtype, partition_info: tf.ones(shape, dtype),
        lambda shape, **options: tf.ones(shape, **options),
    ],
)
def test_initializers_are_given_shape_and_dtype(initializer):
    v = tf.get_variable("w", [2, 3], tf.float64, initializer)
    with tf.Session() as sess:
        sess.run(v.initializer)
        np.testing.assert_array_equal(sess.run(v), np.ones([2, 3]))


@pytest.mark.parametrize("function", [lambda: tf.ones([2]), lambda value=1.0: [value, value]])
def test_a_function_without_arguments_gives_shape_and_dtype(function):
    v = tf.get_variable("w", initializer=function)
    assert v.shape.as_list() == [2]
    assert v.dtype.base_dtype is tf.float32


def test_the_initial_value_is_made_outside_control_dependencies():
    with tf.control_dependencies([tf.no_op()]):
        v = tf.get_variable("w", [2])
    assert v.initializer.control_inputs == v.initial_value.op.control_inputs == []


def test_the_place_of_the_first_making_is_the_programs_line():
    def net():
        tf.nn.dynamic_rnn(tf.nn.rnn_cell.GRUCell(2), tf.zeros([1, 1, 1]), dtype=tf.float32)

    net()
    with pytest.raises(ValueError, match=r"Originally defined at: .*test_variable_store\.py:\d+ in net"):
        net()
