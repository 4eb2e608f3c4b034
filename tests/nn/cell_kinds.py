"""Cells of every kind for the generic tests, and the slow truth about them: one row, one step after the other."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

import dynrnn
from dynrnn import _nest

SIZE = 3  # of the inputs


class NestedCell(nn.Module):
    """A cell of a user's: a state of dict and tuple, an output that is a pair."""

    state_size = {"fast": 2, "slow": (3, 2)}  # noqa: RUF012

    def __init__(self) -> None:
        super().__init__()
        self.mix = nn.Linear(SIZE + 2, 3, dtype=torch.float64)

    def forward(self, inputs: Tensor, state: Any) -> Any:
        slow, other = state["slow"]
        new = torch.tanh(self.mix(torch.cat((inputs, state["fast"]), 1)) + slow)
        fast = torch.sin(new[:, :2] + other)
        return (new, fast * 2), {"fast": fast, "slow": (0.5 * slow + new, other * 0.9)}


class ProductCell(nn.Module):
    """A cell of a user's whose step is cut at the input product, which is a dict; its state is a pair."""

    state_size = (2, 3)

    def __init__(self) -> None:
        super().__init__()
        self.inward = nn.Linear(SIZE, 5, dtype=torch.float64)
        self.across = nn.Linear(5, 5, bias=False, dtype=torch.float64)

    def input_product(self, inputs: Tensor) -> Any:
        gate, new = self.inward(inputs).split((2, 3), 1)
        return {"new": new, "gates": (torch.sigmoid(gate),)}

    def recur(self, product: Any, state: Any) -> Any:
        gate, new = self.across(torch.cat(state, 1)).split((2, 3), 1)
        first = torch.tanh(gate) * product["gates"][0] + state[0]
        return torch.cat((first, state[1]), 1), (first, torch.sin(product["new"] + new))

    def forward(self, inputs: Tensor, state: Any) -> Any:
        return self.recur(self.input_product(inputs), state)


