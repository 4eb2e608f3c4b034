"""Lists of variables, their initializers, and reports of what is not initialized."""

import numpy as np
import pytest

import dynrnn.tf1 as tf


@pytest.fixture
def sess(fresh_graph):
    with tf.Session(graph=fresh_graph) as session:
        yield session


def test_lists_filter_by_the_start_of_the_name():
    with tf.name_scope("a"):
        v = tf.Variable(1.0)
    w = tf.Variable(1.0, trainable=False)
    assert tf.global_variables() == tf.all_variables() == [v, w]
    assert tf.global_variables("a/") == tf.trainable_variables("a") == [v]
    assert tf.global_variables("no") == []
    tf.add_to_collection(tf.GraphKeys.MODEL_VARIABLES, w)
    tf.add_to_collection(tf.GraphKeys.MOVING_AVERAGE_VARIABLES, v)
    assert (tf.model_variables(), tf.moving_average_variables()) == ([w], [v])


def test_a_list_is_a_copy():
    tf.Variable(1.0)
    tf.global_variables().clear()
    assert len(tf.global_variables()) == 1


def test_initializers_are_named_init():
    tf.Variable(1.0)
    names = [make().name for make in (tf.global_variables_initializer, tf.local_variables_initializer)]
    assert names == ["init", "init_1"]
    assert tf.variables_initializer(tf.global_variables(), name="mine").name == "mine"
    assert tf.initialize_all_variables().name == "init_2"


def test_an_initializer_covers_its_kind_only(sess):
    v = tf.Variable(1.0)
    local = tf.get_local_variable("local", [1])
    sess.run(tf.global_variables_initializer())
    assert sess.run(tf.report_uninitialized_variables()).tolist() == [b"local"]
    sess.run(tf.local_variables_initializer())
    assert sess.run(tf.report_uninitialized_variables()).tolist() == []
    assert sess.run([v, local])[0] == 1.0


def test_initializing_again_starts_anew(sess):
    v = tf.Variable(1.0)
    init = tf.global_variables_initializer()
    sess.run(init)
    sess.run(v.assign(5.0))
    sess.run(init)
    assert sess.run(v) == 1.0


def test_variables_made_later_are_not_covered(sess):
    tf.Variable(1.0)
    init = tf.global_variables_initializer()
    late = tf.Variable(2.0, name="late")
    sess.run(init)
    with pytest.raises(tf.errors.FailedPreconditionError, match="uninitialized value late"):
        sess.run(late)


def test_reports_of_what_is_initialized(sess):
    v, w = tf.Variable(1.0, name="v"), tf.Variable(1.0, name="w")
    report = tf.report_uninitialized_variables()
    assert report.dtype is tf.string
    assert report.shape.as_list() == [None]
    both = [tf.is_variable_initialized(v), tf.is_variable_initialized(w)]
    assert both[0].name == "IsVariableInitialized:0"
    assert sess.run(report).tolist() == [b"v", b"w"]
    sess.run(v.initializer)
    assert sess.run(both) == [True, False]
    assert sess.run(report).tolist() == [b"w"]
    assert sess.run(tf.report_uninitialized_variables([v])).tolist() == []
    assert sess.run(tf.report_uninitialized_variables([])).tolist() == []


def test_partitioned_variables_are_initialized_and_reported_by_their_parts(sess):
    w = tf.get_variable("w", [2], partitioner=tf.fixed_size_partitioner(2))
    assert sess.run(tf.report_uninitialized_variables([w])).tolist() == [b"w/part_0", b"w/part_1"]
    sess.run(tf.variables_initializer([w]))
    assert np.isfinite(sess.run(w.as_tensor())).all()


def test_only_variables_have_a_state():
    with pytest.raises(TypeError, match=r"mutable tensor \(e.g.: a tf.Variable\)"):
        tf.is_variable_initialized(tf.constant(1.0))
