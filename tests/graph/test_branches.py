"""Branches: what nodes outside may use of them, and what a run computes of nodes that hold bodies."""

import pytest
import torch
from graph.rows import ADD, MUL, add, constant, differentiate, placeholder, run

from dynrnn import errors
from dynrnn.graph import rules
from dynrnn.graph.branches import Branch
from dynrnn.graph.dtype import float32
from dynrnn.graph.graph import Graph
from dynrnn.graph.op import Op
from dynrnn.graph.paths import demand, sources


def _bind(node, runtime, recorded, wanted):
    body = node.attrs["bodies"][0]
    positions = sorted(wanted)
    function = body.function(runtime, recorded, results=positions)

    def compute(taken, *captured):
        found = iter(function(*captured)) if taken else iter([None] * len(positions))
        return [next(found) if i in wanted else None for i in range(len(node.outputs))]

    return compute


def _depends(node, position, differentiable):
    found = node.attrs["bodies"][0].sources(position, differentiable)
    return [*([] if differentiable else [0]), *(1 + source for source in found)]


WHEN = Op("When", None, None, None, bind=_bind, bodies=True, depends=_depends)


@pytest.fixture
def graph():
    return Graph()


def when(graph, taken, step):
    """What `step()` returns, a list of tensors, where `taken` is not 0."""
    body = Branch(graph)
    with body.trace():
        results = step()
        body.close(results)
    node = graph.add(
        WHEN, [taken, *body.captures], {"bodies": (body,)}, dtypes=[float32] * len(results), shapes=[()] * 2
    )
    body.holder = node
    return node


def test_a_run_needs_only_what_the_needed_outputs_depend_on(graph):
    taken, x, y = placeholder(graph, ()), placeholder(graph, ()), placeholder(graph, ())
    node = when(graph, taken, lambda: [add(graph, MUL, x, x), add(graph, ADD, y, y)])
    first, second = node.outputs
    assert list(sources(first)) == [taken, x] and list(sources(second, True)) == [y]
    found = demand([first], set())
    assert found.outputs == {id(node): {0}} and found.needed(node) == [taken, x, None]
    assert run([first], {taken: 1.0, x: 3.0})[0].item() == 9
    with pytest.raises(errors.InvalidArgumentError):
        run([second], {taken: 1.0, x: 3.0})


def test_a_tensor_of_a_branch_becomes_an_output_on_first_use(graph):
    taken, x, y = placeholder(graph, ()), placeholder(graph, ()), constant(graph, 5.0)
    kept = []

    def step():
        kept.append(add(graph, ADD, add(graph, MUL, x, x), y))
        return [add(graph, MUL, x, x), x]

    node = when(graph, taken, step)
    assert y not in node.inputs
    used = add(graph, MUL, kept[0], kept[0])
    again = add(graph, ADD, kept[0], x)
    assert len(node.outputs) == 3 and y in node.inputs and y.consumers()[-1] is node
    (gradient,) = differentiate([used], [x])
    values = run([used, again, gradient], {taken: 1.0, x: 2.0})
    assert [value.item() for value in values] == [81, 11, 2 * 9 * 4]
    with pytest.raises(errors.InvalidArgumentError, match="does not have value"):
        run([used], {taken: 0.0, x: 2.0})


def test_a_node_of_a_branch_runs_for_those_that_wait_for_it(graph):
    log = []
    taken, x = placeholder(graph, ()), placeholder(graph, ())
    note = Op("Note", "->", lambda: log.append("note"), None)
    kept = []
    node = when(graph, taken, lambda: kept.append(add(graph, note)) or [add(graph, MUL, x, x), x])
    with graph.control_dependencies(kept):
        after = add(graph, Op("After", "x:T -> T", lambda x: x + 1, rules.same), x)
    run([node.outputs[0]], {taken: 1.0, x: 2.0})
    assert log == []
    for value, expected in ((0.0, []), (1.0, ["note"])):
        assert torch.equal(run([after], {taken: value, x: 2.0})[0], torch.tensor(3.0)) and log == expected
