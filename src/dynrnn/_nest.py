"""Nested structures by TensorFlow's rules: flatten, pack, map, compare.

A nest is a list, a tuple, a named tuple, a mapping (its values, sorted by key), a view of a mapping, or any other
sequence, of leaves and further nests. Everything else is a leaf: None, strings, bytes, arrays, tensors, sets.
What a leaf means is not known here; nor are feeds and fetches, which only use these functions.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, MappingView, MutableMapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple


class _Family(NamedTuple):
    """How a class of nests is walked and built again; `names` are the steps of a path, in the order of `children`."""

    children: Callable[[Any], Iterable[Any]]
    names: Callable[[Any], Iterable[Any]]
    rebuild: Callable[[Any, list[Any]], Any]


def _sorted_keys(mapping: Mapping[Any, Any]) -> list[Any]:
    try:
        return sorted(mapping)
    except TypeError as error:
        raise TypeError(
            f"nest only supports dicts with sortable keys, got the keys {list(mapping)}: {error}"
        ) from error


def _values_by_key(mapping: Mapping[Any, Any]) -> list[Any]:
    return [mapping[key] for key in _sorted_keys(mapping)]


def _positions(nest: Any) -> range:
    return range(len(nest))


def _rebuild_mapping(like: Mapping[Any, Any], values: list[Any]) -> Mapping[Any, Any]:
    """A mapping of `like`'s class with its keys in its own order; `values` are in the order of the sorted keys."""
    by_key = dict(zip(_sorted_keys(like), values, strict=True))
    if isinstance(like, MutableMapping):
        # Filled key by key: a constructor may read pairs in its own way, as Counter does.
        packed: Any = defaultdict(like.default_factory) if isinstance(like, defaultdict) else type(like)()
        for key in like:
            packed[key] = by_key[key]
        return packed
    build: Any = type(like)
    return build([(key, by_key[key]) for key in like])


_SEQUENCE = _Family(iter, _positions, lambda like, values: type(like)(values))
_NAMED_TUPLE = _Family(iter, lambda like: like._fields, lambda like, values: type(like)(*values))
_MAPPING = _Family(_values_by_key, _sorted_keys, _rebuild_mapping)
_COMPUTED = _Family(iter, _positions, lambda like, values: values)  # views and ranges hold no values: a list takes them

_BUFFERS = (str, bytes, bytearray, memoryview)


@lru_cache(maxsize=1024)  # the abstract classes answer too slowly for every leaf of every Session.run
def _family(cls: type) -> _Family | None:
    """The family of a class of nests, None for a class of leaves."""
    if issubclass(cls, tuple):
        fields = getattr(cls, "_fields", None)
        named = isinstance(fields, Sequence) and all(isinstance(field, str) for field in fields)
        return _NAMED_TUPLE if named else _SEQUENCE
    if issubclass(cls, Mapping):
        return _MAPPING
    if issubclass(cls, (MappingView, range)):
        return _COMPUTED
    return _SEQUENCE if issubclass(cls, Sequence) and not issubclass(cls, _BUFFERS) else None


def is_nested(structure: Any) -> bool:
    """Say whether a value is a nest, also an empty one, and not a leaf (`tf.nest.is_nested`).

    Example:
        >>> is_nested({"a": 1}), is_nested("a"), is_nested(None)
        (True, False, False)
    """
    return _family(type(structure)) is not None


def flatten(structure: Any) -> list[Any]:
    """List the leaves of a structure, depth first, mappings by sorted key; a leaf gives itself (`tf.nest.flatten`).

    Raises TypeError when the keys of a mapping cannot be sorted.

    Example:
        >>> flatten({"b": [1, (2, None)], "a": 3})
        [3, 1, 2, None]
    """
    leaves: list[Any] = []
    _gather((structure,), leaves)
    return leaves


def _gather(children: Iterable[Any], leaves: list[Any]) -> None:
    for child in children:
        family = _family(type(child))
        if family is None:
            leaves.append(child)
        else:
            _gather(family.children(child), leaves)


def flatten_with_paths(structure: Any) -> list[tuple[str, Any]]:
    """List the leaves of a structure, each with the way to it: keys, field names and positions joined by `/`.

    A leaf gives itself with an empty path. Raises TypeError when the keys of a mapping cannot be sorted.

    Example:
        >>> flatten_with_paths({"a": [1, 2], "b": 3})
        [('a/0', 1), ('a/1', 2), ('b', 3)]
    """
    return [("/".join(str(name) for name in path), leaf) for path, leaf in _walk((), structure)]


def _walk(path: tuple[Any, ...], structure: Any) -> Iterator[tuple[tuple[Any, ...], Any]]:
    family = _family(type(structure))
    if family is None:
        yield path, structure
        return
    for name, child in zip(family.names(structure), family.children(structure), strict=True):
        yield from _walk((*path, name), child)


