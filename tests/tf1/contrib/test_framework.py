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
