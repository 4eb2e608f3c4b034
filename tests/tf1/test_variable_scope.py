"""variable_scope: names, re-entry by object, leaving, threads. Sharing is in `test_variable_store.py`."""

import threading

import pytest

import dynrnn.tf1 as tf


def get(*args, **kwargs):
    """The name, without `:0`, of the variable that get_variable returns."""
    return tf.get_variable(*args, **kwargs).op.name


def here():
    """The name scope that is open, and the variable scope."""
    name = tf.constant(1, name="x").op.name
    return name.rpartition("/")[0], tf.get_variable_scope().name


# Names


def test_names_follow_variable_scopes_not_name_scopes():
    with tf.name_scope("n"), tf.variable_scope("a"), tf.name_scope("m"), tf.variable_scope("b"):
        assert get("w", [1]) == "a/b/w"
        assert here() == ("n/a/m/b", "a/b")


def test_a_name_may_hold_slashes():
    with tf.variable_scope("a/b"):
        assert get("c/w", [1]) == "a/b/c/w"


def test_opening_a_scope_again_opens_a_fresh_name_scope():
    with tf.variable_scope("a"):
        assert here() == ("a", "a")
    with tf.variable_scope("a") as again:
        assert here() == ("a_1", "a")
        assert again.original_name_scope == "a_1/"


def test_an_empty_name_opens_no_scope():
    with tf.variable_scope("a"), tf.variable_scope(""):
        assert here() == ("a", "a/")  # as in TensorFlow: the variable scope's name gets a slash
    with tf.variable_scope("") as scope:
        assert (scope.name, here()) == ("", ("", ""))


def test_original_name_scope_can_be_entered_again():
    with tf.variable_scope("a") as a:
        pass
    with tf.variable_scope("b"), tf.name_scope(a.original_name_scope):
        assert here() == ("a", "b")
        tf.constant(1, name="y")
    with tf.variable_scope(a) as again:
        assert again.original_name_scope == "a/"
        assert here() == ("a_1", "a")


def test_default_names_are_made_unique_and_given_names_are_not():
    names = []
    for _ in range(3):
        with tf.variable_scope(None, "d") as scope:
            names.append((scope.name, scope.original_name_scope))
    assert names == [("d", "d/"), ("d_1", "d_1/"), ("d_2", "d_2/")]
    for _ in range(2):
        with tf.variable_scope("given") as scope:
            assert scope.name == "given"


def test_default_names_see_given_names():
    with tf.variable_scope("d"), tf.variable_scope("d_1"):
        pass
    with tf.variable_scope("d_1"):
        pass
    with tf.variable_scope(None, "d") as scope:
        assert scope.name == "d_2"


def test_default_names_count_in_each_scope():
    with tf.variable_scope("a"):
        with tf.variable_scope(None, "d") as first, tf.variable_scope(None, "d") as inner:
            pass
        with tf.variable_scope(None, "d") as second:
            pass
    with tf.variable_scope("ab"), tf.variable_scope(None, "d") as other:
        pass
    assert [s.name for s in (first, inner, second, other)] == ["a/d", "a/d/d", "a/d_1", "ab/d"]


def test_default_names_begin_anew_when_the_outer_scope_is_opened_again():
    for _ in range(2):
        with tf.variable_scope("a", reuse=tf.AUTO_REUSE):
            found = []
            for _ in range(2):
                with tf.variable_scope(None, "d"):
                    found.append(get("w", [1]))
            assert found == ["a/d/w", "a/d_1/w"]
    assert len(tf.global_variables()) == 2


def test_jumping_out_of_a_scope_and_back_keeps_its_counts():
    with tf.variable_scope("elsewhere") as elsewhere:
        pass
    with tf.variable_scope("a"):
        with tf.variable_scope(None, "d"):
            pass
        with tf.variable_scope(elsewhere), tf.variable_scope(None, "d") as far:
            assert far.name == "elsewhere/d"
        with tf.variable_scope(None, "d") as scope:
            assert scope.name == "a/d_1"
        with tf.variable_scope(elsewhere), tf.variable_scope(None, "d") as far:
            assert far.name == "elsewhere/d"


def test_a_name_wins_over_a_default_name():
    with tf.variable_scope("a") as a:
        pass
    with tf.variable_scope("b", "default") as scope:
        assert scope.name == "b"
    with tf.variable_scope("b"), tf.variable_scope(a, "default") as scope:
        assert scope.name == "a"
        assert here() == ("b_1/a", "a")


def test_the_graph_of_the_values_is_entered():
    with tf.Graph().as_default() as other:
        x = tf.constant(1.0)
    with tf.variable_scope(None, "d", [x]):
        assert tf.get_variable("w", [1]).graph is other


# Re-entry by object (the names are real TensorFlow's)


def test_a_stored_scope_is_entered_wherever_it_is_opened():
    with tf.variable_scope("a") as a, tf.variable_scope("b") as b:
        pass
    with tf.variable_scope("a"):
        with tf.variable_scope(b) as again:
            assert here() == ("a_1/b", "a/b")
            assert again.original_name_scope == "a/b/"
            assert get("w", [1]) == "a/b/w"
        with tf.variable_scope(a) as again:
            assert here() == ("a_1/a", "a")
            assert again is not a


def test_a_scope_is_opened_inside_itself():
    with tf.variable_scope("a") as a, tf.variable_scope(a), tf.variable_scope("b"), tf.variable_scope(a):
        assert here() == ("a/a/b/a", "a")


