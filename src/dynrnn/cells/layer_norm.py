"""The LSTM with normalised gates (TensorFlow 1's `LayerNormBasicLSTMCell`), and dropout on what enters its state."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import InitVar, dataclass
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

from dynrnn.cells.options import check_activation, check_number, check_rate, check_size
from dynrnn.cells.spec import Activation, CellSpec, Param, State

_GATES = ("input", "transform", "forget", "output")  # TensorFlow 1's scopes for i, j, f, o


@dataclass(frozen=True)
class LayerNormLSTMOptions:
    """Options of the layer-normalised LSTM; `layer_norm_lstm_step` says where each one acts.

    `epsilon` is added to the variances. `norm_gain` and `norm_shift` are what gains and shifts start from. `dropout` is
    the share of the new candidate that is dropped, drawn anew at every step from torch's generator; a face sets it to 0
    outside training. Without `layer_norm` the gates have a bias instead. `owner` is named in errors: TypeError or
    ValueError for an option that is none.
    """

    num_units: int
    forget_bias: float = 1.0
    activation: Activation = torch.tanh
    layer_norm: bool = True
    norm_gain: float = 1.0
    norm_shift: float = 0.0
    epsilon: float = 1e-12
    dropout: float = 0.0
    owner: InitVar[str] = "LayerNormLSTMOptions"

    def __post_init__(self, owner: str) -> None:
        check_size(owner, "num_units", self.num_units)
        for name in ("forget_bias", "norm_gain", "norm_shift"):
            check_number(owner, name, getattr(self, name))
        check_number(owner, "epsilon", self.epsilon, least=0)
        check_rate(owner, "dropout", self.dropout)
        check_activation(owner, self.activation)


class LayerNormLSTMWeights(NamedTuple):
    """The kernel's input and recurrent rows, and the bias with the forget bias in it or the norms.

    `input_kernel` `[input_size, 4 * units]`, `recurrent_kernel` `[units, 4 * units]`, `bias` `[4 * units]` or None;
    `norms` are a gain and a shift `[units]` each for i, j, f, o and the state, in this order, or none; a gate is kept
    within -`bound`..`bound` before it is normalised.
    """

    input_kernel: Tensor
    recurrent_kernel: Tensor
    bias: Tensor | None
    norms: tuple[tuple[Tensor, Tensor], ...]
    bound: float


def layer_norm_lstm_step(
    params: Mapping[str, Tensor], inputs: Tensor, state: State, options: LayerNormLSTMOptions
) -> tuple[Tensor, State]:
    """Run one step of the layer-normalised LSTM.

        i, j, f, o = [x, h] @ kernel
        i, j, f, o = norm_input(i), norm_transform(j), norm_forget(f), norm_output(o)
        j  = dropout(activation(j))
        c' = norm_state(sigmoid(f + forget_bias) * c + sigmoid(i) * j)
        h' = sigmoid(o) * activation(c'),    output = h'
        norm(v) = (v - mean(v)) / sqrt(variance(v) + epsilon) * gamma + beta,    over the units

    Without `layer_norm` there are no norms, and a bias is added to the gates. `inputs` x is `[batch, input_size]`;
    `state` is `(c, h)`, `[batch, units]` each; all tensors have one floating dtype. `params`: "kernel"
    `[input_size + units, 4 * units]` (rows of x first) and "input/gamma", "input/beta" and so on for transform, forget,
    output and state, `[units]` each; or "bias" `[4 * units]`. Returns `(h', (c', h'))`. Follows TF1's
    `tf.contrib.rnn.LayerNormBasicLSTMCell`; Ba et al., arXiv:1607.06450, Semeniuta et al., arXiv:1603.05118.

    Example:
        >>> options = LayerNormLSTMOptions(2)
        >>> params = {param.name: torch.ones(param.shape) for param in LAYER_NORM_LSTM.params(1, options)}
        >>> state = (torch.zeros(1, 2), torch.zeros(1, 2))
        >>> output, (c, h) = layer_norm_lstm_step(params, torch.ones(1, 1), state, options)
        >>> [round(value, 4) for value in h[0].tolist()]  # rows of equal values become beta
        [0.5568, 0.5568]
    """
    return LAYER_NORM_LSTM.step(params, inputs, state, options)


def _params(input_size: int, options: LayerNormLSTMOptions) -> tuple[Param, ...]:
    units = options.num_units
    params = [Param("kernel", (input_size + units, 4 * units))]
    if not options.layer_norm:
        return (*params, Param("bias", (4 * units,), 0.0))
    for scope in (*_GATES, "state"):
        params.append(Param(f"{scope}/gamma", (units,), options.norm_gain))
        params.append(Param(f"{scope}/beta", (units,), options.norm_shift))
    return tuple(params)


def _prepare(params: Mapping[str, Tensor], options: LayerNormLSTMOptions) -> LayerNormLSTMWeights:
    kernel, units = params["kernel"], options.num_units
    input_kernel, recurrent_kernel = kernel.split((kernel.shape[0] - units, units))
    if not options.layer_norm:
        i, j, f, o = params["bias"].split(units)
        bias = torch.cat((i, j, f + options.forget_bias, o))
        return LayerNormLSTMWeights(input_kernel, recurrent_kernel, bias, (), math.inf)
    norms = [(params[f"{scope}/gamma"], params[f"{scope}/beta"]) for scope in (*_GATES, "state")]
    norms[2] = (norms[2][0], norms[2][1] + options.forget_bias)
    return LayerNormLSTMWeights(input_kernel, recurrent_kernel, None, tuple(norms), _bound(kernel.dtype))


def _product(weights: LayerNormLSTMWeights, inputs: Tensor) -> Tensor:
    return functional.linear(inputs, weights.input_kernel.t(), weights.bias)


def _bound(dtype: torch.dtype) -> float:
    """The largest size of a gate whose variance, which half precision has in float32 too, does not overflow."""
    wide = torch.promote_types(dtype, torch.float32)
    return min(torch.finfo(dtype).max, torch.finfo(wide).max ** 0.45)


def _gated(
    weights: LayerNormLSTMWeights, product: Tensor, state: State, options: LayerNormLSTMOptions
) -> tuple[Tensor, State, State]:
    (c, h), units, activation = state, options.num_units, options.activation
    gates = torch.addmm(product, h, weights.recurrent_kernel)
    if weights.norms:
        gates = gates.clamp(-weights.bound, weights.bound)
    gates = gates.split(units, 1)
    if weights.norms:
        gates = [
            functional.layer_norm(gate, (units,), gamma, beta, options.epsilon)
            for gate, (gamma, beta) in zip(gates, weights.norms[:4], strict=True)
        ]
    i, j, f, o = gates
    i, j, f, o = i.sigmoid(), activation(j), f.sigmoid(), o.sigmoid()
    if options.dropout:
        j = functional.dropout(j, options.dropout)
    c = torch.addcmul(f * c, i, j)
    if weights.norms:
        c = functional.layer_norm(c, (units,), *weights.norms[4], options.epsilon)
    h = o * activation(c)
    return h, (c, h), (i, j, f, o)


LAYER_NORM_LSTM = CellSpec(
    name="layer_norm_lstm",
    params=_params,
    state_names=lambda options: ("c", "h"),
    state_sizes=lambda options: (options.num_units, options.num_units),
    output_size=lambda options: options.num_units,
    prepare=_prepare,
    product=_product,
    gate_names=lambda options: ("i", "j", "f", "o"),
    gated=_gated,
)
