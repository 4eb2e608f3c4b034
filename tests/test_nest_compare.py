"""Nests side by side: the same structure, one as far down as another goes, keys paired with values."""

import re
from collections import OrderedDict, defaultdict, namedtuple
from types import MappingProxyType

import numpy as np
import pytest

from dynrnn import _nest as nest

State = namedtuple("State", "c h")
SameState = namedtuple("State", "c h")
OtherFields = namedtuple("State", "c m")
OtherName = namedtuple("Pair", "c h")


class SubState(State):
    pass


class SubList(list):
    pass


class SubTuple(tuple):
    pass


SAME = [
    (1, "b"),
    ("abc", np.ones(3)),
    ([], []),
    ([1, (2, [None])], ["a", ("bc", [{1}])]),
    ([1], SubList([1])),
    ({"a": 1, "b": 2}, {"b": 1, "a": 2}),
    ({"a": 1}, OrderedDict(a=2)),
    ({"a": 1}, defaultdict(int, a=2)),
    (MappingProxyType({"a": 1}), {"a": 2}),
    ({"a": 1}, MappingProxyType({"a": 2})),
    (State(1, 2), SameState(3, 4)),
    (SubState(1, 2), SubState(3, 4)),
    ({1: 2}.keys(), {3: 4}.keys()),
]
OTHER_TYPE = [
    ([1], (1,)),
    ((), []),
    (State(1, 2), (1, 2)),
    ((1, 2), State(1, 2)),
    (State(1, 2), SubState(1, 2)),
    (State(1, 2), OtherName(1, 2)),
    (State(1, 2), OtherFields(1, 2)),
    ((1,), SubTuple([1])),
    ({0: 1}, [1]),
    ([[1], 2], [(1,), 2]),
    ({1: 2}.keys(), [1]),
    ({1: 2}.keys(), {1: 2}.values()),
]
OTHER_NESTING = [
    ([1, 2], [1], "number of elements"),
    ([[1], [2, 3]], [[1, 2], [3]], "number of elements"),
    (1, [1], "is a sequence, while"),
    ([1], 1, "is a sequence, while"),
    (None, [], "is a sequence, while"),
    (np.ones(2), [1, 1], "is a sequence, while"),
    ([1, [2]], [1, 2], "is a sequence, while"),
    ({"a": 1, "b": [2]}, {"a": [1], "b": 2}, "is a sequence, while"),
]


@pytest.mark.parametrize("check_types", [True, False])
@pytest.mark.parametrize(("first", "second"), SAME)
def test_structures_nested_alike_pass(first, second, check_types):
    nest.assert_same_structure(first, second, check_types=check_types)


@pytest.mark.parametrize(("first", "second"), OTHER_TYPE)
def test_other_types_of_nests_are_a_type_error_unless_unchecked(first, second):
    with pytest.raises(TypeError, match=r"(?s)same nested structure\..*don't have the same sequence type"):
        nest.assert_same_structure(first, second)
    nest.assert_same_structure(first, second, check_types=False)


@pytest.mark.parametrize("check_types", [True, False])
@pytest.mark.parametrize(("first", "second", "reason"), OTHER_NESTING)
def test_other_nesting_is_a_value_error(first, second, reason, check_types):
    with pytest.raises(ValueError, match=rf"(?s)same nested structure\..*{reason}"):
        nest.assert_same_structure(first, second, check_types=check_types)


def test_other_keys_are_a_value_error_unless_types_are_unchecked():
    with pytest.raises(ValueError, match=r"(?s)same nested structure\..*same set of keys: \['a'\] against \['b'\]"):
        nest.assert_same_structure({"a": 1}, {"b": 1})
    nest.assert_same_structure({"a": 1}, {"b": 1}, check_types=False)


def test_the_message_shows_both_structures_and_where_they_part():
    first, second = {"x": [State(1, 2)]}, {"x": [(1, 2)]}
    with pytest.raises(TypeError) as caught:
        nest.assert_same_structure(first, second)
    assert str(caught.value) == (
        "The two structures don't have the same nested structure.\n\n"
        "First structure: type=dict str={'x': [State(c=1, h=2)]}\n\n"
        "Second structure: type=dict str={'x': [(1, 2)]}\n\n"
        "More specifically: at x/0: they don't have the same sequence type: "
        "type=State str=State(c=1, h=2) against type=tuple str=(1, 2)"
    )


@pytest.mark.parametrize(
    ("shallow", "deep", "leaves"),
    [
        (0, [1, 2], [[1, 2]]),
        ("ab", ["a"], [["a"]]),
        ([0, (0, 0)], [[1, 2], ([3], 4)], [[1, 2], [3], 4]),
        ([0, 0], [[9], {"x": 8}], [[9], {"x": 8}]),
        ({"b": 0, "a": 0}, OrderedDict(b=1, a=[2]), [[2], 1]),
        ({"b": 0}, MappingProxyType({"b": 1}), [1]),
        (State(0, 0), SubState(3, [4]), [3, [4]]),
        (State(0, 0), SameState(3, 4), [3, 4]),
        ((0, 0), State(3, 4), [3, 4]),
        (SubList([0]), [1], [1]),
        ([], [], []),
    ],
)
def test_flatten_up_to_stops_at_the_leaves_of_the_shallow_structure(shallow, deep, leaves):
    nest.assert_shallow_structure(shallow, deep)
    assert nest.flatten_up_to(shallow, deep) == leaves


