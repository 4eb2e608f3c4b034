"""What is known of values while the graph is built, against the values of a run."""

import numpy as np
import pytest
import torch
from graph.rows import ADD, CONST, IDENTITY, add, constant, placeholder, run
from hypothesis import given
from hypothesis import strategies as st

from dynrnn.graph import rules
from dynrnn.graph.constants import constant_value, partial_dims, partial_value
from dynrnn.graph.dtype import string
from dynrnn.graph.graph import Graph
from dynrnn.graph.op import Op

SHAPE = Op(
    "Shape",
    "x:T -> int32",
    lambda x: torch.tensor(x.shape, dtype=torch.int32),
    lambda inputs, attrs: (len(inputs[0].dims),),
)
ITEM = Op("StridedSlice", "x:T -> T", lambda x, index: x[index].clone(), lambda inputs, attrs: ())
PACK = Op(
    "Pack", "*x:T -> T", lambda *x, axis: torch.stack(x, axis), lambda inputs, attrs: (len(inputs), *inputs[0].dims)
)
CONCAT = Op(
    "ConcatV2",
    "*x:T -> T",
    lambda *x, axis: torch.cat(x, axis),
    lambda inputs, attrs: (sum(t.dims[0] for t in inputs),),
)
UNPACK = Op("Unpack", "x:T -> *T", lambda x, axis: x.unbind(axis), lambda inputs, attrs: [()] * inputs[0].dims[0])
GATHER = Op("GatherV2", "x:T i:int32 -> T", lambda x, i, axis: x[i.long()], lambda inputs, attrs: inputs[1].dims)
PROD = Op("Prod", "x:T -> T", lambda x, axis, keepdims: x.prod(dtype=x.dtype), rules.scalar)
CAST = Op("Cast", "x:S -> @dtype", lambda x, dtype: x.to(torch.int32), rules.same)
ARITHMETIC = {
    "AddV2": torch.add,
    "Sub": torch.sub,
    "Mul": torch.mul,
    "FloorDiv": lambda a, b: torch.div(a, b, rounding_mode="floor"),
    "FloorMod": torch.remainder,
    "Maximum": torch.maximum,
    "Minimum": torch.minimum,
}
BINARY = {name: Op(name, "x:T y:T -> T", function, rules.broadcast) for name, function in ARITHMETIC.items()}


def agrees(partial, actual):
    """Whether a partly known value allows an actual one."""
    if partial is None:
        return True
    known = partial.reshape(-1).tolist()
    return partial.shape == tuple(actual.shape) and all(
        a is None or a == b for a, b in zip(known, actual.reshape(-1).tolist(), strict=True)
    )


@st.composite
def programs(draw):
    """A graph of integer arithmetic on the shape of a placeholder, with an array to feed."""
    graph = Graph()
    sizes = draw(st.lists(st.integers(1, 4), min_size=1, max_size=3))
    x = placeholder(graph, [None if draw(st.booleans()) else size for size in sizes])
    vectors = [
        add(graph, SHAPE, x, dtype="int32"),
        constant(graph, draw(st.lists(st.integers(-3, 5), min_size=1, max_size=3)), "int32"),
    ]
    scalars = [constant(graph, draw(st.integers(1, 5)), "int32")]
    for _ in range(draw(st.integers(1, 8))):
        match draw(st.sampled_from(["item", "pack", "concat", "binary", "prod", "unpack", "gather", "identity"])):
            case "item":
                vector = draw(st.sampled_from(vectors))
                scalars.append(
                    add(graph, ITEM, vector, index=(draw(st.integers(-vector.dims[0], vector.dims[0] - 1)),))
                )
            case "pack":
                vectors.append(
                    add(graph, PACK, *draw(st.lists(st.sampled_from(scalars), min_size=1, max_size=3)), axis=0)
                )
            case "concat":
                vectors.append(
                    add(graph, CONCAT, *draw(st.lists(st.sampled_from(vectors), min_size=1, max_size=2)), axis=0)
                )
            case "binary":
                row = BINARY[draw(st.sampled_from(["AddV2", "Sub", "Mul", "Maximum", "Minimum"]))]
                scalars.append(add(graph, row, draw(st.sampled_from(scalars)), draw(st.sampled_from(scalars))))
            case "prod":
                scalars.append(add(graph, PROD, draw(st.sampled_from(vectors)), axis=None, keepdims=False))
            case "unpack":
                scalars.extend(add(graph, UNPACK, draw(st.sampled_from(vectors)), axis=0))
            case "gather":
                vectors.append(
                    add(graph, GATHER, draw(st.sampled_from(vectors)), constant(graph, [0], "int32"), axis=0)
                )
            case "identity":
                vectors.append(add(graph, IDENTITY, draw(st.sampled_from(vectors))))
    return x, np.zeros(sizes, np.float32), [*vectors, *scalars]


