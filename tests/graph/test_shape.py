"""Static shapes: dimensions and shapes with unknown parts."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dynrnn.graph.shape import Dimension, TensorShape, as_dimension, as_shape, merge_dims

DIMS = st.one_of(st.none(), st.lists(st.one_of(st.none(), st.integers(0, 9)), max_size=4).map(tuple))


def test_a_dimension_is_a_size_or_unknown():
    assert Dimension(3).value == 3 and Dimension(None).value is None
    assert Dimension(Dimension(3)).value == 3 and Dimension(np.int64(3)).value == 3 and Dimension(3.0).value == 3
    assert as_dimension(3).value == 3


@pytest.mark.parametrize("value", [-1, 1.5, "3", b"3"], ids=str)
def test_what_is_no_size_is_a_value_error(value):
    with pytest.raises(ValueError, match="imension"):
        Dimension(value)


def test_arithmetic_with_an_unknown_size_is_unknown():
    known, unknown = Dimension(7), Dimension(None)
    for result in (known + unknown, unknown - 1, 2 * unknown, unknown // 2, unknown % 3, 5 - unknown, 5 // unknown):
        assert result.value is None
    assert [(known + 1).value, (1 + known).value, (known - 2).value, (9 - known).value] == [8, 8, 5, 2]
    assert [(known * 2).value, (2 * known).value, (known // 2).value, (22 // known).value] == [14, 14, 3, 3]
    assert [(known % 4).value, (10 % known).value, (known / 2).value] == [3, 3, 3]


def test_comparison_with_an_unknown_size_is_none():
    known, unknown = Dimension(7), Dimension(None)
    assert known == 7 and known != 6 and known < 8 and known >= 7 and not known > 7
    assert (known == unknown) is None and (unknown != 3) is None and (unknown < 3) is None
    assert (known == "seven") is False


def test_a_known_dimension_serves_as_an_index():
    assert [0] * Dimension(2) == [0, 0]
    assert range(5)[Dimension(2)] == 2 and int(Dimension(4)) == 4 and np.zeros(Dimension(3)).shape == (3,)
    with pytest.raises(TypeError):
        int(Dimension(None))


def test_dimensions_merge_where_they_agree():
    assert Dimension(None).merge_with(3).value == 3 and Dimension(3).merge_with(None).value == 3
    with pytest.raises(ValueError, match="Dimensions 3 and 4 are not compatible"):
        Dimension(3).merge_with(4)


def test_what_is_known_of_a_shape():
    shape = TensorShape([None, 3])
    assert (shape.ndims, shape.rank, len(shape)) == (2, 2, 2)
    assert shape.as_list() == [None, 3] and [d.value for d in shape.dims] == [None, 3]
    assert not shape.is_fully_defined() and shape.num_elements() is None
    assert TensorShape([2, 3]).num_elements() == 6 and TensorShape([]).num_elements() == 1
    assert shape[1] == 3 and shape[0].value is None and shape[1:].as_list() == [3]
    assert [d.value for d in shape] == [None, 3]


def test_what_is_known_of_an_unknown_rank():
    shape = TensorShape(None)
    assert shape.ndims is None and shape.dims is None and not shape
    assert shape[0].value is None and shape[1:].ndims is None
    for use in (len, iter, TensorShape.as_list):
        with pytest.raises(ValueError):
            use(shape)


def test_a_shape_is_made_of_many_things():
    for value in ([2, 3], (2, 3), TensorShape([2, 3]), [Dimension(2), 3], np.array([2, 3])):
        assert as_shape(value).as_list() == [2, 3]
    assert as_shape(4).as_list() == [4] and as_shape(Dimension(4)).as_list() == [4]
    with pytest.raises(TypeError):
        TensorShape("23")
    with pytest.raises(ValueError):
        TensorShape([-1])


@pytest.mark.parametrize(
    ("dims", "text", "representation"),
    [
        (None, "<unknown>", "TensorShape(None)"),
        ([], "()", "TensorShape([])"),
        ([None], "(?,)", "TensorShape([Dimension(None)])"),
        ([2, None], "(2, ?)", "TensorShape([Dimension(2), Dimension(None)])"),
    ],
    ids=str,
)
def test_shapes_print_as_in_tensorflow(dims, text, representation):
    assert (str(TensorShape(dims)), repr(TensorShape(dims))) == (text, representation)


@given(DIMS)
def test_shapes_equal_what_they_were_made_of(dims):
    shape = TensorShape(dims)
    assert shape == TensorShape(dims) and hash(shape) == hash(TensorShape(dims))
    assert shape.tuple == dims
    assert pickle.loads(pickle.dumps(shape)) == shape
    assert dims is None or shape == list(dims)
    assert shape != "text"


@given(DIMS, DIMS)
def test_merging_joins_what_both_know_or_refuses(first, second):
    one, two = TensorShape(first), TensorShape(second)
    try:
        merged = one.merge_with(two)
    except ValueError:
        assert not one.is_compatible_with(two) and not two.is_compatible_with(one)
        with pytest.raises(ValueError, match="incompatible"):
            one.assert_is_compatible_with(two)
        return
    assert one.is_compatible_with(two) and merged == two.merge_with(one)
    assert merged.tuple == merge_dims(first, second)
    if first is None or second is None:
        assert merged.tuple == (first if second is None else second)
        return
    for result, a, b in zip(merged.tuple, first, second, strict=True):
        assert result == (b if a is None else a)


@given(DIMS, DIMS)
def test_concatenation_is_unknown_where_a_part_is(first, second):
    expected = None if first is None or second is None else first + second
    assert TensorShape(first).concatenate(second).tuple == expected


def test_demands_on_the_rank():
    shape, unknown = TensorShape([2, None]), TensorShape(None)
    assert shape.with_rank(2) == shape and unknown.with_rank(2).as_list() == [None, None]
    assert shape.with_rank_at_least(1) is shape and shape.with_rank_at_most(3) is shape
    shape.assert_has_rank(2)
    shape.assert_same_rank([1, 1])
    for demand in (
        lambda: shape.with_rank(3),
        lambda: shape.with_rank_at_least(3),
        lambda: shape.with_rank_at_most(1),
        lambda: shape.assert_has_rank(1),
        lambda: shape.assert_same_rank([1]),
    ):
        with pytest.raises(ValueError, match="must have"):
            demand()
    with pytest.raises(ValueError, match="not fully defined"):
        shape.assert_is_fully_defined()
