"""torch's recurrent modules beside ours with the same weights, and the slow truth: torch's module, row by row."""

from __future__ import annotations

import itertools
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from dynrnn.nn.modules import GRU, LSTM, RNN

INPUT, HIDDEN = 3, 4


class Kind(NamedTuple):
    ours: type
    theirs: type
    options: dict[str, Any]


KINDS = {
    "lstm": Kind(LSTM, nn.LSTM, {}),
    "lstm-projected": Kind(LSTM, nn.LSTM, {"proj_size": 2}),
    "gru": Kind(GRU, nn.GRU, {}),
    "rnn": Kind(RNN, nn.RNN, {}),
    "rnn-relu": Kind(RNN, nn.RNN, {"nonlinearity": "relu"}),
}
# layers, directions, bias, batch_first
SHAPES = list(itertools.product([1, 3], [False, True], [True, False], [False, True]))


def make(name: str, *, dtype: torch.dtype = torch.float64, **options: Any) -> tuple[Any, Any]:
    """Return our module and torch's with the same random weights."""
    kind = KINDS[name]
    theirs = kind.theirs(INPUT, HIDDEN, dtype=dtype, **kind.options, **options)
    ours = kind.ours(INPUT, HIDDEN, dtype=dtype, **kind.options, **options)
    ours.load_state_dict(theirs.state_dict())
    return ours, theirs


def draw_hx(module: Any, batch: int, dtype: torch.dtype = torch.float64) -> Any:
    """Random initial states as torch's modules take them."""
    rows = module.num_layers * (2 if module.bidirectional else 1)
    h = torch.randn(rows, batch, module.proj_size or module.hidden_size, dtype=dtype, requires_grad=True)
    if module.mode != "LSTM":
        return h
    return h, torch.randn(rows, batch, module.hidden_size, dtype=dtype, requires_grad=True)


def states(hx: Any) -> tuple[Tensor, ...]:
    return tuple(hx) if isinstance(hx, (tuple, list)) else (hx,)


def pick(hx: Any, row: int) -> Any:
    """One row's states, still with a batch axis."""
    picked = tuple(value[:, row : row + 1] for value in states(hx))
    return picked if isinstance(hx, tuple) else picked[0]


def loop_over_rows(theirs: Any, inputs: Tensor, hx: Any, lengths: list[int]) -> tuple[Tensor, tuple[Tensor, ...]]:
    """Each row alone and without its padding through torch's module; `inputs` is batch-first."""
    width = (theirs.proj_size or theirs.hidden_size) * (2 if theirs.bidirectional else 1)
    outputs, finals = [], []
    for row, length in enumerate(lengths):
        output, final = inputs.new_zeros(inputs.shape[1], width), states(pick(hx, row))
        if length:
            one = inputs[row, :length].unsqueeze(0 if theirs.batch_first else 1)
            valid, state = theirs(one, pick(hx, row))
            output = torch.cat((valid.flatten(0, 1), output[length:]))
            final = states(state)
        outputs.append(output)
        finals.append(final)
    return torch.stack(outputs), tuple(torch.cat(values, 1) for values in zip(*finals, strict=True))


def gradients(results: Any, leaves: list[Tensor]) -> list[Tensor]:
    """Gradients of a sum in which every element has a weight of its own."""
    loss = sum(
        (value.double() * torch.arange(1.0, 1 + value.numel()).reshape(value.shape).cos()).sum() for value in results
    )
    assert isinstance(loss, Tensor)
    found = torch.autograd.grad(loss, leaves, allow_unused=True, retain_graph=True)
    return [torch.zeros_like(leaf) if grad is None else grad for leaf, grad in zip(leaves, found, strict=True)]


def close(ours: Any, theirs: Any, tolerance: float = 1e-12) -> None:
    torch.testing.assert_close(ours, theirs, rtol=0, atol=tolerance)