def test_the_name_scope_of_a_stored_scope_is_its_last_name():
    with tf.variable_scope("r/s/t") as scope:
        assert here() == ("r/s/t", "r/s/t")
    with tf.variable_scope(scope):
        assert here() == ("t", "r/s/t")


def test_the_root_scope_can_be_stored():
    root = tf.get_variable_scope()
    with tf.variable_scope("a"), tf.variable_scope(root):
        assert here() == ("a", "")
        assert get("w", [1]) == "w"


def test_without_an_auxiliary_name_scope_names_stay_where_they_are():
    with tf.variable_scope("a") as a:
        with tf.variable_scope("b", auxiliary_name_scope=False) as b:
            assert here() == ("a", "a/b")
            assert b.original_name_scope == "a/"
            assert get("w", [1]) == "a/b/w"
        with tf.variable_scope(None, "b", auxiliary_name_scope=False) as c:
            assert c.name == "a/b_1"
    with tf.variable_scope(a, auxiliary_name_scope=False) as again:
        assert here() == ("", "a")
        assert again.original_name_scope == "a/"
    with tf.variable_scope("", auxiliary_name_scope=False) as root:
        assert (root.name, root.original_name_scope) == ("", "")


def test_one_scope_object_may_be_entered_again():
    """The name, the sharing and the original name scope stay; operations get a fresh name scope."""
    opening = tf.variable_scope(None, "d")
    for name_scope in ("d", "d_1"):
        with opening as scope:
            assert here() == (name_scope, "d")
            assert scope.original_name_scope == "d/"
    with tf.variable_scope("outer"), opening as scope:
        assert here() == ("outer/d", "outer/d")
        assert scope.original_name_scope == "d/"


def test_sharing_that_was_inherited_once_stays():
    opening = tf.variable_scope("a")
    with tf.variable_scope("b", reuse=tf.AUTO_REUSE), opening as scope:
        assert scope.reuse is tf.AUTO_REUSE
    with opening as scope:
        assert scope.reuse is tf.AUTO_REUSE


def test_a_stored_scope_that_is_opened_once_and_entered_again_is_the_same():
    with tf.variable_scope("a") as a:
        tf.get_variable("w", [1])
    opening = tf.variable_scope(a)
    with opening as first:
        first.reuse_variables()
    with opening as again:
        assert again is first
        assert again.reuse is True
    assert a.reuse is False


# Errors of scopes


@pytest.mark.parametrize(
    ("arguments", "error", "match"),
    [
        ({"name_or_scope": None}, TypeError, "If default_name is None then name_or_scope is required"),
        (
            {"name_or_scope": None, "default_name": "d", "reuse": True},
            ValueError,
            "reuse=True cannot be used without a name_or_scope",
        ),
        ({"name_or_scope": "a", "reuse": 3}, ValueError, "The reuse parameter must be True or False or None"),
        ({"name_or_scope": 5}, TypeError, "name_or_scope must be a string or VariableScope"),
        (
            {"name_or_scope": "a", "auxiliary_name_scope": 1},
            TypeError,
            "auxiliary_name_scope must be `True` or `False`",
        ),
        ({"name_or_scope": "a b"}, ValueError, "'a b' is not a valid scope name"),
    ],
)
def test_wrong_scopes(arguments, error, match):
    with pytest.raises(error, match=match), tf.variable_scope(**arguments):
        pass
    assert here() == ("", "")


def test_leaving_scopes_in_the_wrong_order_is_an_error():
    first, second = tf.variable_scope("a"), tf.variable_scope("b")
    first.__enter__()
    second.__enter__()
    with pytest.raises(RuntimeError, match="Improper nesting of variable_scope"):
        first.__exit__(None, None, None)


def test_an_error_inside_leaves_the_scope():
    with pytest.raises(KeyError), tf.variable_scope("a", reuse=True):
        raise KeyError("k")
    assert here() == ("", "")
    assert tf.get_variable_scope().reuse is False


def test_a_failed_call_takes_back_its_scopes_and_variables():
    graph = tf.get_default_graph()
    with pytest.raises(KeyError), graph.atomic(), tf.variable_scope(None, "d"):
        tf.get_variable("w", [1])
        tf.get_variable_scope().reuse_variables()
        raise KeyError("k")
    with tf.variable_scope(None, "d") as scope:
        assert scope.name == "d"
        assert get("w", [1]) == "d/w"
    assert [v.op.name for v in tf.global_variables()] == ["d/w"]


def test_the_old_order_of_arguments():
    with tf.variable_op_scope([tf.constant(1.0)], None, "d", reuse=None) as scope:
        assert scope.name == "d"


# Threads


def in_thread(function):
    result = []
    thread = threading.Thread(target=lambda: result.append(function()))
    thread.start()
    thread.join()
    return result[0]


def test_a_thread_begins_at_the_root_and_shares_the_variables():
    graph = tf.get_default_graph()

    def other():
        with graph.as_default():
            assert tf.get_variable_scope().name == ""
            with tf.variable_scope(a, reuse=True):
                found = tf.get_variable("w", [1])
            with tf.variable_scope("a"), pytest.raises(ValueError, match="already exists"):
                tf.get_variable("w", [1])
            with tf.variable_scope("theirs"):
                return found, get("v", [1])

    with tf.variable_scope("a") as a:
        w = tf.get_variable("w", [1])
        assert in_thread(other) == (w, "theirs/v")
        assert here() == ("a", "a")
