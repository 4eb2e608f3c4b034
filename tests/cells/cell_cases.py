"""The cells with the options that the generic tests run them with, and random tensors for them."""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor

from dynrnn.cells import (
    BASIC_RNN,
    GRU,
    LAYER_NORM_LSTM,
    LSTM,
    BasicRNNOptions,
    CellSpec,
    GRUOptions,
    LayerNormLSTMOptions,
    LSTMOptions,
)


class Variant(NamedTuple):
    spec: CellSpec
    options: Any


VARIANTS = {
    "basic_rnn": Variant(BASIC_RNN, BasicRNNOptions(3)),
    "basic_rnn-sigmoid": Variant(BASIC_RNN, BasicRNNOptions(2, activation=torch.sigmoid)),
    "gru": Variant(GRU, GRUOptions(3)),
    "gru-softsign": Variant(GRU, GRUOptions(2, activation=torch.nn.functional.softsign)),
    "gru-reset_after": Variant(GRU, GRUOptions(3, reset_after=True)),
    "lstm": Variant(LSTM, LSTMOptions(3)),
    "lstm-peephole": Variant(LSTM, LSTMOptions(3, use_peepholes=True)),
    "lstm-projected": Variant(LSTM, LSTMOptions(4, num_proj=2)),
    "lstm-everything": Variant(
        LSTM, LSTMOptions(4, use_peepholes=True, cell_clip=0.3, num_proj=3, proj_clip=0.2, forget_bias=0.5)
    ),
    "layer_norm_lstm": Variant(LAYER_NORM_LSTM, LayerNormLSTMOptions(4, epsilon=0.01)),
    "layer_norm_lstm-biased": Variant(LAYER_NORM_LSTM, LayerNormLSTMOptions(2, layer_norm=False)),
}


class Case(NamedTuple):
    """Random params, padded inputs `[batch, time, 2]` and initial state of one variant."""

    params: dict[str, Tensor]
    inputs: Tensor
    state: tuple[Tensor, ...]

    def leaves(self) -> list[Tensor]:
        return [self.inputs, *self.state, *self.params.values()]

    def with_leaves(self, leaves: list[Tensor] | tuple[Tensor, ...]) -> Case:
        count = len(self.state)
        return Case(dict(zip(self.params, leaves[1 + count :], strict=True)), leaves[0], tuple(leaves[1 : 1 + count]))


def draw(
    variant: Variant, batch: int, time: int, *, dtype: torch.dtype = torch.float64, seed: int = 0, size: int = 2
) -> Case:
    """Draw a case whose tensors all ask for gradients. Float64 draws, so that every dtype has the same numbers."""
    random = torch.Generator().manual_seed(seed)

    def tensor(*shape: int) -> Tensor:
        return torch.randn(*shape, generator=random, dtype=torch.float64).to(dtype).requires_grad_()

    spec, options = variant
    params = {param.name: tensor(*param.shape) for param in spec.params(size, options)}
    inputs = tensor(batch, time, size)
    return Case(params, inputs, tuple(tensor(batch, width) for width in spec.state_sizes(options)))
