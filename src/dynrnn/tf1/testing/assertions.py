"""Assertions on arrays, for test cases; each takes arrays, nests of numbers and tensors, whose values it evaluates.

Sessions and the graph of a test are in `case`.
"""

from __future__ import annotations

import unittest
from collections.abc import Collection, Iterable, Mapping
from typing import Any

import numpy as np

from ...graph.dtype import as_dtype, bfloat16, float16, float32
from ..graph import Tensor
from .values import as_array, listed, run_leaves


class ArrayAssertions(unittest.TestCase):
    """unittest's TestCase with assertions on arrays; a failure is an AssertionError that lists the items."""

    def evaluate(self, tensors: Any) -> Any:
        """The values of a nest of tensors."""
        raise NotImplementedError

    def _array(self, value: Any) -> np.ndarray:
        return as_array(value, self.evaluate)

    def _pair(self, a: Any, b: Any, msg: str | None) -> tuple[np.ndarray, np.ndarray]:
        """Two arrays of one shape."""
        left, right = self._array(a), self._array(b)
        if left.shape != right.shape:
            self._fail(msg, f"Shape mismatch: expected {left.shape}, got {right.shape} with contents {right}")
        return left, right

    def _fail(self, msg: str | None, what: str) -> None:
        raise self.failureException(self._formatMessage(msg, what))

    # Equality

    def assertAllEqual(self, a: Any, b: Any, msg: str | None = None) -> None:
        """Both have one shape and the same items; NaN equals NaN."""
        left, right = self._pair(a, b, msg)
        if not (same := _same(left, right)).all():
            self._fail(msg, f"Arrays are not equal, at:\n{listed(left, ~same, right)}")

    def assertNotAllEqual(self, a: Any, b: Any, msg: str | None = None) -> None:
        """The shapes or some items differ."""
        left, right = self._array(a), self._array(b)
        if left.shape == right.shape and _same(left, right).all():
            self._fail(msg, "The two values are equal at all elements.")

    # Closeness

    def assertAllClose(self, a: Any, b: Any, rtol: float = 1e-6, atol: float = 1e-6, msg: str | None = None) -> None:
        """`|a - b| <= atol + rtol * |b|` item by item, in nests of one structure; NaN is close to NaN."""
        self._close(run_leaves(a, self.evaluate), run_leaves(b, self.evaluate), rtol, atol, msg, "")

    def _close(self, a: Any, b: Any, rtol: float, atol: float, msg: str | None, path: str) -> None:
        where = f" at {path}" if path else ""
        if isinstance(a, Mapping) or isinstance(b, Mapping):
            if not (isinstance(a, Mapping) and isinstance(b, Mapping) and a.keys() == b.keys()):
                self._fail(msg, f"mismatched keys{where}: {_keys(a)} and {_keys(b)}")
            for key in a:
                self._close(a[key], b[key], rtol, atol, msg, f"{path}[{key!r}]")
            return
        if isinstance(a, list) and isinstance(b, list) and (_is_nest(a) or _is_nest(b)):
            if len(a) != len(b):
                self._fail(msg, f"mismatched lengths{where}: {len(a)} and {len(b)}")
            for i, (left, right) in enumerate(zip(a, b, strict=True)):
                self._close(left, right, rtol, atol, msg, f"{path}[{i}]")
            return
        left, right = self._pair(a, b, msg)
        if not (close := _close(left, right, rtol, atol)).all():
            self._fail(msg, f"Not equal to tolerance rtol={rtol}, atol={atol}{where}:\n{listed(left, ~close, right)}")

    def assertAllCloseAccordingToType(
        self, a: Any, b: Any, rtol: float = 1e-6, atol: float = 1e-6, float_rtol: float = 1e-6,
        float_atol: float = 1e-6, half_rtol: float = 1e-3, half_atol: float = 1e-3, bfloat16_rtol: float = 1e-2,
        bfloat16_atol: float = 1e-2, msg: str | None = None,
    ) -> None:  # fmt: skip
        """assertAllClose, with at least the tolerance of the least precise of both dtypes."""
        left, right = self._array(a), self._array(b)
        dtypes = {left.dtype, right.dtype}
        for kind, type_rtol, type_atol in (
            (float32, float_rtol, float_atol),
            (float16, half_rtol, half_atol),
            (bfloat16, bfloat16_rtol, bfloat16_atol),
        ):
            if np.dtype(kind.as_numpy_dtype) in dtypes:
                rtol, atol = max(rtol, type_rtol), max(atol, type_atol)
        self.assertAllClose(left, right, rtol, atol, msg)

    def assertNotAllClose(self, a: Any, b: Any, rtol: float = 1e-6, atol: float = 1e-6, msg: str | None = None) -> None:
        """The shapes differ, or some items are not close."""
        try:
            self.assertAllClose(a, b, rtol, atol)
        except self.failureException:
            return
        self._fail(msg, "The two values are close at all elements.")

    def assertNear(self, f1: float, f2: float, err: float, msg: str | None = None) -> None:
        """Two numbers differ by no more than `err`, or are equal."""
        if not (f1 == f2 or abs(f1 - f2) <= err):
            self._fail(msg, f"{f1} != {f2} +/- {err} (difference: {abs(f1 - f2)})")

    def assertArrayNear(self, farray1: Any, farray2: Any, err: float, msg: str | None = None) -> None:
        """Two sequences of numbers have one length and differ by no more than `err` item by item."""
        self.assertEqual(len(farray1), len(farray2), msg)
        for f1, f2 in zip(farray1, farray2, strict=True):
            self.assertNear(float(f1), float(f2), err, msg)

    def assertNDArrayNear(self, ndarray1: Any, ndarray2: Any, err: float, msg: str | None = None) -> None:
        """The norm of the difference of two arrays is less than `err`."""
        left, right = self._pair(ndarray1, ndarray2, msg)
        norm = np.linalg.norm((left - right).ravel())
        if not norm < err:
            self._fail(msg, f"the norm of the difference is {norm}, not less than {err}")

    # Order and sets

    def assertAllGreater(self, a: Any, comparison_target: float) -> None:
        """Every item is greater than a number."""
        self._all(a, lambda items: items > comparison_target, f"not greater than {comparison_target}")

    def assertAllGreaterEqual(self, a: Any, comparison_target: float) -> None:
        """Every item is at least a number."""
        self._all(a, lambda items: items >= comparison_target, f"less than {comparison_target}")

    def assertAllLess(self, a: Any, comparison_target: float) -> None:
        """Every item is less than a number."""
        self._all(a, lambda items: items < comparison_target, f"not less than {comparison_target}")

    def assertAllLessEqual(self, a: Any, comparison_target: float) -> None:
        """Every item is at most a number."""
        self._all(a, lambda items: items <= comparison_target, f"greater than {comparison_target}")

    def assertAllInRange(
        self, target: Any, lower_bound: float, upper_bound: float, open_lower_bound: bool = False,
        open_upper_bound: bool = False,
    ) -> None:  # fmt: skip
        """Every item lies between two numbers, which belong to the range unless their side is open; NaN never does."""
        bounds = f"{'(' if open_lower_bound else '['}{lower_bound}, {upper_bound}{')' if open_upper_bound else ']'}"

        def inside(items: np.ndarray) -> np.ndarray:
            low = items > lower_bound if open_lower_bound else items >= lower_bound
            return low & (items < upper_bound if open_upper_bound else items <= upper_bound)

        self._all(target, inside, f"outside the range {bounds}")

    def assertAllInSet(self, target: Any, expected_set: Collection[Any]) -> None:
        """Every item is one of a set."""
        self._all(target, lambda items: np.isin(items, list(expected_set)), f"not in the set {expected_set}")

    def _all(self, target: Any, test: Any, otherwise: str) -> None:
        items = self._array(target)
        wrong = ~test(items)
        if wrong.any():
            self._fail(None, f"{wrong.sum()} of the {items.size} element(s) are {otherwise}:\n{listed(items, wrong)}")

    # Shapes, dtypes, devices

    def assertShapeEqual(self, np_array: Any, tf_tensor: Any, msg: str | None = None) -> None:
        """An array's shape is the static shape of a tensor."""
        if not isinstance(np_array, (np.ndarray, np.generic)):
            raise TypeError(f"np_array must be a Numpy ndarray or Numpy scalar, got {type(np_array).__name__}")
        if not isinstance(tf_tensor, Tensor):
            raise TypeError(f"tf_tensor must be a Tensor, got {type(tf_tensor).__name__}")
        self.assertEqual(np_array.shape, tf_tensor.dims, msg)

    def assertDTypeEqual(self, target: Any, expected_dtype: Any) -> None:
        """The items of a tensor or an array have a dtype."""
        self.assertEqual(self._array(target).dtype, np.dtype(as_dtype(expected_dtype).as_numpy_dtype))

    def assertDeviceEqual(self, device1: Any, device2: Any, msg: str | None = None) -> None:
        """Two device names are the same text."""
        self.assertEqual(str(device1 or ""), str(device2 or ""), msg)

    # Texts and collections

    def assertStartsWith(self, actual: str, expected_start: str, msg: str | None = None) -> None:
        """A text begins with another."""
        if not actual.startswith(expected_start):
            self._fail(msg, f"{actual!r} does not start with {expected_start!r}")

    def assertEndsWith(self, actual: str, expected_end: str, msg: str | None = None) -> None:
        """A text ends with another."""
        if not actual.endswith(expected_end):
            self._fail(msg, f"{actual!r} does not end with {expected_end!r}")

    def assertItemsEqual(self, first: Iterable[Any], second: Iterable[Any], msg: str | None = None) -> None:
        """Two collections have the same items, in any order: `assertCountEqual`."""
        self.assertCountEqual(first, second, msg)

    def assertSameElements(
        self, expected_seq: Iterable[Any], actual_seq: Iterable[Any], msg: str | None = None
    ) -> None:
        """Two collections have the same items, in any order and however often."""
        self.assertSetEqual(set(expected_seq), set(actual_seq), msg)

    def assertLen(self, container: Any, expected_len: int, msg: str | None = None) -> None:
        """A collection has so many items."""
        if len(container) != expected_len:
            self._fail(msg, f"{container!r} has length of {len(container)}, expected {expected_len}")

    def assertEmpty(self, container: Any, msg: str | None = None) -> None:
        """A collection has no items."""
        self.assertLen(container, 0, msg)

    def assertNotEmpty(self, container: Any, msg: str | None = None) -> None:
        """A collection has items."""
        if not len(container):
            self._fail(msg, f"{container!r} has length of 0")

    def assertBetween(self, value: Any, minv: Any, maxv: Any, msg: str | None = None) -> None:
        """A value lies between two others, or is one of them."""
        if not minv <= value <= maxv:
            self._fail(msg, f"{value!r} unexpectedly not between {minv!r} and {maxv!r}")


def _is_nest(values: list[Any]) -> bool:
    """Whether a list is no plain array: it holds mappings, or rows that do not fit together."""
    if any(isinstance(item, Mapping) for item in values):
        return True
    if any(isinstance(item, list) and _is_nest(item) for item in values):
        return True
    return len({np.shape(item) for item in values}) > 1


def _keys(value: Any) -> str:
    return str(sorted(map(str, value))) if isinstance(value, Mapping) else f"no mapping but {type(value).__name__}"


def _same(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    same = np.asarray(left == right)
    if left.dtype.kind in "fc" and right.dtype.kind in "fc":
        same |= np.isnan(left) & np.isnan(right)
    return same


def _close(left: np.ndarray, right: np.ndarray, rtol: float, atol: float) -> np.ndarray:
    # Half types are compared in float64, where their differences do not round.
    wide = [
        array.astype(np.float64) if array.dtype.kind in "biuV" or array.itemsize < 4 else array
        for array in (left, right)
    ]
    return np.isclose(*wide, rtol=rtol, atol=atol, equal_nan=True)
