"""`LSTM`, `GRU` and `RNN`: torch.nn's modules by constructor, parameters and states, at home with lengths.

Signatures and documentation; what they do is in `recurrent.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn.utils.rnn import PackedSequence

from dynrnn.nn.recurrent import Recurrent

_MODES = {"tanh": "RNN_TANH", "relu": "RNN_RELU"}
Sequences = Tensor | PackedSequence | Sequence[Tensor]


class LSTM(Recurrent):
    """`torch.nn.LSTM` for sequences of different lengths: same constructor, same parameters, same states.

        i, f, g, o = weight_ih @ x + bias_ih + weight_hh @ h + bias_hh
        c' = sigmoid(f) * c + sigmoid(i) * tanh(g)
        h' = weight_hr @ (sigmoid(o) * tanh(c'))            (weight_hr with `proj_size` only)

    Arguments are those of `torch.nn.LSTM`, and so are initial values, `state_dict` (it loads from and into one) and
    `repr`; an instance is a `torch.nn.RNNBase`. Dropout is applied to what goes from layer to layer.
    Calls are described at `forward`. Weights are read anew in every call, so that no way of changing them is missed.

    Example:
        >>> lstm = LSTM(4, 3, batch_first=True)
        >>> outputs, (h, c) = lstm(torch.randn(2, 5, 4), lengths=[5, 2])
        >>> outputs.shape, h.shape, bool((outputs[1, 2:] == 0).all()), torch.equal(h[0, 1], outputs[1, 1])
        (torch.Size([2, 5, 3]), torch.Size([1, 2, 3]), True, True)
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        proj_size: int = 0,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__(
            "LSTM",
            input_size,
            hidden_size,
            num_layers,
            bias,
            batch_first,
            dropout,
            bidirectional,
            proj_size,
            device=device,
            dtype=dtype,
        )

    def forward(
        self,
        input: Sequences,
        hx: tuple[Tensor, Tensor] | None = None,
        *,
        lengths: Any = None,
        padding_value: float = 0.0,
        implementation: str = "auto",
    ) -> tuple[Any, tuple[Tensor, Tensor]]:
        """Run all layers over every row for its own length.

        `input`, of the weights' dtype and device, is one of

        - a padded batch `[time, batch, input_size]`, or `[batch, time, input_size]` with `batch_first`, with or
          without `lengths`: integers `[batch]` within 0..time, as a list, an array or a tensor on any device;
        - one sequence `[time, input_size]`;
        - a PackedSequence;
        - a nested tensor of jagged layout `[batch, time_i, input_size]`;
        - a list or tuple of sequences `[time_i, input_size]`.

        `hx` is `(h, c)`, zeros by default: h `[layers * directions, batch, width]`, where width is `proj_size` or else
        `hidden_size`, and c `[layers * directions, batch, hidden_size]`; without their batch axis for one sequence.
        Rows stand in the caller's order everywhere.

        Returns `(output, (h, c))`. The output has the form of the input, with its full time axis and
        `directions * width` features, and is `padding_value` past a row's end; h and c are each row's states after its
        last step (in the reverse direction: after its first), for an empty row those it began with. Padding is never
        read. Under autocast all is computed, and comes out, in autocast's dtype. Work follows the sum of the lengths.
        Where `torch.vmap` maps over the lengths, and in compiled code, nobody can read them: a padded batch may have
        them all the same, and is not checked for their values; where the fused kernels do not apply, work then follows
        the time axis.

        `implementation` is "auto", which takes the fused kernels wherever they apply (`dynrnn.explain_dispatch` says
        where), or "fused" or "reference", which is taken or raises.

        Raises TypeError for another dtype or structure and ValueError for a shape, a device or a length that does not
        fit, naming the argument; ValueError for "fused" where it is not available, RuntimeError where there are no
        kernels at all.
        """
        output, (h, c) = self._run(input, hx, lengths, padding_value, implementation)
        return output, (h, c)


