"""What somebody gives where a tensor is meant: taken as one, and described in messages."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from dynrnn import _nest


def as_tensor(value: Any, name: str) -> Tensor:
    """Take a tensor as it is and anything like an array as a tensor; TypeError for the rest, naming it `name`."""
    if isinstance(value, Tensor):
        return value
    if hasattr(value, "__array__"):
        return torch.as_tensor(value)
    raise TypeError(f"{name} must be a tensor, got {describe_value(value)}")


def describe_value(value: Any) -> str:
    """What a value is, for messages: its kind and its shape, and nothing of what it holds.

    Example:
        >>> describe_value(torch.zeros(2, 3)), describe_value([1, 2]), describe_value(0.5)
        ('one tensor [2, 3]', 'a list of 2', 'float')
    """
    if isinstance(value, Tensor):
        return f"one tensor {list(value.shape)}"
    if _nest.is_nested(value):
        return f"a {type(value).__name__} of {len(value)}"
    return type(value).__name__
