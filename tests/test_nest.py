"""Nests: what is one, flattening, packing and mapping, by the rules of TensorFlow 1's `tf.nest`."""

from collections import Counter, OrderedDict, UserDict, UserList, defaultdict, deque, namedtuple
from collections.abc import Mapping
from types import MappingProxyType

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dynrnn import _nest as nest

State = namedtuple("State", "c h")


class SubState(State):
    pass


class SubList(list):
    pass


class SubTuple(tuple):
    pass


class SubDict(dict):
    pass


class Frozen(Mapping):
    """A mapping that cannot be written to."""

    def __init__(self, pairs):
        self._values = dict(pairs)

    def __getitem__(self, key):
        return self._values[key]

    def __iter__(self):
        return iter(self._values)

    def __len__(self):
        return len(self._values)


def extend(children):
    keyed = st.dictionaries(st.text("abcd", max_size=2), children, max_size=3)
    return st.one_of(
        st.lists(children, max_size=3),
        st.lists(children, max_size=3).map(tuple),
        st.builds(State, children, children),
        st.builds(SubState, children, children),
        keyed,
        keyed.map(lambda items: OrderedDict(reversed(items.items()))),
        keyed.map(lambda items: defaultdict(list, items)),
    )


LEAVES = st.none() | st.integers() | st.text(max_size=3) | st.binary(max_size=3) | st.frozensets(st.integers())
STRUCTURES = st.recursive(LEAVES, extend, max_leaves=12)


def for_any(*strategies):
    """`given` without a time limit an example: a busy machine may pause any of them."""
    return lambda test: settings(deadline=None)(given(*strategies)(test))


NESTS = {
    "list": [],
    "tuple": (1,),
    "named tuple": State(1, 2),
    "dict": {},
    "mapping": Frozen({"a": 1}),
    "mapping proxy": MappingProxyType({}),
    "keys": {1: 2}.keys(),
    "values": {1: 2}.values(),
    "items": {1: 2}.items(),
    "range": range(2),
    "deque": deque(),
    "list subclass": SubList(),
    "user list": UserList(),
    "user dict": UserDict(),
}
NO_NESTS = {
    "none": None,
    "number": 3,
    "string": "ab",
    "bytes": b"ab",
    "bytearray": bytearray(b"ab"),
    "memoryview": memoryview(b"ab"),
    "array": np.ones([2, 2]),
    "numpy string": np.str_("ab"),
    "set": {1},
    "frozenset": frozenset(),
    "generator": (i for i in ()),
    "class": State,
}


@pytest.mark.parametrize("value", NESTS.values(), ids=NESTS.keys())
def test_a_nest_is_nested(value):
    assert nest.is_nested(value) is True


@pytest.mark.parametrize("value", NO_NESTS.values(), ids=NO_NESTS.keys())
def test_a_leaf_is_not_nested_and_flattens_to_itself(value):
    assert nest.is_nested(value) is False
    (leaf,) = nest.flatten(value)
    assert leaf is value


@pytest.mark.parametrize(
    ("structure", "leaves"),
    [
        ((3, [4, (5,)], "x"), [3, 4, 5, "x"]),
        ([], []),
        ([(), {}, [None]], [None]),
        (State(h=[1, 2], c="c"), ["c", 1, 2]),
        ({"b": 1, "a": (2, 3)}, [2, 3, 1]),
        (OrderedDict([("b", 1), ("a", 2)]), [2, 1]),
        (Frozen([("b", 1), ("a", 2)]), [2, 1]),
        (MappingProxyType({2: "x", 1: "y"}), ["y", "x"]),
        ({"b": 1, "a": 2}.values(), [1, 2]),
        ({"b": 1, "a": 2}.items(), ["b", 1, "a", 2]),
        (({"d": [{"z": 1, "y": (2,)}], "c": State(3, {1: 4, 0: 5})}, [6]), [3, 5, 4, 2, 1, 6]),
    ],
)
def test_flatten_goes_depth_first_and_by_sorted_key(structure, leaves):
    assert nest.flatten(structure) == leaves


