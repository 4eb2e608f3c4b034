"""tf.Variable: its nodes and names, attributes, errors, operators."""

import numpy as np
import pytest

import dynrnn.tf1 as tf
from dynrnn.graph.control_flow import Body


def op_names():
    return [op.name for op in tf.get_default_graph().get_operations()]


@pytest.fixture
def sess(fresh_graph):
    with tf.Session(graph=fresh_graph) as session:
        yield session


# Nodes and names (the lists are real TensorFlow's)


def test_nodes_of_a_variable_with_a_value():
    tf.Variable([1.0, 2.0])
    assert op_names() == ["Variable/initial_value", "Variable", "Variable/Assign", "Variable/read"]


def test_nodes_of_a_variable_with_a_function():
    tf.Variable(lambda: tf.zeros([2]), name="a")
    assert op_names()[-4:] == ["a/Initializer/zeros", "a", "a/Assign", "a/read"]


def test_names_follow_name_scopes_and_are_made_unique():
    with tf.name_scope("n"), tf.variable_scope("s"):
        names = [tf.Variable(1.0).name, tf.Variable(1.0).name, tf.Variable(1, name="w").name]
    assert names == ["n/s/Variable:0", "n/s/Variable_1:0", "n/s/w:0"]


def test_an_initial_tensor_is_used_as_it_is():
    x = tf.constant([1.0, 2.0], name="x")
    v = tf.Variable(x)
    assert v.initial_value is x


def test_attributes():
    v = tf.Variable([[1.0, 2.0]], name="v", constraint=abs)
    assert (v.name, v.op.name, v.op.type, v.initializer.name) == ("v:0", "v", "VariableV2", "v/Assign")
    assert v.shape == v.get_shape() == tf.TensorShape([1, 2])
    assert v.shape.as_list() == [1, 2]
    assert v.dtype.name == "float32_ref"
    assert v.dtype.base_dtype is tf.float32
    assert v.value().name == "v/read:0"
    assert v.value() is v.value()
    assert v.graph is tf.get_default_graph()
    assert v.trainable is True
    assert v.constraint is abs
    assert v.device == ""
    assert repr(v) == str(v) == "<tf.Variable 'v:0' shape=(1, 2) dtype=float32_ref>"


@pytest.mark.parametrize(
    ("value", "dtype"),
    [
        (1.0, tf.float32),
        (1, tf.int32),
        (True, tf.bool),
        ("a", tf.string),
        (np.float64(1), tf.float64),
        (np.zeros(2, np.int64), tf.int64),
        (2**40, tf.int64),
        (1j, tf.complex128),
    ],
)
def test_the_dtype_is_the_initial_values(value, dtype):
    assert tf.Variable(value).dtype.base_dtype is dtype


def test_a_dtype_converts_the_initial_value(sess):
    v = tf.Variable(1, dtype=tf.float16)
    sess.run(v.initializer)
    assert v.eval().dtype == np.float16
    assert tf.Variable(lambda: 3, dtype=tf.float64).dtype.base_dtype is tf.float64
    assert tf.Variable(1.0, dtype=v.dtype).dtype is v.dtype


def test_a_variable_can_be_placed():
    with tf.device("/cpu:1"):
        v = tf.Variable(1.0, caching_device="/cpu:2")
    assert (v.device, v.value().device) == ("/device:CPU:1", "/device:CPU:2")
    v = tf.Variable(1.0, caching_device=lambda op: "/job:" + op.name)
    assert v.value().device == "/job:Variable_1"


# Collections


def test_collections_of_a_variable():
    v = tf.Variable(1.0)
    w = tf.Variable(1.0, trainable=False)
    x = tf.Variable(1.0, collections=["mine"])
    y = tf.Variable(1.0, collections=[tf.GraphKeys.LOCAL_VARIABLES], trainable=False)
    z = tf.Variable(1.0, collections=(tf.GraphKeys.GLOBAL_VARIABLES, tf.GraphKeys.TRAINABLE_VARIABLES))
    assert tf.global_variables() == [v, w, z]
    assert tf.trainable_variables() == [v, x, z]
    assert tf.get_collection("mine") == [x]
    assert tf.local_variables() == [y]


def test_a_variable_read_by_all_is_not_trainable():
    v = tf.Variable(1.0, synchronization=tf.VariableSynchronization.ON_READ)
    assert v.trainable is False
    assert tf.trainable_variables() == []
    with pytest.raises(ValueError, match="trainable=True and synchronization"):
        tf.Variable(1.0, trainable=True, synchronization=tf.VariableSynchronization.ON_READ)


