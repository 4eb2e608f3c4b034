"""Checks for NaN and infinity: `tf.check_numerics`, `tf.verify_tensor_all_finite`, `tf.add_check_numerics_ops`."""

from __future__ import annotations

from typing import Any

import torch

from ...errors import InvalidArgumentError
from ...graph import rules
from ...graph.op import FLOATS, Op
from ..export import export
from ..graph import Operation, Tensor, atomic, get_default_graph
from ..scopes import name_scope
from .apply import apply
from .array.placeholders import identity
from .control import group
from .convert import convert_to_tensor

_IN_GRADIENT = "Not a number (NaN) or infinity (Inf) values detected in gradient."


def _check(value: torch.Tensor, message: str) -> None:
    if torch.isfinite(value).all():
        return
    found = ["Inf"] * bool(torch.isinf(value).any()) + ["NaN"] * bool(torch.isnan(value).any())
    raise InvalidArgumentError(None, None, f"{message} : Tensor had {' and '.join(found)} values")


def _check_numerics(tensor: torch.Tensor, message: str) -> torch.Tensor:
    _check(tensor, message)
    result = tensor.view_as(tensor)
    if result.requires_grad:
        result.register_hook(lambda grad: _check(grad, f"{message} ({_IN_GRADIENT})"))
    return result


CHECK_NUMERICS = Op("CheckNumerics", "tensor:T -> T", _check_numerics, rules.same, {"T": FLOATS}, stateful=True)


@export("check_numerics", "debugging.check_numerics")
@atomic
def check_numerics(tensor: Any, message: str, name: str | None = None) -> Tensor:
    """Return `tensor`, a float tensor; fail in a run in which it holds NaN or infinity, or its gradient does.

    message: what the error begins with.

    Raises:
        TypeError: no float tensor. tf.errors.InvalidArgumentError: in a run.
    """
    return apply(CHECK_NUMERICS, [tensor], {"message": message}, name)


@export("verify_tensor_all_finite", "debugging.assert_all_finite")
@atomic
def verify_tensor_all_finite(
    t: Any = None, msg: str | None = None, name: str | None = None, x: Any = None, message: str | None = None
) -> Tensor:
    """Return the tensor, `t` or `x`; fail as `tf.check_numerics` does, with `msg` or `message`."""
    value = t if x is None else x
    text = msg if message is None else message
    if value is None or text is None:
        raise ValueError("verify_tensor_all_finite: a tensor (t or x) and a message (msg or message) are needed")
    with name_scope(name, "VerifyFinite"):
        value = convert_to_tensor(value, name="t")
        with get_default_graph().control_dependencies([check_numerics(value, text)]):
            return identity(value)


@export("add_check_numerics_ops")
@atomic
def add_check_numerics_ops() -> Operation:
    """Return an operation that checks every float tensor of the default graph that is there now, as
    `tf.check_numerics` does.

    Raises:
        ValueError: some of them are in loops or branches, which this does not check.
    """
    checks: list[Operation] = []
    for node in list(get_default_graph().get_operations()):
        for tensor in node.outputs:
            if tensor.dtype.base_dtype.name not in FLOATS:
                continue
            if node.context is not None:
                raise ValueError(
                    "`tf.add_check_numerics_ops() is not compatible with TensorFlow control flow operations such as "
                    f"`tf.cond()` or `tf.while_loop()`: {node.name} is in one"
                )
            with get_default_graph().control_dependencies(checks[-1:]):
                checks.append(check_numerics(tensor, f"{node.name}:{tensor.value_index}").op)  # type: ignore[arg-type]
    return group(*checks)
