"""A graph's collections: lists under a key, such as all variables. The keys and the functions on the default graph are
in `graph_keys.py`.
"""

from __future__ import annotations

import re
from typing import Any

from ..graph.graph import Graph


class GraphWithCollections(Graph):
    """A graph that keeps lists of anything under keys of any kind."""

    def __init__(self) -> None:
        super().__init__()
        self._collections: dict[Any, list[Any]] = {}

    def add_to_collection(self, name: Any, value: Any) -> None:
        self._check_open()
        self._collections.setdefault(name, []).append(value)
        self.on_undo(lambda: self._take_back(name, value))

    def _take_back(self, name: Any, value: Any) -> None:
        """Remove the last occurrence of a value, to which another thread may have added others by now."""
        items = self._collections.get(name, [])
        last = next((i for i in reversed(range(len(items))) if items[i] is value), None)
        if last is not None:
            del items[last]
        if not items:
            self._collections.pop(name, None)

    def add_to_collections(self, names: Any, value: Any) -> None:
        for name in (names,) if isinstance(names, str) else dict.fromkeys(names):
            self.add_to_collection(name, value)

    def get_collection(self, name: Any, scope: str | None = None) -> list[Any]:
        """A copy of the collection; with `scope` (a pattern), of the items whose name it matches at its start."""
        found = self._collections.get(name, [])
        if scope is None:
            return list(found)
        pattern = re.compile(scope)
        return [item for item in found if hasattr(item, "name") and pattern.match(item.name)]

    def get_collection_ref(self, name: Any) -> list[Any]:
        return self._collections.setdefault(name, [])

    def clear_collection(self, name: Any) -> None:
        self._check_open()
        self._collections.pop(name, None)

    def get_all_collection_keys(self) -> list[Any]:
        return [name for name in self._collections if isinstance(name, str)]

    @property
    def collections(self) -> list[Any]:
        return list(self._collections)
