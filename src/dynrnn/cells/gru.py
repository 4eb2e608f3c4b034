"""The gated recurrent unit: TensorFlow 1's (`GRUCell`, reset before the product) and cuDNN's and torch's (after it)."""

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
class GRUOptions:
    """Options of the GRU: its width, the candidate's activation (any callable on a tensor), where the reset gate acts.

    With `reset_after` the gate scales the state's product instead of the state itself; `gru_step` has both formulas.
    `owner` is named in errors: TypeError or ValueError for an option that is none.
    """

    num_units: int
    activation: Activation = torch.tanh
    reset_after: bool = False
    owner: InitVar[str] = "GRUOptions"

    def __post_init__(self, owner: str) -> None:
        check_size(owner, "num_units", self.num_units)
        check_activation(owner, self.activation)


class GRUWeights(NamedTuple):
    """Input rows and biases of gates and candidate side by side; recurrent rows apart, as they meet other operands.

    `input_kernel` `[input_size, 3 * units]` and `bias` `[3 * units]` in the order r, u, c; `gates_kernel`
    `[units, 2 * units]`; `candidate_kernel` `[units, units]`; `candidate_bias` `[units]` is what the reset gate scales
    together with the state's product, None where it acts before the product.
    """

    input_kernel: Tensor
    bias: Tensor
    gates_kernel: Tensor
    candidate_kernel: Tensor
    candidate_bias: Tensor | None


def gru_step(params: Mapping[str, Tensor], inputs: Tensor, state: State, options: GRUOptions) -> tuple[Tensor, State]:
    """Run one step of the GRU.

        r, u = sigmoid([x, h] @ gates/kernel + gates/bias)
        c    = activation([x, r * h] @ candidate/kernel + candidate/bias)
        h'   = u * h + (1 - u) * c,    output = h'

    and with `reset_after`, where `input_projection` and `hidden_projection` stand for a kernel and a bias each,

        c    = activation(input_projection(x) + r * hidden_projection(h))

    `inputs` x is `[batch, input_size]`, `state` is `(h,)` with h `[batch, units]`; all tensors have one floating
    dtype. `params`: "gates/kernel" `[input_size + units, 2 * units]`, "gates/bias" `[2 * units]` (starts at 1, so that
    a new cell keeps its state), "candidate/kernel" `[input_size + units, units]`, "candidate/bias" `[units]`; in the
    kernels the rows of x come first. With `reset_after` the candidate has "candidate/input_projection/kernel"
    `[input_size, units]`, "candidate/hidden_projection/kernel" `[units, units]`, and a "bias" `[units]` beside each.
    Returns `(h', (h',))`. Follows TF1's `tf.nn.rnn_cell.GRUCell` and, with `reset_after`, its
    `CudnnCompatibleGRUCell`, which computes what `torch.nn.GRU` does; Cho et al., arXiv:1406.1078.

    Example:
        >>> options = GRUOptions(2)
        >>> params = {"gates/kernel": torch.full((4, 4), 0.5), "gates/bias": torch.ones(4),
        ...           "candidate/kernel": torch.full((4, 2), 0.5), "candidate/bias": torch.zeros(2)}
        >>> output, (h,) = gru_step(params, torch.tensor([[0.6, 0.7]]), (torch.full((1, 2), 0.7),), options)
        >>> [round(value, 4) for value in output[0].tolist()]
        [0.7138, 0.7138]
    """
    return GRU.step(params, inputs, state, options)


def _params(input_size: int, options: GRUOptions) -> tuple[Param, ...]:
    units = options.num_units
    gates = (Param("gates/kernel", (input_size + units, 2 * units)), Param("gates/bias", (2 * units,), 1.0))
    if options.reset_after:
        return (
            *gates,
            Param("candidate/input_projection/kernel", (input_size, units)),
            Param("candidate/hidden_projection/kernel", (units, units)),
            Param("candidate/input_projection/bias", (units,), 0.0),
            Param("candidate/hidden_projection/bias", (units,), 0.0),
        )
    return (*gates, Param("candidate/kernel", (input_size + units, units)), Param("candidate/bias", (units,), 0.0))


def _prepare(params: Mapping[str, Tensor], options: GRUOptions) -> GRUWeights:
    units = options.num_units
    rows = (params["gates/kernel"].shape[0] - units, units)
    gates_input, gates_kernel = params["gates/kernel"].split(rows)
    if options.reset_after:
        candidate_input = params["candidate/input_projection/kernel"]
        candidate_kernel = params["candidate/hidden_projection/kernel"]
        biases = params["gates/bias"], params["candidate/input_projection/bias"]
        candidate_bias = params["candidate/hidden_projection/bias"]
    else:
        candidate_input, candidate_kernel = params["candidate/kernel"].split(rows)
        biases, candidate_bias = (params["gates/bias"], params["candidate/bias"]), None
    input_kernel = torch.cat((gates_input, candidate_input), 1)
    return GRUWeights(input_kernel, torch.cat(biases), gates_kernel, candidate_kernel, candidate_bias)


def _product(weights: GRUWeights, inputs: Tensor) -> Tensor:
    return functional.linear(inputs, weights.input_kernel.t(), weights.bias)


def _gated(weights: GRUWeights, product: Tensor, state: State, options: GRUOptions) -> tuple[Tensor, State, State]:
    (h,), units = state, options.num_units
    gates, candidate = product.split((2 * units, units), 1)
    r, u = torch.addmm(gates, h, weights.gates_kernel).sigmoid().split(units, 1)
    if weights.candidate_bias is None:
        c = torch.addmm(candidate, r * h, weights.candidate_kernel)
    else:
        c = torch.addcmul(candidate, r, torch.addmm(weights.candidate_bias, h, weights.candidate_kernel))
    c = options.activation(c)
    h = torch.lerp(c, h, u)  # c + u * (h - c) in one pass
    return h, (h,), (r, u, c)


GRU = CellSpec(
    name="gru",
    params=_params,
    state_names=lambda options: ("h",),
    state_sizes=lambda options: (options.num_units,),
    output_size=lambda options: options.num_units,
    prepare=_prepare,
    product=_product,
    gate_names=lambda options: ("r", "u", "c"),
    gated=_gated,
)
