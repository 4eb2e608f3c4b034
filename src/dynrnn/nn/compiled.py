"""Cells that went through `torch.compile`: how they are known, and what they are besides.

Only attributes are asked, so that nothing of the compiler is imported here.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch._C import _functorch  # pyright: ignore[reportAttributeAccessIssue]


def uncompiled(cell: Any) -> Any:
    """The module inside what `torch.compile(module)` returned; anything else as it is.

    Example:
        >>> module = torch.nn.Linear(2, 2)
        >>> uncompiled(module) is module
        True
    """
    while isinstance(cell, nn.Module) and "_orig_mod" in cell._modules:
        cell = cell._modules["_orig_mod"]
    return cell


def is_compiled(cell: Any) -> bool:
    """Say whether calls of a module or a function run compiled code: `torch.compile(cell)`, or `module.compile()`.

    Example:
        >>> is_compiled(torch.nn.Linear(2, 2))
        False
    """
    if uncompiled(cell) is not cell or getattr(cell, "_compiled_call_impl", None) is not None:
        return True
    return hasattr(cell, "_torchdynamo_orig_callable")


def within_transform() -> bool:
    """Say whether `torch.func.vmap`, `grad` or another transform is at work, which keeps gradients in its own way.

    Example:
        >>> torch.func.vmap(lambda value: value + within_transform())(torch.tensor([0])), within_transform()
        (tensor([1]), False)
    """
    return _functorch.peek_interpreter_stack() is not None  # torch offers no public question for this


def alike_for_all_steps(state: list[Tensor], inputs: list[Tensor], cell: Any) -> list[Tensor]:
    """A state to begin with whose tensors look to the compiler as those after a step do, so that one code serves all.

    They are new, with the strides of new tensors; and where steps are recorded for backward, those of floating point
    require gradients from the first step on.
    """
    parameters = cell.parameters() if isinstance(cell, nn.Module) else ()
    recorded = torch.is_grad_enabled() and any(value.requires_grad for value in (*inputs, *state, *parameters))
    alike = [value.clone(memory_format=torch.contiguous_format) for value in state]
    for value in alike if recorded and not within_transform() else ():
        if value.is_floating_point() and not value.requires_grad:
            value.requires_grad_()
    return alike