# Errors


@pytest.mark.parametrize(
    ("arguments", "error", "match"),
    [
        ({}, ValueError, "initial_value must be specified"),
        ({"initial_value": 1.0, "collections": "x"}, ValueError, "must be a list, tuple, or set"),
        ({"initial_value": 1.0, "constraint": 3}, ValueError, "`constraint` argument must be a callable"),
        ({"initial_value": {"a": 1}}, TypeError, "Failed to convert object of type <class 'dict'>"),
        ({"initial_value": 1.0, "dtype": "int32"}, TypeError, "Expected int32, got 1.0 of type 'float'"),
        ({"initial_value": 1.0, "expected_shape": [2]}, ValueError, "Shapes must be equal rank, but are 1 and 0"),
        ({"initial_value": 1.0, "variable_def": b""}, ValueError, "variable_def and import_scope are not supported"),
    ],
)
def test_wrong_arguments(arguments, error, match):
    with pytest.raises(error, match=match):
        tf.Variable(**arguments)
    assert op_names() == []
    assert tf.global_variables() == []
    assert tf.Variable(1.0).name == "Variable:0"


def test_an_initial_value_of_unknown_shape_is_refused():
    with pytest.raises(ValueError, match="initial_value must have a shape specified"):
        tf.Variable(tf.placeholder(tf.float32, [None, 2]))


def test_a_failing_initializer_leaves_the_graph_as_it_was():
    def broken():
        tf.constant(1.0)
        raise KeyError("broken")

    with pytest.raises(KeyError):
        tf.Variable(broken, name="v")
    assert op_names() == []
    assert tf.Variable(1.0, name="v").name == "v:0"


def test_a_variable_is_not_iterable():
    v = tf.Variable([1.0])
    with pytest.raises(TypeError, match="'Variable' object is not iterable"):
        iter(v)
    with pytest.raises(TypeError, match="no len"):
        len(v)
    assert bool(v)


def test_variables_are_keys_by_identity():
    v, w = tf.Variable(1.0), tf.Variable(1.0)
    assert {v: 1, w: 2}[w] == 2
    assert [v, w].index(w) == 1


# Control dependencies and bodies


def test_a_variable_is_made_outside_control_dependencies():
    with tf.control_dependencies([tf.no_op()]):
        v = tf.Variable(lambda: tf.constant(1.0))
    assert all(node.control_inputs == [] for node in (v.op, v.initializer, v.initial_value.op, v.value().op))


@pytest.fixture
def body(fresh_graph):
    return Body(fresh_graph)


def test_a_variable_made_in_a_body_stands_outside_of_it(body):
    with body.trace():
        v = tf.Variable(lambda: tf.constant(1.0))
        w = tf.get_variable("w", [1])
    nodes = [node for x in (v, w) for node in (x.op, x.initializer, x.initial_value.op, x.value().op)]
    assert all(node.context is None for node in nodes)


def test_a_variable_in_a_body_needs_an_initial_value_from_outside(body):
    with body.trace(), pytest.raises(ValueError, match="is from inside a control-flow construct"):
        tf.Variable(tf.constant(1.0))


def test_a_body_reads_in_every_step(body):
    v = tf.Variable(1.0)
    with body.trace():
        assert tf.convert_to_tensor(v).op.context is body
        assert v.read_value().op.context is body
    assert tf.convert_to_tensor(v) is v.value()


# Operators and indexing


def test_a_variable_computes_like_a_tensor(sess):
    v = tf.Variable([1.0, 2.0])
    results = [v + 1, 1 - v, v * v, -v, 2 / v, v**2, abs(v), v > 1.5, v[1], v[:1], np.array([1.0, 1.0], np.float32) + v]
    assert all(isinstance(result, tf.Tensor) for result in results)
    sess.run(v.initializer)
    expected = [[2, 3], [0, -1], [1, 4], [-1, -2], [2, 1], [1, 4], [1, 2], [False, True], 2, [1], [2, 3]]
    for result, value in zip(sess.run(results), expected, strict=True):
        np.testing.assert_array_equal(result, value)


def test_a_gradient_of_gathered_rows_is_sparse_after_control_dependencies_too(sess):
    v = tf.Variable([[1.0], [2.0]])
    with tf.control_dependencies([tf.no_op()]):
        rows = tf.gather(v, [1, 1])
    (grad,) = tf.gradients(rows, [v])
    assert isinstance(grad, tf.IndexedSlices)
    sess.run(v.initializer)
    assert sess.run(grad.indices).tolist() == [1, 1]