def pack_sequence_as(structure: Any, flat_sequence: Any) -> Any:
    """Put values into the shape of a structure: the inverse of `flatten` (`tf.nest.pack_sequence_as`).

    Every nest keeps its class, a mapping its own order of keys, a defaultdict its factory; a view of a mapping and a
    range become lists. A mapping that cannot be written to is built from a list of pairs, a mutable one from nothing.
    Raises TypeError when `flat_sequence` is not a sequence, ValueError when it has too few or too many values.

    Example:
        >>> pack_sequence_as({"b": [0, 0], "a": 0}, [1, 2, 3])
        {'b': [2, 3], 'a': 1}
    """
    if _family(type(flat_sequence)) in (None, _MAPPING):
        raise TypeError(
            f"pack_sequence_as: flat_sequence must be a sequence of values to pack, got {flat_sequence!r} of the "
            f"incompatible type `{type(flat_sequence)}`"
        )
    values = list(flat_sequence)
    family = _family(type(structure))
    expected = 1 if family is None else len(flatten(structure))
    if len(values) != expected:
        kind = (
            f"Structure is a scalar of type {type(structure).__name__}: it has" if family is None else "Structure had"
        )
        raise ValueError(
            f"Could not pack sequence. {kind} {expected} elements, but flat_sequence had {len(values)} elements. "
            f"Structure: {structure!r}, flat_sequence: {values!r}"
        )
    return values[0] if family is None else _pack(family, structure, iter(values))


def _pack(family: _Family, structure: Any, values: Iterator[Any]) -> Any:
    packed = []
    for child in family.children(structure):
        inner = _family(type(child))
        packed.append(next(values) if inner is None else _pack(inner, child, values))
    return family.rebuild(structure, packed)


def map_structure(func: Callable[..., Any], *structures: Any, check_types: bool = True, **unknown: Any) -> Any:
    """Call `func` on the leaves of structures side by side; the results take the first one's shape (`tf.nest`).

    Raises TypeError when `func` cannot be called, ValueError without structures or with another keyword, and what
    `assert_same_structure` raises, with `check_types`, when the structures differ.

    Example:
        >>> map_structure(lambda x, y: x + y, {"a": 1, "b": (2,)}, {"a": 10, "b": (20,)})
        {'a': 11, 'b': (22,)}
    """
    if not callable(func):
        raise TypeError(f"map_structure: func must be callable, got: {func!r}")
    if not structures:
        raise ValueError("map_structure: Must provide at least one structure to map over, got none")
    if unknown:  # TensorFlow 1 answers with a ValueError, where Python would raise a TypeError
        raise ValueError(f"map_structure: Only valid keyword arguments are `check_types`, got: {', '.join(unknown)}")
    for other in structures[1:]:
        assert_same_structure(structures[0], other, check_types=check_types)
    rows = zip(*(flatten(structure) for structure in structures), strict=True)
    return pack_sequence_as(structures[0], [func(*row) for row in rows])


def assert_same_structure(nest1: Any, nest2: Any, check_types: bool = True) -> None:
    """Raise unless two structures are nested alike, whatever their leaves (`tf.nest.assert_same_structure`).

    Raises ValueError when the nesting, a length or a set of keys differs, and TypeError when a nest meets one of
    another type. All mappings are of one type, and all lists, and named tuples of one name with the same fields.
    Without `check_types` only nesting and lengths count.

    Example:
        >>> assert_same_structure([1, (2, 3)], ["a", (None, "b")])
    """
    found = _difference(nest1, nest2, check_types)
    if found is not None:
        error, path, reason = found
        place = f"at {'/'.join(str(name) for name in path)}: " if path else ""
        raise error(
            "The two structures don't have the same nested structure.\n\n"
            f"First structure: {_show(nest1)}\n\nSecond structure: {_show(nest2)}\n\nMore specifically: {place}{reason}"
        )


_Difference = tuple[type[Exception], tuple[Any, ...], str]  # what to raise, where in the first structure, why


def _difference(first: Any, second: Any, check_types: bool) -> _Difference | None:
    family, other = _family(type(first)), _family(type(second))
    if family is None or other is None:
        if family is other:
            return None
        nest, leaf = (first, second) if other is None else (second, first)
        return ValueError, (), f"{_show(nest)} is a sequence, while {_show(leaf)} is not"
    if check_types:
        if not _same_type(first, second):
            return TypeError, (), f"they don't have the same sequence type: {_show(first)} against {_show(second)}"
        if family is _MAPPING and set(first) != set(second):
            return ValueError, (), f"they don't have the same set of keys: {list(first)} against {list(second)}"
    if len(first) != len(second):
        return ValueError, (), f"they don't have the same number of elements: {_show(first)} against {_show(second)}"
    for name, one, two in zip(family.names(first), family.children(first), other.children(second), strict=True):
        found = _difference(one, two, check_types)
        if found is not None:
            return found[0], (name, *found[1]), found[2]
    return None


