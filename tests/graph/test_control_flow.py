"""Bodies: traced parts of a graph, what they capture, and gradients in, through and around them."""

import pytest
import torch
from graph.rows import ADD, MUL, NOTHING, TANH, add, constant, differentiate, placeholder, repeat, run

from dynrnn import errors
from dynrnn.graph import rules
from dynrnn.graph.control_flow import Body
from dynrnn.graph.dtype import float32
from dynrnn.graph.executor import Runtime
from dynrnn.graph.graph import Graph
from dynrnn.graph.op import Op


@pytest.fixture
def graph():
    return Graph()


def values(fetches, feeds=()):
    return [value.tolist() for value in run(fetches, feeds)]


def test_a_body_is_a_function_of_its_params_and_captures(graph):
    outer = constant(graph, 10.0)
    body = Body(graph)
    with body.trace():
        x = body.param(float32, (2,), "x")
        total = add(graph, ADD, x, outer)
        add(graph, TANH, x)  # not among the results
    body.close([total, x, outer])
    assert body.params == [x] and body.captures == [outer] and body.nodes == [x.op, total.op]
    assert total.op.context is body and outer.op.context is None
    found = body.function(Runtime())(torch.tensor([1.0, 2.0]), torch.tensor(5.0))
    assert [value.tolist() for value in found] == [[6, 7], [1, 2], 5]


def test_a_node_with_a_body_runs_it(graph):
    x, step = placeholder(graph, ()), constant(graph, 2.0)
    result = repeat(graph, x, lambda value: add(graph, MUL, value, step), 5)
    assert values([result], {x: 1.0}) == [32]
    assert values([result], {x: 1.0, step: 3.0}) == [243]


def test_bodies_nest_and_capture_through_each_other(graph):
    x, far = constant(graph, 1.0), constant(graph, 2.0)

    def inner(value):
        return repeat(graph, value, lambda v: add(graph, ADD, add(graph, MUL, v, far), value), 2)

    result = repeat(graph, x, inner, 2)
    once = lambda start: (start * 2 + start) * 2 + start  # noqa: E731
    assert values([result]) == [once(once(1.0))]
    assert result.op.inputs == (x, far)


def test_what_a_body_depends_on_runs_before_its_node(graph):
    log = []
    note = Op("Note", "->", lambda: log.append("note"), None)
    outer = add(graph, note)

    def step(value):
        with graph.control_dependencies([outer]):
            return add(graph, Op("Step", "x:T -> T", lambda x: log.append("step") or x + 1, rules.same), value)

    nested = repeat(graph, constant(graph, 0.0), lambda value: repeat(graph, value, step, 2), 2)
    assert nested.op.control_inputs == [outer]
    assert values([nested]) == [4] and log == ["note"] + ["step"] * 4


def test_nodes_of_a_body_may_depend_on_each_other(graph):
    log = []

    def step(value):
        first = add(graph, Op("First", "->", lambda: log.append(1), None))
        with graph.control_dependencies([first]):
            return add(graph, Op("Second", "x:T -> T", lambda x: log.append(2) or x + 1, rules.same), value)

    assert values([repeat(graph, constant(graph, 0.0), step, 2)]) == [2] and log == [1, 2, 1, 2]


def test_a_failure_inside_names_the_inner_node(graph):
    def fail(x):
        raise RuntimeError("inside")

    bad = Op("Bad", "x:T -> T", fail, rules.same)
    result = repeat(graph, constant(graph, 0.0), lambda value: add(graph, bad, value, name="culprit"), 2)
    with pytest.raises(errors.InvalidArgumentError, match=r"inside \[node culprit"):
        run([result])


def test_gradients_pass_through_a_body(graph):
    x, w = constant(graph, 0.5), constant(graph, 1.5)
    result = repeat(graph, x, lambda value: add(graph, TANH, add(graph, MUL, value, w)), 3)
    grads = differentiate([result], [x, w])
    second = differentiate([grads[1]], [x])
    a, b = (torch.tensor(v, requires_grad=True) for v in (0.5, 1.5))
    value = a
    for _ in range(3):
        value = torch.tanh(value * b)
    expected = torch.autograd.grad(value, [a, b], create_graph=True)
    found = run([*grads, *second])
    for one, two in zip(found, [*expected, *torch.autograd.grad(expected[1], a)], strict=True):
        torch.testing.assert_close(one.detach(), two.detach())


def test_gradients_are_taken_inside_a_body(graph):
    x = constant(graph, 4.0)
    half = constant(graph, 0.25)

    def descend(value):  # a step of gradient descent on value ** 2
        (grad,) = differentiate([add(graph, MUL, value, value)], [value])
        return add(graph, ADD, value, add(graph, MUL, grad, add(graph, MUL, half, constant(graph, -1.0))))

    result = repeat(graph, x, descend, 3)
    assert values([result]) == [0.5]
    (outer,) = differentiate([result], [x])
    assert values([outer, result]) == [0.125, 0.5] and values([result]) == [0.5]


def test_a_gradient_inside_a_body_may_reach_outside_of_it(graph):
    x = constant(graph, 3.0)
    y = add(graph, MUL, x, x)

    def step(value):
        (grad,) = differentiate([add(graph, MUL, y, value)], [x])  # 2 x value
        return grad

    result = repeat(graph, constant(graph, 1.0), step, 3)
    assert values([result]) == [216]
    assert values([result, *differentiate([result], [x])]) == [216, 216]


def test_a_body_is_compiled_for_every_plan_and_holds_no_values(graph):
    x = placeholder(graph, ())
    result = repeat(graph, x, lambda value: add(graph, ADD, value, constant(graph, 1.0)), 100)
    assert values([result, add(graph, NOTHING)], {x: 1.0}) == [101] and values([result], {x: 2.0}) == [102]