@given(programs())
def test_what_is_known_is_what_a_run_gives(program):
    x, array, tensors = program
    for tensor, actual in zip(tensors, run(tensors, {x: array}), strict=True):
        partial = partial_value(tensor)
        assert agrees(partial, actual)
        if x.shape.is_fully_defined():
            assert partial is not None and None not in partial.reshape(-1).tolist()
        whole = constant_value(tensor)
        assert (whole is None) == (partial is None or None in partial.reshape(-1).tolist())
        assert whole is None or (whole.dtype == tensor.dtype.numpy and whole.tolist() == actual.tolist())


@pytest.mark.parametrize("name", BINARY)
def test_arithmetic_is_the_runs(name):
    graph = Graph()
    a, b = constant(graph, [7, -7, 8, 0], "int32"), constant(graph, [2, 2, -3, 5], "int32")
    result = add(graph, BINARY[name], a, b)
    assert partial_value(result).tolist() == run([result])[0].tolist()


def test_division_by_zero_is_not_known():
    graph = Graph()
    zero = constant(graph, 0, "int32")
    assert partial_value(add(graph, BINARY["FloorDiv"], constant(graph, 3, "int32"), zero)).tolist() is None


def test_a_shape_with_a_hidden_size_is_partly_known():
    graph = Graph()
    shape = add(graph, SHAPE, placeholder(graph, (None, 3)), dtype="int32")
    assert partial_value(shape).tolist() == [None, 3] and constant_value(shape) is None
    assert partial_dims(shape) == (None, 3)
    assert partial_value(add(graph, PACK, *add(graph, UNPACK, shape, axis=0), axis=0)).tolist() == [None, 3]


def test_what_is_learned_of_a_shape_later_counts():
    graph = Graph()
    x = placeholder(graph, (None, 3))
    size = add(graph, ITEM, add(graph, SHAPE, x, dtype="int32"), index=(0,))
    assert partial_value(size).item() is None
    x.set_shape([5, 3])
    assert partial_value(size).item() == 5


def test_casts_to_integers_are_known_where_they_are_finite():
    graph = Graph()
    cast = add(graph, CAST, constant(graph, [2.7, -2.7, float("nan"), float("inf")]), dtype="int32")
    assert partial_value(cast).tolist() == [2, -2, None, None]


def test_values_that_depend_on_feeds_are_not_known():
    graph = Graph()
    x = placeholder(graph, (2,), "int32")
    assert partial_value(x) is None and constant_value(x) is None
    assert partial_value(add(graph, ADD, x, constant(graph, [1, 2], "int32"))) is None
    assert partial_dims(x) == (None, None) and partial_dims(placeholder(graph, None, "int32")) is None


def test_sizes_are_read_from_a_tensor_that_holds_a_shape():
    graph = Graph()
    assert partial_dims(constant(graph, [2, -1], "int32")) == (2, None)
    assert partial_dims(placeholder(graph, (3,), "int32")) == (None, None, None)
    assert partial_dims(placeholder(graph, (None,), "int32")) is None


def test_large_constants_are_data():
    graph = Graph()
    large = constant(graph, list(range(5000)), "int32")
    assert partial_value(large) is None
    assert constant_value(large).tolist() == list(range(5000))


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "int64", "bool"])
def test_a_constants_value_is_a_new_array_of_its_type(dtype):
    graph = Graph()
    tensor = constant(graph, [1, 0], dtype)
    value = constant_value(tensor)
    assert value.dtype == tensor.dtype.numpy
    value[:] = 0
    assert constant_value(tensor).astype(float).tolist() == [1.0, 0.0]


def test_a_constant_of_strings_has_its_value():
    graph = Graph()
    attrs = {"value": np.array([b"a"], object), "dtype": "string"}
    tensor = graph.add(CONST, (), attrs, dtypes=[string], shapes=[(1,)]).outputs[0]
    assert constant_value(tensor).tolist() == [b"a"] and partial_value(tensor) is None


def test_long_chains_and_shared_parts_take_one_step_a_node():
    graph = Graph()
    one = constant(graph, 1, "int32")
    count = one
    for _ in range(5000):
        count = add(graph, ADD, count, one)
    assert partial_value(count).item() == 5001
    doubled = add(graph, ITEM, add(graph, SHAPE, placeholder(graph, (None,)), dtype="int32"), index=(0,))
    for _ in range(200):
        doubled = add(graph, ADD, doubled, doubled)
    assert partial_value(doubled).item() is None
