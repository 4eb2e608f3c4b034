"""Shape rules against numpy's own shapes, with some sizes hidden: never wrong, and sharp where all is known."""

import numpy as np
import pytest
from graph.rows import placeholder
from hypothesis import assume, given
from hypothesis import strategies as st

from dynrnn.graph import rules
from dynrnn.graph.graph import Graph

SIZES = st.lists(st.integers(0, 3), max_size=4).map(tuple)


@st.composite
def hidden(draw, dims):
    """`dims` with some sizes, or the rank, unknown."""
    if draw(st.integers(0, 9)) == 0:
        return None
    return tuple(None if draw(st.booleans()) else size for size in dims)


def contains(static, actual):
    """Whether a static shape allows an actual one."""
    return static is None or (
        len(static) == len(actual) and all(a is None or a == b for a, b in zip(static, actual, strict=True))
    )


def tensors(*shapes):
    graph = Graph()
    return [placeholder(graph, dims) for dims in shapes]


@st.composite
def broadcastable(draw):
    result = draw(SIZES)
    first, second = (
        tuple(1 if draw(st.booleans()) else size for size in result[draw(st.integers(0, len(result))) :]) for _ in "ab"
    )
    return first, second


@given(st.data(), broadcastable())
def test_broadcasting_is_numpys(data, shapes):
    actual = np.broadcast_shapes(*shapes)
    assert rules.broadcast(tensors(*shapes), {}) == actual
    partly = [data.draw(hidden(dims)) for dims in shapes]
    assert contains(rules.broadcast(tensors(*partly), {}), actual)


def test_a_refusal_names_the_sizes_in_the_order_of_the_inputs():
    for first, second, sizes in (((2,), (3,), "2 and 3"), ((4, 2), (3,), "2 and 3"), ((2,), (4, 3), "2 and 3")):
        with pytest.raises(ValueError, match=f"Dimensions must be equal, but are {sizes}"):
            rules.broadcast(tensors(first, second), {})


@given(SIZES, SIZES)
def test_shapes_that_never_broadcast_are_refused(first, second):
    try:
        expected = np.broadcast_shapes(first, second)
    except ValueError:
        with pytest.raises(ValueError, match="Dimensions must be equal"):
            rules.broadcast(tensors(first, second), {})
        return
    assert rules.broadcast(tensors(first, second), {}) == expected


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [((None,), (None,), (None,)), ((None,), (4,), (4,)), ((None,), (1,), (None,)), ((None, 1), (3,), (None, 3)),
     (None, (3,), None), ((), (None,), (None,))],
)  # fmt: skip
def test_unknown_sizes_broadcast_as_in_tensorflow(first, second, expected):
    assert rules.broadcast_dims(first, second) == expected
    assert rules.broadcast_dims(second, first) == expected


@given(
    st.data(), broadcastable(), st.integers(0, 3), st.integers(0, 3), st.integers(0, 3), st.booleans(), st.booleans()
)
def test_matrix_products_are_numpys(data, batches, rows, inner, columns, transpose_a, transpose_b):
    a = (*batches[0], *((inner, rows) if transpose_a else (rows, inner)))
    b = (*batches[1], *((columns, inner) if transpose_b else (inner, columns)))
    attrs = {"transpose_a": transpose_a, "transpose_b": transpose_b}
    first = np.zeros(a).swapaxes(-1, -2) if transpose_a else np.zeros(a)
    second = np.zeros(b).swapaxes(-1, -2) if transpose_b else np.zeros(b)
    actual = (first @ second).shape
    assert rules.matmul(tensors(a, b), attrs) == actual
    partly = [data.draw(hidden(dims)) for dims in (a, b)]
    assume(None not in partly or len(a) == len(b) == 2 or min(len(a), len(b)) > 2)
    assert contains(rules.matmul(tensors(*partly), attrs), actual)


def test_what_stands_beside_a_matrix_is_taken_for_one():
    assert rules.matmul(tensors(None, (3, 4)), {}) == (None, 4)
    assert rules.matmul(tensors((2, 3), None), {"transpose_a": True}) == (3, None)
    assert rules.matmul(tensors(None, None), {}) is None
    assert rules.matmul(tensors((5, 2, 3), None), {}) is None


def test_matrices_that_never_fit_are_refused():
    with pytest.raises(ValueError, match="Dimensions must be equal, but are 3 and 4 for 'MatMul'"):
        rules.matmul(tensors((2, 3), (4, 2)), {})
    with pytest.raises(ValueError, match="must be rank 2 but is rank 1 for 'b'"):
        rules.matmul(tensors((2, 3), (3,)), {})


@given(st.data(), SIZES, st.booleans())
def test_reductions_are_numpys(data, dims, keepdims):
    axes = st.none()
    if dims:
        one = st.integers(-len(dims), len(dims) - 1)
        several = st.lists(one, unique_by=lambda a: a % len(dims), max_size=len(dims)).map(tuple)
        axes = st.one_of(axes, one, several)
    axis = data.draw(axes)
    actual = np.zeros(dims).sum(axis=axis, keepdims=keepdims).shape
    attrs = {"axis": axis, "keepdims": keepdims}
    assert rules.reduce(tensors(dims), attrs) == actual
    assert contains(rules.reduce(tensors(data.draw(hidden(dims))), attrs), actual)


def test_an_axis_that_is_not_there_is_refused():
    with pytest.raises(ValueError, match="Invalid reduction dimension"):
        rules.reduce(tensors((2, 3)), {"axis": 2})
    assert [rules.normal_axis(axis, 3) for axis in (-3, -1, 0, 2)] == [0, 2, 0, 2]


@given(st.data(), SIZES)
def test_what_several_inputs_know_is_joined(data, dims):
    shapes = [data.draw(hidden(dims)) for _ in range(3)]
    merged = rules.merged(tensors(*shapes), {})
    assert contains(merged, dims)
    known = [shape for shape in shapes if shape is not None]
    assert (merged is None) == (not known)
    for axis in range(len(dims) if known else 0):
        assert (merged[axis] is None) == all(shape[axis] is None for shape in known)


@given(SIZES, SIZES)
def test_inputs_that_cannot_have_one_shape_are_refused(first, second):
    assume(first != second)
    with pytest.raises(ValueError, match="Shapes must be equal"):
        rules.merged(tensors(first, second), {})


def test_simple_rules():
    (x,) = tensors((2, None))
    assert rules.same([x], {}) == (2, None) and rules.scalar([x], {}) == () and rules.unknown([x], {}) is None
