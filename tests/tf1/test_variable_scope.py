"""variable_scope and get_variable: names, sharing, defaults, re-entry, custom getters, threads, errors."""

import threading

import numpy as np
import pytest

import dynrnn.tf1 as tf


def get(*args, **kwargs):
    """The name, without `:0`, of the variable that get_variable returns."""
    return tf.get_variable(*args, **kwargs).op.name


def here():
    """The name scope that is open, and the variable scope."""
    name = tf.constant(1, name="x").op.name
    return name.rpartition("/")[0], tf.get_variable_scope().name


# Nodes (the lists are real TensorFlow's)


def test_nodes_of_a_variable():
    with tf.variable_scope("s"):
        v = tf.get_variable("w", [2, 3])
    names = [op.name for op in tf.get_default_graph().get_operations()]
    assert names[-4:] == ["s/w/Initializer/random_uniform", "s/w", "s/w/Assign", "s/w/read"]
    assert all(name.startswith("s/w") for name in names)
    assert v.initial_value.name == "s/w/Initializer/random_uniform:0"


@pytest.mark.parametrize("dtype", ["int8", "int32", "int64", "uint8", "uint16", "bool", "string"])
def test_whole_numbers_bools_and_strings_start_at_zero(dtype):
    v = tf.get_variable("w", [2], dtype)
    names = [op.name for op in tf.get_default_graph().get_operations()]
    assert names == ["w/Initializer/zeros", "w", "w/Assign", "w/read"]
    with tf.Session() as sess:
        sess.run(v.initializer)
        assert not any(sess.run(v))


@pytest.mark.parametrize("dtype", [tf.float16, tf.float32, tf.float64])
def test_floats_start_within_the_glorot_limits(dtype):
    v = tf.get_variable("w", [50, 100], dtype)
    with tf.Session() as sess:
        sess.run(v.initializer)
        value = sess.run(v)
    assert value.dtype == dtype.as_numpy_dtype
    assert 0.19 < np.abs(value).max() <= 0.2001  # sqrt(6 / 150), and float16's rounding


def test_complex_numbers_need_an_initializer():
    with pytest.raises(ValueError, match="An initializer for variable w of .*complex64"):
        tf.get_variable("w", [2], tf.complex64)


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


# Sharing


def test_a_second_variable_of_one_name_is_refused():
    with tf.variable_scope("a"):
        tf.get_variable("w", [2])
        with pytest.raises(ValueError, match=r"Variable a/w already exists, disallowed\. Did you mean to set reuse=True "):
            tf.get_variable("w", [2])
    with (
        tf.variable_scope("a"),
        pytest.raises(ValueError, match=r"reuse=tf.AUTO_REUSE in VarScope\? Originally defined at: .*test_variable_scope"),
    ):
        tf.get_variable("w", [2])
    assert len(tf.global_variables()) == 1


def test_reuse_finds_and_never_makes():
    with tf.variable_scope("a"):
        w = tf.get_variable("w", [2])
    with tf.variable_scope("a", reuse=True):
        assert tf.get_variable("w", [2]) is w
        assert tf.get_variable("w") is w
        assert tf.get_variable("w", [None]) is w
        missing = r"Variable a/v does not exist, or was not created with tf\.get_variable\(\)\. Did you mean to set reuse=tf\.AUTO_REUSE"
        with pytest.raises(ValueError, match=missing):
            tf.get_variable("v", [2])


def test_a_variable_made_by_its_class_is_not_found():
    tf.Variable(1.0, name="w")
    with tf.variable_scope("", reuse=True), pytest.raises(ValueError, match="not created with tf.get_variable"):
        tf.get_variable("w", [])


def test_auto_reuse_makes_or_finds():
    def layer():
        with tf.variable_scope("a", reuse=tf.AUTO_REUSE):
            return tf.get_variable("w", [2])

    assert layer() is layer()
    assert len(tf.global_variables()) == 1


def test_reuse_is_inherited_and_cannot_be_taken_back():
    with tf.variable_scope("a", reuse=True) as a, tf.variable_scope("b", reuse=False) as b:
        assert b.reuse is True
    with tf.variable_scope(a, reuse=False) as again:
        assert again.reuse is True
    with tf.variable_scope(a, reuse=tf.AUTO_REUSE) as again:
        assert again.reuse is tf.AUTO_REUSE
    with tf.variable_scope("a", reuse=tf.AUTO_REUSE), tf.variable_scope("b") as b:
        assert b.reuse is tf.AUTO_REUSE
    with tf.variable_scope("a") as a:
        assert a.reuse is False


