"""Graphs: nodes, names, scopes, dependencies, and failed calls that leave no trace."""

import threading

import pytest
from graph.rows import ADD, NOTHING, TANH, add, constant, placeholder

from dynrnn.graph.control_flow import Body
from dynrnn.graph.dtype import float32
from dynrnn.graph.graph import Graph


@pytest.fixture
def graph():
    return Graph()


def names(graph):
    return [node.name for node in graph.nodes]


def test_a_node_knows_its_inputs_outputs_and_place(graph):
    x = placeholder(graph, (2, None), name="x")
    y = add(graph, TANH, x, name="y")
    assert (y.name, y.op.type, y.op.inputs, y.op.values()) == ("y:0", "Tanh", (x,), (y,))
    assert y.dtype is float32 and y.shape.as_list() == [2, None] and y.graph is graph
    assert x.consumers() == [y.op] and [x.op.index, y.op.index] == [0, 1]
    assert y.op.name == "y" and graph.version == 2


def test_an_attribute_that_is_not_there_is_a_value_error(graph):
    node = add(graph, TANH, placeholder(graph), axis=3).op
    assert node.get_attr("axis") == 3
    with pytest.raises(ValueError, match="no attribute named 'dtype'"):
        node.get_attr("dtype")


def test_names_are_made_unique_as_in_tensorflow(graph):
    wanted = ["a", "a_1", "a", "A", "a_1", "a", "b_1", "b", "b"]
    found = [placeholder(graph, name=name).op.name for name in wanted]
    assert found == ["a", "a_1", "a_2", "A_3", "a_1_1", "a_4", "b_1", "b", "b_2"]


def test_name_scopes_nest_and_are_made_unique(graph):
    found = []
    for scope in ("a", "a", "a/", None, ""):
        with graph.name_scope(scope) as prefix:
            found.append((prefix, placeholder(graph, name="x").op.name))
    assert found == [("a/", "a/x"), ("a_1/", "a_1/x"), ("a/", "a/x_1"), ("", "x"), ("", "x_1")]
    with graph.name_scope("b"), graph.name_scope("_c") as prefix:
        assert prefix == "b/_c/" and graph.current_name_scope() == "b/_c"
    assert graph.current_name_scope() == ""


def test_a_name_with_a_slash_is_taken_as_it_is_once(graph):
    with graph.name_scope("a") as scope:
        assert placeholder(graph, name=scope).op.name == "a"
        with pytest.raises(ValueError, match="Duplicate node name in graph: 'a'"):
            placeholder(graph, name=scope)
    assert names(graph) == ["a"]


@pytest.mark.parametrize("name", ["a b", "_a", "-", "a:0", "é"])
def test_names_that_are_not_valid_are_refused(name, graph):
    with pytest.raises(ValueError, match="not a valid node name"):
        placeholder(graph, name=name)


def test_scopes_that_are_not_valid_are_refused(graph):
    for name in ("_a", "a b"):
        with pytest.raises(ValueError, match="not a valid scope name"), graph.name_scope(name):
            pass


def test_a_scope_is_left_also_by_an_error(graph):
    with pytest.raises(KeyError), graph.name_scope("a"), graph.device("/gpu:0"):
        raise KeyError
    node = placeholder(graph).op
    assert (node.name, node.device) == ("Placeholder", "")


def test_set_shape_joins_and_refuses(graph):
    x = placeholder(graph, None)
    x.set_shape([None, 3])
    x.set_shape([2, None])
    assert x.get_shape().as_list() == [2, 3]
    with pytest.raises(ValueError, match="not compatible"):
        x.set_shape([3, 3])


def test_inputs_must_be_of_the_same_graph(graph):
    x, other = placeholder(graph), placeholder(Graph())
    with pytest.raises(ValueError, match="must be from the same graph"):
        add(graph, ADD, x, other)
    assert names(graph) == ["Placeholder"]


def test_a_finalized_graph_takes_no_more_nodes(graph):
    placeholder(graph)
    graph.finalize()
    assert graph.finalized
    with pytest.raises(RuntimeError, match="finalized and cannot be modified"):
        placeholder(graph)


def test_nodes_run_after_what_they_are_made_under(graph):
    a, b = add(graph, NOTHING, name="a"), add(graph, NOTHING, name="b")
    x = placeholder(graph, name="x")
    with graph.control_dependencies([a]):
        with graph.control_dependencies([b, x.op]):
            y = add(graph, TANH, x, name="y").op
            assert graph.current_dependencies == (a, b, x.op)
            with graph.control_dependencies(None):
                z = add(graph, TANH, x, name="z").op
        w = add(graph, TANH, x, name="w").op
    assert (y.control_inputs, z.control_inputs, w.control_inputs) == ([a, b], [], [a])


def test_a_node_in_a_body_is_out_of_reach_from_outside(graph):
    body = Body(graph)
    with body.trace():
        inner = add(graph, TANH, body.param(float32, (2,)))
        assert graph.current_context is body
        nested = Body(graph)
        with nested.trace():
            assert add(graph, TANH, inner).op.context is nested
    with pytest.raises(ValueError, match="only inside a loop or a branch"):
        add(graph, TANH, inner)
    with pytest.raises(ValueError, match="Cannot depend on"), graph.control_dependencies([inner.op]):
        pass


def test_a_failed_call_leaves_no_trace(graph):
    x = placeholder(graph, (None, 3), name="x")
    before = names(graph), dict(graph._names_in_use), x.consumers(), x.dims
    with pytest.raises(KeyError), graph.atomic():
        add(graph, TANH, x, name="x")
        with graph.name_scope("scope"):
            add(graph, ADD, x, x)
        x.set_shape([2, 3])
        raise KeyError
    assert (names(graph), dict(graph._names_in_use), x.consumers(), x.dims) == before
    assert add(graph, TANH, x, name="x").op.name == "x_1"


def test_an_inner_failure_that_is_caught_is_taken_back_alone(graph):
    with graph.atomic():
        placeholder(graph, name="a")
        with pytest.raises(KeyError), graph.atomic():
            placeholder(graph, name="b")
            raise KeyError
        placeholder(graph, name="c")
    assert names(graph) == ["a", "c"]
    with pytest.raises(KeyError), graph.atomic():
        with graph.atomic():
            placeholder(graph, name="d")
        raise KeyError
    assert names(graph) == ["a", "c"]


def test_an_interrupt_is_taken_back_too(graph):
    with pytest.raises(KeyboardInterrupt), graph.atomic():
        placeholder(graph)
        raise KeyboardInterrupt
    assert names(graph) == []


def test_without_a_failing_call_nothing_is_journaled(graph):
    placeholder(graph)
    with graph.atomic():
        placeholder(graph)
    assert graph._scopes.journal is None


def test_scopes_belong_to_a_thread_and_nodes_to_all(graph):
    found = []

    def build(number):
        with graph.name_scope(f"thread{number}"):
            found.extend(add(graph, TANH, constant(graph, 1.0)).op.name for _ in range(50))

    threads = [threading.Thread(target=build, args=(i,)) for i in range(4)]
    with graph.name_scope("outer"):
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(set(found)) == 200 and len(graph.nodes) == 400
    assert all(name.startswith("thread") for name in found)
    assert [node.index for node in graph.nodes] == list(range(400))
