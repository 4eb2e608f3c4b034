"""Gradients as nodes: which there are, their values, and several of them in one plan."""

import pytest
import torch
from graph.rows import (
    ADD,
    FLOOR,
    IDENTITY,
    MUL,
    SQRT,
    SUM,
    TANH,
    UNPACK,
    add,
    constant,
    differentiate,
    placeholder,
    run,
)

from dynrnn.graph.dtype import float32, int64
from dynrnn.graph.executor import Runtime
from dynrnn.graph.graph import Graph
from dynrnn.graph.op import Op
from dynrnn.graph.resources import ASSIGN, READ, READ_NOW, add_variable

GATHER = Op(
    "GatherV2",
    "params:T indices:I -> T",
    lambda x, i, axis: x.index_select(axis, i.reshape(-1)).reshape(*i.shape, *x.shape[1:]),
    lambda inputs, attrs: None,
)
CAST = Op("Cast", "x:S -> @dtype", lambda x, dtype: x.to(dtype.torch, copy=True), lambda inputs, attrs: inputs[0].dims)


@pytest.fixture
def graph():
    return Graph()


def values(fetches, feeds=(), runtime=None):
    return [value.tolist() for value in run(fetches, feeds, runtime)]


def square(x):
    return add(x.graph, MUL, x, x)


def gather(params, indices, dtype="int32"):
    graph = params.graph
    return add(graph, GATHER, params, constant(graph, indices, dtype), axis=0)


def variable(graph, value, runtime):
    """A variable with a value; returns its holder and a read of it."""
    holder = add_variable(graph, float32, torch.tensor(value).shape, "v")
    runtime.write(holder.op, torch.tensor(value))
    return holder, add(graph, READ, holder)


def test_a_gradient_has_its_x_shape_and_value(graph):
    x = placeholder(graph, (None, 2))
    (grad,) = differentiate([square(x)], [x])
    assert grad.dims == (None, 2) and grad.dtype is float32
    assert values([grad], {x: [[1.0, 2.0]]}) == [[[2, 4]]]


def test_xs_may_be_anything_on_the_way(graph):
    x = constant(graph, 3.0)
    h = square(x)
    y = square(h)
    grads = differentiate([y], [x, h, y, x])
    assert grads[0] is grads[3]
    assert values(grads) == [108, 18, 1, 108]
    assert values(grads, {h: 2.0}) == [24, 4, 1, 24]


def test_several_ys_add_up_also_the_same_one_twice(graph):
    x = constant(graph, 3.0)
    y = square(x)
    assert values(differentiate([y, y, x], [x])) == [13]


def test_ys_may_be_xs(graph):
    x = constant(graph, 3.0)
    y = square(x)
    assert values(differentiate([y], [x, y])) == [6, 1]
    assert values(differentiate([x], [x])) == [1]


def test_ys_are_weighed_by_what_is_given(graph):
    x = constant(graph, [1.0, 2.0])
    y = square(x)
    assert values(differentiate([y], [x], grad_ys=[constant(graph, [3.0, 5.0])])) == [[6, 20]]
    assert values(differentiate([y], [x], grad_ys=[constant(graph, 3.0)])) == [[6, 12]]
    weight = placeholder(graph, (2,))
    (grad,) = differentiate([y], [x], grad_ys=[weight])
    second = differentiate([grad], [x, weight])
    assert values(second, {weight: [3.0, 5.0]}) == [[6, 10], [2, 4]]


def test_what_no_y_depends_on_has_no_gradient(graph):
    x, other = constant(graph, 3.0), constant(graph, 4.0)
    whole = add(graph, CAST, x, dtype=int64)
    back = add(graph, CAST, whole, dtype=float32)
    assert differentiate([square(x)], [other]) == [None]
    assert differentiate([back], [x, whole]) == [None, None]
    assert differentiate([add(graph, FLOOR, x)], [x]) == [None]
    assert differentiate([whole], [x]) == [None] and differentiate([x], []) == []
    assert differentiate([add(graph, MUL, add(graph, FLOOR, x), x)], [x])[0] is not None


