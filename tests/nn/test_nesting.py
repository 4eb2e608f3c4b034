"""Nests that are packed and taken apart at every step: the same as `_nest` does, whatever they are made of."""

import collections

import pytest
import torch

from dynrnn import LSTMState, _nest
from dynrnn.nn.nesting import Nesting, find_difference

Pair = collections.namedtuple("Pair", "one two")
LEAVES = [torch.full((1,), float(index)) for index in range(6)]
ZERO, ONE, TWO, THREE = LEAVES[:4]
NESTS = [
    ZERO,
    (ZERO, ONE),
    [ZERO, (ONE, [TWO])],
    LSTMState(ZERO, ONE),
    {"b": ZERO, "a": (ONE, TWO)},
    (Pair(ZERO, {"x": ONE}), TWO),
    (),
    (ZERO, {}),
    collections.OrderedDict([("b", ZERO), ("a", ONE)]),
    (ZERO, collections.OrderedDict([("b", ONE), ("a", (TWO, THREE))])),
    collections.deque([ZERO, ONE]),
]


@pytest.mark.parametrize("nest", NESTS, ids=str)
def test_packs_and_takes_apart_as_nest_does(nest):
    nesting, leaves = Nesting(nest), _nest.flatten(nest)
    found = nesting.take_apart(nest)
    assert [id(leaf) for leaf in found] == [id(leaf) for leaf in leaves]
    packed = nesting.pack(leaves[::-1])
    _nest.assert_same_structure(nest, packed)
    assert type(packed) is type(nest)
    assert _nest.flatten(packed) == leaves[::-1]
    if isinstance(nest, dict):
        assert list(packed) == list(nest)


@pytest.mark.parametrize(
    ("like", "other"),
    [
        ((ZERO, ONE), [TWO, THREE]),
        (LSTMState(ZERO, ONE), (TWO, THREE)),
        ({"a": ZERO, "b": ONE}, collections.OrderedDict(a=TWO, b=THREE)),
        ((ZERO, ONE), collections.deque([TWO, THREE])),
        (collections.OrderedDict(a=ZERO), {"a": ONE}),
    ],
    ids=str,
)
def test_the_type_of_a_nest_may_differ(like, other):
    assert Nesting(like).take_apart(other) == _nest.flatten(other)


@pytest.mark.parametrize(
    ("like", "other"),
    [(ZERO, (ONE,)), ((ZERO,), ONE), ((ZERO, ONE), (TWO,)), ((ZERO, (ONE, TWO)), (ONE, TWO)), ({"a": ZERO}, {}),
     ({"a": ZERO}, {"b": ONE}), ((ZERO, {"a": ONE}), (ZERO, collections.OrderedDict(b=TWO)))],
    ids=str,
)  # fmt: skip
def test_another_nesting_is_refused(like, other):
    with pytest.raises(ValueError, match=r"state.* expected"):
        Nesting(like).take_apart(other, "state")


@pytest.mark.parametrize(
    ("like", "other", "message"),
    [
        (ZERO, (ONE, TWO), "state is a tuple of 2, expected one tensor [1]"),
        ((ZERO,), ONE, "state is one tensor [1], expected a tuple of 1"),
        ((ZERO, {"b": (ONE,), "a": TWO}), [ZERO, {"a": TWO, "b": []}],
         "state[1]['b'] is a list of 0, expected a tuple of 1"),
        (LSTMState(ZERO, ONE), (TWO, (THREE,)), "state.h is a tuple of 1, expected one tensor [1]"),
        ({"a": ZERO}, {"b": ONE}, "state has the keys ['b'], expected ['a']"),
        ((ZERO, ONE), (ONE, ZERO), None),
        ((ZERO, ONE), {"a": ONE, "b": ZERO}, None),
    ],
    ids=str,
)  # fmt: skip
def test_a_difference_is_told_by_its_place_and_kinds(like, other, message):
    assert find_difference(like, other, "state") == message


def test_a_leaf_that_is_no_tensor_is_handed_on_for_others_to_refuse():
    assert Nesting((ZERO, ONE)).take_apart((2.5, None)) == [2.5, None]
