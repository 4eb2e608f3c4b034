"""The basic recurrent cell of TensorFlow 1 (`BasicRNNCell`): one product and one activation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import InitVar, dataclass
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

from dynrnn.cells.options import check_activation, check_size
from dynrnn.cells.spec import Activation, CellSpec, Param, State


@dataclass(frozen=True)
class BasicRNNOptions:
    """Options of the basic cell: its width and the function applied to the sum (any callable on a tensor).

    `owner` is named in errors: TypeError or ValueError for an option that is none.
    """

    num_units: int
    activation: Activation = torch.tanh
    owner: InitVar[str] = "BasicRNNOptions"

    def __post_init__(self, owner: str) -> None:
        check_size(owner, "num_units", self.num_units)
        check_activation(owner, self.activation)


class BasicRNNWeights(NamedTuple):
    """The kernel's input rows `[input_size, units]`, its recurrent rows `[units, units]`, and the bias `[units]`."""

    input_kernel: Tensor
    recurrent_kernel: Tensor
    bias: Tensor


def basic_rnn_step(
    params: Mapping[str, Tensor], inputs: Tensor, state: State, options: BasicRNNOptions
) -> tuple[Tensor, State]:
    """Run one step of the basic cell.

        h' = activation([x, h] @ kernel + bias),    output = h'

    `inputs` x is `[batch, input_size]`, `state` is `(h,)` with h `[batch, units]`; all tensors have one floating
    dtype. `params`: "kernel" `[input_size + units, units]` (rows of x first) and "bias" `[units]`. Returns
    `(h', (h',))`. Follows TF1's `tf.nn.rnn_cell.BasicRNNCell`; Elman, Finding Structure in Time, 1990.

    Example:
        >>> options = BasicRNNOptions(1)
        >>> params = {"kernel": torch.full((3, 1), 0.5), "bias": torch.zeros(1)}
        >>> output, (h,) = basic_rnn_step(params, torch.tensor([[0.0, 0.1]]), (torch.zeros(1, 1),), options)
        >>> round(output.item(), 6)
        0.049958
    """
    return BASIC_RNN.step(params, inputs, state, options)


def _params(input_size: int, options: BasicRNNOptions) -> tuple[Param, ...]:
    units = options.num_units
    return (Param("kernel", (input_size + units, units)), Param("bias", (units,), 0.0))


def _prepare(params: Mapping[str, Tensor], options: BasicRNNOptions) -> BasicRNNWeights:
    kernel, units = params["kernel"], options.num_units
    input_kernel, recurrent_kernel = kernel.split((kernel.shape[0] - units, units))
    return BasicRNNWeights(input_kernel, recurrent_kernel, params["bias"])


def _product(weights: BasicRNNWeights, inputs: Tensor) -> Tensor:
    return functional.linear(inputs, weights.input_kernel.t(), weights.bias)


def _gated(
    weights: BasicRNNWeights, product: Tensor, state: State, options: BasicRNNOptions
) -> tuple[Tensor, State, State]:
    h = options.activation(torch.addmm(product, state[0], weights.recurrent_kernel))
    return h, (h,), ()


BASIC_RNN = CellSpec(
    name="basic_rnn",
    params=_params,
    state_names=lambda options: ("h",),
    state_sizes=lambda options: (options.num_units,),
    output_size=lambda options: options.num_units,
    prepare=_prepare,
    product=_product,
    gate_names=lambda options: (),
    gated=_gated,
)
