"""Which nodes depend on which, and which of them gradients pass."""

import pytest
from graph.rows import FLOOR, MUL, add, constant, differentiate

from dynrnn.graph.graph import Graph
from dynrnn.graph.paths import differentiated, order, reached


@pytest.fixture
def graph():
    return Graph()


def square(x):
    return add(x.graph, MUL, x, x)


def test_gradients_pass_what_is_differentiable(graph):
    x = constant(graph, 1.0)
    y = square(x)
    z = add(graph, FLOOR, y)
    assert reached([z]) == {id(z): z} and reached([y]) == {id(y): y, id(x): x}
    assert reached([y], [y]) == {id(y): y}
    assert reached([constant(graph, 1, "int32")]) == {}


def test_a_node_comes_after_what_it_needs(graph):
    x = constant(graph, 1.0)
    y = square(x)
    with graph.control_dependencies([constant(graph, 2.0).op]):
        z = add(graph, FLOOR, y)
    nodes = order([z.op, y.op], set())
    assert [node.type for node in nodes] == ["Const", "Const", "Mul", "Floor"] and nodes[1:] == [x.op, y.op, z.op]
    assert order([z.op], {id(y)}) == [nodes[0], z.op]


def test_what_gradients_are_taken_through_is_known(graph):
    x = constant(graph, 1.0)
    y = square(x)
    (first,) = differentiate([y], [x])
    assert differentiated(order([first.op, square(y).op], set())) == {id(x.op), id(y.op)}
    (second,) = differentiate([first], [x])
    assert id(first.op) in differentiated(order([second.op], set()))
