"""tf.assign, tf.assign_add, tf.assign_sub: values, names, dtypes, shapes, errors."""

import numpy as np
import pytest

import dynrnn.tf1 as tf


@pytest.fixture
def v():
    return tf.Variable([1.0, 2.0], name="v")


@pytest.fixture
def sess(fresh_graph):
    with tf.Session(graph=fresh_graph) as session:
        yield session


def test_values(v, sess):
    sess.run(v.initializer)
    np.testing.assert_array_equal(sess.run(tf.assign(v, [5.0, 6.0])), [5.0, 6.0])
    np.testing.assert_array_equal(sess.run(tf.assign_add(v, [1.0, 1.0])), [6.0, 7.0])
    np.testing.assert_array_equal(sess.run(tf.assign_sub(v, [6.0, 6.0])), [0.0, 1.0])
    np.testing.assert_array_equal(sess.run(v), [0.0, 1.0])


def test_names_dtypes_and_shapes(v):
    results = [tf.assign(v, [1.0, 2.0]), tf.assign_add(v, v), tf.assign_sub(v, v, name="less")]
    assert [t.name for t in results] == ["Assign:0", "AssignAdd:0", "less:0"]
    assert {t.dtype.name for t in results} == {"float32_ref"}
    assert all(t.shape.as_list() == [2] for t in results)
    assert tf.assign(v, tf.placeholder(tf.float32)).shape.as_list() == [2]


def test_the_result_is_a_variable_to_assign_to(v, sess):
    sess.run(v.initializer)
    twice = tf.assign_add(tf.assign(v, [1.0, 1.0]), [1.0, 2.0])
    np.testing.assert_array_equal(sess.run(twice), [1.0 + 1.0, 2.0 + 1.0])


def test_adding_needs_a_value(v, sess):
    with pytest.raises(tf.errors.FailedPreconditionError, match="uninitialized value v"):
        sess.run(tf.assign_add(v, [1.0, 1.0]))


def test_assigning_needs_none(v, sess):
    np.testing.assert_array_equal(sess.run(tf.assign(v, [1.0, 1.0])), [1.0, 1.0])


def test_a_value_read_before_stays_as_it_was(v, sess):
    sess.run(v.initializer)
    before = tf.identity(v)
    with tf.control_dependencies([before]):
        update = tf.assign_add(v, [1.0, 1.0])
    old, new = sess.run([before, update])
    np.testing.assert_array_equal(old, [1.0, 2.0])
    np.testing.assert_array_equal(new, [2.0, 3.0])


def test_no_gradient_passes_an_assignment(v):
    x = tf.constant([1.0, 2.0])
    assert tf.gradients(tf.assign(v, x), [x]) == [None]


def test_a_fed_array_is_copied(v, sess):
    x = tf.placeholder(tf.float32, [2])
    value = np.array([3, 4], np.float32)
    sess.run(tf.assign(v, x), {x: value})
    value[:] = 0
    np.testing.assert_array_equal(sess.run(v), [3.0, 4.0])


@pytest.mark.parametrize(
    ("value", "error", "match"),
    [
        (
            [1.0, 2.0, 3.0],
            ValueError,
            r"Dimension 0 in both shapes must be equal, but are 2 and 3. Shapes are \[2\] and \[3\]",
        ),
        ([[1.0, 2.0]], ValueError, "Shapes must be equal rank, but are 1 and 2"),
        ("a", TypeError, "Expected float32, got 'a' of type 'str'"),
        (np.array(["a"]), TypeError, "Expected float32"),
        (None, ValueError, "None values not supported"),
    ],
)
@pytest.mark.parametrize("function", [tf.assign, tf.assign_add, tf.assign_sub])
def test_values_that_do_not_fit(v, function, value, error, match):
    count = len(tf.get_default_graph().get_operations())
    with pytest.raises(error, match=match):
        function(v, value)
    assert len(tf.get_default_graph().get_operations()) == count


def test_a_tensor_must_have_the_variables_dtype(v):
    with pytest.raises(
        TypeError, match="'Assign' Op has type int32 that does not match type float32 of argument 'ref'"
    ):
        tf.assign(v, tf.constant([1, 2]))


@pytest.mark.parametrize("ref", [[1.0], 3])
def test_only_a_variable_can_be_assigned_to(ref):
    with pytest.raises(TypeError, match=r"'Assign' Op requires that input 'ref' be a mutable tensor"):
        tf.assign(tf.constant(ref), 1.0)
    with pytest.raises(TypeError, match="mutable tensor"):
        tf.assign_add(ref, 1.0)


def test_a_shape_known_only_in_the_run_is_checked_there(v, sess):
    x = tf.placeholder(tf.float32)
    with pytest.raises(tf.errors.InvalidArgumentError, match="Assign requires shapes of both tensors to match"):
        sess.run(tf.assign(v, x), {x: [1.0, 2.0, 3.0]})
    np.testing.assert_array_equal(sess.run(tf.assign(v, x, validate_shape=False), {x: [[1.0]]}), [[1.0]])
