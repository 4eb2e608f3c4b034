"""Variables: a session holds their values, assignments replace them."""

import numpy as np
import pytest
import torch
from graph.rows import ADD, IDENTITY, add, constant, placeholder, run

from dynrnn import errors
from dynrnn.graph import resources
from dynrnn.graph.dtype import float32, string
from dynrnn.graph.executor import Plan, Runtime
from dynrnn.graph.graph import Graph
from dynrnn.graph.resources import ASSIGN, ASSIGN_ADD, ASSIGN_SUB, READ, READ_NOW, add_variable


@pytest.fixture
def graph():
    return Graph()


def variable(graph, dims=(2,), name="v"):
    return add_variable(graph, float32, dims, name)


def assign(row, holder, value, validate_shape=True):
    return add(holder.graph, row, value, variable=holder.op, validate_shape=validate_shape)


def initialize(holder, runtime):
    run([assign(ASSIGN, holder, constant(holder.graph, [1.0, 2.0]))], runtime=runtime)


def test_a_variable_keeps_its_value_between_runs_of_one_runtime(graph):
    holder, here, there = variable(graph), Runtime(), Runtime()
    assert holder.dtype.is_ref and holder.dtype.base_dtype is float32
    initialize(holder, here)
    assert run([add(graph, READ, holder), holder], runtime=here)[0].tolist() == [1, 2]
    with pytest.raises(errors.FailedPreconditionError):
        run([holder], runtime=there)


def test_an_assignment_yields_the_new_value_and_replaces_the_tensor(graph):
    holder, runtime = variable(graph), Runtime()
    initialize(holder, runtime)
    before = runtime.read(holder.op)
    more, less = (assign(row, holder, constant(graph, [1.0, 1.0])) for row in (ASSIGN_ADD, ASSIGN_SUB))
    assert run([more], runtime=runtime)[0].tolist() == [2, 3]
    assert run([less], runtime=runtime)[0].tolist() == [1, 2]
    assert before.tolist() == [1, 2]


def test_a_read_now_sees_what_was_assigned_before_it(graph):
    holder, runtime = variable(graph), Runtime()
    initialize(holder, runtime)
    early = add(graph, READ, holder)
    with graph.control_dependencies([early.op]):
        more = assign(ASSIGN_ADD, holder, constant(graph, [1.0, 1.0]))
    with graph.control_dependencies([more.op]):
        late = add(graph, READ_NOW, holder)
    assert [value.tolist() for value in run([early, late], runtime=runtime)] == [[1, 2], [2, 3]]


@pytest.mark.parametrize("row", [ASSIGN, ASSIGN_ADD, ASSIGN_SUB])
def test_a_value_of_another_shape_is_refused_at_run_time(row, graph):
    holder, runtime = variable(graph), Runtime()
    initialize(holder, runtime)
    value = placeholder(graph, None)
    with pytest.raises(
        errors.InvalidArgumentError, match=r"requires shapes of both tensors to match: v has \(2,\), the value \(3,\)"
    ):
        run([assign(row, holder, value)], {value: [1.0, 2.0, 3.0]}, runtime)
    assert run([holder], runtime=runtime)[0].tolist() == [1, 2]


def test_shapes_may_change_where_nobody_minds(graph):
    holder, runtime = variable(graph, None), Runtime()
    for value in ([1.0], [[1.0, 2.0]]):
        run([assign(ASSIGN, holder, constant(graph, value), False)], runtime=runtime)
        assert run([holder], runtime=runtime)[0].tolist() == value


def test_a_variable_holds_no_part_of_a_larger_tensor(graph):
    holder, runtime = variable(graph, (3,)), Runtime()
    large = torch.arange(30000.0).reshape(3, 10000)
    value = placeholder(graph, (3,))
    Plan((value,), [assign(ASSIGN, holder, value)], runtime).run([large[:, 0]])
    kept = runtime.read(holder.op)
    assert kept.untyped_storage().nbytes() == 12 and kept.tolist() == [0, 10000, 20000]


def test_a_value_is_not_tied_to_what_it_was_assigned_from(graph):
    holder, runtime = variable(graph), Runtime()
    initialize(holder, runtime)
    other = variable(graph, name="w")
    run([assign(ASSIGN, other, add(graph, READ, holder))], runtime=runtime)
    run([assign(ASSIGN_ADD, holder, constant(graph, [5.0, 5.0]))], runtime=runtime)
    assert [value.tolist() for value in run([holder, other], runtime=runtime)] == [[6, 7], [1, 2]]


def test_gradients_never_reach_into_a_kept_value(graph):
    holder, runtime = variable(graph), Runtime()
    runtime.write(holder.op, torch.tensor([1.0, 2.0], requires_grad=True) * 2)
    assert not runtime.values[holder.op].requires_grad
    assert runtime.read(holder.op) is not runtime.read(holder.op)


def test_an_uninitialized_variable_says_what_to_run(graph):
    first, second, runtime = variable(graph), variable(graph, name="w"), Runtime()
    with pytest.raises(errors.FailedPreconditionError) as info:
        run([add(graph, IDENTITY, second)], runtime=runtime)
    assert info.value.op is second.op
    text = str(info.value)
    assert "Attempting to use uninitialized value w: run tf.global_variables_initializer()" in text
    assert "2 of this graph's 2 variables have no value" in text
    initialize(first, runtime)
    with pytest.raises(errors.FailedPreconditionError, match=r"initializer.* first .1 of this graph's 2"):
        run([second], runtime=runtime)


def test_a_variable_made_after_the_initializer_ran_says_so(graph):
    first, runtime = variable(graph), Runtime()
    initialize(first, runtime)
    late = variable(graph, name="late")
    run([assign(ASSIGN_ADD, first, constant(graph, [1.0, 1.0]))], runtime=runtime)
    with pytest.raises(
        errors.FailedPreconditionError, match=r"late: it was created after the initializer ran.*1 of this graph's 2"
    ):
        run([late], runtime=runtime)


def test_whether_a_variable_has_a_value_can_be_asked(graph):
    first, second, runtime = variable(graph), variable(graph, name="w"), Runtime()
    initialize(first, runtime)
    asked = [add(graph, resources.IS_INITIALIZED, dtype="bool", variable=holder.op) for holder in (first, second)]
    missing = add(graph, resources.UNINITIALIZED_NAMES, dtype="string", variables=(first.op, second.op))
    initial = constant(graph, [7.0, 7.0])
    either = [add(graph, resources.INITIALIZED_VALUE, initial, variable=holder.op) for holder in (first, second)]
    found = run([*asked, missing, *either], runtime=runtime)
    assert [found[0].item(), found[1].item(), found[2].tolist()] == [True, False, [b"w"]]
    assert [found[3].tolist(), found[4].tolist()] == [[1, 2], [7, 7]]


def test_variables_hold_strings_too(graph):
    holder, runtime = add_variable(graph, string, (1,), "s"), Runtime()
    runtime.write(holder.op, np.array([b"text"], object))
    assert run([add(graph, READ, holder), add(graph, READ_NOW, holder)], runtime=runtime)[1].tolist() == [b"text"]


def test_a_fed_variable_needs_no_value(graph):
    holder = variable(graph)
    total = add(graph, ADD, add(graph, READ, holder), holder)
    assert run([total], {holder: [1.0, 2.0]})[0].tolist() == [2, 4]