def test_reuse_variables_acts_on_the_current_scope_only():
    with tf.variable_scope("a") as a:
        tf.get_variable("w", [1])
        tf.get_variable_scope().reuse_variables()
        assert a is tf.get_variable_scope()
        assert get("w", [1]) == "a/w"
        with tf.variable_scope("b") as b:
            assert b.reuse is True
        with pytest.raises(ValueError, match="does not exist"):
            tf.get_variable("v", [1])
    assert tf.get_variable_scope().reuse is False
    with tf.variable_scope(a):
        assert get("w", [1]) == "a/w"


@pytest.mark.parametrize(
    ("shape", "dtype", "match"),
    [
        ([3], None, r"Trying to share variable w, but specified shape \(3,\) and found shape \(2,\)\."),
        ([2, 1], None, r"Trying to share variable w, but specified shape \(2, 1\) and found shape \(2,\)\."),
        ([2], tf.int32, "Trying to share variable w, but specified dtype int32 and found dtype float32_ref"),
    ],
)
def test_a_shared_variable_must_fit(shape, dtype, match):
    tf.get_variable("w", [2])
    with tf.variable_scope(tf.get_variable_scope(), reuse=True), pytest.raises(ValueError, match=match):
        tf.get_variable("w", shape, dtype)


# Initial values


@pytest.mark.parametrize(
    ("value", "dtype", "found"),
    [
        (3.0, None, tf.float32),
        (4, tf.int32, tf.int32),
        ([1, 2], None, tf.int32),
        (np.ones([2]), None, tf.float64),
        (np.array([1, 2]), tf.int64, tf.int64),
        (True, None, tf.bool),
    ],
)
def test_a_value_gives_shape_and_dtype(value, dtype, found):
    v = tf.get_variable("w", dtype=dtype, initializer=value)
    assert v.dtype.base_dtype is found
    assert v.shape.as_list() == list(np.shape(value))
    assert v.initial_value.name == "w/initial_value:0"
    with tf.Session() as sess:
        sess.run(v.initializer)
        np.testing.assert_array_equal(sess.run(v), value)


def test_a_tensor_gives_shape_and_dtype():
    value = tf.constant([[1, 2]], tf.int64)
    v = tf.get_variable("w", initializer=value)
    assert v.initial_value is value
    with tf.variable_scope("", reuse=True):
        assert tf.get_variable("w", dtype=tf.int64) is v


@pytest.mark.parametrize(
    ("arguments", "error", "match"),
    [
        ({"initializer": {"a": 1}}, TypeError, "Failed to convert object of type <class 'dict'>"),
        ({"shape": [2], "initializer": [1.0, 2.0]}, ValueError, "If initializer is a constant, do not specify shape"),
        ({"dtype": tf.float64, "initializer": 3.0}, ValueError, "Initializer type .*float32.* and explicit dtype .*float64.* don't match"),
        ({}, ValueError, "Variable w did not get an initializer, so its `shape` argument must be specified"),
        ({"shape": [None, 3]}, ValueError, r"Shape of a new variable \(w\) must be fully defined, but instead was \(\?, 3\)"),
        ({"initializer": lambda shape, dtype: 1.0}, ValueError, "should be a callable with no arguments and the shape"),
        ({"shape": [3], "initializer": lambda shape, dtype: tf.zeros([2])}, ValueError, "Dimension 0 in both shapes must be equal"),
        ({"shape": [2], "custom_getter": 3}, ValueError, "Passed a custom_getter which is not callable: 3"),
        ({"shape": [2], "trainable": True, "synchronization": tf.VariableSynchronization.ON_READ}, ValueError, "non-trainable"),
    ],
)
def test_wrong_arguments(arguments, error, match):
    count = len(tf.get_default_graph().get_operations())
    with pytest.raises(error, match=match):
        tf.get_variable("w", **arguments)
    assert len(tf.get_default_graph().get_operations()) == count
    assert tf.global_variables() == []
    assert get("w", [1]) == "w"


