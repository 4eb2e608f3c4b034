"""Plans: what is run, in which order, what is kept, and what a failure says."""

import gc
import threading
import weakref

import pytest
import torch
from graph.rows import ADD, IDENTITY, MATMUL, MUL, NOTHING, TANH, UNPACK, add, constant, placeholder, run

from dynrnn import errors
from dynrnn.graph import executor, rules
from dynrnn.graph.executor import Plan, Runtime, in_place_of
from dynrnn.graph.graph import Graph
from dynrnn.graph.op import Op


@pytest.fixture
def graph():
    return Graph()


def spy(log, name="Spy", result=lambda x: x + 1):
    """A row that notes in `log` what is alive when it runs: its own results are noted by weak references."""

    def compute(*values):
        log.append((name, [ref() is not None for ref in made]))
        value = result(*values)
        made.append(weakref.ref(value))
        return value

    made = []
    return Op(name, "*x:T -> T", compute, rules.same)


def test_a_plan_computes_what_is_fetched_from_what_is_fed(graph):
    x, y = placeholder(graph, (2,)), constant(graph, [1.0, 2.0])
    total = add(graph, ADD, x, y)
    found = run([total, add(graph, MUL, total, y), x], {x: [3.0, 4.0]})
    assert [value.tolist() for value in found] == [[4, 6], [4, 12], [3, 4]]
    assert run([]) == ()


def test_only_what_is_needed_runs(graph):
    log = []
    x = constant(graph, 1.0)
    one, other = add(graph, spy(log, "One"), x), add(graph, spy(log, "Other"), x)
    assert run([one])[0].item() == 2 and [name for name, _ in log] == ["One"]
    assert other.op in x.consumers()


def test_a_fed_tensors_own_node_does_not_run(graph):
    log = []
    y = add(graph, spy(log), placeholder(graph))
    assert run([add(graph, TANH, y), y], {y: 0.0})[1].item() == 0 and log == []


def test_one_of_several_outputs_may_be_fed(graph):
    first, second = add(graph, UNPACK, constant(graph, [1.0, 2.0]))
    assert [v.item() for v in run([first, second], {first: 5.0})] == [5, 2]


def test_each_node_runs_once_and_after_its_control_inputs(graph):
    log = []
    x = constant(graph, 1.0)
    a = add(graph, spy(log, "A"), x)
    with graph.control_dependencies([a.op]):
        b = add(graph, spy(log, "B"), x)
        nothing = add(graph, NOTHING)
    with graph.control_dependencies([nothing, b.op]):
        c = add(graph, spy(log, "C"), x)
    run([c, add(graph, ADD, a, b), c.op, nothing])
    assert sorted(name for name, _ in log) == ["A", "B", "C"]
    order = [name for name, _ in log]
    assert order.index("A") < order.index("B") < order.index("C")


def test_targets_run_without_giving_values(graph):
    log = []
    node = add(graph, spy(log), constant(graph, 1.0)).op
    assert run([node]) == () and len(log) == 1


def test_values_are_dropped_after_their_last_use(graph):
    log = []
    row = spy(log)
    value = constant(graph, 1.0)
    for _ in range(4):
        value = add(graph, row, value)
    run([value])
    assert [alive for _, alive in log] == [[], [True], [False, True], [False, False, True]]


def test_outputs_that_nobody_wants_are_dropped_at_once(graph):
    log = []
    made = []

    def pair(x):
        made.append(weakref.ref(unwanted := x * 2))
        return x * 3, unwanted

    two = Op("Pair", "x:T -> T T", pair, lambda inputs, attrs: [None, None])
    first, _ = add(graph, two, constant(graph, 1.0))
    last = add(graph, Op("Look", "x:T -> T", lambda x: log.append(made[0]()) or x + 0, rules.same), first)
    run([last, add(graph, two, constant(graph, 1.0))[0].op])
    assert log == [None]


def test_nothing_is_left_after_a_run(graph):
    made = []

    def remember(x):
        made.append(weakref.ref(value := x + 1))
        return value

    plan = Plan((), [add(graph, Op("R", "x:T -> T", remember, rules.same), constant(graph, [1.0]))], Runtime())
    gc.disable()
    try:
        for _ in range(100):
            plan.run(())
        assert all(ref() is None for ref in made)
    finally:
        gc.enable()


def test_a_plan_leaves_with_its_last_reference(graph):
    lines = len(executor._lines)
    plan = Plan((), [add(graph, TANH, constant(graph, 1.0))], Runtime())
    plan.run(())
    assert len(executor._lines) == lines + 1
    gc.disable()
    try:
        del plan
        assert len(executor._lines) == lines
    finally:
        gc.enable()


def test_a_chain_of_thousands_of_nodes_runs(graph):
    x = value = placeholder(graph, ())
    one = constant(graph, 1.0)
    for _ in range(5000):
        value = add(graph, ADD, value, one)
    assert run([value], {x: 1.0})[0].item() == 5001