@pytest.mark.parametrize("structure", [{1: 0, "a": 0}, [Frozen({1: 0, "a": 0})], {"x": {None: 1, 2: 2}}])
def test_unsortable_keys_are_a_type_error_that_shows_them(structure):
    with pytest.raises(TypeError, match=r"sortable keys, got the keys \["):
        nest.flatten(structure)


@for_any(STRUCTURES)
def test_pack_undoes_flatten(structure):
    packed = nest.pack_sequence_as(structure, nest.flatten(structure))
    assert packed == structure
    nest.assert_same_structure(packed, structure)


@for_any(STRUCTURES)
def test_packed_values_come_out_in_the_order_they_went_in(structure):
    values = list(range(len(nest.flatten(structure))))
    assert nest.flatten(nest.pack_sequence_as(structure, values)) == values


@for_any(STRUCTURES)
def test_packing_keeps_class_and_order_of_keys(structure):
    def outline(value):
        if isinstance(value, dict):
            return type(value), [(key, outline(item)) for key, item in value.items()]
        if isinstance(value, (list, tuple)):
            return type(value), [outline(item) for item in value]
        return None

    assert outline(nest.pack_sequence_as(structure, [None] * len(nest.flatten(structure)))) == outline(structure)


@pytest.mark.parametrize(
    "structure",
    [
        SubList([1, 2]),
        SubTuple([1, 2]),
        SubState(1, 2),
        SubDict(b=1, a=2),
        UserDict(b=1, a=2),
        UserList([1, 2]),
        Counter("abb"),
        Frozen({"b": 1, "a": 2}),
        deque([1, 2]),
    ],
    ids=lambda structure: type(structure).__name__,
)
def test_packing_keeps_subclasses(structure):
    packed = nest.pack_sequence_as(structure, ["x", "y"])
    assert type(packed) is type(structure)
    assert nest.flatten(packed) == ["x", "y"]
    if isinstance(structure, Mapping):
        assert list(packed) == list(structure)


def test_packing_keeps_the_factory_of_a_defaultdict():
    packed = nest.pack_sequence_as(defaultdict(list, {"b": 1, "a": 2}), [10, 20])
    assert packed == {"a": 10, "b": 20}
    assert packed["new"] == []


@pytest.mark.parametrize("view", [{"a": 1, "b": 2}.keys(), {"a": 1, "b": 2}.values(), range(2)])
def test_views_and_ranges_pack_into_lists(view):
    assert nest.pack_sequence_as((view, 0), [5, 6, 7]) == ([5, 6], 7)


def test_packing_does_not_touch_its_arguments():
    structure, flat = {"a": [1, 2]}, [3, 4]
    assert nest.pack_sequence_as(structure, flat) == {"a": [3, 4]}
    assert (structure, flat) == ({"a": [1, 2]}, [3, 4])


def test_packed_values_may_be_nests():
    assert nest.pack_sequence_as([0, (0,)], [[1], {"a": 2}]) == [[1], ({"a": 2},)]


@pytest.mark.parametrize("leaf", [None, 3, "scalar", np.ones(2)], ids=["none", "number", "string", "array"])
def test_a_leaf_takes_one_value(leaf):
    value = object()
    assert nest.pack_sequence_as(leaf, (value,)) is value


@pytest.mark.parametrize("values", [[], [10, 20], [1, 2, 3, 4]], ids=len)
def test_a_wrong_number_of_values_is_told_with_both_counts(values):
    message = rf"Structure had 3 elements, but flat_sequence had {len(values)} elements.*\[1, \(2, 3\)\]"
    with pytest.raises(ValueError, match=message):
        nest.pack_sequence_as([1, (2, 3)], values)


@pytest.mark.parametrize("values", [[], [4, 5]], ids=len)
def test_a_leaf_refuses_other_than_one_value(values):
    with pytest.raises(
        ValueError, match=rf"Structure is a scalar of type str.* flat_sequence had {len(values)} elements"
    ):
        nest.pack_sequence_as("scalar", values)