@pytest.mark.parametrize(
    "initializer",
    [
        tf.ones_initializer,
        tf.ones_initializer(),
        lambda shape, dtype: tf.ones(shape, dtype),
        lambda shape, dtype, partition_info: tf.ones(shape, dtype),
        lambda shape, **options: tf.ones(shape, **options),
    ],
)
def test_initializers_are_given_shape_and_dtype(initializer):
    v = tf.get_variable("w", [2, 3], tf.float64, initializer)
    with tf.Session() as sess:
        sess.run(v.initializer)
        np.testing.assert_array_equal(sess.run(v), np.ones([2, 3]))


@pytest.mark.parametrize("function", [lambda: tf.ones([2]), lambda value=1.0: [value, value]])
def test_a_function_without_arguments_gives_shape_and_dtype(function):
    v = tf.get_variable("w", initializer=function)
    assert v.shape.as_list() == [2]
    assert v.dtype.base_dtype is tf.float32


def test_the_initial_value_is_made_outside_control_dependencies():
    with tf.control_dependencies([tf.no_op()]):
        v = tf.get_variable("w", [2])
    assert v.initializer.control_inputs == v.initial_value.op.control_inputs == []


# What scopes hand down


def test_a_scopes_initializer_holds_inside_and_on_re_entry():
    def initial(*args, **kwargs):
        with tf.Session() as sess:
            v = tf.get_variable(*args, **kwargs)
            sess.run(v.initializer)
            return sess.run(v)[0]

    with tf.variable_scope("a", initializer=tf.constant_initializer(0.3)) as a:
        assert initial("w", [1]) == np.float32(0.3)
        assert initial("own", [1], initializer=tf.constant_initializer(2.0)) == 2.0
        with tf.variable_scope("b"):
            assert initial("w", [1]) == np.float32(0.3)
        with tf.variable_scope("c", initializer=tf.constant_initializer(0.5)):
            assert initial("w", [1]) == 0.5
        tf.get_variable_scope().set_initializer(tf.constant_initializer(4.0))
        assert initial("later", [1]) == 4.0
    with tf.variable_scope(a):
        assert initial("again", [1]) == 4.0
    with tf.variable_scope(a, initializer=tf.constant_initializer(7.0)):
        assert initial("new", [1]) == 7.0


def test_a_scopes_dtype_is_the_default_also_on_re_entry():
    with tf.variable_scope("a", dtype=tf.float16) as a:
        assert tf.get_variable("w", [1]).dtype.base_dtype is tf.float16
        assert tf.get_variable("own", [1], tf.float64).dtype.base_dtype is tf.float64
        assert tf.get_variable("value", initializer=1.0).dtype.base_dtype is tf.float32
    with tf.variable_scope(a), tf.variable_scope("b") as b:
        assert b.dtype is tf.float16
        b.set_dtype(tf.float64)
        assert tf.get_variable("w", [1]).dtype.base_dtype is tf.float64
    assert tf.get_variable_scope().dtype is tf.float32


def test_a_variables_own_dtype_may_be_passed():
    v = tf.get_variable("v", [1], tf.float64)
    assert tf.get_variable("w", [1], v.dtype).dtype is v.dtype


def test_a_scopes_constraint_is_on_its_variables():
    with tf.variable_scope("a", constraint=tf.abs):
        assert tf.get_variable("w", [1]).constraint is tf.abs
        assert tf.get_variable("v", [1], constraint=tf.negative).constraint is tf.negative


def test_a_regularizer_adds_one_loss_for_each_new_variable():
    with tf.variable_scope("a", regularizer=tf.reduce_sum, reuse=tf.AUTO_REUSE) as a:
        tf.get_variable("w", [2])
        tf.get_variable("w", [2])
        tf.get_variable("v", [2], regularizer=tf.no_regularizer)
    losses = tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES)
    assert [loss.name for loss in losses] == ["a/w/Regularizer/Sum:0"]
    a.set_regularizer(tf.no_regularizer)
    with tf.variable_scope(a):
        tf.get_variable("u", [2])
    assert tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES) == losses


def test_a_scopes_caching_device_is_on_its_reads():
    with tf.variable_scope("a", caching_device="/cpu:3"):
        assert tf.get_variable("w", [1]).value().device == "/cpu:3"


# Custom getters


