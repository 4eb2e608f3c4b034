"""Whether a peer computes what it should, looked at before it is timed: outputs on valid steps, weights' gradients."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

# float32 against float64. Outputs are below 1 in size; gradients are sums over all steps, so theirs is a share of the
# greatest entry.
OUTPUTS = 1e-5
GRADIENTS = 1e-5


class DisagreementError(ValueError):
    """A peer's results are not those expected, so that its time would mean nothing."""


def compare(
    peer: str,
    lengths: tuple[int, ...],
    expected: tuple[np.ndarray, Mapping[str, np.ndarray] | None],
    found: tuple[np.ndarray, Mapping[str, np.ndarray] | None],
) -> float:
    """Return the greatest difference of the outputs `[time, batch, units]` on valid steps; padding may hold anything.

    Gradients are compared where both have them. Raises DisagreementError for another shape or for a difference that
    rounding does not explain, NaN included.

    Example:
        >>> ones = np.ones((2, 1, 3))
        >>> compare("peer", (1,), (ones, None), (ones + [[[0.0]], [[9.0]]], None))
        0.0
    """
    (outputs, grads), (peer_outputs, peer_grads) = expected, found
    if outputs.shape != peer_outputs.shape:
        raise DisagreementError(f"{peer}: expected outputs of shape {outputs.shape}, got {peer_outputs.shape}")
    valid = np.arange(outputs.shape[0])[:, None] < np.array(lengths)
    worst = _check(peer, "outputs", outputs[valid], peer_outputs[valid], OUTPUTS)
    if grads is not None and peer_grads is not None:
        for name, value in grads.items():
            scale = float(np.abs(value).max())
            _check(peer, f"the gradient of {name}", value, peer_grads[name], GRADIENTS * scale)
    return worst


def _check(peer: str, what: str, expected: np.ndarray, found: np.ndarray, tolerance: float) -> float:
    difference = float(np.abs(expected - found).max(initial=0.0))
    if not difference <= tolerance:  # NaN is not
        raise DisagreementError(f"{peer}: {what} may differ by {tolerance:.1e}, got {difference:.1e}")
    return difference
