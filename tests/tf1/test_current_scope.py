"""What a variable scope hands down, custom getters, and the collections of a scope."""

import numpy as np

import dynrnn.tf1 as tf


def get(*args, **kwargs):
    """The name, without `:0`, of the variable that get_variable returns."""
    return tf.get_variable(*args, **kwargs).op.name


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
        assert tf.get_variable("w", [1]).value().device == "/device:CPU:3"


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
