"""The cells of the native face: what to pass them. Their formulas are in `dynrnn.cells`."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import torch

from dynrnn.cells import (
    BASIC_RNN,
    GRU,
    LAYER_NORM_LSTM,
    LSTM,
    BasicRNNOptions,
    GRUOptions,
    LayerNormLSTMOptions,
    LSTMOptions,
)
from dynrnn.cells.options import check_rate, check_size
from dynrnn.cells.spec import Activation
from dynrnn.nn.initializers import Initializer
from dynrnn.nn.spec_cell import SpecCell


class BasicRNNCell(SpecCell):
    """The basic cell: `hidden_size` units, one product and one activation (`dynrnn.cells.basic_rnn_step`).

    `input_size` is inferred at first use when None. `initializer` names (`dynrnn.nn.initializers`) or is what fills
    the kernel; the bias starts at 0. State and output are one tensor `[batch, hidden_size]`. The sizes of
    `torch.nn.RNNCell` are the other way round, (input_size, hidden_size). Raises TypeError or ValueError for a size
    that is no positive int and an activation that is no function. Follows TF1's `tf.nn.rnn_cell.BasicRNNCell`.

    Example:
        >>> cell = BasicRNNCell(4, 3)
        >>> output, state = cell(torch.zeros(2, 3))
        >>> output.shape, list(cell.state_dict())
        (torch.Size([2, 4]), ['kernel', 'bias'])
    """

    spec = BASIC_RNN

    def __init__(
        self,
        hidden_size: int,
        input_size: int | None = None,
        *,
        activation: Activation = torch.tanh,
        initializer: str | Initializer = "glorot_uniform",
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        owner = type(self).__name__
        check_size(owner, "hidden_size", hidden_size)
        options = BasicRNNOptions(hidden_size, activation, owner)
        super().__init__(options, input_size, initializer=initializer, device=device, dtype=dtype)


class LSTMCell(SpecCell):
    """The LSTM: `hidden_size` units and TensorFlow 1's options (`dynrnn.cells.lstm_step` has the equations).

    `forget_bias` is added to the forget gate in every step and is in no weight, as in TensorFlow 1. With
    `use_peepholes` the gates see c; `cell_clip` bounds c; `num_proj` projects h, and `proj_clip` bounds the projection.
    `input_size` is inferred at first use when None. `initializer` names or is what fills kernels and peepholes; the
    bias starts at 0. The state is `LSTMState(c, h)`, c `[batch, hidden_size]`, h and the output
    `[batch, num_proj or hidden_size]`. In `torch.nn.LSTMCell` the sizes are the other way round, (input_size,
    hidden_size), there is no forget_bias, and the state is (h, c). Raises TypeError or ValueError for a size that is no
    positive int, a bound that is negative or NaN, a forget_bias that is no number and an activation that is no
    function. Follows TF1's `tf.nn.rnn_cell.LSTMCell`; Sak et al., arXiv:1402.1128.

    Example:
        >>> cell = LSTMCell(4, 3, num_proj=2)
        >>> output, state = cell(torch.zeros(5, 3))
        >>> state.c.shape, state.h.shape, list(cell.state_dict())
        (torch.Size([5, 4]), torch.Size([5, 2]), ['kernel', 'bias', 'projection.kernel'])
    """

    spec = LSTM

    def __init__(
        self,
        hidden_size: int,
        input_size: int | None = None,
        *,
        use_peepholes: bool = False,
        cell_clip: float | None = None,
        num_proj: int | None = None,
        proj_clip: float | None = None,
        forget_bias: float = 1.0,
        activation: Activation = torch.tanh,
        initializer: str | Initializer = "glorot_uniform",
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        owner = type(self).__name__
        check_size(owner, "hidden_size", hidden_size)
        if proj_clip is not None and num_proj is None:
            raise ValueError(f"{owner}: proj_clip={proj_clip} has no effect without num_proj")
        options = LSTMOptions(
            hidden_size, use_peepholes, cell_clip, num_proj, proj_clip, forget_bias, activation, owner
        )
        super().__init__(options, input_size, initializer=initializer, device=device, dtype=dtype)


class GRUCell(SpecCell):
    """The gated recurrent unit: `hidden_size` units (`dynrnn.cells.gru_step` has the equations).

    The reset gate acts on the state before its product, as in TensorFlow 1; with `reset_after`, on the product, as in
    torch and cuDNN. `input_size` is inferred at first use when None. `initializer` names or is what fills the kernels;
    the gates' bias starts at 1, so that a new cell keeps its state, other biases at 0. State and output are one tensor
    `[batch, hidden_size]`. The sizes of `torch.nn.GRUCell` are the other way round, (input_size, hidden_size). Raises
    TypeError or ValueError for a size that is no positive int and an activation that is no function. Follows TF1's
    `tf.nn.rnn_cell.GRUCell`; Cho et al., arXiv:1406.1078.

    Example:
        >>> cell = GRUCell(4, 3)
        >>> output, state = cell(torch.zeros(2, 3))
        >>> list(cell.state_dict())
        ['gates.kernel', 'gates.bias', 'candidate.kernel', 'candidate.bias']
    """

    spec = GRU

    def __init__(
        self,
        hidden_size: int,
        input_size: int | None = None,
        *,
        activation: Activation = torch.tanh,
        reset_after: bool = False,
        initializer: str | Initializer = "glorot_uniform",
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        owner = type(self).__name__
        check_size(owner, "hidden_size", hidden_size)
        options = GRUOptions(hidden_size, activation, reset_after, owner)
        super().__init__(options, input_size, initializer=initializer, device=device, dtype=dtype)


class LayerNormLSTMCell(SpecCell):
    """The LSTM with layer-normalised gates (`dynrnn.cells.layer_norm_lstm_step` has the equations).

    `epsilon` is what is added to variances: TensorFlow 1's 1e-12 by default, under which rows of equal values become
    the shift. `norm_gain` and `norm_shift` are what gains and shifts start from. `recurrent_dropout` is the share of
    the new candidate that is dropped in training, drawn at every step. Without `layer_norm` the gates have a bias
    instead. `input_size` is inferred at first use when None. The state is `LSTMState(c, h)`, `[batch, hidden_size]`
    each, and the output is h. Raises TypeError or ValueError for a size that is no positive int, a rate outside 0..1,
    an epsilon that is negative, another option that is no number and an activation that is no function. Follows TF1's
    `tf.contrib.rnn.LayerNormBasicLSTMCell`; Ba et al., arXiv:1607.06450.

    Example:
        >>> cell = LayerNormLSTMCell(4, 3)
        >>> list(cell.state_dict())[:3], cell.state_size
        (['kernel', 'input.gamma', 'input.beta'], LSTMState(c=4, h=4))
    """

    spec = LAYER_NORM_LSTM

    def __init__(
        self,
        hidden_size: int,
        input_size: int | None = None,
        *,
        forget_bias: float = 1.0,
        activation: Activation = torch.tanh,
        layer_norm: bool = True,
        norm_gain: float = 1.0,
        norm_shift: float = 0.0,
        epsilon: float = 1e-12,
        recurrent_dropout: float = 0.0,
        initializer: str | Initializer = "glorot_uniform",
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        owner = type(self).__name__
        check_size(owner, "hidden_size", hidden_size)
        rate = check_rate(owner, "recurrent_dropout", recurrent_dropout)
        options = LayerNormLSTMOptions(
            hidden_size, forget_bias, activation, layer_norm, norm_gain, norm_shift, epsilon, rate, owner
        )
        super().__init__(options, input_size, initializer=initializer, device=device, dtype=dtype)
        self._outside_training = options, replace(options, dropout=0.0)

    def _options(self) -> Any:
        if self.training or not self.options.dropout:
            return self.options
        if self._outside_training[0] is not self.options:
            self._outside_training = self.options, replace(self.options, dropout=0.0)
        return self._outside_training[1]