@pytest.mark.parametrize("structure", ["scalar", [4, 5]])
@pytest.mark.parametrize(
    "flat", ["bad", 3, None, np.ones(2), {0: 1, 1: 2}, iter([1, 2])], ids=lambda flat: type(flat).__name__
)
def test_packing_what_is_no_sequence_is_a_type_error(structure, flat):
    with pytest.raises(TypeError, match=r"flat_sequence must be a sequence.*incompatible type `<class"):
        nest.pack_sequence_as(structure, flat)


def test_paths_are_keys_field_names_and_positions():
    structure = {"b": State(3, [4, None]), "a": [1, {7: 2}]}
    assert nest.flatten_with_paths(structure) == [("a/0", 1), ("a/1/7", 2), ("b/c", 3), ("b/h/0", 4), ("b/h/1", None)]


@pytest.mark.parametrize(("structure", "paths"), [(3, [("", 3)]), ([], []), ((5,), [("0", 5)])])
def test_paths_of_small_structures(structure, paths):
    assert nest.flatten_with_paths(structure) == paths


@for_any(STRUCTURES)
def test_paths_come_with_the_leaves_of_flatten(structure):
    assert [leaf for _, leaf in nest.flatten_with_paths(structure)] == nest.flatten(structure)


def test_map_calls_on_leaves_side_by_side_and_keeps_the_first_structure():
    first = OrderedDict([("b", State(1, [2])), ("a", 3)])
    second = {"a": 30, "b": State(10, [20])}
    mapped = nest.map_structure(lambda x, y: x + y, first, second)
    assert mapped == OrderedDict([("b", State(11, [22])), ("a", 33)])
    assert type(mapped["b"]) is State


@pytest.mark.parametrize(
    ("structures", "result"),
    [(([],), []), ((7,), 14), ((("ab", {"k": 2}),), ("abab", {"k": 4})), (([(), {}],), [(), {}])],
)
def test_map_over_leaves_strings_and_empty_nests(structures, result):
    assert nest.map_structure(lambda x: x * 2, *structures) == result


def test_map_may_return_nests_and_none():
    assert nest.map_structure(lambda x: [x], (1, 2)) == ([1], [2])
    assert nest.map_structure(lambda x: None, (1, [2])) == (None, [None])


@for_any(STRUCTURES)
def test_map_of_identity_changes_nothing(structure):
    assert nest.map_structure(lambda leaf: leaf, structure) == structure


def test_map_without_check_types_takes_lists_for_tuples():
    assert nest.map_structure(lambda x, y: x + y, [1, (2,)], (10, [20]), check_types=False) == [11, (22,)]


@pytest.mark.parametrize(
    ("arguments", "keywords", "error", "message"),
    [
        (("bad", [1]), {}, TypeError, "func must be callable, got: 'bad'"),
        ((len,), {}, ValueError, "at least one structure"),
        ((len, [1]), {"foo": "a"}, ValueError, "Only valid keyword argument.* got: foo"),
        ((len, [1]), {"check_types": False, "foo": "a"}, ValueError, "Only valid keyword argument.* got: foo"),
        ((max, [1], [1, 2]), {}, ValueError, "same nested structure"),
        ((max, 3, [1, 2]), {}, ValueError, "same nested structure"),
        ((max, [1], (1,)), {}, TypeError, "same nested structure"),
        ((max, [1], (1, 2)), {"check_types": False}, ValueError, "same nested structure"),
        ((max, [1], [1], (1,)), {}, TypeError, "same nested structure"),
    ],
)
def test_map_refuses(arguments, keywords, error, message):
    with pytest.raises(error, match=message):
        nest.map_structure(*arguments, **keywords)


@for_any(STRUCTURES)
def test_a_structure_is_nested_like_itself_with_other_leaves(structure):
    nest.assert_same_structure(structure, nest.map_structure(lambda leaf: 0, structure))


@for_any(STRUCTURES, STRUCTURES)
def test_comparing_is_symmetric(first, second):
    def verdict(one, two):
        try:
            nest.assert_same_structure(one, two)
        except (TypeError, ValueError) as error:
            return type(error)
        return None

    assert verdict(first, second) == verdict(second, first)


@for_any(STRUCTURES)
def test_a_structure_up_to_itself_is_flat(structure):
    assert nest.flatten_up_to(structure, structure) == nest.flatten(structure)
