"""tf.contrib.framework: variables by scope, suffix and name."""

import pytest

import dynrnn.tf1 as tf

framework = tf.contrib.framework


@pytest.fixture
def variables(fresh_graph):
    with tf.variable_scope("a") as scope:
        made = [tf.get_variable("w", [1]), tf.get_variable("in/w", [1], trainable=False), tf.get_variable("wb", [1])]
    tf.add_to_collection(tf.GraphKeys.MODEL_VARIABLES, made[2])
    return scope, [*made, tf.get_variable("w", [1])]


def test_get_variables(variables):
    scope, (w, inner, wb, root) = variables
    assert framework.get_variables() == [w, inner, wb, root]
    assert framework.get_variables("a/w") == [w, wb]
    assert framework.get_variables(scope) == [w, inner, wb]
    assert framework.get_variables(suffix="w") == framework.get_variables_by_suffix("w") == [w, inner, root]
    assert framework.get_variables_by_suffix("b:0", scope) == [wb]


def test_kinds_of_variables(variables):
    scope, (w, _, wb, root) = variables
    local = tf.get_local_variable("local", [1])
    assert framework.get_trainable_variables() == [w, wb, root]
    assert framework.get_trainable_variables(scope, "w") == [w]
    assert framework.get_model_variables() == [wb]
    assert framework.get_local_variables() == [local]


def test_variables_by_name(variables):
    scope, (w, inner, _, root) = variables
    assert framework.get_variables_by_name("w") == [w, inner, root]
    assert framework.get_variables_by_name("w", scope) == [w, inner]
    assert framework.get_variables_by_name("none") == []


def test_a_unique_variable(variables):
    assert framework.get_unique_variable("a/w") is variables[1][0]
    with pytest.raises(ValueError, match="Couldn't find variable b/w"):
        framework.get_unique_variable("b/w")


def test_a_variable_is_made_under_its_device_and_shared_as_others():
    w = tf.contrib.framework.variable("w", [2], device="/cpu:0", initializer=tf.ones_initializer())
    assert (w.op.name, w.device) == ("w", "/device:CPU:0")
    assert tf.global_variables() == tf.trainable_variables() == [w]
    with tf.variable_scope(tf.get_variable_scope(), reuse=True):
        assert tf.contrib.framework.variable("w", [2]) is w
    v = tf.contrib.framework.variable("v", [2], trainable=False, collections=["mine", "mine"])
    assert tf.get_collection("mine") == [v]
    assert tf.global_variables() == [w]


def test_model_variables_join_their_collection():
    w = tf.contrib.framework.model_variable("w", [2], collections=["mine"])
    assert tf.model_variables() == tf.global_variables() == tf.get_collection("mine") == [w]
    v = tf.Variable(1.0)
    for _ in range(2):
        tf.contrib.framework.add_model_variable(v)
    assert tf.contrib.framework.get_model_variables() == [w, v]


def test_local_variables_are_neither_saved_nor_trained():
    v = tf.contrib.framework.local_variable(3.0, name="v")
    assert tf.local_variables() == [v]
    assert tf.global_variables() == tf.trainable_variables() == []
