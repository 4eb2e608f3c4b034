"""The tags of summaries, which are their operations' names, and the collections that they join."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ..graph import Tensor, get_default_graph
from ..program.logging import LEVELS, log
from ..scopes import name_scope

_ILLEGAL = re.compile(r"[^-/\w.]")


def clean_name(name: str) -> str:
    """Return `name` with '_' for what no name may hold, without slashes at its start; a change is logged at INFO.

    Raises:
        TypeError: no string.
    """
    if not isinstance(name, str):
        raise TypeError(f"a summary's name must be a string, got {name!r}")
    cleaned = _ILLEGAL.sub("_", name).lstrip("/")
    if cleaned != name:
        log(LEVELS["INFO"], "Summary name %s is illegal; using %s instead.", name, cleaned)
    return cleaned


@contextmanager
def summary_scope(name: str, family: str | None, values: Sequence[Any]) -> Iterator[tuple[str, str]]:
    """Enter a name scope of a summary's own; yield its tag and the scope's name with a slash.

    The tag is the scope's full name, made unique; with a family, `<family>/<scope>`, where the scope ends in
    `<family>/<name>`, so that TensorBoard shows all of one family together.
    """
    name = clean_name(name)
    family = family if family is None else clean_name(family)
    with name_scope(f"{family}/{name}" if family else name, None, values) as scope:
        tag = scope.rstrip("/")
        yield (f"{family}/{tag}" if family else tag), scope


def collect(summary: Tensor, collections: Sequence[Any] | None, default: Sequence[Any]) -> Tensor:
    """Add a summary to `collections` (None: to `default`) and return it."""
    get_default_graph().add_to_collections(default if collections is None else collections, summary)
    return summary