def running_sum(inputs: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
    """A cell that is a function and has no state_size: its initial state must be given."""
    return state * inputs, state + inputs


def make(name: str) -> Any:
    """Make a cell in float64 and in evaluation, with weights that depend on nothing but its kind."""
    torch.manual_seed(3)
    double = {"dtype": torch.float64}
    cells = {
        "basic_rnn": lambda: dynrnn.BasicRNNCell(4, SIZE, **double),
        "lstm": lambda: dynrnn.LSTMCell(4, SIZE, **double),
        "lstm-everything": lambda: dynrnn.LSTMCell(
            4, SIZE, use_peepholes=True, cell_clip=0.4, num_proj=2, proj_clip=0.3, forget_bias=0.5, **double
        ),
        "gru": lambda: dynrnn.GRUCell(4, SIZE, **double),
        "gru-reset_after": lambda: dynrnn.GRUCell(4, SIZE, reset_after=True, **double),
        "layer_norm": lambda: dynrnn.LayerNormLSTMCell(4, SIZE, epsilon=0.1, recurrent_dropout=0.5, **double),
        "multi": lambda: dynrnn.MultiRNNCell(
            [dynrnn.LSTMCell(4, **double), dynrnn.GRUCell(2, **double), dynrnn.BasicRNNCell(3, **double)]
        ),
        "multi-nested": lambda: dynrnn.MultiRNNCell(
            [dynrnn.MultiRNNCell([dynrnn.GRUCell(2, **double)]), dynrnn.LSTMCell(2, **double)]
        ),
        "residual": lambda: dynrnn.ResidualWrapper(dynrnn.LSTMCell(SIZE, SIZE, **double)),
        "residual-fn": lambda: dynrnn.ResidualWrapper(
            dynrnn.GRUCell(2, SIZE, **double), residual_fn=lambda i, o: torch.cat((i, o), 1).exp()
        ),
        "dropout": lambda: dynrnn.DropoutWrapper(dynrnn.GRUCell(4, SIZE, **double), output_dropout=0.5),
        "zoneout": lambda: dynrnn.ZoneoutWrapper(dynrnn.LSTMCell(4, SIZE, **double), zoneout=0.2, cell_zoneout=0.4),
        "nested": NestedCell,
        "product": ProductCell,
        "multi-mixed": lambda: dynrnn.MultiRNNCell(
            [dynrnn.ResidualWrapper(dynrnn.LSTMCell(SIZE, **double)), NestedCell()]
        ),
        "function": lambda: running_sum,
    }
    cell = cells[name]()
    if isinstance(cell, nn.Module):
        cell(torch.zeros(1, SIZE, dtype=torch.float64), state_of(cell, 1))  # makes parameters that wait for a size
        cell.eval()
    return cell


NAMES = [
    "basic_rnn", "lstm", "lstm-everything", "gru", "gru-reset_after", "layer_norm", "multi", "multi-nested", "residual",
    "residual-fn", "dropout", "zoneout", "nested", "product", "multi-mixed", "function",
]  # fmt: skip


def state_of(cell: Any, batch: int, seed: int = 0) -> Any:
    """A random state for a cell."""
    random = torch.Generator().manual_seed(seed)
    sizes = getattr(cell, "state_size", SIZE)
    return _nest.map_structure(
        lambda size: torch.randn(batch, size, generator=random, dtype=torch.float64).requires_grad_(), sizes
    )


def inputs_of(batch: int, time: int, seed: int = 0) -> Tensor:
    random = torch.Generator().manual_seed(seed)
    return torch.randn(batch, time, SIZE, generator=random, dtype=torch.float64).requires_grad_()


def by_rows(
    cell: Any, inputs: Tensor, state: Any, lengths: list[int], *, reverse: bool = False
) -> tuple[Any, Any, list[Any]]:
    """Walk each row alone, step by step, as slowly as can be; returns outputs, final state, and each row's states."""
    rows_outputs, rows_states, rows_kept = [], [], []
    max_time = inputs.shape[1]
    like, _ = cell(torch.zeros(1, SIZE, dtype=torch.float64), _nest.map_structure(lambda v: v[:1], state))
    for row, length in enumerate(lengths):
        current = _nest.map_structure(lambda value, row=row: value[row : row + 1], state)
        outputs = [_nest.map_structure(torch.zeros_like, like) for _ in range(max_time)]
        kept: list[Any] = [None] * max_time
        for t in reversed(range(length)) if reverse else range(length):
            outputs[t], current = cell(inputs[row : row + 1, t], current)
            kept[t] = current
        rows_outputs.append(_stack(outputs, like, max_time))
        rows_states.append(current)
        rows_kept.append(kept)
    join = lambda *values: torch.cat(values)  # noqa: E731
    return _nest.map_structure(join, *rows_outputs), _nest.map_structure(join, *rows_states), rows_kept


def _stack(outputs: list[Any], like: Any, max_time: int) -> Any:
    if not max_time:
        return _nest.map_structure(lambda value: value.new_zeros(1, 0, *value.shape[1:]), like)
    return _nest.map_structure(lambda *values: torch.stack(values, 1), *outputs)


def leaves_of(cell: Any, inputs: Tensor, state: Any) -> list[Tensor]:
    parameters = list(cell.parameters()) if isinstance(cell, nn.Module) else []
    return [inputs, *_nest.flatten(state), *parameters]


def loss_of(*nests: Any) -> Tensor:
    return sum((value.square().sum() for value in _nest.flatten(list(nests))), torch.zeros(()).double())


def assert_close(found: Any, expected: Any, tolerance: float = 1e-12) -> None:
    _nest.assert_same_structure(expected, found)
    for one, other in zip(_nest.flatten(found), _nest.flatten(expected), strict=True):
        torch.testing.assert_close(one, other, rtol=0, atol=tolerance)


def assert_same_bits(found: Any, expected: Any) -> None:
    _nest.assert_same_structure(expected, found)
    for one, other in zip(_nest.flatten(found), _nest.flatten(expected), strict=True):
        assert torch.equal(one, other)
