"""dynrnn's own entries: its modules, its native loop with a cell, and the reference loop that defines them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

import dynrnn
from benchmarks.layouts import from_tf1, to_tf1
from benchmarks.peers import Prepared
from benchmarks.peers.torch_modules import as_array, gradient_of, gradients_of, load, torch_work
from benchmarks.problem import Problem
from dynrnn.cells import GRU, GRUOptions
from dynrnn.kernels.availability import isas
from dynrnn.rnn import run_layer
from dynrnn.rnn.torch_weights import cell_of, cell_params

_MODULES: dict[str, type[nn.Module]] = {"lstm": dynrnn.LSTM, "gru": dynrnn.GRU, "rnn": dynrnn.RNN}
_MODES = {"lstm": "LSTM", "gru": "GRU", "rnn": "RNN_TANH"}  # of torch's modules


def module(problem: Problem, mode: str, threads: int) -> Prepared:
    """The module that takes torch's place, given the padded batch and its lengths."""
    inputs, lengths, weights = problem.arrays()
    layer, x, rows = _MODULES[problem.cell](problem.input_size, problem.units), *_tensors(inputs, lengths)
    load(layer, weights)
    return torch_work(
        mode,
        lambda: layer(x, lengths=rows)[0],
        layer.parameters(),
        loss=lambda out: out.square().sum(),
        outputs=as_array,
        gradients=lambda: gradients_of(layer),
    )


def frozen_module(problem: Problem, mode: str, threads: int) -> Prepared:
    """The module with weights that are known not to change and packed once, as ONNX Runtime packs its constants."""
    inputs, lengths, weights = problem.arrays()
    layer, x, rows = _MODULES[problem.cell](problem.input_size, problem.units), *_tensors(inputs, lengths)
    load(layer, weights)

    @contextmanager
    def around() -> Iterator[None]:
        with torch.no_grad(), dynrnn.frozen(layer):
            yield

    return Prepared(lambda: layer(x, lengths=rows)[0], outputs=as_array, around=around)


def native_loop(problem: Problem, mode: str, threads: int) -> Prepared:
    """`dynamic_rnn` with a cell of TensorFlow 1's, batch first: its GRU's reset gate acts before the product."""
    inputs, lengths, weights = problem.arrays()
    cell = _cell(problem)
    names = {name: name.replace("/", ".") for name in to_tf1(problem.cell, weights)}
    params = to_tf1(problem.cell, weights)
    cell.load_state_dict({names[name]: torch.from_numpy(value) for name, value in params.items()})
    x, rows = _tensors(inputs.transpose(1, 0, 2).copy(), lengths)

    def gradients() -> dict[str, np.ndarray]:
        named = dict(cell.named_parameters())
        grads = {name: gradient_of(named[inner]) for name, inner in names.items()}
        return from_tf1(problem.cell, grads, problem.input_size)

    return torch_work(
        mode,
        lambda: dynrnn.dynamic_rnn(cell, x, sequence_length=rows)[0],
        cell.parameters(),
        loss=lambda out: out.square().sum(),
        outputs=lambda out: as_array(out).transpose(1, 0, 2),
        gradients=gradients,
    )


def reference(problem: Problem, mode: str, threads: int) -> Prepared:
    """The reference loop in plain torch, which defines what the kernels compute."""
    inputs, lengths, weights = problem.arrays()
    leaves = {name: torch.from_numpy(value).requires_grad_() for name, value in weights.items()}
    cell, (x, rows) = cell_of(_MODES[problem.cell], problem.units, 0), _tensors(inputs, lengths)
    how = {"options": cell.options, "time_major": True, "implementation": "reference"}
    return torch_work(
        mode,
        lambda: run_layer(cell.spec, cell_params(cell.mode, leaves), x, None, lengths=rows, **how)[0],
        leaves.values(),
        loss=lambda out: out.square().sum(),
        outputs=as_array,
        gradients=lambda: {name: gradient_of(leaves[name]) for name in ("weight_ih", "weight_hh", "bias_ih")},
    )


def exact_reset_before(problem: Problem, mode: str, threads: int) -> Prepared:
    """The GRU with its reset gate before the product, by the reference loop in float64."""
    inputs, lengths, weights = problem.arrays()
    params = {name: torch.from_numpy(value).double().requires_grad_() for name, value in to_tf1("gru", weights).items()}
    x, rows = _tensors(inputs.astype(np.float64), lengths)
    how = {"options": GRUOptions(problem.units), "time_major": True, "implementation": "reference"}
    return torch_work(
        mode,
        lambda: run_layer(GRU, params, x, None, lengths=rows, **how)[0],
        params.values(),
        loss=lambda out: out.square().sum(),
        outputs=as_array,
        gradients=lambda: from_tf1("gru", {k: gradient_of(v) for k, v in params.items()}, problem.input_size),
    )


def instruction_sets() -> list[str]:
    """Those for which the compiled kernels are there, the one in use first; none where all runs by the reference."""
    return isas()


def _tensors(inputs: np.ndarray, lengths: np.ndarray) -> tuple[Tensor, Tensor]:
    return torch.from_numpy(inputs), torch.from_numpy(lengths)


def _cell(problem: Problem) -> Any:
    sizes = problem.units, problem.input_size
    if problem.cell == "lstm":
        return dynrnn.LSTMCell(*sizes, forget_bias=0.0)
    return {"gru": dynrnn.GRUCell, "rnn": dynrnn.BasicRNNCell}[problem.cell](*sizes)