def _same_type(first: Any, second: Any) -> bool:
    one, two = type(first), type(second)
    if one is two or (isinstance(first, list) and isinstance(second, list)):
        return True
    family = _family(one)
    if family is _NAMED_TUPLE and _family(two) is _NAMED_TUPLE:
        return (one.__name__, one._fields) == (two.__name__, two._fields)
    return family is _MAPPING and _family(two) is _MAPPING


def _show(value: Any) -> str:
    return f"type={type(value).__name__} str={value}"


def assert_shallow_structure(shallow_tree: Any, input_tree: Any, check_types: bool = True) -> None:
    """Raise unless `input_tree` is nested like `shallow_tree` as far down as that one goes: see `flatten_up_to`.

    Example:
        >>> assert_shallow_structure([0, 0], [1, {"a": 2}])
    """
    flatten_up_to(shallow_tree, input_tree, check_types)


def flatten_up_to(shallow_tree: Any, input_tree: Any, check_types: bool = True) -> list[Any]:
    """List what `input_tree` holds where `shallow_tree` has its leaves; whole nests among it stay as they are.

    Raises TypeError when a nest of `shallow_tree` meets a leaf or, with `check_types`, a nest of another type (a
    subclass is not another type), and ValueError when lengths or keys differ.

    Example:
        >>> flatten_up_to([0, (0, 0)], [[1, 2], (3, [4])])
        [[1, 2], 3, [4]]
    """
    family, other = _family(type(shallow_tree)), _family(type(input_tree))
    if family is None:
        return [input_tree]
    meeting = f"shallow structure {_show(shallow_tree)}, input {_show(input_tree)}"
    if other is None:
        raise TypeError(f"Where the shallow structure is a sequence, input must also be a sequence: {meeting}")
    if check_types and not (isinstance(input_tree, type(shallow_tree)) or _same_type(shallow_tree, input_tree)):
        raise TypeError(f"The input and the shallow structure don't have the same sequence type: {meeting}")
    if len(shallow_tree) != len(input_tree):
        raise ValueError(f"The input and the shallow structure don't have the same sequence length: {meeting}")
    if family is _MAPPING:
        missing = [key for key in shallow_tree if other is not _MAPPING or key not in input_tree]
        if missing:
            raise ValueError(f"The input lacks the keys {missing} of the shallow structure: {meeting}")
    pairs = zip(family.children(shallow_tree), other.children(input_tree), strict=True)
    return [leaf for shallow, deep in pairs for leaf in flatten_up_to(shallow, deep, check_types)]


def map_structure_up_to(shallow_tree: Any, func: Callable[..., Any], *inputs: Any, check_types: bool = True) -> Any:
    """Call `func` on what the inputs hold where `shallow_tree` has its leaves; the results take `shallow_tree`'s shape.

    Raises ValueError without inputs, and what `flatten_up_to` raises.

    Example:
        >>> map_structure_up_to([0, 0], lambda size, name: (name, size), [[2, 3], 4], ["a", "b"])
        [('a', [2, 3]), ('b', 4)]
    """
    if not inputs:
        raise ValueError("map_structure_up_to: Cannot map over no sequences, expected at least one")
    rows = zip(*(flatten_up_to(shallow_tree, tree, check_types) for tree in inputs), strict=True)
    return pack_sequence_as(shallow_tree, [func(*row) for row in rows])


def flatten_dict_items(dictionary: Mapping[Any, Any]) -> dict[Any, Any]:
    """Pair the leaves of keys that are nests with the leaves of their values; other items stay as they are.

    This is how a feed for a tuple of tensors becomes one feed a tensor. A key's and its value's nesting may differ as
    long as they have the same number of leaves. Raises TypeError when `dictionary` is not a mapping, ValueError when a
    value has more or fewer leaves than its key, or when a key comes twice.

    Example:
        >>> flatten_dict_items({"x": [1, 2], ("c", "h"): (3, 4)})
        {'x': [1, 2], 'c': 3, 'h': 4}
    """
    if _family(type(dictionary)) is not _MAPPING:
        raise TypeError(f"flatten_dict_items: dictionary must be a mapping, got {_show(dictionary)}")
    flat: dict[Any, Any] = {}
    for key, value in dictionary.items():
        nested = _family(type(key)) is not None
        keys, values = (flatten(key), flatten(value)) if nested else ((key,), (value,))
        if len(keys) != len(values):
            raise ValueError(
                f"Could not flatten dictionary. Key had {len(keys)} elements, but value had {len(values)} elements. "
                f"Key: {key}, value: {value}"
            )
        for leaf, item in zip(keys, values, strict=True):
            if leaf in flat:
                raise ValueError(f"Could not flatten dictionary: the key {leaf} is not unique")
            flat[leaf] = item
    return flat
