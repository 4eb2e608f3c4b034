"""`tf.custom_gradient`: a function whose gradient the program writes itself."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Any

import torch

from .. import _nest
from ..graph.control_flow import Body
from ..graph.executor import Runtime
from ..graph.op import Op
from .export import export
from .graph import Operation, Tensor, atomic, get_default_graph
from .graph_keys import GraphKeys
from .ops.convert import convert_to_tensor
from .scopes import name_scope


class _Custom(torch.autograd.Function):
    """Hands on the values that the program's function computed; backward runs the program's gradient."""

    @staticmethod
    def forward(ctx: Any, gradient: Callable[..., Any], num_ys: int, num_xs: int, *values: Any) -> tuple[Any, ...]:
        ctx.gradient, ctx.num_ys = gradient, num_ys
        ctx.save_for_backward(*values[num_ys + num_xs :])
        return tuple(y.view_as(y) for y in values[:num_ys])

    @staticmethod
    def backward(ctx: Any, *grad_ys: torch.Tensor) -> Any:
        captured = ctx.saved_tensors
        grad_xs = ctx.gradient(*grad_ys, *captured)
        return None, None, None, *[None] * ctx.num_ys, *grad_xs, *[None] * len(captured)


def _bind(node: Operation, runtime: Runtime, recorded: bool) -> Callable[..., tuple[Any, ...]]:
    (body,) = node.attrs["bodies"]
    function = body.function(runtime, recorded)
    has_gradient, records = node.attrs["has_gradient"], bool(body.gradients)

    def gradient(*values: Any) -> list[Any]:
        with torch.enable_grad() if records else nullcontext():
            found = iter(function(*values))
        return [next(found) if has else None for has in has_gradient]

    def run(*values: Any) -> tuple[Any, ...]:
        return _Custom.apply(gradient, len(body.params), len(has_gradient), *values)  # type: ignore[return-value]

    return run


# Its inputs are what the function returned, what the gradient is taken of, and what the gradient's body captures.
CUSTOM_GRADIENT = Op("IdentityN", None, None, None, bind=_bind, bodies=True)


@export("custom_gradient")
def custom_gradient(f: Callable[..., Any]) -> Callable[..., Any]:
    """Let a function say its own gradient: a decorator.

    f: takes tensors and returns a pair: a nest of tensors, and a function that takes the gradient with respect to each
    of them and returns the gradient with respect to each argument of `f` (a tensor, or a list of them; None for none).
    Where `f` uses trainable variables, that function also takes them as a keyword argument `variables`, a list, and
    returns a pair: the gradients of the arguments, and a list of the variables' gradients.

    Raises (the decorated function):
        ValueError: keyword arguments; a number of gradients that differs from the number of arguments. TypeError: `f`
        returns no pair; it uses variables, but its gradient does not take `variables`.

    Example:
        >>> import dynrnn.tf1 as tf
        >>> @tf.custom_gradient
        ... def softplus(x):
        ...     e = tf.exp(x)
        ...     return tf.log(1.0 + e), lambda dy: dy * (1.0 - 1.0 / (1.0 + e))
        >>> x = tf.constant(100.0)
        >>> print(tf.Session().run(tf.gradients(softplus(x), x)[0]))  # plain gradients: inf / inf
        1.0
    """

    @functools.wraps(f)
    @atomic
    def decorated(*args: Any, **kwargs: Any) -> Any:
        if kwargs:
            raise ValueError(f"a function under tf.custom_gradient takes no keyword arguments, got {', '.join(kwargs)}")
        xs = [convert_to_tensor(arg) for arg in args]
        start = len(get_default_graph().get_operations())
        returned = f(*xs)
        if not isinstance(returned, tuple) or len(returned) != 2 or not callable(returned[1]):
            raise TypeError(
                "a function under tf.custom_gradient must return a pair, its result and a gradient function, "
                f"got {returned!r}"
            )
        result, grad_fn = returned
        ys = [convert_to_tensor(y) for y in _nest.flatten(result)]
        body = Body(get_default_graph())
        variables = _variables(ys, start)
        if variables and not _takes_variables(grad_fn):
            raise TypeError(
                "grad_fn must accept keyword argument 'variables', since the function under tf.custom_gradient uses "
                f"variables: {variables}"
            )
        with name_scope(None, "IdentityN_grad"), body.trace():
            weights = [body.param(y.dtype, y.dims) for y in ys]
            grads = _called(grad_fn, weights, variables)
            _check_number(grads, len(xs), len(variables))
            body.close([convert_to_tensor(grad) for grad in grads if grad is not None])
        sources = [*xs, *(variable.value() for variable in variables)]
        node = get_default_graph().add(
            CUSTOM_GRADIENT,
            [*ys, *sources, *body.captures],
            {"bodies": (body,), "has_gradient": tuple(grad is not None for grad in grads)},
            dtypes=[y.dtype.base_dtype for y in ys],
            shapes=[y.dims for y in ys],
            name="IdentityN",
        )
        node.control_inputs.extend(body.controls)
        return _nest.pack_sequence_as(result, list(node.outputs))

    return decorated


def _called(grad_fn: Callable[..., Any], weights: Sequence[Any], variables: list[Any]) -> list[Any]:
    """The gradients that the program's function returns: of the arguments, then of the variables."""
    if not variables:
        return _as_list(grad_fn(*weights))
    of_arguments, of_variables = grad_fn(*weights, variables=variables)
    return [*_as_list(of_arguments), *of_variables]


def _as_list(value: Any) -> list[Any]:
    return list(value) if isinstance(value, (list, tuple)) else [value]


def _check_number(grads: list[Any], num_xs: int, num_variables: int) -> None:
    if len(grads) != num_xs + num_variables:
        raise ValueError(
            f"the gradient function returned {len(grads)} gradients, expected {num_xs} (one for each argument)"
            + (f" and {num_variables} (one for each variable)" if num_variables else "")
        )


def _takes_variables(grad_fn: Callable[..., Any]) -> bool:
    parameters = inspect.signature(grad_fn).parameters.values()
    return any(p.name == "variables" or p.kind is p.VAR_KEYWORD for p in parameters)


def _variables(ys: Sequence[Tensor], start: int) -> list[Any]:
    """The trainable variables that the operations from number `start` on, on which `ys` depend, take in."""
    holders = {
        id(variable._as_graph_element()): variable
        for variable in get_default_graph().get_collection(GraphKeys.TRAINABLE_VARIABLES)
    }
    found: dict[int, Any] = {}
    seen: set[int] = set()
    pending = [y.op for y in ys]
    while pending:
        op = pending.pop()
        if id(op) in seen or op.index < start:
            continue
        seen.add(id(op))
        for tensor in op.inputs:
            variable = holders.get(id(tensor)) or _read(tensor, holders)
            if variable is not None:
                found[id(variable)] = variable
            pending.append(tensor.op)
    return sorted(found.values(), key=lambda variable: variable.name)


def _read(tensor: Any, holders: dict[int, Any]) -> Any:
    """The variable that an older operation has read into `tensor`."""
    if tensor.op.type in ("ReadVariableOp", "Identity") and tensor.op.inputs:
        return holders.get(id(tensor.op.inputs[0]))
    return None