def test_identity_costs_nothing_and_changes_nothing(graph):
    x = placeholder(graph, ())
    assert run([add(graph, IDENTITY, add(graph, IDENTITY, x))], {x: 2.0})[0].item() == 2


@pytest.mark.parametrize("kind", [RuntimeError, IndexError, ValueError])
def test_a_failure_names_the_node_and_its_inputs(kind, graph):
    def fail(x):
        raise kind("too bad")

    x = placeholder(graph, (2, None), name="x")
    bad = add(graph, Op("Bad", "x:T -> T", fail, rules.same), add(graph, TANH, x), name="bad")
    with pytest.raises(
        errors.InvalidArgumentError, match=r"Bad failed: too bad \[node bad, inputs: Tanh:0 \[2, \?\] float32\]"
    ) as info:
        run([add(graph, TANH, bad)], {x: [[1.0], [2.0]]})
    assert info.value.op is bad.op and isinstance(info.value.__cause__, kind)


def test_torchs_own_errors_become_tensorflows(graph):
    a, b = placeholder(graph, (None, None)), placeholder(graph, (None, None))
    with pytest.raises(errors.InvalidArgumentError, match="MatMul failed: mat1 and mat2 shapes cannot be multiplied"):
        run([add(graph, MATMUL, a, b)], {a: [[1.0, 2.0]], b: [[1.0]]})


def test_an_exhausted_memory_is_told_apart(graph):
    def fail(x):
        raise torch.OutOfMemoryError("no more")

    with pytest.raises(errors.ResourceExhaustedError, match="no more"):
        run([add(graph, Op("Big", "x:T -> T", fail, rules.same), constant(graph, 1.0))])


def test_an_error_without_a_node_gets_the_failing_one(graph):
    def fail(x):
        raise errors.OutOfRangeError(None, None, "the end")

    end = add(graph, Op("End", "x:T -> T", fail, rules.same), constant(graph, 1.0))
    with pytest.raises(errors.OutOfRangeError, match="the end") as info:
        run([end])
    assert info.value.op is end.op


@pytest.mark.parametrize("kind", [ValueError, RuntimeError, KeyError, KeyboardInterrupt])
def test_what_the_programs_own_functions_raise_passes(kind, graph):
    def fail(x):
        raise kind("mine")

    with pytest.raises(kind, match="mine"):
        run([add(graph, Op("PyFunc", "x:T -> T", fail, rules.same, foreign=True), constant(graph, 1.0))])


def test_mistakes_in_a_row_are_not_dressed_up(graph):
    def fail(x):
        raise TypeError("a bug")

    with pytest.raises(TypeError, match="a bug"):
        run([add(graph, Op("Bug", "x:T -> T", fail, rules.same), constant(graph, 1.0))])


def test_a_long_list_of_inputs_is_cut_short(graph):
    def fail(*values):
        raise ValueError("no")

    many = [constant(graph, 1.0) for _ in range(20)]
    with pytest.raises(errors.InvalidArgumentError, match="and 12 more"):
        run([add(graph, Op("Many", "*x:T -> T", fail, rules.same), *many)])


def test_a_plan_can_run_again_after_a_failure_or_an_interrupt(graph):
    raised = [KeyboardInterrupt(), RuntimeError("once")]

    def sometimes(x):
        if raised:
            raise raised.pop()
        return x + 1

    plan = Plan((), [add(graph, Op("Some", "x:T -> T", sometimes, rules.same), constant(graph, 1.0))], Runtime())
    with pytest.raises(errors.InvalidArgumentError):
        plan.run(())
    with pytest.raises(KeyboardInterrupt):
        plan.run(())
    assert plan.run(())[0].item() == 2


def test_threads_share_a_plan(graph):
    x = placeholder(graph, ())
    value = x
    for _ in range(50):
        value = add(graph, ADD, value, constant(graph, 1.0))
    plan = Plan((x,), [value], Runtime())
    found = [[] for _ in range(4)]

    def work(number):
        for i in range(100):
            found[number].append(plan.run([torch.tensor(float(i + number))])[0].item())

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [[i + number + 50.0 for i in range(100)] for number in range(4)]


def test_a_value_in_the_place_of_another_sends_its_gradient_there():
    place = torch.tensor([1.0, 2.0], requires_grad=True)
    value = in_place_of(torch.tensor([5.0, 6.0]), place)
    (value * value).sum().backward()
    assert value.tolist() == [5, 6] and place.grad.tolist() == [10, 12]
    plain = torch.tensor([1.0])
    assert in_place_of(plain, torch.tensor([2.0])) is plain


def test_a_runtimes_generator_is_its_own():
    first, second = Runtime(), Runtime()
    assert first.generator is first.generator
    assert torch.rand(4, generator=first.generator).tolist() != torch.rand(4, generator=second.generator).tolist()
