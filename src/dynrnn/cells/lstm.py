"""TensorFlow 1's LSTM (`LSTMCell`; with default options `BasicLSTMCell`): peepholes, clipping, projection."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import InitVar, dataclass
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

from dynrnn.cells.options import check_activation, check_number, check_size
from dynrnn.cells.spec import Activation, CellSpec, Param, State


@dataclass(frozen=True)
class LSTMOptions:
    """Options of the LSTM; `lstm_step` says where each one acts.

    `cell_clip` and `proj_clip` are bounds on the absolute value, None for no clip (0.0 is a clip); `proj_clip` has no
    effect without `num_proj`, as in TF1. `activation` is any callable on a tensor. `owner` is named in errors:
    TypeError or ValueError for an option that is none.
    """

    num_units: int
    use_peepholes: bool = False
    cell_clip: float | None = None
    num_proj: int | None = None
    proj_clip: float | None = None
    forget_bias: float = 1.0
    activation: Activation = torch.tanh
    owner: InitVar[str] = "LSTMOptions"

    def __post_init__(self, owner: str) -> None:
        check_size(owner, "num_units", self.num_units)
        if self.num_proj is not None:
            check_size(owner, "num_proj", self.num_proj)
        for name in ("cell_clip", "proj_clip"):
            if getattr(self, name) is not None:
                check_number(owner, name, getattr(self, name), least=0)
        check_number(owner, "forget_bias", self.forget_bias)
        check_activation(owner, self.activation)


class LSTMWeights(NamedTuple):
    """The kernel's input rows `[input_size, 4 * units]` and recurrent rows `[output, 4 * units]`, and the rest.

    `bias` `[4 * units]` has the forget bias in it. Peepholes are `[units]`, `projection` is `[units, num_proj]`; what
    the options leave out is None.
    """

    input_kernel: Tensor
    recurrent_kernel: Tensor
    bias: Tensor
    input_diag: Tensor | None
    forget_diag: Tensor | None
    output_diag: Tensor | None
    projection: Tensor | None


def lstm_step(params: Mapping[str, Tensor], inputs: Tensor, state: State, options: LSTMOptions) -> tuple[Tensor, State]:
    """Run one step of the LSTM.

        i, j, f, o = [x, h] @ kernel + bias
        i  = sigmoid(i + w_i_diag * c)
        f  = sigmoid(f + forget_bias + w_f_diag * c)
        c' = clip(f * c + i * activation(j), cell_clip)
        o  = sigmoid(o + w_o_diag * c')
        h' = clip((o * activation(c')) @ projection/kernel, proj_clip),    output = h'

    The terms with `w_*_diag` exist with `use_peepholes`, the projection with `num_proj`. `inputs` x is
    `[batch, input_size]`; `state` is `(c, h)` with c `[batch, units]` and h `[batch, output]`, where output is
    `num_proj` or else units; all tensors have one floating dtype. `params`: "kernel" `[input_size + output, 4 * units]`
    (rows of x first), "bias" `[4 * units]`, "w_f_diag", "w_i_diag", "w_o_diag" `[units]`, "projection/kernel"
    `[units, num_proj]`. Returns `(h', (c', h'))`. Follows TF1's `tf.nn.rnn_cell.LSTMCell`; Sak et al.,
    arXiv:1402.1128.

    Example:
        >>> options = LSTMOptions(1)
        >>> params = {"kernel": torch.full((3, 4), 0.5), "bias": torch.zeros(4)}
        >>> state = (torch.zeros(1, 1), torch.zeros(1, 1))
        >>> output, (c, h) = lstm_step(params, torch.tensor([[0.6, 0.7]]), state, options)
        >>> [round(value.item(), 4) for value in (c, h)]
        [0.3756, 0.2358]
    """
    return LSTM.step(params, inputs, state, options)


def _output_size(options: LSTMOptions) -> int:
    return options.num_units if options.num_proj is None else options.num_proj


def _params(input_size: int, options: LSTMOptions) -> tuple[Param, ...]:
    units = options.num_units
    params = [Param("kernel", (input_size + _output_size(options), 4 * units)), Param("bias", (4 * units,), 0.0)]
    if options.use_peepholes:
        params += [Param(name, (units,)) for name in ("w_f_diag", "w_i_diag", "w_o_diag")]
    if options.num_proj is not None:
        params.append(Param("projection/kernel", (units, options.num_proj)))
    return tuple(params)


def _prepare(params: Mapping[str, Tensor], options: LSTMOptions) -> LSTMWeights:
    kernel, recurrent = params["kernel"], _output_size(options)
    input_kernel, recurrent_kernel = kernel.split((kernel.shape[0] - recurrent, recurrent))
    i, j, f, o = params["bias"].split(options.num_units)
    return LSTMWeights(
        input_kernel,
        recurrent_kernel,
        bias=torch.cat((i, j, f + options.forget_bias, o)),
        input_diag=params["w_i_diag"] if options.use_peepholes else None,
        forget_diag=params["w_f_diag"] if options.use_peepholes else None,
        output_diag=params["w_o_diag"] if options.use_peepholes else None,
        projection=params["projection/kernel"] if options.num_proj is not None else None,
    )


def _product(weights: LSTMWeights, inputs: Tensor) -> Tensor:
    return functional.linear(inputs, weights.input_kernel.t(), weights.bias)


def _gated(weights: LSTMWeights, product: Tensor, state: State, options: LSTMOptions) -> tuple[Tensor, State, State]:
    (c, h), activation = state, options.activation
    i, j, f, o = torch.addmm(product, h, weights.recurrent_kernel).split(options.num_units, 1)
    if weights.input_diag is not None and weights.forget_diag is not None:
        i = torch.addcmul(i, weights.input_diag, c)
        f = torch.addcmul(f, weights.forget_diag, c)
    i, j, f = i.sigmoid(), activation(j), f.sigmoid()
    c = torch.addcmul(f * c, i, j)
    if options.cell_clip is not None:
        c = c.clamp(-options.cell_clip, options.cell_clip)
    if weights.output_diag is not None:
        o = torch.addcmul(o, weights.output_diag, c)
    o = o.sigmoid()
    h = o * activation(c)
    if weights.projection is not None:
        h = h @ weights.projection
        if options.proj_clip is not None:
            h = h.clamp(-options.proj_clip, options.proj_clip)
    return h, (c, h), (i, j, f, o)


LSTM = CellSpec(
    name="lstm",
    params=_params,
    state_names=lambda options: ("c", "h"),
    state_sizes=lambda options: (options.num_units, _output_size(options)),
    output_size=_output_size,
    prepare=_prepare,
    product=_product,
    gate_names=lambda options: ("i", "j", "f", "o"),
    gated=_gated,
)
