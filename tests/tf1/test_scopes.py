"""Name scopes, control dependencies and the other context managers of the default graph."""

import pytest

import dynrnn.tf1 as tf


def name():
    """The name that an operation gets here."""
    return tf.constant(1, name="x").op.name


def test_names_nest_and_are_made_unique():
    with tf.name_scope("a") as a:
        with tf.name_scope("b") as b:
            inner = name()
        with tf.name_scope("b") as again:
            pass
    with tf.name_scope("a") as second:
        pass
    assert (a, b, inner, again, second) == ("a/", "a/b/", "a/b/x", "a/b_1/", "a_1/")


def test_a_name_with_a_slash_is_entered_as_it_is():
    with tf.name_scope("a") as a:
        pass
    with tf.name_scope("other"), tf.name_scope(a) as again:
        assert again == "a/"
        assert name() == "a/x"


@pytest.mark.parametrize("root", [None, ""])
def test_no_name_is_the_root(root):
    with tf.name_scope("a"), tf.name_scope(root) as scope:
        assert scope == ""
        assert name() == "x"


def test_the_default_name_is_used_where_there_is_no_name():
    x = tf.constant(1.0)
    with tf.name_scope(None, "default", [x]) as scope:
        assert scope == "default/"
    with tf.name_scope("given", "default", [x]) as scope:
        assert scope == "given/"
    assert tf.name_scope(None, "default").name == "default"


def test_values_without_any_name_are_refused():
    with pytest.raises(ValueError, match="At least one of name"), tf.name_scope(None, values=[]):
        pass


@pytest.mark.parametrize("bad", ["a b", "_a", "a/ /b", "ä"])
def test_a_name_that_no_operation_may_have_is_refused(bad):
    with pytest.raises(ValueError, match="not a valid scope name"), tf.name_scope(bad):
        pass
    assert name() == "x"


def test_an_underscore_may_begin_an_inner_name():
    with tf.name_scope("a"), tf.name_scope("_b") as scope:
        assert scope == "a/_b/"


def test_a_name_must_be_a_string():
    with pytest.raises(TypeError, match="must be a string or None, got 3"):
        tf.name_scope(3)


def test_the_graph_of_the_values_is_entered():
    with tf.Graph().as_default() as other:
        x = tf.constant(1.0)
    with tf.name_scope("a", values=[3, None, x]):
        assert tf.get_default_graph() is other
        assert name() == "a/x"
    assert tf.get_default_graph() is not other


def test_values_of_two_graphs_are_refused():
    with tf.Graph().as_default():
        x = tf.constant(1.0)
    y = tf.constant(1.0)
    with pytest.raises(ValueError, match="must be from the same graph"), tf.name_scope("a", values=[x, y]):
        pass


def test_one_object_may_be_entered_inside_itself():
    scope = tf.name_scope("a")
    with scope as outer, scope as inner:
        assert (outer, inner) == ("a/", "a/a/")
    assert name() == "x"


def test_an_error_inside_leaves_the_scope():
    with pytest.raises(KeyError), tf.name_scope("a"):
        raise KeyError("k")
    assert name() == "x"


def test_op_scope_is_name_scope_with_another_order():
    with tf.op_scope([tf.constant(1.0)], None, "default") as scope:
        assert scope == "default/"


def test_control_dependencies_order_the_run():
    v = tf.Variable(1.0)
    with tf.control_dependencies([v.assign(5.0)]):
        after = v.read_value()
    with tf.Session() as sess:
        sess.run(v.initializer)
        assert sess.run(after) == 5.0


def test_control_dependencies_take_variables_tensors_and_operations():
    v = tf.Variable(1.0)
    c = tf.constant(1.0)
    with tf.control_dependencies([v, c, v.initializer]):
        held = tf.no_op()
    assert [op.name for op in held.control_inputs] == ["Variable", "Const", "Variable/Assign"]


def test_none_lifts_control_dependencies():
    with tf.control_dependencies([tf.no_op()]), tf.control_dependencies(None):
        assert tf.no_op().control_inputs == []


def test_init_scope_lifts_dependencies_and_keeps_names():
    with tf.name_scope("a"), tf.control_dependencies([tf.no_op()]), tf.init_scope():
        inside = tf.no_op("x")
    assert (inside.name, inside.control_inputs) == ("a/x", [])
    with tf.init_scope():
        assert name() == "x"


def test_init_scope_is_outside_of_branches():
    made = []

    def branch():
        with tf.init_scope():
            made.append(tf.constant(2.0))
        return made[0] * 1.0

    tf.cond(tf.constant(True), branch, lambda: tf.constant(0.0))
    with tf.Session() as sess:
        assert sess.run(made[0]) == 2.0


def test_container_and_colocate_with_change_no_names():
    with tf.container("box"), tf.colocate_with(tf.no_op("here")):
        assert name() == "x"
