"""torch's own layers as peers: padded, packed, packed beforehand; exact results; a large product as the limit."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence, pad_packed_sequence

from benchmarks.peers import PRODUCT_SIDE, Prepared
from benchmarks.problem import Problem

_MODULES = {"lstm": nn.LSTM, "gru": nn.GRU, "rnn": nn.RNN}


def load(layer: nn.Module, weights: dict[str, np.ndarray]) -> None:
    """Give a module of one layer its weights."""
    layer.load_state_dict({f"{name}_l0": torch.from_numpy(value) for name, value in weights.items()})


def gradients_of(layer: nn.Module) -> dict[str, np.ndarray]:
    """The gradients of a module of one layer; of its two biases the first one's."""
    named = dict(layer.named_parameters())
    return {name: gradient_of(named[f"{name}_l0"]) for name in ("weight_ih", "weight_hh", "bias_ih")}


def gradient_of(value: Tensor) -> np.ndarray:
    assert value.grad is not None
    return value.grad.numpy()


def torch_work(
    mode: str,
    forward: Callable[[], Any],
    parameters: Iterable[Tensor],
    *,
    loss: Callable[[Any], Tensor],
    outputs: Callable[[Any], np.ndarray],
    gradients: Callable[[], dict[str, np.ndarray]],
) -> Prepared:
    """Wrap a forward pass in torch for a mode; `loss` is taken of what `forward` returns, and its gradients read."""
    if mode == "inference":
        return Prepared(forward, outputs, around=torch.no_grad)
    if mode == "recording":
        return Prepared(forward, outputs)
    parameters = list(parameters)

    def train() -> Any:
        for parameter in parameters:
            parameter.grad = None
        result = forward()
        loss(result).backward()
        return result

    return Prepared(train, outputs, lambda _: gradients())


def as_array(value: Tensor) -> np.ndarray:
    return value.detach().numpy()


def padded(problem: Problem, mode: str, threads: int) -> Prepared:
    """The layer over the padded batch, knowing no lengths: its outputs past the ends are hidden from the loss only."""
    inputs, lengths, weights = problem.arrays()
    layer, x = _MODULES[problem.cell](problem.input_size, problem.units), torch.from_numpy(inputs)
    load(layer, weights)
    valid = (torch.arange(problem.time)[:, None] < torch.from_numpy(lengths)).float()[:, :, None]
    return torch_work(
        mode,
        lambda: layer(x)[0],
        layer.parameters(),
        loss=lambda out: (out * valid).square().sum(),
        outputs=as_array,
        gradients=lambda: gradients_of(layer),
    )


def packed(problem: Problem, mode: str, threads: int) -> Prepared:
    """The layer over the same padded batch, packed and padded again as its users do: padded in, padded out."""
    inputs, lengths, weights = problem.arrays()
    return _packed(problem, mode, weights, torch.from_numpy(inputs), torch.from_numpy(lengths))


def exact(problem: Problem, mode: str, threads: int) -> Prepared:
    """What `packed` computes, in float64."""
    inputs, lengths, weights = problem.arrays()
    doubles = {name: value.astype(np.float64) for name, value in weights.items()}
    return _packed(problem, mode, doubles, torch.from_numpy(inputs).double(), torch.from_numpy(lengths))


def _packed(problem: Problem, mode: str, weights: dict[str, np.ndarray], x: Tensor, lengths: Tensor) -> Prepared:
    layer = _MODULES[problem.cell](problem.input_size, problem.units, dtype=x.dtype)
    load(layer, weights)

    def forward() -> Tensor:
        output, _ = layer(pack_padded_sequence(x, lengths, enforce_sorted=False))
        return pad_packed_sequence(output, total_length=problem.time)[0]

    return torch_work(
        mode,
        forward,
        layer.parameters(),
        loss=lambda out: out.square().sum(),
        outputs=as_array,
        gradients=lambda: gradients_of(layer),
    )


def presorted(problem: Problem, mode: str, threads: int) -> Prepared:
    """The layer over a batch that was sorted and packed before, whose outputs stay packed: nothing but the layer."""
    inputs, lengths, weights = problem.arrays()
    layer = _MODULES[problem.cell](problem.input_size, problem.units)
    load(layer, weights)
    order = np.argsort(-lengths, kind="stable")
    batch = pack_padded_sequence(torch.from_numpy(inputs[:, order]), torch.from_numpy(lengths[order]))

    def unsorted(output: PackedSequence) -> np.ndarray:
        rows = as_array(pad_packed_sequence(output, total_length=problem.time)[0])
        return rows[:, np.argsort(order, kind="stable")]

    return torch_work(
        mode,
        lambda: layer(batch)[0],
        layer.parameters(),
        loss=lambda out: out.data.square().sum(),
        outputs=unsorted,
        gradients=lambda: gradients_of(layer),
    )


def large_product(problem: Problem, mode: str, threads: int) -> Prepared:
    """A product of square matrices of `PRODUCT_SIDE`, the same for every problem: what the machine can do at best."""
    left, right, out = torch.rand(3, PRODUCT_SIDE, PRODUCT_SIDE)
    return Prepared(lambda: torch.mm(left, right, out=out))
