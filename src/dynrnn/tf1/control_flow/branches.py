"""`tf.cond`: one of two traced branches runs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

from ... import _nest
from ...errors import InvalidArgumentError
from ...graph.branches import Branch
from ...graph.dtype import bool_
from ...graph.executor import distinct
from ...graph.op import Op
from ...graph.shape import Dims
from ..export import export
from ..graph import Operation, Tensor, atomic, get_default_graph
from ..ops.array.placeholders import identity
from ..ops.convert import constant, convert_to_tensor
from ..scopes import name_scope
from .structure import all_parts, as_whole_leaves, handed_on, pack_parts, renamed


def _bind_cond(node: Operation, runtime: Any, recorded: bool, wanted: Collection[int]) -> Callable[..., Sequence[Any]]:
    positions = sorted(wanted)
    bodies = node.attrs["bodies"]
    if_true, if_false = (body.function(runtime, recorded, results=positions) for body in bodies)
    split, count = len(bodies[0].captures), len(node.outputs)

    def cond(pred: Any, *captured: Any) -> Sequence[Any]:
        if pred.ndim:
            raise InvalidArgumentError(None, node, f"pred must be a scalar, but it has shape {list(pred.shape)}")
        found = if_true(*captured[:split]) if pred else if_false(*captured[split:])
        found = distinct(found, captured)
        if len(found) == count:
            return found
        outputs: list[Any] = [None] * count
        for position, value in zip(positions, found, strict=True):
            outputs[position] = value
        return outputs

    return cond


def _depends(node: Operation, position: int, differentiable: bool) -> list[int]:
    found = [] if differentiable else [0]
    first = 1
    for body in node.attrs["bodies"]:
        found += [first + source for source in body.sources(position, differentiable)]
        first += len(body.captures)
    return found


COND = Op("If", None, None, None, bind=_bind_cond, bodies=True, depends=_depends)
MERGE = Op("Merge", "input:T -> T", handed_on, None, stateful=True)


@export("cond")
@atomic
def cond(
    pred: Any,
    true_fn: Callable[[], Any] | None = None,
    false_fn: Callable[[], Any] | None = None,
    strict: bool = False,
    name: str | None = None,
    fn1: Callable[[], Any] | None = None,
    fn2: Callable[[], Any] | None = None,
) -> Any:
    """Return what `true_fn` returns if `pred` is true, else what `false_fn` returns; only that branch's operations run.

    pred: a bool scalar tensor. true_fn, false_fn: functions without arguments that return nests of one structure and of
    the same dtypes; for an operation the result is a bool, which is there when the operation has run. strict: keep a
    list of one result a list. fn1, fn2: older names of the two functions.
    A branch's tensors and operations may be used outside: they are there in runs that take the branch.

    Raises:
        TypeError: a Python bool as `pred`, or a branch that cannot be called. ValueError: branches that return nothing,
        or different structures or dtypes.

    Example:
        >>> import dynrnn.tf1 as tf
        >>> x = tf.constant(3.0)
        >>> with tf.Session() as sess:
        ...     print(sess.run(tf.cond(x > 2.0, lambda: x * 10.0, lambda: x)))
        30.0
    """
    true_fn, false_fn = _branch("true_fn", true_fn, "fn1", fn1), _branch("false_fn", false_fn, "fn2", fn2)
    if isinstance(pred, bool):
        raise TypeError("pred must not be a Python bool; use a tensor, or Python's own `if`")
    with name_scope(name, "cond"):
        pred = convert_to_tensor(pred)
        if pred.dtype.base_dtype is not bool_:
            raise TypeError(f"cond: pred must be a bool tensor, got {pred.name} of type {pred.dtype.name}")
        if pred.shape.ndims not in (None, 0):
            raise ValueError(f"cond: pred must be a scalar (rank 0), got {pred.name} of shape {pred.shape}")
        first = _trace("true_fn", true_fn, True, strict)
        second = _trace("false_fn", false_fn, False, strict)
        return _merged(pred, first, second, strict)


def _branch(name: str, function: Any, old_name: str, old: Any) -> Callable[[], Any]:
    if function is not None and old is not None:
        raise TypeError(f"cond(): {name} and {old_name} may not be set simultaneously.")
    function = old if function is None else function
    if function is None:
        raise TypeError(f"cond(): {name} argument required")
    if not callable(function):
        raise TypeError(f"{name} must be callable.")
    return function


def _trace(name: str, function: Callable[[], Any], taken: bool, strict: bool) -> tuple[Branch, Any, list[Any]]:
    """One branch: its body, what it returned, and the leaves of that."""
    body = Branch(get_default_graph())
    with body.trace():
        result = function()
        if result is None:
            raise ValueError(f"{name} must have a return value.")
        result = _unpacked(result, strict)
        leaves = as_whole_leaves(_nest.map_structure(lambda item: _awaited(item, taken), result), f"a result of {name}")
        body.close(all_parts(leaves))
    return body, result, leaves


def _awaited(item: Any, taken: bool) -> Any:
    """For an operation, a bool that is there when it has run."""
    if not isinstance(item, Operation):
        return item
    with get_default_graph().control_dependencies([item]):
        return identity(constant(taken))


def _unpacked(result: Any, strict: bool) -> Any:
    single = not strict and isinstance(result, (list, tuple)) and len(result) == 1
    return result[0] if single else result


def _merged(
    pred: Tensor, first: tuple[Branch, Any, list[Any]], second: tuple[Branch, Any, list[Any]], strict: bool
) -> Any:
    bodies = first[0], second[0]
    try:
        _nest.assert_same_structure(first[1], second[1])
    except (TypeError, ValueError) as error:
        raise type(error)(f"Incompatible return types of true_fn and false_fn: {error}") from error
    for one, other in zip(first[2], second[2], strict=True):
        if type(one) is not type(other):
            raise TypeError(
                f"Incompatible return types of true_fn and false_fn: {type(one).__name__} against "
                f"{type(other).__name__} ({one!r}, {other!r})"
            )
    dtypes, shapes = [], []
    for one, other in zip(bodies[0].results, bodies[1].results, strict=True):
        if one.dtype.base_dtype is not other.dtype.base_dtype:
            raise ValueError(
                "Outputs of true_fn and false_fn must have the same type: "
                f"{one.dtype.base_dtype.name}, {other.dtype.base_dtype.name} ({one.name}, {other.name})"
            )
        dtypes.append(one.dtype.base_dtype)
        shapes.append(_either(one.dims, other.dims))
    values = [pred, *bodies[0].captures, *bodies[1].captures]
    node = get_default_graph().add(COND, values, {"bodies": bodies}, dtypes=dtypes, shapes=shapes, name="If")
    for body in bodies:
        body.holder = node
    merged = renamed(node.outputs, MERGE)  # type: ignore[arg-type]
    return _unpacked(pack_parts(first[1], first[2], merged), strict)


def _either(first: Dims, second: Dims) -> Dims:
    """What is known of a shape that is one of two."""
    if first is None or second is None or len(first) != len(second):
        return None
    return tuple(a if a == b else None for a, b in zip(first, second, strict=True))
