"""Reading and writing a variable: in order, in each session, with gradients."""

import numpy as np
import pytest

import dynrnn.tf1 as tf


def op_names():
    return [op.name for op in tf.get_default_graph().get_operations()]


@pytest.fixture
def sess(fresh_graph):
    with tf.Session(graph=fresh_graph) as session:
        yield session


# Reading


def test_a_value_is_there_only_after_initialization(sess):
    v = tf.Variable([1.0, 2.0], name="v")
    with pytest.raises(tf.errors.FailedPreconditionError, match="uninitialized value v"):
        sess.run(v)
    sess.run(v.initializer)
    np.testing.assert_array_equal(sess.run(v), [1.0, 2.0])
    np.testing.assert_array_equal(v.eval(), [1.0, 2.0])
    np.testing.assert_array_equal(sess.run("v:0"), [1.0, 2.0])


def test_each_session_has_its_own_value():
    v = tf.Variable(1.0)
    with tf.Session() as first:
        first.run(v.initializer)
        with tf.Session() as second:
            second.run(v.initializer)
            second.run(v.assign(2.0))
            assert second.run(v) == 2.0
        assert v.eval(first) == 1.0


def test_the_shared_read_serves_all_uses():
    v = tf.Variable(1.0, name="v")
    assert tf.convert_to_tensor(v) is v.value()
    assert tf.identity(v).op.inputs[0] is v.value()


def test_read_value_is_a_read_of_its_own(sess):
    v = tf.Variable(1.0, name="v")
    with tf.name_scope("s"):
        read = v.read_value()
    assert read.name == "s/read:0"
    assert read.dtype is tf.float32
    sess.run(v.initializer)
    assert sess.run(read) == 1.0


def test_a_use_under_control_dependencies_comes_after_them(sess):
    v = tf.Variable(1.0, name="v")
    with tf.control_dependencies([v.assign_add(1.0)]):
        after = tf.identity(v)
        read = v.read_value()
    before = tf.identity(v, name="before")
    sess.run(v.initializer)
    assert sess.run([after, read]) == [2.0, 2.0]
    assert sess.run(before) == 2.0
    assert tf.identity(v).op.name == "Identity_1"  # the extra read took no name that others would get


def test_a_use_may_come_after_the_initializer_in_one_run(sess):
    v = tf.Variable(3.0)
    with tf.control_dependencies([v.initializer]):
        read = v.read_value()
    assert sess.run(read) == 3.0


def test_a_fed_variable_has_the_fed_value(sess):
    v = tf.Variable(1.0, name="v")
    out = tf.identity(v)
    assert sess.run(out, {v: 5.0}) == 5.0
    assert sess.run(out, {"v:0": 6.0}) == 6.0
    assert sess.run(out, {v.value(): 7.0}) == 7.0


def test_gradients_reach_the_variable_through_every_read(sess):
    v = tf.Variable([1.0, 2.0])
    v.initializer.run()
    with tf.control_dependencies([v.assign([3.0, 4.0])]):
        late = tf.square(v.read_value())
    (grad,) = tf.gradients(late, [v])
    np.testing.assert_array_equal(sess.run(grad), [6.0, 8.0])
    (grad,) = tf.gradients(tf.square(v) + late, [v])
    assert sess.run(grad).shape == (2,)


def test_gradients_of_gradients_pass_a_late_read(sess):
    v = tf.Variable(1.0)
    v.initializer.run()
    with tf.control_dependencies([v.assign(3.0)]):
        x = v.read_value()
        y = x * x * x
    (first,) = tf.gradients(y, [v])
    (second,) = tf.gradients(first, [v])
    assert sess.run([first, second]) == [27.0, 18.0]


def test_initialized_value_is_the_value_or_the_initial_one(sess):
    v = tf.Variable(1.0)
    other = tf.Variable(v.initialized_value() * 2.0)
    sess.run(other.initializer)
    assert sess.run(other) == 2.0
    v.load(5.0, sess)
    sess.run(other.initializer)
    assert sess.run(other) == 10.0


