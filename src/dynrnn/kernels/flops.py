"""What `torch.utils.flop_counter` counts for a layer by the kernels: its matrix products at valid steps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch.utils.flop_counter import register_flop_formula

from dynrnn.kernels.operators import _setting


def _walked(inputs: Tensor, length: Tensor | None) -> int:
    """How many steps are walked; where lengths are fake, all."""
    if length is None or type(length) is not Tensor:
        return inputs.shape[0] * inputs.shape[1]
    return int(length.sum())


def _entries(weights: Sequence[Tensor]) -> int:
    return sum(weight.numel() for weight in weights if weight.ndim == 2)


def _count_layer(
    inputs: Tensor,
    state: Sequence[Tensor],
    weights: Sequence[Tensor],
    row: Tensor | None,
    start: Tensor | None,
    length: Tensor | None,
    *rest: Any,
    **unused: Any,
) -> int:
    """Each step multiplies with every matrix."""
    return 2 * _walked(inputs, length) * _entries(weights)


def _count_backward(
    inputs: Tensor,
    state: Sequence[Tensor],
    weights: Sequence[Tensor],
    row: Tensor | None,
    start: Tensor | None,
    length: Tensor | None,
    outputs: Tensor,
    saved: Tensor | None,
    grads: Sequence[Tensor],
    present: Sequence[int],
    num_grads: int,
    wanted: Sequence[bool],
    *setting: Any,
    **unused: Any,
) -> int:
    """The transposed products, and the gradients of matrices that are wanted; without a buffer forward once more."""
    layout = _setting(setting).layout
    entries = _entries(weights)
    products = entries if wanted[0] else entries - inputs.shape[2] * layout.units * max(1, layout.gates)
    products += _entries([weight for weight, want in zip(weights, wanted[1 + len(state) :], strict=True) if want])
    products += entries if saved is None else 0
    return 2 * _walked(inputs, length) * products


register_flop_formula(torch.ops.dynrnn.layer, get_raw=True)(_count_layer)
register_flop_formula(torch.ops.dynrnn.layer_backward, get_raw=True)(_count_backward)
