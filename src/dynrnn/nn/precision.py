"""Autocast: in which precision a cell computes inside `torch.autocast`."""

from __future__ import annotations

import torch
from torch import Tensor


def autocast_dtype(value: Tensor) -> torch.dtype | None:
    """Return the dtype that autocast asks of a float32 or lower tensor where it is active, else None.

    Example:
        >>> with torch.autocast("cpu", torch.bfloat16):
        ...     autocast_dtype(torch.zeros(1)), autocast_dtype(torch.zeros(1, dtype=torch.float64))
        (torch.bfloat16, None)
    """
    kind = device_kind(value)
    if not torch.is_autocast_enabled(kind) or not value.is_floating_point() or value.dtype == torch.float64:
        return None
    return torch.get_autocast_dtype(kind)


def device_kind(value: Tensor) -> str:
    """Return the kind of a tensor's device, such as "cpu".

    Example:
        >>> device_kind(torch.zeros(1))
        'cpu'
    """
    return "cpu" if value.is_cpu else value.device.type  # a device takes five times as long
