"""Python's operators on tensors: values, names of nodes, plain operands on either side, refusals."""

import operator

import numpy as np
import pytest

import dynrnn.tf1 as tf


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def value(tensor):
    return tf.Session().run(tensor)


@pytest.mark.parametrize(
    ("function", "expected", "name", "type"),
    [
        (lambda x: x + 1, [3, -2], "add", "AddV2"),
        (lambda x: 1 + x, [3, -2], "add", "AddV2"),
        (lambda x: x - 1, [1, -4], "sub", "Sub"),
        (lambda x: 1 - x, [-1, 4], "sub", "Sub"),
        (lambda x: 2 * x, [4, -6], "mul", "Mul"),
        (lambda x: x / 2, [1, -1.5], "truediv", "RealDiv"),
        (lambda x: 6 / x, [3, -2], "truediv", "RealDiv"),
        (lambda x: x // 2, [1, -2], "floordiv", "FloorDiv"),
        (lambda x: 7 // x, [3, -3], "floordiv", "FloorDiv"),
        (lambda x: x % 2, [0, 1], "mod", "FloorMod"),
        (lambda x: 7 % x, [1, -2], "mod", "FloorMod"),
        (lambda x: x**2, [4, 9], "pow", "Pow"),
        (lambda x: 2**x, [4, 0.125], "pow", "Pow"),
        (lambda x: -x, [-2, 3], "Neg", "Neg"),
        (abs, [2, 3], "Abs", "Abs"),
        (lambda x: x < 2, [False, True], "Less", "Less"),
        (lambda x: x <= 2, [True, True], "LessEqual", "LessEqual"),
        (lambda x: x > 2, [False, False], "Greater", "Greater"),
        (lambda x: x >= 2, [True, False], "GreaterEqual", "GreaterEqual"),
    ],
)
def test_arithmetic_and_comparisons_have_pythons_values_and_tensorflows_names(function, expected, name, type):
    result = function(tf.constant([2.0, -3.0], name="x"))
    assert (result.op.name, result.op.type) == (name, type)
    np.testing.assert_array_equal(value(result), expected)


def test_operands_of_plain_python_are_constants_in_the_operators_scope(graph):
    x = tf.constant([1.0])
    _ = x + 1
    _ = 2 * x
    assert {"add/y", "mul/x"} <= {node.name for node in graph.get_operations()}
    assert (x + 1).op.name == "add_1"


def test_arrays_on_the_left_leave_the_work_to_the_tensor():
    x = tf.constant([1.0, 2.0])
    for result in (np.ones(2) + x, np.float32(3) * x, np.array([2.0, 4.0]) / x, np.ones(2) < x):
        assert isinstance(result, tf.Tensor)
        assert result.shape.as_list() == [2]


def test_reflected_comparisons_turn_around():
    x = tf.constant([2.0, -3.0])
    result = operator.le(2, x)
    assert result.op.type == "GreaterEqual"
    assert value(result).tolist() == [True, False]


def test_matrices_multiply_on_both_sides():
    x = tf.constant([[1.0, 2.0]])
    np.testing.assert_array_equal(value(x @ [[3.0], [4.0]]), [[11.0]])
    product = np.array([[5.0]], np.float32) @ x
    assert product.op.name == "matmul_1"
    np.testing.assert_array_equal(value(product), [[5.0, 10.0]])


def test_logic_on_bools():
    x = tf.constant([True, False])
    results = [~x, x & True, x | [False, True], x ^ x, True & x]
    assert [result.op.name for result in results] == ["LogicalNot", "and", "or", "xor", "and_1"]
    assert [value(result).tolist() for result in results] == [
        [False, True],
        [True, False],
        [True, True],
        [False] * 2,
        [True, False],
    ]


def test_integers_divide_truly_into_floats():
    x = tf.constant([1, 3])
    assert (x / 2).dtype == tf.float64
    np.testing.assert_array_equal(value(x / 2), [0.5, 1.5])
    assert (tf.cast(x, tf.int8) / tf.cast(x, tf.int8)).dtype == tf.float32


def test_strings_are_joined():
    assert value(tf.constant("a") + "b") == b"ab"


def test_equality_stays_identity():
    x = tf.constant(1.0)
    assert (x == x) is True
    assert (x == tf.constant(1.0)) is False


@pytest.mark.parametrize("function", [operator.add, operator.sub, operator.mul, operator.lt])
def test_tensors_of_different_types_are_refused(function):
    with pytest.raises(TypeError, match=r"int32 that does not match type float32 of argument 'x'"):
        function(tf.constant(1.0), tf.constant(1))


def test_a_failed_operator_leaves_the_graph_as_it_was(graph):
    x = tf.placeholder(tf.int32, [3], name="x")
    before = [node.name for node in graph.get_operations()]
    for other in (1.5, np.ones(4, np.int32), None):
        with pytest.raises((TypeError, ValueError)):
            x + other
    assert [node.name for node in graph.get_operations()] == before
    assert (x + 1).op.name == "add"


def test_bools_are_not_numbers():
    with pytest.raises(TypeError, match="bool not in list of allowed values"):
        tf.constant(True) + tf.constant(True)
    with pytest.raises(TypeError, match="does not match expected type of bool"):
        tf.constant(1) & tf.constant(1)


def test_an_operand_that_knows_better_gets_its_turn():
    class Scaled:
        def __rmul__(self, other):
            return "mine"

    assert tf.constant(1.0) * Scaled() == "mine"


def test_operators_work_outside_of_the_tensors_graph(graph):
    x = tf.constant([1.0, 2.0])
    with tf.Graph().as_default():
        y = 2 * x + 1
    assert y.graph is graph
    np.testing.assert_array_equal(value(y), [3.0, 5.0])
