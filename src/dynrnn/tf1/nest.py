"""`tf.nest` and `tf.contrib.framework.nest`: the rules of `dynrnn._nest` under TensorFlow's names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import _nest
from .export import export

_PLACES = ("nest", "contrib.framework.nest")


def _export(name: str, function: Callable[..., Any]) -> None:
    export(*(f"{place}.{name}" for place in _PLACES))(function)


def flatten(structure: Any, expand_composites: bool = False) -> list[Any]:
    """Return the leaves of a nest: dicts sorted by key, None as a leaf. expand_composites: accepted; there are no
    composite tensors here.
    """
    return _nest.flatten(structure)


def map_structure(func: Callable[..., Any], *structure: Any, **kwargs: Any) -> Any:
    """Apply `func` to the leaves that stand at the same place in each structure. check_types (default True): also
    compare types.
    """
    kwargs.pop("expand_composites", None)
    return _nest.map_structure(func, *structure, **kwargs)


def pack_sequence_as(structure: Any, flat_sequence: Any, expand_composites: bool = False) -> Any:
    """Return `flat_sequence`'s items in the structure of `structure`."""
    return _nest.pack_sequence_as(structure, flat_sequence)


def assert_same_structure(nest1: Any, nest2: Any, check_types: bool = True, expand_composites: bool = False) -> None:
    """Raise ValueError or TypeError where two nests differ in structure."""
    _nest.assert_same_structure(nest1, nest2, check_types)


for _name, _function in (
    ("flatten", flatten),
    ("map_structure", map_structure),
    ("pack_sequence_as", pack_sequence_as),
    ("assert_same_structure", assert_same_structure),
    ("is_nested", _nest.is_nested),
    ("is_sequence", _nest.is_nested),
    ("flatten_up_to", _nest.flatten_up_to),
    ("map_structure_up_to", _nest.map_structure_up_to),
    ("assert_shallow_structure", _nest.assert_shallow_structure),
    ("flatten_dict_items", _nest.flatten_dict_items),
):
    _export(_name, _function)