def test_a_gradient_does_not_pass_where_it_is_stopped(graph):
    a = constant(graph, 2.0)
    b = square(a)
    c = square(b)
    total = add(graph, ADD, add(graph, ADD, a, b), c)
    assert values(differentiate([total], [a, b, c])) == [1 + 4 + 32, 9, 1]
    assert values(differentiate([total], [a, b, c], stops=[b])) == [1, 9, 1]
    assert values(differentiate([total], [a, b, c], stops=[a, b, c])) == [1, 1, 1]
    assert differentiate([c], [a], stops=[b]) == [None]


def test_a_stop_holds_for_one_gradient_only(graph):
    a = constant(graph, 2.0)
    b = square(a)
    y = add(graph, MUL, b, a)
    stopped, free = differentiate([y], [a], stops=[b])[0], differentiate([y], [a])[0]
    assert values([stopped, free]) == [4, 12] and values([free, stopped]) == [12, 4]


def test_one_of_several_outputs_may_be_stopped(graph):
    x = constant(graph, [1.0, 2.0])
    first, second = add(graph, UNPACK, square(x))
    assert values(differentiate([first, second], [x], stops=[first])) == [[0, 4]]


def test_nothing_comes_through_a_stop_not_even_nan(graph):
    a = constant(graph, 0.0)
    root = add(graph, SQRT, a)
    y = add(graph, ADD, add(graph, MUL, root, root), a)
    assert values(differentiate([y], [a], stops=[root])) == [1]


def test_gradients_of_gradients(graph):
    x = constant(graph, 2.0)
    y = add(graph, MUL, square(x), x)
    (first,) = differentiate([y], [x])
    (second,) = differentiate([first], [x])
    (third,) = differentiate([second], [x])
    assert values([first, second, third]) == [12, 12, 6]
    assert values([third]) == [6] and values([first]) == [12]
    assert values([second, first], {x: 3.0}) == [18, 27]


def test_a_stopped_gradient_is_differentiated_as_the_expression_it_is(graph):
    a = constant(graph, 2.0)
    b = square(a)
    (first,) = differentiate([add(graph, MUL, square(b), a)], [a], stops=[b])  # b * b
    assert values([first, *differentiate([first], [a])]) == [16, 32]


def test_several_gradients_share_what_was_recorded(graph):
    x = constant(graph, [1.0, 2.0])
    h = add(graph, TANH, x)
    losses = [add(graph, SUM, square(h)), add(graph, SUM, h), add(graph, SUM, square(square(h)))]
    grads = [differentiate([loss], [x])[0] for loss in losses]
    t = torch.tensor([1.0, 2.0], dtype=torch.float64).tanh()
    expected = [2 * t * (1 - t**2), 1 - t**2, 4 * t**3 * (1 - t**2)]
    for found, value in zip(run(grads), expected, strict=True):
        torch.testing.assert_close(found, value.float())


def test_every_entry_is_a_tensor_of_its_own(graph):
    a, b = constant(graph, 1.0), constant(graph, 2.0)
    grads = differentiate([add(graph, ADD, a, b)], [a, b])
    weight = constant(graph, 5.0)
    found = run([*grads, *differentiate([add(graph, ADD, a, b)], [a, b], grad_ys=[weight]), weight])
    assert len({id(value) for value in found}) == 5
    second = differentiate([square(grads[0]), grads[1]], [grads[0], grads[1]])
    assert values(second) == [2, 1]


def test_a_fed_tensor_on_the_way_lets_the_gradient_pass(graph):
    x = constant(graph, 3.0)
    h = square(x)
    y = square(h)
    (grad,) = differentiate([y], [x])
    assert values([grad, y], {h: 5.0}) == [60, 25]
    assert values([grad, y], {y: 7.0}) == [108, 7]
    both = differentiate([y], [x, h])
    assert values([*both, h], {h: 5.0}) == [60, 10, 5]


