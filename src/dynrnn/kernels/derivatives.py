"""Derivatives that the kernels do not compute: they are those of the reference loop, which the caller hands in.

Everything here is made of torch operations and works at any level of `torch.func`'s transforms.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from dynrnn.kernels.check import Setting

Results = tuple[Tensor, tuple[Tensor, ...], tuple[Tensor, ...], tuple[Tensor, ...]]  # outputs, final, states, gates
Reference = Callable[[Tensor, tuple[Tensor, ...], Mapping[str, Tensor], Tensor | None], Results]


class Layer:
    """A layer as a function of tensors: how it is set, its weights' names, and the reference loop that computes it.

    `reference(inputs, state, weights, lengths)` returns `(outputs, final, states, gates)`.
    """

    __slots__ = ("names", "reference", "setting")

    def __init__(self, setting: Setting, names: tuple[str, ...], reference: Reference) -> None:
        self.setting = setting
        self.names = names
        self.reference = reference

    def flat(self, lengths: Tensor | None, inputs: Tensor, *rest: Tensor) -> tuple[Tensor, ...]:
        """The reference's results as the kernels' `forward` returns them; `rest` is the state and the weights."""
        count = self.setting.num_states
        weights = dict(zip(self.names, rest[count:], strict=True))
        outputs, final, states, gates = self.reference(inputs, rest[:count], weights, lengths)
        kept = states[:1] if self.setting.keeps_cell_states else ()
        return outputs, *final, *kept, *(gates if self.setting.keep_gates else ())

    def named(self, found: Sequence[Tensor]) -> Results:
        """Results in the order of `flat`, and perhaps a buffer after them, as `(outputs, final, states, gates)`."""
        end = 1 + self.setting.num_states
        outputs, final, states = found[0], tuple(found[1:end]), ()
        if self.setting.keeps_cell_states:
            states, end = (found[end], outputs), end + 1
        elif self.setting.keep_states:
            states = (outputs,)
        return outputs, final, states, tuple(found[end : self.setting.num_results])


def zeros_of(setting: Setting, row: Tensor | None, inputs: Tensor) -> tuple[Tensor, ...]:
    """The state that is meant where none is given; `row` says in which row each piece stands, if there are pieces."""
    pieces = inputs.shape[1 if setting.time_major else 0] if row is None else row.shape[0]
    return tuple(inputs.new_zeros(pieces, size) for size in setting.layout.state_sizes.values())


def gradients(
    layer: Layer, lengths: Tensor | None, values: Sequence[Tensor], grads: Sequence[Tensor | None]
) -> tuple[Tensor, ...]:
    """Gradients of a layer for all of `values` (inputs, state, weights), given those of its results (None: zeros)."""
    results, pull = _vjp(lambda *values: layer.flat(lengths, *values), values)
    given = [torch.zeros_like(result) if grad is None else grad for result, grad in zip(results, grads, strict=True)]
    return pull(tuple(given))


def second_gradients(
    layer: Layer,
    lengths: Tensor | None,
    values: Sequence[Tensor],
    grads: Sequence[Tensor | None],
    wanted: Sequence[bool],
    seconds: Sequence[Tensor | None],
) -> tuple[list[Tensor], list[Tensor | None]]:
    """Gradients for `values` and for `grads`, given those of the `wanted` results of `gradients` (None: zeros)."""
    present = [index for index, grad in enumerate(grads) if grad is not None]

    def first(*arguments: Tensor) -> tuple[Tensor, ...]:
        full: list[Tensor | None] = [None] * len(grads)
        for index, grad in zip(present, arguments[len(values) :], strict=True):
            full[index] = grad
        found = gradients(layer, lengths, arguments[: len(values)], full)
        return tuple(value for value, want in zip(found, wanted, strict=True) if want)

    results, pull = _vjp(first, [*values, *(grad for grad in grads if grad is not None)])
    given = [torch.zeros_like(one) if second is None else second for one, second in zip(results, seconds, strict=True)]
    found = pull(tuple(given))
    for_grads: list[Tensor | None] = [None] * len(grads)
    for index, value in zip(present, found[len(values) :], strict=True):
        for_grads[index] = value
    return list(found[: len(values)]), for_grads


def _vjp(
    function: Callable[..., tuple[Tensor, ...]], values: Sequence[Tensor]
) -> tuple[tuple[Tensor, ...], Callable[[tuple[Tensor, ...]], tuple[Tensor, ...]]]:
    found: Any = torch.func.vjp(function, *values)  # of three where the function has more than results
    return found
