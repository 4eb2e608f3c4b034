"""Functions that Python 2 had under names that mean something else now, and names of its modules that are gone.

`BUILTINS` in `python2` takes the functions in. A module of Python's library is given its old names when a Python 2
program imports it, and keeps those that it has.
"""

import builtins
import itertools
import string
import sys
import time
import types
from collections.abc import Callable, Iterable
from typing import Any


def map_to_list(function: Callable[..., Any] | None, *iterables: Iterable[Any]) -> list[Any]:
    """Python 2's `map`: shorter iterables are filled up with None, and the function None puts rows together.

    Example:
        >>> map_to_list(None, [1, 2], [3])
        [(1, 3), (2, None)]
    """
    if len(iterables) == 1:
        return list(iterables[0]) if function is None else [function(value) for value in iterables[0]]
    rows = itertools.zip_longest(*iterables)
    return list(rows) if function is None else [function(*row) for row in rows]


def filter_to_list(function: Callable[[Any], Any] | None, iterable: Any) -> Any:
    """Python 2's `filter`: a text stays a text and a tuple a tuple, all else becomes a list.

    Example:
        >>> filter_to_list(str.isdigit, "a1b2"), filter_to_list(None, [0, 1])
        ('12', [1])
    """
    kept = list(filter(function, iterable))
    if isinstance(iterable, str):
        return "".join(kept)
    return tuple(kept) if isinstance(iterable, tuple) else kept


def zip_to_list(*iterables: Iterable[Any]) -> list[tuple[Any, ...]]:
    """Python 2's `zip`.

    Example:
        >>> zip_to_list([1, 2], "ab")
        [(1, 'a'), (2, 'b')]
    """
    return list(zip(*iterables, strict=False))


def range_to_list(*bounds: int) -> list[int]:
    """Python 2's `range`.

    Example:
        >>> range_to_list(1, 4)
        [1, 2, 3]
    """
    return list(range(*bounds))


def _join(words: Iterable[str], separator: str = " ") -> str:
    return separator.join(words)


_STRING_METHODS = (
    "capitalize", "center", "count", "expandtabs", "find", "index", "ljust", "lower", "lstrip", "maketrans", "replace",
    "rfind", "rindex", "rjust", "rstrip", "split", "strip", "swapcase", "translate", "upper", "zfill",
)  # fmt: skip

MODULES: dict[str, dict[str, Any]] = {
    "itertools": {
        "ifilter": filter,
        "ifilterfalse": itertools.filterfalse,
        "imap": map,
        "izip": zip,
        "izip_longest": itertools.zip_longest,
    },
    "string": {
        "atof": float,
        "atoi": int,
        "atol": int,
        "join": _join,
        "joinfields": _join,
        "letters": string.ascii_letters,
        "lowercase": string.ascii_lowercase,
        "splitfields": str.split,
        "uppercase": string.ascii_uppercase,
        **{name: getattr(str, name) for name in _STRING_METHODS},
    },
    "time": {"clock": time.process_time},
    "types": {
        "BooleanType": bool,
        "ComplexType": complex,
        "DictType": dict,
        "DictionaryType": dict,
        "FloatType": float,
        "IntType": int,
        "ListType": list,
        "LongType": int,
        "ObjectType": object,
        "SliceType": slice,
        "StringType": str,
        "StringTypes": (str,),
        "TupleType": tuple,
        "TypeType": type,
        "UnicodeType": str,
        "XRangeType": range,
    },
}


def import_with_old_names(name: str, *args: Any, **options: Any) -> types.ModuleType:
    """`__import__` for Python 2 programs: a module of the library has Python 2's names as well.

    Example:
        >>> import_with_old_names("string").letters[:3]
        'abc'
    """
    module = builtins.__import__(name, *args, **options)
    for old, value in MODULES.get(name, {}).items():
        vars(sys.modules[name]).setdefault(old, value)
    return module
