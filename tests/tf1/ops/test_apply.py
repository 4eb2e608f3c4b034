"""Making nodes of rows: what plain values become, and which dtypes are refused with which words."""

import pytest
import torch

import dynrnn.tf1 as tf
from dynrnn.graph import rules
from dynrnn.graph.op import Op
from dynrnn.tf1.ops.apply import apply

ADD = Op("MyAdd", "x:T y:T -> T", torch.add, rules.broadcast, {"T": frozenset(("float32", "int32"))})
TAKE = Op("MyTake", "params:T indices:int32 -> T", lambda x, i: x[i.long()], rules.unknown)
JOIN = Op("MyJoin", "*values:T -> T", lambda *x: torch.cat(x), rules.unknown)
PARTS = Op("MyParts", "x:T -> *T", lambda x, num: x.chunk(num), lambda inputs, attrs: [(1,)] * attrs["num"])
BOTH = Op("MyBoth", "x:T -> T int32", lambda x: (x, x), lambda inputs, attrs: [inputs[0].dims, ()])
CAST = Op("MyCast", "x:T -> @to", None, rules.same)
NOTHING = Op("MyNothing", "x:T ->", lambda x: None, None)


@pytest.fixture
def x():
    return tf.constant([1.0, 2.0], name="x")


def test_outputs_come_as_the_signature_says(x):
    assert isinstance(apply(ADD, [x, x]), tf.Tensor)
    parts = apply(PARTS, [x], {"num": 2})
    assert [part.name for part in parts] == ["MyParts:0", "MyParts:1"]
    assert [output.dtype.name for output in apply(BOTH, [x])] == ["float32", "int32"]
    assert apply(CAST, [x], {"to": "int64"}).dtype == tf.int64
    assert isinstance(apply(NOTHING, [x]), tf.Operation)


def test_plain_values_take_the_tensors_dtype_and_the_nodes_name(x, fresh_graph):
    assert apply(ADD, [x, 1]).dtype == tf.float32 and apply(ADD, [[1, 2], x]).dtype == tf.float32
    assert apply(ADD, [1, 2], name="sum").dtype == tf.int32
    names = [node.name for node in fresh_graph.nodes]
    assert names == ["x", "MyAdd/y", "MyAdd", "MyAdd/x", "MyAdd_1", "sum/x", "sum/y", "sum"]


def test_variables_are_read_where_a_tensor_is_wanted(x):
    v = tf.Variable([1.0, 2.0])
    assert apply(ADD, [v, 1]).op.inputs[0] is v.value()


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (
            lambda x, i: apply(ADD, [x, i]),
            "Input 'y' of 'MyAdd' Op has type int32 that does not match type float32 of argument 'x'",
        ),
        (lambda x, i: apply(ADD, [i, 1.5]), "MyAdd: y: Expected int32, got 1.5 of type 'float' instead"),
        (lambda x, i: apply(ADD, [x, "a"]), "Expected float32, got 'a' of type 'str'"),
        (
            lambda x, i: apply(TAKE, [x, x]),
            "Input 'indices' of 'MyTake' Op has type float32 that does not match expected type of int32",
        ),
        (
            lambda x, i: apply(JOIN, [[x, i]]),
            "Tensors in list passed to 'values' of 'MyJoin' Op have types that don't all match: float32 and int32",
        ),
        (lambda x, i: apply(JOIN, [x]), "Expected list for 'values' argument to 'MyJoin' Op"),
        (
            lambda x, i: apply(ADD, [True, False]),
            "Value passed to parameter 'x' has DataType bool not in list of allowed values: float32, int32",
        ),
    ],
)
def test_dtypes_that_do_not_fit_are_refused(call, words, x):
    with pytest.raises(TypeError, match=words):
        call(x, tf.constant(3))


def test_values_that_cannot_become_tensors_are_refused(x):
    with pytest.raises(
        ValueError, match=r"Tried to convert 'y' to a tensor and failed. Error: None values not supported"
    ):
        apply(ADD, [x, None])
    with pytest.raises(ValueError, match="MyAdd: y: Argument must be a dense tensor"):
        apply(ADD, [x, [[1], [1, 2]]])
    with pytest.raises(TypeError, match="MyAdd: y: Failed to convert"):
        apply(ADD, [x, object()])


def test_shapes_that_do_not_fit_are_refused_while_building(x):
    with pytest.raises(ValueError, match="Dimensions must be equal, but are 2 and 3"):
        apply(ADD, [x, [1.0, 2.0, 3.0]])


def test_values_join_the_graph_of_the_tensors(x):
    other = tf.Graph()
    with other.as_default():
        y = tf.constant([1.0, 2.0], name="y")
    before = len(tf.get_default_graph().nodes)
    assert apply(ADD, [y, 1.0]).graph is other and apply(JOIN, [[[1.0], y]]).graph is other
    with pytest.raises(ValueError, match="must be from the same graph"):
        apply(ADD, [y, x])
    with pytest.raises(ValueError, match="Dimensions must be equal"):
        apply(ADD, [y, [1.0, 2.0, 3.0]])
    assert len(tf.get_default_graph().nodes) == before
    assert [node.name for node in other.nodes] == ["y", "MyAdd/y", "MyAdd", "MyJoin/values", "MyJoin"]
