"""The face's graphs: elements by name, collections, default graphs, tensors in Python."""

import threading

import numpy as np
import pytest

import dynrnn.tf1 as tf
from dynrnn.tf1.graph import default_sessions

OF_FORM = r'Tensor names must be of the form "<op_name>:<output_index>"\.'
# name: what get_tensor_by_name, get_operation_by_name and as_graph_element do: a result's name, or error and words
LOOKUPS = {
    "c:0": ("c:0", (ValueError, "appears to refer to a Tensor, not a Operation"), "c:0"),
    "c": ((ValueError, f"refers to an Operation, not a Tensor. {OF_FORM}"), "c", "c"),
    "z": (
        (ValueError, r"looks like an \(invalid\) Operation name"),
        (KeyError, "not in the graph"),
        (KeyError, "not in the graph"),
    ),
    "z:0": (
        (KeyError, "'z', does not exist in the graph"),
        (ValueError, "appears to refer"),
        (KeyError, "refers to a Tensor which does not exist"),
    ),
    "c:1": (
        (KeyError, "'c', exists but only has 1 outputs"),
        (ValueError, "appears to refer"),
        (KeyError, "only has 1 outputs"),
    ),
    "c:a": (
        (ValueError, f"looks a like a Tensor name, but is not a valid one. {OF_FORM}"),
        (ValueError, "appears"),
        (ValueError, "looks a like"),
    ),
    "c:0:1": ((ValueError, "looks a like"), (ValueError, "appears"), (ValueError, "looks a like")),
    "": ((ValueError, "looks like an"), (KeyError, "not in the graph"), (KeyError, "not in the graph")),
    3: (
        (TypeError, "Tensor names are strings"),
        (TypeError, "Operation names are strings"),
        (TypeError, "Can not convert a int into a Tensor or Operation"),
    ),
    None: ((TypeError, "not NoneType"), (TypeError, "not NoneType"), (TypeError, "Can not convert a NoneType")),
}


@pytest.mark.parametrize("method", ["get_tensor_by_name", "get_operation_by_name", "as_graph_element"])
@pytest.mark.parametrize("name", LOOKUPS, ids=repr)
def test_elements_are_found_by_name(name, method, fresh_graph):
    tf.constant(1.0, name="c")
    expected = LOOKUPS[name][["get_tensor_by_name", "get_operation_by_name", "as_graph_element"].index(method)]
    look_up = getattr(fresh_graph, method)
    if isinstance(expected, str):
        assert look_up(name).name == expected
        assert look_up(name.encode()).name == expected
    else:
        with pytest.raises(expected[0], match=expected[1]):
            look_up(name)


def test_elements_and_what_stands_for_them_are_elements(fresh_graph):
    x, v = tf.constant(1.0), tf.Variable(1.0, name="v")
    assert fresh_graph.as_graph_element(x) is x and fresh_graph.as_graph_element(x.op) is x.op
    assert fresh_graph.as_graph_element(v).name == "v:0"
    assert fresh_graph.get_operations()[0] is x.op
    with pytest.raises(ValueError, match="is not an element of this graph"):
        tf.Graph().as_graph_element(x)
    with pytest.raises(TypeError, match="Can not convert a Operation into a Tensor"):
        fresh_graph.as_graph_element(x.op, allow_operation=False)


def test_default_graphs_nest_also_the_same_one():
    a, b = tf.Graph(), tf.Graph()
    outside = tf.get_default_graph()
    with a.as_default():
        with b.as_default():
            with a.as_default() as entered:
                assert entered is a and tf.get_default_graph() is a
            assert tf.get_default_graph() is b
        assert tf.get_default_graph() is a
    assert tf.get_default_graph() is outside


def test_the_global_graph_is_reset_only_outside_of_others():
    with pytest.raises(AssertionError, match="nested graphs"):
        tf.reset_default_graph()
    found = []

    def in_a_thread():  # whose stack of default graphs is empty
        before = tf.get_default_graph()
        tf.reset_default_graph()
        found.extend([before, tf.get_default_graph()])

    thread = threading.Thread(target=in_a_thread)
    thread.start()
    thread.join()
    assert found[0] is not found[1] and tf.get_default_graph() not in found


def test_operators_work_in_the_tensors_graph_whatever_the_default_is():
    graph = tf.Graph()
    with graph.as_default():
        x = tf.constant(1.0, name="x")
    y = x + 1
    assert y.graph is graph and (tf.tanh(y) * 2).graph is graph
    with tf.Session(graph=graph) as sess:
        assert sess.run(y) == 2
    with pytest.raises(ValueError, match="must be from the same graph"):
        x + tf.constant(1.0)


