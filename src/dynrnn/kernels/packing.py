"""Weights packed before the calls that read them, for whoever keeps them: as TensorFlow 1 and as torch lay them out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from torch import Tensor

from dynrnn.cells.spec import CellSpec
from dynrnn.kernels import call
from dynrnn.kernels.check import Setting
from dynrnn.kernels.layouts import named_layout, named_torch_layout


def pack_layer(
    spec: CellSpec, params: Mapping[str, Tensor], input_size: int, options: Any, *, isa: int = -1
) -> call.Packed:
    """Pack the parameters of a layer for calls of `run_layer` with them that record no gradients.

    Who keeps what is returned sees to it that the parameters do not change meanwhile.

    Example:
        >>> import torch
        >>> from dynrnn.cells import BASIC_RNN, BasicRNNOptions
        >>> from dynrnn.kernels import missing, run_layer
        >>> params, inputs = {"kernel": torch.ones(3, 1), "bias": torch.zeros(1)}, torch.ones(2, 9, 2)
        >>> how = {"lengths": None, "options": BasicRNNOptions(1), "reference": None}
        >>> if missing() is None:
        ...     packed = pack_layer(BASIC_RNN, params, 2, BasicRNNOptions(1))
        ...     assert torch.equal(*(run_layer(BASIC_RNN, params, inputs, None, packed=one, **how)[0]
        ...                          for one in (packed, None)))
    """
    layout, names = named_layout(spec.name, options)
    return call.pack(Setting(layout, isa=isa), [params[name] for name in names], input_size)


def pack_torch_layer(mode: str, weights: Mapping[str, Tensor], *, isa: int = -1) -> call.Packed:
    """Pack the weights of one layer and direction for calls of `run_torch_layer`, as `pack_layer` does."""
    layout, names = named_torch_layout(mode, weights)
    return call.pack(Setting(layout, isa=isa), [weights[name] for name in names], weights["weight_ih"].shape[1])
