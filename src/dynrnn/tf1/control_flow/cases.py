"""`tf.case`: the first of several branches whose condition is true."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ... import _nest
from ...graph.dtype import bool_, int32
from ...graph.gradients import IndexedSlices
from ..export import export
from ..graph import Operation, Tensor, atomic, get_default_graph
from ..ops.array.joining import stack
from ..ops.array.placeholders import identity
from ..ops.assertions import Assert
from ..ops.convert import convert_to_tensor
from ..ops.math.cast import cast
from ..ops.math.comparison import less
from ..ops.math.reduction import reduce_sum
from ..scopes import name_scope
from ..sparse_tensor import SparseTensor
from .branches import cond
from .tensor_array import TensorArray

Pairs = list[tuple[Tensor, Callable[[], Any]]]


@export("case")
@atomic
def case(
    pred_fn_pairs: Any,
    default: Callable[[], Any] | None = None,
    exclusive: bool = False,
    strict: bool = False,
    name: str = "case",
) -> Any:
    """Return what the function of the first true condition returns; only its operations run.

    pred_fn_pairs: a list of pairs (bool scalar tensor, function without arguments), or a dict of them. default: the
    function for the case that none is true; without it that case is an error. exclusive: make it an error that more
    than one is true. strict: as for `tf.cond`.

    Raises:
        TypeError: conditions that are no bool tensors, functions that cannot be called. ValueError: no pairs; functions
        that return different structures or dtypes. tf.errors.InvalidArgumentError: in a run, no condition is true, or
        too many.

    Example:
        >>> import dynrnn.tf1 as tf
        >>> x = tf.constant(2)
        >>> y = tf.case([(x < 1, lambda: tf.constant("low")), (x < 3, lambda: tf.constant("middle"))],
        ...             default=lambda: tf.constant("high"))
        >>> with tf.Session() as sess:
        ...     print(sess.run(y))
        b'middle'
    """
    pairs = _pairs(pred_fn_pairs)
    if default is not None and not callable(default):
        raise TypeError("default must be callable.")
    with name_scope(name, "case"):
        if default is None:
            pairs, default = pairs[:-1], _with_check(pairs)
        if not pairs:
            return default()
        checks = [_at_most_one([pred for pred, _ in pairs])] if exclusive else []
        with get_default_graph().control_dependencies(checks):
            return _first_true(pairs, default, strict)


def _pairs(given: Any) -> Pairs:
    if not isinstance(given, (list, tuple, Mapping)):
        raise TypeError(f"pred_fn_pairs must be a list, tuple, or dict, got {given!r}")
    pairs = list(given.items()) if isinstance(given, Mapping) else list(given)
    if not pairs:
        raise ValueError("case: pred_fn_pairs must hold at least one pair")
    for pair in pairs:
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise TypeError(f"Each entry in pred_fn_pairs must be a 2-tuple, got {pair!r}")
        pred, function = pair
        if not isinstance(pred, Tensor) and not hasattr(pred, "_as_tensor"):
            raise TypeError(f"pred must be a Tensor, got: {pred!r}")
        if convert_to_tensor(pred).dtype.base_dtype is not bool_:
            raise TypeError(f"pred must be Tensor of type bool: {pred.name}")
        if not callable(function):
            raise TypeError(f"fn for pred {pred.name} must be callable.")
    return [(convert_to_tensor(pred), function) for pred, function in pairs]


def _first_true(pairs: Sequence[Any], default: Callable[[], Any], strict: bool) -> Any:
    (pred, function), *rest = pairs
    otherwise = (lambda: _first_true(rest, default, strict)) if rest else default
    return cond(pred, function, otherwise, strict=strict, name="cond")


def _names(preds: Sequence[Tensor]) -> str:
    return ", ".join(pred.name for pred in preds)


def _at_most_one(preds: Sequence[Tensor]) -> Any:
    count = reduce_sum(cast(stack(list(preds)), int32))
    text = f"More than one condition evaluated as True but exclusive=True.  Conditions: ({_names(preds)}), Values:"
    return Assert(less(count, 2), [text, stack(list(preds))], summarize=len(preds))


def _with_check(pairs: Pairs) -> Callable[[], Any]:
    """The last function, for the case that no condition before it is true: its own must be."""
    preds = [pred for pred, _ in pairs]
    pred, function = pairs[-1]
    text = f"None of conditions evaluated as True. Conditions: ({_names(preds)}), Values:"

    def checked() -> Any:
        from_all = stack(preds)
        with get_default_graph().control_dependencies([Assert(pred, [text, from_all], summarize=len(preds))]):
            return _kept(function())

    return checked


def _kept(result: Any) -> Any:
    """The result as tensors that are made now, after the dependencies that are in force."""
    others = (Operation, TensorArray, IndexedSlices, SparseTensor)
    return _nest.map_structure(lambda item: item if isinstance(item, others) else identity(item), result)