def test_collections_keep_what_they_are_given(fresh_graph):
    a, b = tf.constant(1.0, name="scope/a"), tf.constant(2.0, name="b")
    fresh_graph.add_to_collection("mine", a)
    fresh_graph.add_to_collections(["mine", "yours", "mine"], b)
    assert fresh_graph.get_collection("mine") == [a, b] and fresh_graph.get_collection("yours") == [b]
    assert fresh_graph.get_collection("mine", scope="scope/") == [a]
    assert fresh_graph.get_collection("mine", scope="a") == [] and fresh_graph.get_collection("none") == []
    fresh_graph.get_collection("mine").clear()
    fresh_graph.get_collection_ref("mine").append(3)
    assert fresh_graph.get_collection("mine") == [a, b, 3]
    assert fresh_graph.get_all_collection_keys() == ["mine", "yours"]
    fresh_graph.clear_collection("mine")
    assert fresh_graph.get_collection("mine") == []


def test_a_failed_call_leaves_the_collections_as_they_were(fresh_graph):
    fresh_graph.add_to_collection("old", 1)
    with pytest.raises(KeyError), fresh_graph.atomic():
        fresh_graph.add_to_collections(["old", "new"], 2)
        fresh_graph.add_to_collection("new", 3)
        raise KeyError
    assert fresh_graph.collections == ["old"] and fresh_graph.get_collection("old") == [1]


def test_a_failed_public_call_leaves_nothing(fresh_graph):
    x = tf.placeholder(tf.float32, [2, 3])
    before = [node.name for node in fresh_graph.nodes], dict(fresh_graph._names_in_use)
    for call in (
        lambda: tf.add(x, [[1, 2]]),
        lambda: x + "a",
        lambda: tf.matmul(x, x),
        lambda: tf.gradients(x, [None]),
    ):
        with pytest.raises((TypeError, ValueError)):
            call()
        assert ([node.name for node in fresh_graph.nodes], dict(fresh_graph._names_in_use)) == before


def test_a_finalized_graph_refuses_additions(fresh_graph):
    fresh_graph.finalize()
    for change in (lambda: tf.constant(1.0), lambda: fresh_graph.add_to_collection("a", 1)):
        with pytest.raises(RuntimeError, match="Graph is finalized and cannot be modified"):
            change()


def test_tensors_are_themselves_in_python():
    x, y = tf.constant([1.0], name="x"), tf.constant([1.0])
    assert x == x and x != y and len({x, y}) == 2
    assert x in [y, x]
    for use, words in ((bool, "Python `bool`"), (list, "iterable"), (len, "len"), (np.array, "symbolic")):
        with pytest.raises((TypeError, NotImplementedError), match=words):
            use(x)


def test_elements_print_as_in_tensorflow():
    x = tf.constant([1.0])
    assert repr(x) == "<tf.Tensor 'Const:0' shape=(1,) dtype=float32>"
    assert str(x) == 'Tensor("Const:0", shape=(1,), dtype=float32)'
    assert repr(x.op) == "<tf.Operation 'Const' type=Const>"
    assert repr(tf.placeholder("float")) == "<tf.Tensor 'Placeholder:0' shape=<unknown> dtype=float32>"


def test_eval_and_run_ask_for_a_session_of_their_graph():
    x = tf.constant(1.0)
    assert default_sessions() == []
    with pytest.raises(ValueError, match=r"Cannot evaluate tensor .* No default session is registered"):
        x.eval()
    with pytest.raises(ValueError, match=r"Cannot execute operation .* No default session is registered"):
        x.op.run()
    with tf.Session(graph=tf.Graph()), pytest.raises(ValueError, match="graph is different from the session's graph"):
        x.eval()
    with tf.Session() as sess:
        assert x.eval() == 1 and x.op.run() is None
    sess = tf.Session()
    assert x.eval({x: 2.0}, sess) == 2


def test_control_dependencies_take_operations_tensors_variables_and_names(fresh_graph):
    a, b, v = tf.constant(1.0, name="a"), tf.no_op(name="b"), tf.Variable(1.0, name="v")
    with tf.control_dependencies([a, b, v, "a:0"]):
        c = tf.constant(1.0)
    assert [node.name for node in c.op.control_inputs] == ["a", "b", "v"]
    with tf.control_dependencies([a]), tf.control_dependencies(None):
        assert tf.constant(1.0).op.control_inputs == []


def test_devices_are_noted():
    with tf.device("/cpu:0"):
        assert tf.constant(1.0).device == "/device:CPU:0"
        with tf.device(None):
            assert tf.constant(1.0).device == ""
    assert tf.constant(1.0).device == ""