def test_a_fed_tensor_beside_the_way_needs_nothing(graph):
    x, unfed = constant(graph, 3.0), placeholder(graph, ())
    beside = square(unfed)
    (grad,) = differentiate([add(graph, MUL, square(x), beside)], [x])
    assert values([grad], {beside: 2.0}) == [12]


def test_a_variable_has_the_gradients_of_all_its_reads(graph):
    runtime = Runtime()
    holder, read = variable(graph, 3.0, runtime)
    now = add(graph, READ_NOW, holder)
    (grad,) = differentiate([add(graph, MUL, add(graph, MUL, read, now), holder)], [holder])
    assert values([grad], runtime=runtime) == [27]
    (grad,) = differentiate([square(read)], [holder])
    assert values([grad, holder], {holder: 2.0}, runtime) == [4, 2]


def test_a_read_after_an_assignment_counts_with_its_own_value(graph):
    runtime = Runtime()
    holder, _ = variable(graph, 3.0, runtime)
    attrs = {"variable": holder.op, "validate_shape": True}
    assign = add(graph, ASSIGN, constant(graph, 5.0), **attrs)
    with graph.control_dependencies([assign.op]):
        now = add(graph, READ_NOW, holder)
    (grad,) = differentiate([square(now)], [holder])
    assert values([grad], runtime=runtime) == [10]


@pytest.mark.parametrize("indices", [[0, 2, 0], [], [[1], [2]], 1])
def test_what_is_only_gathered_from_has_slices(indices, graph):
    x = constant(graph, [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    ((rows, places),) = differentiate([square(gather(x, indices))], [x])
    found, where = run([rows, places])
    flat = torch.tensor(indices).reshape(-1).tolist()
    assert where.tolist() == flat and found.tolist() == [[[2, 4], [6, 8], [10, 12]][i] for i in flat]
    assert rows.dims == (len(flat), 2) and places.dims == (len(flat),)


def test_slices_of_several_gathers_are_laid_end_to_end(graph):
    x = constant(graph, [[1.0], [2.0], [3.0]])
    copy = add(graph, IDENTITY, x)
    y = [gather(x, [0, 2]), square(gather(copy, [1], "int64"))]
    ((rows, places),) = differentiate(y, [x])
    assert places.dtype is int64
    found, where = run([rows, places])
    assert (found.tolist(), where.tolist(), where.dtype) == ([[1], [1], [4]], [0, 2, 1], torch.int64)


def test_what_is_used_otherwise_too_has_a_dense_gradient(graph):
    x = constant(graph, [[1.0], [2.0]])
    rows = gather(x, [0, 0])
    for y in ([rows, x], [rows, square(x)]):
        (grad,) = differentiate(y, [x])
        assert not isinstance(grad, tuple)
    assert values([grad]) == [[[4], [4]]]
    (upstream,) = differentiate([gather(square(x), [1, 1])], [x])
    assert values([upstream]) == [[[0], [8]]]


def test_uses_that_no_gradient_passes_do_not_make_it_dense(graph):
    x = constant(graph, [[1.0], [2.0]])
    rows = gather(x, [0])
    stopped = add(graph, IDENTITY, x)
    y = [rows, add(graph, SUM, add(graph, FLOOR, x)), square(stopped)]
    ((found, places),) = differentiate(y, [x], stops=[stopped])
    assert values([found, places]) == [[[1]], [0]]


def test_slices_can_be_differentiated(graph):
    x = constant(graph, [[1.0], [2.0]])
    rows = gather(x, [1])
    ((first, _),) = differentiate([add(graph, MUL, square(rows), rows)], [x])
    ((second, places),) = differentiate([first], [x])
    assert values([first, second, places]) == [[[12]], [[12]], [1]]
