"""`tf.while_loop`: a traced condition and a traced body, run in turn."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from contextlib import nullcontext
from typing import Any

import torch

from ... import _nest
from ...errors import InvalidArgumentError
from ...graph.control_flow import Body
from ...graph.dtype import bool_
from ...graph.executor import distinct
from ...graph.op import REALS, Op
from ...graph.shape import Dims, TensorShape
from ..export import export
from ..graph import Operation, Tensor, atomic, get_default_graph
from ..ops.convert import convert_to_tensor
from ..scopes import name_scope
from .array_values import ArrayValue
from .invariants import as_known, invariants
from .structure import all_parts, as_whole_leaves, handed_on, pack_parts, renamed


def _bind_while(node: Operation, runtime: Any, recorded: bool, wanted: Collection[int]) -> Callable[..., Sequence[Any]]:
    attrs = node.attrs
    test_body, step_body = attrs["bodies"]
    first, count, tested = int(attrs["limited"]), attrs["num_variables"], len(test_body.captures)
    last = first + count + tested
    kept = sorted(_variables(node, wanted, False))
    passes = recorded and attrs["back_prop"]
    inner = bool(test_body.gradients or step_body.gradients)  # gradients that are taken inside need a record
    cut = inner and not passes
    test = test_body.function(runtime, params=kept)
    step = step_body.function(runtime, passes, results=kept, params=kept)

    def run(values: Sequence[Any]) -> Sequence[Any]:
        variables: Sequence[Any] = [values[first + i] for i in kept]
        if cut:
            variables = _cut(variables)
        for_test, for_step = values[first + count : last], values[last:]
        left = max(math.ceil(values[0]), 0) if first else -1
        while left and _is_true(node, test(*variables, *for_test)[0]):
            variables = step(*variables, *for_step)
            if cut:
                variables = _cut(variables)
            left = max(left - 1, -1)
        return distinct(variables, values)

    def loop(*values: Any) -> Sequence[Any]:
        with nullcontext() if passes or inner else torch.no_grad():
            found = run(values)
        if not attrs["back_prop"]:  # what was written before the loop had a gradient until here
            found = [value.detached() if isinstance(value, ArrayValue) else value for value in found]
        if len(found) == count:
            return found
        outputs: list[Any] = [None] * count
        for position, value in zip(kept, found, strict=True):
            outputs[position] = value
        return outputs

    return loop


def _cut(values: Sequence[Any]) -> list[Any]:
    """The values without what is recorded of how they were computed."""
    return [value.detach() if isinstance(value, torch.Tensor) else value for value in values]


def _is_true(node: Operation, value: torch.Tensor) -> bool:
    if value.ndim:
        raise InvalidArgumentError(None, node, f"cond must give a scalar, but it gave shape {list(value.shape)}")
    return bool(value)


def _variables(node: Operation, positions: Collection[int], differentiable: bool) -> set[int]:
    """The loop variables that those of `positions` are computed from in the course of the loop, themselves included."""
    test, step = node.attrs["bodies"]
    count = node.attrs["num_variables"]
    tested = () if differentiable else test.sources(0, False)
    return step.carried({*positions, *(source for source in tested if source < count)}, differentiable, range(count))


def _depends(node: Operation, position: int, differentiable: bool) -> set[int]:
    test, step = node.attrs["bodies"]
    first, count = int(node.attrs["limited"]), node.attrs["num_variables"]
    variables = _variables(node, [position], differentiable)
    found = {first + variable for variable in variables}
    for variable in variables:
        shift = first + len(test.captures)
        found |= {shift + source for source in step.sources(variable, differentiable) if source >= count}
    if not differentiable:
        found |= set(range(first))
        found |= {first + source for source in test.sources(0, False) if source >= count}
    return found


WHILE = Op("While", None, None, None, bind=_bind_while, bodies=True, depends=_depends)
WHILE_WITHOUT_GRADIENT = Op(
    "While", None, None, None, bind=_bind_while, bodies=True, depends=_depends, differentiable=False
)
EXIT = Op("Exit", "input:T -> T", handed_on, None, stateful=True)


@export("while_loop")
@atomic
def while_loop(
    cond: Callable[..., Any],
    body: Callable[..., Any],
    loop_vars: Any,
    shape_invariants: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    name: str | None = None,
    maximum_iterations: Any = None,
    return_same_structure: bool = False,
) -> Any:
    """Repeat `body` while `cond` is true; returns the loop variables after the last iteration.

    cond, body: functions of the loop variables; `cond` returns a bool scalar, `body` new values in the same structure,
    dtypes and shapes. loop_vars: a nest of tensors, values and TensorArrays. shape_invariants: a nest of TensorShapes,
    for variables whose shape changes. back_prop: whether gradients pass. maximum_iterations: an int or an integer
    scalar tensor. return_same_structure: keep a list of one variable a list. parallel_iterations, swap_memory:
    accepted; iterations run one after the other, and there is one memory.
    In runs that do not need all of the loop variables, the body computes only what those that are needed depend on.

    Raises:
        TypeError: `cond` or `body` that cannot be called; a dtype that changes. ValueError: no loop variables; a
        structure or shape that changes; later, the use of the body's tensors outside.

    Example:
        >>> import dynrnn.tf1 as tf
        >>> i, total = tf.while_loop(lambda i, s: i < 5, lambda i, s: (i + 1, s + i), (0, 0))
        >>> with tf.Session() as sess:
        ...     print(sess.run(total))
        10
    """
    _check_arguments(cond, body, loop_vars, parallel_iterations)
    graph = get_default_graph()
    with name_scope(name, "while"):
        limit = [] if maximum_iterations is None else [_limit(maximum_iterations)]
        leaves = as_whole_leaves(loop_vars, "a loop variable")
        before = all_parts(leaves)
        shapes = invariants(loop_vars, leaves, shape_invariants)
        test, step = Body(graph), Body(graph)
        with test.trace():
            given = _params(test, before, shapes, "Merge")
            test.close([_verdict(cond(*_arguments(loop_vars, leaves, given)))])
        with step.trace():
            given = _params(step, before, shapes, "Identity")
            structure, new = _new_values(loop_vars, body(*_arguments(loop_vars, leaves, given)))
            after = all_parts(new)
            _check_kept(before, after, shapes)
            step.close(after)
        values = [*limit, *before, *test.captures, *step.captures]
        attrs = {
            "bodies": (test, step),
            "back_prop": back_prop,
            "limited": bool(limit),
            "num_variables": len(before),
        }
        dtypes = [tensor.dtype.base_dtype for tensor in before]
        row = WHILE if back_prop else WHILE_WITHOUT_GRADIENT
        node = graph.add(row, values, attrs, dtypes=dtypes, shapes=shapes, name="While")
        packed = pack_parts(structure, new, renamed(node.outputs, EXIT))  # type: ignore[arg-type]
        if len(leaves) == 1 and not return_same_structure and isinstance(packed, (list, tuple)):
            return packed[0]
        return packed


def _check_arguments(cond: Any, body: Any, loop_vars: Any, parallel_iterations: Any) -> None:
    if not isinstance(loop_vars, Tensor) and not _nest.flatten(loop_vars) or loop_vars is None:
        raise ValueError("No loop variables provided")
    for name, function in (("cond", cond), ("body", body)):
        if not callable(function):
            raise TypeError(f"{name} must be callable.")
    if parallel_iterations < 1:
        raise TypeError(f"parallel_iterations must be a positive integer, got {parallel_iterations}")


def _limit(value: Any) -> Tensor:
    limit = convert_to_tensor(value, name="maximum_iterations")
    if limit.shape.ndims not in (None, 0):
        raise ValueError(f"maximum_iterations must be a scalar, saw shape: {limit.shape}")
    if limit.dtype.name not in REALS:
        raise TypeError(f"maximum_iterations must be a number, got {limit.name} of type {limit.dtype.name}")
    return limit


def _arguments(loop_vars: Any, leaves: list[Any], tensors: list[Tensor]) -> Any:
    """The arguments of `cond` and `body`: one for each item of a sequence of loop variables."""
    packed = pack_parts(loop_vars, leaves, tensors)
    if isinstance(loop_vars, dict):
        return (packed,)
    return packed if _nest.is_nested(loop_vars) else (packed,)


def _params(body: Body, before: list[Tensor], shapes: list[Dims], name: str) -> list[Tensor]:
    return [
        body.param(tensor.dtype, dims, name, tensor)  # type: ignore[misc]
        for tensor, dims in zip(before, shapes, strict=True)
    ]


def _verdict(value: Any) -> Tensor:
    verdict = convert_to_tensor(value)
    if verdict.dtype.base_dtype is not bool_:
        raise TypeError(f"while_loop: cond must return a bool scalar, got {verdict.name} of type {verdict.dtype.name}")
    if verdict.shape.ndims not in (None, 0):
        raise ValueError(f"while_loop: cond must return a bool scalar (rank 0), got shape {verdict.shape}")
    return verdict


def _new_values(loop_vars: Any, result: Any) -> tuple[Any, list[Any]]:
    """What the body returned: its structure as the caller will see it, and its leaves."""
    if _nest.is_nested(loop_vars) and not _nest.is_nested(result):
        result = [result]
    structure = result
    if not _nest.is_nested(loop_vars) and isinstance(result, (list, tuple)) and len(result) == 1:
        result = result[0]
    elif isinstance(loop_vars, dict) and isinstance(result, (list, tuple)) and len(result) == 1:
        result = structure = result[0]
    if isinstance(loop_vars, (list, tuple)) and isinstance(result, (list, tuple)):
        _nest.assert_same_structure(list(loop_vars), list(result))
    else:
        _nest.assert_same_structure(loop_vars, result)
    return structure, as_whole_leaves(result, "a value that the body returns")


def _check_kept(before: list[Tensor], after: list[Tensor], shapes: list[Dims]) -> None:
    if len(before) != len(after):
        raise TypeError(
            f"while_loop: the body returns {len(after)} tensors for the {len(before)} of loop_vars: a loop variable "
            "must stay a tensor, a TensorArray, or sparse with the same parts"
        )
    for old, new, dims in zip(before, after, shapes, strict=True):
        if old.dtype.base_dtype is not new.dtype.base_dtype:
            raise TypeError(
                f"The loop variable {old.name} enters the loop with type {old.dtype.base_dtype.name}, but has type "
                f"{new.dtype.base_dtype.name} after one iteration."
            )
        if not as_known(new.dims, dims):
            raise ValueError(
                f"The shape for {old.name} is not an invariant for the loop. It enters the loop with shape "
                f"{TensorShape(dims)}, but has shape {new.shape} after one iteration. Provide shape invariants using "
                "either the `shape_invariants` argument of tf.while_loop or set_shape() on the loop variables."
            )
