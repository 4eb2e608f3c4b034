"""Elementwise functions whose derivatives TensorFlow defines otherwise than torch does: at ties and at poles.

All of them can be differentiated again.
"""

from __future__ import annotations

from typing import Any

import torch

from ....errors import InvalidArgumentError


class _Through(torch.autograd.Function):
    """The first argument's value with the second one's derivative."""

    @staticmethod
    def forward(ctx: Any, value: torch.Tensor, stand_in: torch.Tensor) -> torch.Tensor:
        return value.view_as(value)

    @staticmethod
    def backward(ctx: Any, *grads: torch.Tensor) -> tuple[None, torch.Tensor]:
        return None, grads[0]


def with_derivative_of(value: torch.Tensor, stand_in: torch.Tensor) -> torch.Tensor:
    """Return `value`, which autograd takes for `stand_in`, a differentiable expression of the same shape."""
    return _Through.apply(value.detach(), stand_in)  # type: ignore[return-value]


def recorded(*values: torch.Tensor) -> bool:
    """Whether autograd follows any of the values now."""
    return torch.is_grad_enabled() and any(value.requires_grad for value in values)


def sign(x: torch.Tensor) -> torch.Tensor:
    """-1, 0 or 1, NaN of NaN; x / |x| of complex numbers. Its derivative is 0."""
    x = x.detach()
    return torch.sgn(x) if not x.is_floating_point() else torch.where(torch.isnan(x), x, torch.sgn(x))


def absolute(x: torch.Tensor) -> torch.Tensor:
    """|x|, with the derivative sign(x)."""
    return with_derivative_of(torch.abs(x), x * sign(x)) if recorded(x) else torch.abs(x)


def maximum(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """The larger of two; where they are equal, x gets the whole gradient."""
    if not recorded(x, y):
        return torch.maximum(x, y)
    return with_derivative_of(torch.maximum(x, y), torch.where(x >= y, x, y))


def minimum(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """The smaller of two; where they are equal, x gets the whole gradient."""
    if not recorded(x, y):
        return torch.minimum(x, y)
    return with_derivative_of(torch.minimum(x, y), torch.where(x <= y, x, y))


class _Power(torch.autograd.Function):
    """x ** y with d/dx = y x**(y - 1) everywhere, and d/dy = x**y log(x), its logarithm taken as 0 where x <= 0."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        ctx.save_for_backward(x, y)
        return torch.pow(x, y)

    @staticmethod
    def backward(ctx: Any, *grads: torch.Tensor) -> tuple[torch.Tensor | None, torch.Tensor | None]:
        x, y = ctx.saved_tensors
        grad_x = grad_y = None
        if ctx.needs_input_grad[0]:
            grad_x = (grads[0] * (y * power(x, y - 1))).sum_to_size(x.shape)
        if ctx.needs_input_grad[1]:
            positive = x > 0
            logarithm = torch.where(positive, torch.where(positive, x, 1).log(), 0)
            grad_y = (grads[0] * (power(x, y) * logarithm)).sum_to_size(y.shape)
        return grad_x, grad_y


def power(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """x ** y; at x = 0 the derivatives are those of the formulas, so that of x ** 0 is NaN there."""
    if not (x.is_floating_point() or x.is_complex()) and bool((y < 0).any()):
        raise InvalidArgumentError(None, None, "Integers to negative integer powers are not allowed")
    return _Power.apply(x, y) if recorded(x, y) else torch.pow(x, y)  # type: ignore[return-value]


def divide_no_nan(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """x / y, and 0 where y is 0; so are its derivatives there."""
    zero = y == 0
    return torch.where(zero, 0, x / torch.where(zero, 1, y))


def times_logarithm(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """x log(y), and 0 where x is 0; so are its derivatives there."""
    zero = x == 0
    return torch.where(zero, 0, x * torch.where(zero, 1, y).log())


def zero_over(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """x / y, and 0 where x is 0; so are its derivatives there."""
    zero = x == 0
    return torch.where(zero, 0, x / torch.where(zero, 1, y))