class GRU(Recurrent):
    """`torch.nn.GRU` for sequences of different lengths: same constructor, same parameters, same states.

        r, z = sigmoid(weight_ih @ x + bias_ih + weight_hh @ h + bias_hh)
        n    = tanh(weight_in @ x + bias_in + r * (weight_hn @ h + bias_hn))
        h'   = z * h + (1 - z) * n

    The reset gate acts after the product, as in torch and cuDNN; `dynrnn.GRUCell` is TensorFlow 1's, where it acts
    before. All else is as in `LSTM`.

    Example:
        >>> gru = GRU(4, 3, batch_first=True, bidirectional=True)
        >>> outputs, h = gru(torch.randn(2, 5, 4), lengths=[5, 0])
        >>> outputs.shape, h.shape, bool((h[:, 1] == 0).all())
        (torch.Size([2, 5, 6]), torch.Size([2, 2, 3]), True)
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__(
            "GRU",
            input_size,
            hidden_size,
            num_layers,
            bias,
            batch_first,
            dropout,
            bidirectional,
            device=device,
            dtype=dtype,
        )

    def forward(
        self,
        input: Sequences,
        hx: Tensor | None = None,
        *,
        lengths: Any = None,
        padding_value: float = 0.0,
        implementation: str = "auto",
    ) -> tuple[Any, Tensor]:
        """Run all layers over every row for its own length: as `LSTM.forward`, with one state tensor.

        `input` is a padded batch `[time, batch, input_size]`, or `[batch, time, input_size]` with `batch_first`, with
        or without `lengths` `[batch]`; one sequence `[time, input_size]`; a PackedSequence; a jagged tensor
        `[batch, time_i, input_size]`; or a list of sequences `[time_i, input_size]`. `hx` is h
        `[layers * directions, batch, hidden_size]`, zeros by default, without its batch axis for one sequence.

        Returns `(output, h)`: the output in the form of the input, with `directions * hidden_size` features and
        `padding_value` past a row's end, and h, laid out as `hx`, after each row's last step. `implementation` and
        what is raised are as in `LSTM.forward`.

        Example:
            >>> gru = GRU(4, 3, batch_first=True)
            >>> output, h = gru([torch.randn(5, 4), torch.randn(2, 4)])
            >>> [list(row.shape) for row in output], h.shape, torch.equal(h[0, 1], output[1][1])
            ([[5, 3], [2, 3]], torch.Size([1, 2, 3]), True)
        """
        output, (h,) = self._run(input, hx, lengths, padding_value, implementation)
        return output, h


class RNN(Recurrent):
    """`torch.nn.RNN` for sequences of different lengths: same constructor, same parameters, same states.

        h' = nonlinearity(weight_ih @ x + bias_ih + weight_hh @ h + bias_hh)

    `nonlinearity` is "tanh" or "relu". All else is as in `LSTM`.

    Example:
        >>> rnn = RNN(4, 3, nonlinearity="relu")
        >>> outputs, h = rnn([torch.randn(5, 4), torch.randn(2, 4)])
        >>> [list(row.shape) for row in outputs], list(h.shape)
        ([[5, 3], [2, 3]], [1, 2, 3])
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        nonlinearity: str = "tanh",
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        if nonlinearity not in _MODES:
            raise ValueError(f"RNN: nonlinearity must be one of {list(_MODES)}, got {nonlinearity!r}")
        self.nonlinearity = nonlinearity
        super().__init__(
            _MODES[nonlinearity],
            input_size,
            hidden_size,
            num_layers,
            bias,
            batch_first,
            dropout,
            bidirectional,
            device=device,
            dtype=dtype,
        )

    def forward(
        self,
        input: Sequences,
        hx: Tensor | None = None,
        *,
        lengths: Any = None,
        padding_value: float = 0.0,
        implementation: str = "auto",
    ) -> tuple[Any, Tensor]:
        """Run all layers over every row for its own length: as `LSTM.forward`, with one state tensor.

        `input` is a padded batch `[time, batch, input_size]`, or `[batch, time, input_size]` with `batch_first`, with
        or without `lengths` `[batch]`; one sequence `[time, input_size]`; a PackedSequence; a jagged tensor
        `[batch, time_i, input_size]`; or a list of sequences `[time_i, input_size]`. `hx` is h
        `[layers * directions, batch, hidden_size]`, zeros by default, without its batch axis for one sequence.

        Returns `(output, h)`: the output in the form of the input, with `directions * hidden_size` features and
        `padding_value` past a row's end, and h, laid out as `hx`, after each row's last step. `implementation` and
        what is raised are as in `LSTM.forward`.

        Example:
            >>> rnn = RNN(4, 3, num_layers=2)
            >>> output, h = rnn(torch.randn(5, 2, 4), lengths=[5, 2], padding_value=-1.0)
            >>> output.shape, h.shape, bool((output[2:, 1] == -1).all())
            (torch.Size([5, 2, 3]), torch.Size([2, 2, 3]), True)
        """
        output, (h,) = self._run(input, hx, lengths, padding_value, implementation)
        return output, h