def test_a_variable_that_depends_on_another_is_initialized_after_it(sess):
    v = tf.Variable(3.0)
    w = tf.Variable(v * 2.0)
    sess.run(tf.global_variables_initializer())
    assert sess.run(w) == 6.0


def test_a_fetched_array_is_not_the_state(sess):
    v = tf.Variable([1.0, 2.0])
    sess.run(v.initializer)
    sess.run(v)[0] = 9.0
    np.testing.assert_array_equal(sess.run(v), [1.0, 2.0])


# Writing


def test_assigning_returns_the_new_value(sess):
    v = tf.Variable([1.0, 2.0])
    sess.run(v.initializer)
    np.testing.assert_array_equal(sess.run(v.assign([3.0, 4.0])), [3.0, 4.0])
    np.testing.assert_array_equal(sess.run(v.assign_add([1.0, 1.0])), [4.0, 5.0])
    np.testing.assert_array_equal(sess.run(v.assign_sub([4.0, 4.0])), [0.0, 1.0])
    np.testing.assert_array_equal(sess.run(v), [0.0, 1.0])


def test_names_of_assignments():
    v = tf.Variable(1.0)
    assert v.assign(1.0).name == "Assign:0"
    assert v.assign(1.0, name="set").name == "set:0"
    assert v.assign_add(1.0).name == "AssignAdd:0"
    assert v.assign_sub(1.0).name == "AssignSub:0"
    assert v.assign(1.0).dtype is v.dtype
    operation = v.assign(1.0, read_value=False)
    assert isinstance(operation, tf.Operation)
    assert operation.type == "Assign"


def test_load_puts_a_value_in_without_a_new_node(sess):
    v = tf.Variable([1.0, 2.0])
    count = len(op_names())
    v.load([5.0, 6.0], sess)
    v.load(np.array([6, 7]))
    np.testing.assert_array_equal(sess.run(v), [6.0, 7.0])
    assert len(op_names()) == count


def test_load_refuses_another_shape(sess):
    v = tf.Variable([1.0, 2.0])
    with pytest.raises(ValueError, match=r"Cannot feed value of shape \(3,\).*\(2,\)"):
        v.load(np.zeros(3), sess)


def test_load_copies_its_value(sess):
    v = tf.Variable([1.0, 2.0])
    value = np.array([3, 4], np.float32)
    v.load(value, sess)
    value[:] = 0
    np.testing.assert_array_equal(sess.run(v), [3.0, 4.0])


def test_a_variable_without_a_fixed_shape_takes_any(sess):
    v = tf.Variable([1.0, 2.0], validate_shape=False)
    assert v.shape == tf.TensorShape(None)
    sess.run(v.initializer)
    assert sess.run(tf.assign(v, [[1.0]], validate_shape=False)).shape == (1, 1)


def test_set_shape_joins_what_is_known():
    v = tf.Variable(tf.placeholder(tf.float32), validate_shape=False)
    v.set_shape([2, None])
    assert v.shape.as_list() == v.value().shape.as_list() == [2, None]
    with pytest.raises(ValueError, match="not compatible"):
        v.set_shape([3, 3])


def test_strings_are_kept(sess):
    v = tf.Variable(["a", "b"])
    sess.run(v.initializer)
    assert sess.run(v).tolist() == [b"a", b"b"]
    assert sess.run(v.value()).tolist() == [b"a", b"b"]


def test_a_fed_value_is_what_every_read_gives(sess):
    v = tf.Variable(1.0, name="v")
    sess.run(v.initializer)
    reads = [v, v.value(), v.read_value(), v + 1.0]
    assert sess.run(reads, {v: 5.0}) == [5.0, 5.0, 5.0, 6.0]
    assert sess.run(reads) == [1.0, 1.0, 1.0, 2.0]
    assert sess.run(tf.gradients(v.read_value() * 3.0, v), {v: 5.0}) == [3.0]