@pytest.mark.parametrize(
    ("shallow", "deep", "error", "message"),
    [
        ([0], 2, TypeError, r"input must also be a sequence.*type=list str=\[0\], input type=int str=2"),
        ([[0]], [1], TypeError, "input must also be a sequence"),
        ([0, [0, 0]], ["a", "bc"], TypeError, "input must also be a sequence"),
        ([0, 0], np.ones(2), TypeError, "input must also be a sequence"),
        ((0, 0), [1, 2], TypeError, "same sequence type"),
        ([0], {0: 1}, TypeError, "same sequence type"),
        (State(0, 0), (3, 4), TypeError, "same sequence type"),
        (SubState(0, 0), State(3, 4), TypeError, "same sequence type"),
        (State(0, 0), OtherName(3, 4), TypeError, "same sequence type"),
        ([0], [1, 2], ValueError, "same sequence length"),
        ([[0, 0], 0], [[1, 2]], ValueError, "same sequence length"),
        ({"a": 0}, {"a": 1, "b": 2}, ValueError, "same sequence length"),
        ({"a": 0}, {"b": 1}, ValueError, r"lacks the keys \['a'\]"),
    ],
)
def test_a_shallow_structure_that_does_not_fit_is_refused(shallow, deep, error, message):
    for check in (nest.assert_shallow_structure, nest.flatten_up_to):
        with pytest.raises(error, match=message):
            check(shallow, deep)


def test_flatten_up_to_without_check_types_goes_by_position():
    assert nest.flatten_up_to((0, [0]), [1, (2,)], check_types=False) == [1, 2]
    assert nest.flatten_up_to([0, 0], {"b": 1, "a": 2}, check_types=False) == [2, 1]
    with pytest.raises(ValueError, match=r"lacks the keys \['b', 'a'\]"):
        nest.flatten_up_to({"b": 0, "a": 0}, [1, 2], check_types=False)


def test_map_up_to_packs_into_the_shallow_structure():
    mapped = nest.map_structure_up_to(
        State(0, {"b": 0, "a": 0}),
        lambda x, y: (x, y),
        State(1, {"a": [2], "b": 3}),
        State("p", {"a": "q", "b": ["r"]}),
    )
    assert mapped == State((1, "p"), {"b": (3, ["r"]), "a": ([2], "q")})
    assert list(mapped.h) == ["b", "a"]


def test_map_up_to_a_leaf_calls_once():
    assert nest.map_structure_up_to(0, lambda x: x, [1, 2]) == [1, 2]


def test_map_up_to_refuses_nothing_and_unfit_inputs():
    with pytest.raises(ValueError, match="no sequences"):
        nest.map_structure_up_to([0], len)
    with pytest.raises(ValueError, match="same sequence length"):
        nest.map_structure_up_to([0], max, [1], [1, 2])
    assert nest.map_structure_up_to([0], max, [1], (2,), check_types=False) == [2]


@pytest.mark.parametrize(
    ("dictionary", "flat"),
    [
        ({}, {}),
        ({4: "a", (5, 6): ("b", "c")}, {4: "a", 5: "b", 6: "c"}),
        ({(4, 5, (6, 8)): ("a", "b", ("c", "d"))}, {4: "a", 5: "b", 6: "c", 8: "d"}),
        ({4: ("a",)}, {4: ("a",)}),
        ({(4, 5): ["a", "b"]}, {4: "a", 5: "b"}),
        ({State(1, 2): (3, 4)}, {1: 3, 2: 4}),
        ({(1, 2): State(3, 4)}, {1: 3, 2: 4}),
        ({((1, 2), (3,)): ((4,), (5, 6))}, {1: 4, 2: 5, 3: 6}),
        (MappingProxyType({(1, 2): (4, 5)}), {1: 4, 2: 5}),
    ],
)
def test_keys_that_are_nests_are_paired_with_their_values(dictionary, flat):
    assert nest.flatten_dict_items(dictionary) == flat


def test_items_stay_in_their_order():
    assert list(nest.flatten_dict_items({(3, 1): (0, 0), 2: 0})) == [3, 1, 2]


@pytest.mark.parametrize(
    ("dictionary", "error", "message"),
    [
        ("nope", TypeError, "must be a mapping, got type=str str=nope"),
        ([1], TypeError, "must be a mapping, got type=list"),
        (
            {(4, 5): ("a",)},
            ValueError,
            "Could not flatten dictionary. Key had 2 elements, but value had 1 elements. Key: (4, 5)",
        ),
        ({(4, 5): "a"}, ValueError, "Key had 2 elements, but value had 1 elements"),
        ({(4, 5): np.ones(2)}, ValueError, "Key had 2 elements, but value had 1 elements"),
        ({(4, 5): ("a", "b"), 5: "c"}, ValueError, "Could not flatten dictionary: the key 5 is not unique"),
        ({(4, 4): ("a", "b")}, ValueError, "the key 4 is not unique"),
    ],
)
def test_dictionaries_that_cannot_be_paired_are_refused(dictionary, error, message):
    with pytest.raises(error, match=re.escape(message)):
        nest.flatten_dict_items(dictionary)