def test_a_custom_getter_is_called_once_a_variable_with_everything():
    seen = []

    def getter(getter, name, *args, **kwargs):
        seen.append((name, args, kwargs["shape"], kwargs["reuse"], kwargs["trainable"]))
        return getter(name, *args, **kwargs)

    with tf.variable_scope("a", custom_getter=getter) as a:
        w = tf.get_variable("w", [2])
    with tf.variable_scope(a, reuse=True), tf.variable_scope("b"), tf.variable_scope(a, reuse=True):
        assert tf.get_variable("w", [2]) is w
    assert seen == [("a/w", (), [2], False, True), ("a/w", (), [2], True, True)]


def test_a_custom_getter_may_make_variables_not_trainable():
    def frozen(getter, *args, **kwargs):
        return getter(*args, **{**kwargs, "trainable": False})

    with tf.variable_scope("a", custom_getter=frozen):
        v = tf.get_variable("w", [2])
    assert v.trainable is False
    assert tf.trainable_variables() == []
    assert tf.global_variables() == [v]


def test_a_custom_getter_may_return_a_tensor():
    def pair(getter, name, **kwargs):
        return tf.add(getter(name + "/0", **kwargs), getter(name + "/1", **kwargs), name="sum")

    with tf.variable_scope("a", custom_getter=pair):
        total = tf.get_variable("w", [2])
    assert isinstance(total, tf.Tensor)
    assert total.name == "sum:0"  # get_variable is at the root of the name scopes
    assert [v.op.name for v in tf.global_variables()] == ["a/w/0", "a/w/1"]


def test_custom_getters_nest_the_inner_one_first():
    def named(suffix):
        return lambda getter, name, *args, **kwargs: getter(name + suffix, *args, **kwargs)

    with (
        tf.variable_scope("a", custom_getter=named("1")),
        tf.variable_scope("b", custom_getter=named("2")),
        tf.variable_scope("c", custom_getter=named("3")),
    ):
        assert get("w", [1]) == "a/b/c/w321"
        assert get("v", [1], custom_getter=named("4")) == "a/b/c/v4"  # it stands in for the scope's


def test_a_getter_sees_the_constraint_only_if_it_takes_it():
    def narrow(getter, name, shape, dtype, initializer, regularizer, reuse, trainable, collections, caching_device,
               partitioner, validate_shape, use_resource, synchronization, aggregation):  # fmt: skip
        return getter(name, shape, dtype)

    assert get("w", [1], custom_getter=narrow, constraint=tf.abs) == "w"


# Collections of a scope


def test_collections_are_filtered_by_the_scopes_name():
    with tf.variable_scope("foo") as foo:
        w = tf.get_variable("w", [1])
        local = tf.get_local_variable("local", [1])
        frozen = tf.get_variable("frozen", [1], trainable=False)
        with tf.variable_scope("in"):
            inner = tf.get_variable("w", [1])
    with tf.variable_scope("foo_"):
        other = tf.get_variable("w", [1])
    assert foo.trainable_variables() == [w, inner]
    assert foo.global_variables() == [w, frozen, inner]
    assert foo.local_variables() == [local]
    assert foo.get_collection(tf.GraphKeys.TRAINABLE_VARIABLES) == [w, inner]
    assert tf.get_variable_scope().trainable_variables() == [w, inner, other]


def test_a_local_variable_is_not_trainable_and_joins_the_given_collections():
    v = tf.get_local_variable("w", [1], collections=["mine"])
    assert v.trainable is False
    assert tf.local_variables() == tf.get_collection("mine") == [v]
    assert tf.global_variables() == tf.trainable_variables() == []


# Errors of scopes


@pytest.mark.parametrize(
    ("arguments", "error", "match"),
    [
        ({"name_or_scope": None}, TypeError, "If default_name is None then name_or_scope is required"),
        ({"name_or_scope": None, "default_name": "d", "reuse": True}, ValueError, "reuse=True cannot be used without a name_or_scope"),
        ({"name_or_scope": "a", "reuse": 3}, ValueError, "The reuse parameter must be True or False or None"),
        ({"name_or_scope": 5}, TypeError, "name_or_scope must be a string or VariableScope"),
        ({"name_or_scope": "a", "auxiliary_name_scope": 1}, TypeError, "auxiliary_name_scope must be `True` or `False`"),
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
