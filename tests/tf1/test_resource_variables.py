"""The switch between kinds of variables is accepted."""

import dynrnn.tf1 as tf


def test_the_switch_says_what_was_asked_for_and_changes_nothing():
    assert not tf.resource_variables_enabled()
    tf.enable_resource_variables()
    assert tf.resource_variables_enabled()
    v = tf.get_variable("v", [1])
    tf.disable_resource_variables()
    assert not tf.resource_variables_enabled()
    assert type(v) is type(tf.get_variable("w", [1], use_resource=True))
