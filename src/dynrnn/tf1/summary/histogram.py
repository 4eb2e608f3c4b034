"""TensorFlow's histogram of an array: buckets whose limits grow by a tenth, both ways from 1e-12 to 1e20."""

from __future__ import annotations

import functools
import sys
from typing import Any

import numpy as np

LEAST, MOST, GROWTH = 1e-12, 1e20, 1.1


@functools.cache
def limits() -> np.ndarray:
    """The upper limits of all buckets, ascending; the outermost are the largest floats. A value equal to a limit falls
    into the bucket above it.
    """
    positive = [LEAST]
    while (following := positive[-1] * GROWTH) < MOST:  # repeated products, so that every bit is TensorFlow's
        positive.append(following)
    positive.append(sys.float_info.max)
    return np.array([*(-limit for limit in reversed(positive)), 0.0, *positive])


def histogram_fields(values: np.ndarray) -> dict[str, Any]:
    """Return the fields of a HistogramProto for finite values of any shape.

    Of empty buckets in a row only the last is listed.

    Example:
        >>> fields = histogram_fields(np.array([1.0, 1.0, 50.0]))
        >>> fields["num"], fields["sum"], fields["bucket"]
        (3.0, 52.0, [0.0, 2.0, 0.0, 1.0, 0.0])
    """
    flat = values.reshape(-1).astype(np.float64, copy=False)
    edges = limits()
    places = np.minimum(np.searchsorted(edges, flat, side="right"), len(edges) - 1)
    counts = np.bincount(places, minlength=len(edges))
    following = np.append(counts[1:], 1)  # the last bucket is always listed
    listed = (counts > 0) | (following > 0)
    empty = not flat.size
    with np.errstate(over="ignore"):  # sums that are too large for a float are infinite
        total, squares = _running_sum(flat), _running_sum(flat * flat)
    return {
        "min": sys.float_info.max if empty else float(flat.min()),
        "max": -sys.float_info.max if empty else float(flat.max()),
        "num": float(flat.size),
        "sum": total,
        "sum_squares": squares,
        "bucket_limit": edges[listed].tolist(),
        "bucket": counts[listed].astype(np.float64).tolist(),
    }


def _running_sum(values: np.ndarray) -> float:
    """The sum, one addend after the other as TensorFlow adds; `values.sum()` adds pairs and rounds otherwise."""
    return float(np.add.accumulate(values)[-1]) if values.size else 0.0
