"""`tf.while_loop`: a traced condition and a traced body, run in turn."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from ... import _nest
from ...graph.control_flow import Body
from ...graph.dtype import bool_
from ...graph.executor import distinct
from ...graph.op import Op
from ...graph.shape import Dims, TensorShape, as_shape
from ..export import export
from ..graph import Operation, Tensor, atomic, get_default_graph
from ..ops.convert import convert_to_tensor
from ..scopes import name_scope
from .array_values import ArrayValue
from .branches import add_with_bodies
from .structure import as_leaves, flow, pack
from .tensor_array import TensorArray


def _bind_while(node: Operation, runtime: Any, recorded: bool) -> Callable[..., tuple[Any, ...]]:
    attrs = node.attrs
    test_body, step_body = attrs["bodies"]
    recorded = recorded and attrs["back_prop"]
    test, step = test_body.function(runtime, recorded), step_body.function(runtime, recorded)
    limited, count = attrs["limited"], attrs["num_variables"]
    first = int(limited)
    middle = first + count
    last = middle + len(test_body.captures)

    def run(values: tuple[Any, ...]) -> tuple[Any, ...]:
        variables, tested, stepped = values[first:middle], values[middle:last], values[last:]
        left = int(values[0]) if limited else -1
        while left and test(*variables, *tested)[0]:
            variables = step(*variables, *stepped)
            left -= 1
        return distinct(variables, values)

    def loop(*values: Any) -> tuple[Any, ...]:
        if attrs["back_prop"]:
            return run(values)
        with torch.no_grad():
            return tuple(value.detached() if isinstance(value, ArrayValue) else value for value in run(values))

    return loop


WHILE = Op("While", None, None, None, bind=_bind_while, bodies=True)
WHILE_WITHOUT_GRADIENT = Op("While", None, None, None, bind=_bind_while, bodies=True, differentiable=False)


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

    cond, body: functions of the loop variables; `cond` returns a bool scalar, `body` new values in the same structure, dtypes and shapes. loop_vars: a nest
    of tensors, values and TensorArrays. shape_invariants: a nest of TensorShapes, for variables whose shape changes. back_prop: whether gradients pass. maximum_iterations:
    an int or an integer scalar tensor. return_same_structure: keep a list of one variable a list. parallel_iterations, swap_memory: accepted; iterations run one
    after the other, and there is one memory.

    Raises:
        TypeError: `cond` or `body` that cannot be called; a dtype that changes. ValueError: no loop variables; a structure or shape that changes.

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
        limit = None if maximum_iterations is None else _limit(maximum_iterations)
        leaves = as_leaves(loop_vars, "a loop variable")
        shapes = _invariants(loop_vars, leaves, shape_invariants)
        test = Body(graph)
        with test.trace():
            given = _params(test, leaves, shapes)
            verdict = convert_to_tensor(cond(*_arguments(loop_vars, leaves, given)))
            if verdict.dtype.base_dtype is not bool_ or verdict.shape.ndims not in (None, 0):
                raise TypeError(f"while_loop: cond must return a bool scalar, got {verdict.dtype.name} of shape {verdict.shape}")
            test.close([verdict])
        step = Body(graph)
        with step.trace():
            given = _params(step, leaves, shapes)
            result = body(*_arguments(loop_vars, leaves, given))
            structure, new = _new_values(loop_vars, result)
            _check_invariants(leaves, new, shapes)
            step.close([flow(leaf) for leaf in new])
        values = [*([] if limit is None else [limit]), *map(flow, leaves), *test.captures, *step.captures]
        attrs = {"bodies": (test, step), "back_prop": back_prop, "limited": limit is not None, "num_variables": len(leaves)}
        dtypes = [flow(leaf).dtype.base_dtype for leaf in leaves]
        node = add_with_bodies(WHILE if back_prop else WHILE_WITHOUT_GRADIENT, values, attrs, dtypes, shapes, "Exit")
        packed = pack(structure, new, node.outputs)
        if len(leaves) == 1 and not return_same_structure and isinstance(packed, (list, tuple)):
            return packed[0]
        return packed


def _check_arguments(cond: Any, body: Any, loop_vars: Any, parallel_iterations: Any) -> None:
    if not loop_vars and not isinstance(loop_vars, (int, float)):
        raise ValueError("No loop variables provided")
    for name, function in (("cond", cond), ("body", body)):
        if not callable(function):
            raise TypeError(f"{name} must be callable.")
    if parallel_iterations < 1:
        raise TypeError(f"parallel_iterations must be a positive integer, got {parallel_iterations}")


def _limit(value: Any) -> Tensor:
    limit = convert_to_tensor(value, name="maximum_iterations")
    if not limit.dtype.is_integer or limit.shape.ndims not in (None, 0):
        raise ValueError(f"maximum_iterations must be an integer scalar, saw shape: {limit.shape}, type {limit.dtype.name}")
    return limit


def _arguments(loop_vars: Any, leaves: list[Any], tensors: list[Tensor]) -> Any:
    """The arguments of `cond` and `body`: one for each item of a sequence of loop variables."""
    packed = pack(loop_vars, leaves, tensors)
    if isinstance(loop_vars, dict):
        return (packed,)
    return packed if _nest.is_nested(loop_vars) else (packed,)


def _params(body: Body, leaves: list[Any], shapes: list[Dims]) -> list[Tensor]:
    return [body.param(flow(leaf).dtype, dims, "Identity") for leaf, dims in zip(leaves, shapes, strict=True)]


def _invariants(loop_vars: Any, leaves: list[Any], shape_invariants: Any) -> list[Dims]:
    if shape_invariants is None:
        return [flow(leaf).dims for leaf in leaves]
    _nest.assert_same_structure(loop_vars, _nest.map_structure_up_to(loop_vars, lambda shape: 0, shape_invariants), check_types=False)
    given = _nest.flatten_up_to(loop_vars, shape_invariants, check_types=False)
    result: list[Dims] = []
    for leaf, shape in zip(leaves, given, strict=True):
        if isinstance(leaf, TensorArray):
            result.append(leaf.flow.dims)
            continue
        shape = as_shape(shape)
        if not _at_least_as_known(leaf.dims, shape.tuple):
            raise ValueError(f"The shape invariant specified for {leaf.name} is not compatible with the initial shape of the loop variable. It enters the loop with shape {leaf.shape}, but the specified shape invariant is {shape}.")
        result.append(shape.tuple)
    return result


def _at_least_as_known(dims: Dims, invariant: Dims) -> bool:
    if invariant is None:
        return True
    if dims is None or len(dims) != len(invariant):
        return False
    return all(want is None or size == want for size, want in zip(dims, invariant, strict=True))


def _new_values(loop_vars: Any, result: Any) -> tuple[Any, list[Any]]:
    """What the body returned: its structure as the caller will see it, and its leaves."""
    if _nest.is_nested(loop_vars) and not _nest.is_nested(result):
        result = [result]
    structure = result
    if not _nest.is_nested(loop_vars) and isinstance(result, (list, tuple)) and len(result) == 1:
        structure = result
        result = result[0]
    elif isinstance(loop_vars, dict) and isinstance(result, (list, tuple)) and len(result) == 1:
        result = structure = result[0]
    if isinstance(loop_vars, (list, tuple)) and not hasattr(loop_vars, "_fields") and isinstance(result, (list, tuple)):
        _nest.assert_same_structure(list(loop_vars), list(result))
    else:
        _nest.assert_same_structure(loop_vars, result)
    return structure, as_leaves(result, "a value that the body returns")


def _check_invariants(before: list[Any], after: list[Any], shapes: list[Dims]) -> None:
    for old, new, dims in zip(before, after, shapes, strict=True):
        if flow(old).dtype.base_dtype is not flow(new).dtype.base_dtype:
            raise TypeError(f"The loop variable {flow(old).name} enters the loop with type {flow(old).dtype.name}, but has type {flow(new).dtype.name} after one iteration.")
        if not _at_least_as_known(flow(new).dims, dims):
            raise ValueError(
                f"The shape for {flow(old).name} is not an invariant for the loop. It enters the loop with shape {TensorShape(dims)}, but has shape {flow(new).shape} "
                "after one iteration. Provide shape invariants using either the `shape_invariants` argument of tf.while_loop or set_shape() on the loop variables."
            )
