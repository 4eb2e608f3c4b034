"""variable_creator_scope: creators nest, rename, and hold for get_variable too."""

import pytest

import dynrnn.tf1 as tf


def named(suffix, seen):
    def creator(next_creator, **options):
        seen.append((suffix, options["name"]))
        return next_creator(**{**options, "name": f"{options['name']}_{suffix}"})

    return creator


def test_creators_nest_the_inner_one_first():
    seen = []
    with tf.variable_creator_scope(named("out", seen)), tf.variable_creator_scope(named("in", seen)):
        v = tf.Variable(1.0, name="v")
    assert v.name == "v_in_out:0"
    assert seen == [("in", "v"), ("out", "v_in")]
    assert tf.Variable(1.0, name="v").name == "v:0"


def test_creators_see_all_arguments_by_name():
    def creator(next_creator, **options):
        assert (options["initial_value"], options["trainable"], options["dtype"]) == (1, False, tf.int64)
        assert options["collections"] is None
        return next_creator(**options)

    with tf.variable_creator_scope(creator):
        assert isinstance(tf.Variable(1, False, dtype=tf.int64), tf.Variable)


def test_creators_hold_for_get_variable():
    seen = []
    with tf.variable_creator_scope(named("x", seen)), tf.variable_scope("s"):
        v = tf.get_variable("w", [1])
    assert v.name == "s/w_x:0"
    with tf.variable_scope("s", reuse=True):
        assert tf.get_variable("w", [1]) is v


def test_a_creator_may_return_something_else():
    with tf.variable_creator_scope(lambda next_creator, **options: "instead"):
        assert tf.Variable(1.0) == "instead"


def test_creators_belong_to_their_graph():
    seen = []
    with tf.variable_creator_scope(named("x", seen)), tf.Graph().as_default():
        assert tf.Variable(1.0).name == "Variable:0"
    assert seen == []


def test_leaving_in_the_wrong_order_is_an_error():
    first, second = tf.variable_creator_scope(named("a", [])), tf.variable_creator_scope(named("b", []))
    first.__enter__()
    second.__enter__()
    with pytest.raises(RuntimeError, match="without proper nesting"):
        first.__exit__(None, None, None)
    assert tf.Variable(1.0).name == "Variable:0"
