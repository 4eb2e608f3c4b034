"""A variable's methods that read or replace a part of it: `scatter_add`, `gather_nd`, `count_up_to` and the like. The
functions behind them are in `ops/scattering.py`.
"""

from __future__ import annotations

from typing import Any

from ..graph.gradients import IndexedSlices
from .graph import Tensor
from .ops.array import gather, gather_nd
from .ops.scattering import FUNCTIONS, count_up_to


class PartialUpdates:
    """The part of a variable's interface that goes by index. Results of updates are the variable's new value."""

    def scatter_update(self, sparse_delta: IndexedSlices, use_locking: bool = False, name: str | None = None) -> Tensor:
        """Replace rows: those that `sparse_delta.indices` name, by its values."""
        return self._scatter("scatter_update", sparse_delta, name)

    def scatter_add(self, sparse_delta: IndexedSlices, use_locking: bool = False, name: str | None = None) -> Tensor:
        """Add to rows."""
        return self._scatter("scatter_add", sparse_delta, name)

    def scatter_sub(self, sparse_delta: IndexedSlices, use_locking: bool = False, name: str | None = None) -> Tensor:
        """Subtract from rows."""
        return self._scatter("scatter_sub", sparse_delta, name)

    def scatter_mul(self, sparse_delta: IndexedSlices, use_locking: bool = False, name: str | None = None) -> Tensor:
        """Multiply rows."""
        return self._scatter("scatter_mul", sparse_delta, name)

    def scatter_div(self, sparse_delta: IndexedSlices, use_locking: bool = False, name: str | None = None) -> Tensor:
        """Divide rows."""
        return self._scatter("scatter_div", sparse_delta, name)

    def scatter_min(self, sparse_delta: IndexedSlices, use_locking: bool = False, name: str | None = None) -> Tensor:
        """Take the minimum of rows and values."""
        return self._scatter("scatter_min", sparse_delta, name)

    def scatter_max(self, sparse_delta: IndexedSlices, use_locking: bool = False, name: str | None = None) -> Tensor:
        """Take the maximum of rows and values."""
        return self._scatter("scatter_max", sparse_delta, name)

    def _scatter(self, function: str, delta: Any, name: str | None) -> Tensor:
        if not isinstance(delta, IndexedSlices):
            raise TypeError(f"sparse_delta is not IndexedSlices: {delta!r}")
        return FUNCTIONS[function](self, delta.indices, delta.values, name=name)

    def scatter_nd_update(self, indices: Any, updates: Any, name: str | None = None) -> Tensor:
        """Replace elements or slices, each named by a vector of indices."""
        return FUNCTIONS["scatter_nd_update"](self, indices, updates, name=name)

    def scatter_nd_add(self, indices: Any, updates: Any, name: str | None = None) -> Tensor:
        """Add to elements or slices, each named by a vector of indices."""
        return FUNCTIONS["scatter_nd_add"](self, indices, updates, name=name)

    def scatter_nd_sub(self, indices: Any, updates: Any, name: str | None = None) -> Tensor:
        """Subtract from elements or slices, each named by a vector of indices."""
        return FUNCTIONS["scatter_nd_sub"](self, indices, updates, name=name)

    def gather_nd(self, indices: Any, name: str | None = None) -> Tensor:
        """`tf.gather_nd` of the value."""
        return gather_nd(self, indices, name=name)

    def sparse_read(self, indices: Any, name: str | None = None) -> Tensor:
        """`tf.gather` of the value: the rows at `indices`."""
        return gather(self, indices, name=name)

    def count_up_to(self, limit: int) -> Tensor:
        """`tf.count_up_to`: add 1 when the result runs, and refuse once the value is `limit`."""
        return count_up_to(self, limit)
