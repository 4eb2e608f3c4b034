"""One nest of tensors, packed and taken apart at every step: what `_nest` does for any nest, made quick for one.

Tuples, named tuples, lists and dicts have functions here that are made for them; other nests go through `_nest`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from torch import Tensor

from dynrnn import _nest
from dynrnn.nn.sizes import labelled_parts
from dynrnn.nn.values import describe_value

_Pack = Callable[[Iterator[Any]], Any]
_Take = Callable[[Any, list[Any]], bool]


class Nesting:
    """How the nest `like` is made.

    Example:
        >>> import torch
        >>> nesting = Nesting({"b": (torch.zeros(1), torch.zeros(1)), "a": torch.ones(1)})
        >>> nesting.pack([1, 2, 3])
        {'b': (2, 3), 'a': 1}
        >>> [int(leaf) for leaf in nesting.take_apart({"a": torch.tensor(1), "b": [torch.tensor(2), torch.tensor(3)]})]
        [1, 2, 3]
    """

    def __init__(self, like: Any) -> None:
        self.like = like
        self._pack, self._take = _functions(like)
        self._is_leaf = not _nest.is_nested(like)

    def pack(self, leaves: Sequence[Any]) -> Any:
        """Put leaves, as many as there are, into such a nest."""
        return leaves[0] if self._is_leaf else self._pack(iter(leaves))

    def take_apart(self, nest: Any, name: str = "nest") -> list[Any]:
        """List the leaves of a nest; ValueError where its nesting, a length or a key differs, whatever the types.

        The message says where inside `name`, and what was expected there.
        """
        if self._is_leaf and isinstance(nest, Tensor):
            return [nest]
        leaves: list[Any] = []
        if self._take(nest, leaves):
            return leaves
        difference = find_difference(self.like, nest, name)
        if difference is not None:
            raise ValueError(difference)
        return _nest.flatten(nest)


def find_difference(like: Any, nest: Any, name: str) -> str | None:
    """Say where a nest is first nested otherwise than `like`, in words without contents; None where it is not.

    Example:
        >>> find_difference((1, {"a": 2}), (1, {"a": [2, 3]}), "state")
        "state[1]['a'] is a list of 2, expected int"
    """
    both = _nest.is_nested(like), _nest.is_nested(nest)
    if both == (False, False):
        return None
    if isinstance(like, Mapping) and isinstance(nest, Mapping) and like.keys() != nest.keys():
        return f"{name} has the keys {list(nest)}, expected {list(like)}"
    if both != (True, True) or len(like) != len(nest):
        return f"{name} is {describe_value(nest)}, expected {describe_value(like)}"
    for (label, one), (_, other) in zip(labelled_parts(like), labelled_parts(nest), strict=True):
        found = find_difference(one, other, name + label)
        if found is not None:
            return found
    return None


def _functions(like: Any) -> tuple[_Pack, _Take]:
    """How to pack a nest and how to take it apart; the latter says False where it is left to `_nest`."""
    if not _nest.is_nested(like):
        return next, _take_leaf
    kind = type(like)
    if kind is dict:
        return _mapping(like)
    if kind in (tuple, list) or (issubclass(kind, tuple) and hasattr(kind, "_make")):
        return _sequence(like, getattr(kind, "_make", kind))
    count = len(_nest.flatten(like))
    return lambda leaves: _nest.pack_sequence_as(like, [next(leaves) for _ in range(count)]), lambda nest, leaves: False


def _take_leaf(nest: Any, leaves: list[Any]) -> bool:
    if isinstance(nest, Tensor):
        leaves.append(nest)
        return True
    return False


def _sequence(like: Sequence[Any], build: Callable[[list[Any]], Any]) -> tuple[_Pack, _Take]:
    children = [_functions(child) for child in like]
    packs, takes = [pack for pack, _ in children], [take for _, take in children]
    count = len(takes)

    def take_apart(nest: Any, leaves: list[Any]) -> bool:
        if not isinstance(nest, (tuple, list)) or len(nest) != count:
            return False
        for take, child in zip(takes, nest):  # noqa: B905, SIM110 - equally long by now, and this is quicker
            if not take(child, leaves):
                return False
        return True

    return lambda leaves: build([pack(leaves) for pack in packs]), take_apart


def _mapping(like: dict[Any, Any]) -> tuple[_Pack, _Take]:
    """Leaves come by sorted key, and a dict that is packed has its keys in the order of `like`."""
    children = {key: _functions(like[key]) for key in sorted(like)}
    own_order = dict.fromkeys(like)

    def pack(leaves: Iterator[Any]) -> dict[Any, Any]:
        values = {key: one(leaves) for key, (one, _) in children.items()}
        return {key: values[key] for key in own_order}

    def take_apart(nest: Any, leaves: list[Any]) -> bool:
        if type(nest) is not dict or nest.keys() != own_order.keys():
            return False
        return all([take(nest[key], leaves) for key, (_, take) in children.items()])

    return pack, take_apart
