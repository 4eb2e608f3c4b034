"""`tf.test.compute_gradient`: the Jacobian that `tf.gradients` gives beside the one that differences of values give."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from ..export import export
from ..gradients import gradients
from ..graph import get_default_graph
from ..ops.array.placeholders import placeholder
from ..session import get_default_session


@export("test.compute_gradient")
def compute_gradient(
    x: Any, x_shape: Any, y: Any, y_shape: Any, x_init_value: Any = None, delta: float = 1e-3, init_targets: Any = None,
    extra_feed_dict: Mapping[Any, Any] | None = None,
) -> Any:  # fmt: skip
    """Return two Jacobians of `y` by `x`, each `[size of x, size of y]`: by gradients, and by central differences.

    x: a tensor or a list of them, float16, float32 or float64; one at a time is fed. x_shape: its shape, or a list.
    y, y_shape: a tensor and its shape. x_init_value: where to differentiate, an array or a list of them (default:
    uniform random numbers in [0, 1)). delta: half the distance of the two values of x whose difference is taken.
    init_targets: operations to run first. extra_feed_dict: what else to feed. A default session is needed.
    For a list `x` the result is a list of pairs.

    Raises:
        ValueError: no default session; no gradient path from y to x; a shape that does not fit. TypeError: an x that
            is no float.

    Example:
        >>> import dynrnn.tf1 as tf
        >>> x = tf.constant([1.0, 2.0])
        >>> with tf.Session():
        ...     by_gradients, by_differences = tf.test.compute_gradient(x, [2], x * x, [2], x_init_value=[1.0, 2.0])
        >>> by_gradients.tolist()
        [[2.0, 0.0], [0.0, 4.0]]
    """
    session = get_default_session()
    if session is None:
        raise ValueError("compute_gradient needs a default session: call it inside `with tf.Session():`")
    for target in init_targets or ():
        session.run(target)
    is_list = isinstance(x, list)
    pairs = []
    one_each = (x, x_shape, x_init_value or [None] * len(x)) if is_list else ([x], [x_shape], [x_init_value])
    for one, shape, value in zip(*one_each, strict=True):
        feeds = {**(extra_feed_dict or {}), one: _start(one, tuple(shape), value)}
        pairs.append(
            (
                _by_gradients(session, one, y, tuple(y_shape), feeds),
                _by_differences(session, one, y, y_shape, feeds, delta),
            )
        )
    return pairs if is_list else pairs[0]


@export("test.compute_gradient_error")
def compute_gradient_error(
    x: Any, x_shape: Any, y: Any, y_shape: Any, x_init_value: Any = None, delta: float = 1e-3, init_targets: Any = None,
    extra_feed_dict: Mapping[Any, Any] | None = None,
) -> float:  # fmt: skip
    """Return the largest absolute difference of the two Jacobians of `compute_gradient`; 0 where they are empty.

    Example:
        >>> import dynrnn.tf1 as tf
        >>> x = tf.constant([1.0, 2.0])
        >>> with tf.Session():
        ...     tf.test.compute_gradient_error(x, [2], tf.tanh(x), [2]) < 1e-3
        True
    """
    pairs = compute_gradient(x, x_shape, y, y_shape, x_init_value, delta, init_targets, extra_feed_dict)
    errors = [np.abs(left - right) for left, right in (pairs if isinstance(x, list) else [pairs])]
    return max((float(error.max()) for error in errors if error.size), default=0.0)


def _start(x: Any, shape: tuple[int, ...], value: Any) -> np.ndarray:
    """The value of x at which to differentiate, in an array of our own."""
    dtype = x.dtype.base_dtype
    if not dtype.is_floating:
        raise TypeError(f"compute_gradient: x must be a float tensor, but {x.name} is {dtype.name}")
    start = np.random.random_sample(shape) if value is None else np.array(value)
    if start.shape != shape:
        raise ValueError(f"compute_gradient: x_shape is {list(shape)}, but x_init_value has {list(start.shape)}")
    return start.astype(dtype.as_numpy_dtype)


def _by_gradients(session: Any, x: Any, y: Any, y_shape: tuple[int, ...], feeds: dict[Any, Any]) -> np.ndarray:
    dtype = y.dtype.base_dtype
    with get_default_graph().name_scope("compute_gradient"):
        weights = placeholder(dtype, y_shape, name="weights")
        (gradient,) = gradients([y], [x], grad_ys=[weights])
    if gradient is None:
        raise ValueError(f"compute_gradient: there is no gradient path from {y.name} to {x.name}")
    jacobian = np.zeros((feeds[x].size, int(np.prod(y_shape))), feeds[x].dtype)
    for column, unit in enumerate(_units(y_shape, dtype.as_numpy_dtype)):
        jacobian[:, column] = _dense(session.run(gradient, {**feeds, weights: unit}), feeds[x].shape).ravel()
    return jacobian


def _units(shape: tuple[int, ...], dtype: Any) -> Iterator[np.ndarray]:
    """Arrays of zeros with a single one, at each place in turn."""
    for i in range(int(np.prod(shape))):
        unit = np.zeros(shape, dtype)
        unit.ravel()[i] = 1
        yield unit


def _dense(gradient: Any, shape: tuple[int, ...]) -> np.ndarray:
    """A gradient as an array, also one that a gather gave as slices."""
    if not hasattr(gradient, "indices"):
        return gradient
    dense = np.zeros(shape, gradient.values.dtype)
    np.add.at(dense, gradient.indices, gradient.values)
    return dense


def _by_differences(session: Any, x: Any, y: Any, y_shape: Any, feeds: dict[Any, Any], delta: float) -> np.ndarray:
    start = feeds[x]
    jacobian = np.zeros((start.size, int(np.prod(y_shape))), y.dtype.base_dtype.as_numpy_dtype)
    for row in range(start.size):
        sides = []
        for step in (delta, -delta):
            moved = start.copy()
            moved.ravel()[row] += step
            sides.append(session.run(y, {**feeds, x: moved}))
        if sides[0].size != jacobian.shape[1]:
            raise ValueError(f"compute_gradient: y_shape is {list(y_shape)}, but y has {list(sides[0].shape)}")
        jacobian[row] = ((sides[0] - sides[1]) / (2 * delta)).ravel()
    return jacobian
