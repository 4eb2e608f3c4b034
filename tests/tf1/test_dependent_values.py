"""Variables whose initial values are computed from other variables."""

import numpy as np

import dynrnn.tf1 as tf


def test_one_initializer_serves_a_variable_and_what_depends_on_it():
    a = tf.Variable(tf.random_normal([2]))
    b = tf.Variable(a * 2.0)
    c = tf.Variable(b + a, name="c")
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        one, two, three = sess.run([a, b, c])
    np.testing.assert_array_equal(two, one * 2)
    np.testing.assert_array_equal(three, two + one)


def test_the_initializer_of_a_dependent_variable_runs_alone():
    a = tf.Variable(2.0)
    b = tf.get_variable("b", initializer=lambda: a + 1.0)
    with tf.Session() as sess:
        sess.run(b.initializer)
        assert sess.run(b) == 3.0
        assert not sess.run(tf.is_variable_initialized(a))


def test_a_value_that_is_there_is_taken():
    a = tf.Variable(2.0)
    b = tf.Variable(a + 1.0)
    late = tf.Variable(a.read_value() + 1.0)
    with tf.Session() as sess:
        sess.run(a.assign(5.0))
        sess.run([b.initializer, late.initializer])
        assert sess.run([b, late]) == [6.0, 6.0]


def test_the_operations_between_are_copied_under_tensorflows_names():
    a = tf.Variable(2.0, name="a")
    b = tf.Variable(a * 2.0 + 1.0, name="s/b")
    assert b.initial_value.name == "add:0"
    assert b.initializer.inputs[0].name == "add_s/b:0"
    names = {op.name for op in tf.get_default_graph().get_operations()}
    assert {"a/read_s/b", "mul_s/b"} <= names


def test_other_initial_values_are_used_as_they_are():
    v = tf.Variable(tf.ones([2]) * 2.0)
    assert v.initializer.inputs[0] is v.initial_value


def test_a_loop_that_reads_a_variable_is_left_as_it_is():
    a = tf.Variable(2, name="a")
    count = tf.while_loop(lambda i: i < 3, lambda i: i + a, [tf.constant(0)])
    v = tf.Variable(count)
    with tf.Session() as sess:
        sess.run(a.initializer)
        sess.run(v.initializer)
        assert sess.run(v) == 4


def test_initialized_value_follows_the_chain():
    a = tf.Variable(2.0)
    b = tf.Variable(a.initialized_value() * 2.0)
    c = tf.Variable(b.initialized_value() * 2.0)
    with tf.Session() as sess:
        sess.run(c.initializer)
        assert sess.run(c) == 8.0
