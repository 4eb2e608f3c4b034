"""Which modules hold their weights packed, and for which weights that is right. Who lets them is in `frozen.py`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

_BITS = {1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}


class Mark(NamedTuple):
    """A weight as it was found: the tensor, where its memory is, how often it was written to, and a copy."""

    tensor: Tensor
    address: int
    version: int
    copy: Tensor


class Held:
    """What one module holds: marks of its weights by name, and the weights packed, one item a layer and direction."""

    def __init__(self, owner: nn.Module, weights: Mapping[str, Tensor], packed: Sequence[Any]) -> None:
        self.owner = owner
        self.packed = packed
        self.depth = 1  # how many blocks hold it
        self._marks = {
            name: Mark(value, value.data_ptr(), _version(value), value.detach().clone())
            for name, value in weights.items()
        }

    def check_call(self, weights: Iterable[Tensor], others: Iterable[Tensor]) -> None:
        """Refuse a call that records gradients, and one whose weights are seen at once to be others or changed."""
        weights = list(weights)
        if torch.is_grad_enabled() and any([value.requires_grad for value in (*weights, *others)]):
            raise RuntimeError(
                f"frozen: {self._kind} is frozen for inference, but gradients are being recorded; call it inside "
                "torch.no_grad() or torch.inference_mode()"
            )
        for (name, mark), value in zip(self._marks.items(), weights, strict=True):
            if value is not mark.tensor or value.data_ptr() != mark.address or _version(value) != mark.version:
                self._refuse(name, "this call would not see it")

    def check_weights(self) -> None:
        """Refuse weights that are not bit for bit what they were, however they were changed."""
        for name, mark in self._marks.items():
            bits = _BITS[mark.copy.element_size()]
            if mark.tensor.shape != mark.copy.shape or not torch.equal(
                mark.tensor.detach().contiguous().view(bits), mark.copy.contiguous().view(bits)
            ):
                self._refuse(name, "calls since then may not have seen it")

    @property
    def _kind(self) -> str:
        return type(self.owner).__name__

    def _refuse(self, name: str, consequence: str) -> None:
        raise RuntimeError(
            f"frozen: {name} of {self._kind} was changed while {self._kind} is frozen, and {consequence}; change "
            "weights outside of the block"
        )


def check_kept(owner: nn.Module, name: str, value: Tensor) -> None:
    """Refuse a weight that is no parameter but computed, in each call, from others: there is nothing to keep."""
    if not isinstance(value, nn.Parameter):
        raise ValueError(
            f"frozen: {name} of {type(owner).__name__} is no parameter; a weight that is computed in every call cannot "
            "be kept"
        )


_HELD: dict[int, Held] = {}  # by the id of the module, which each entry keeps alive


def held_by(owner: nn.Module) -> Held | None:
    """What a module holds, None where it is not frozen. Compiled code never sees it, and reads weights as they are."""
    if torch.compiler.is_compiling() or not _HELD:
        return None
    return _HELD.get(id(owner))


def hold(held: Held) -> None:
    """Let a module hold what is given, until as many calls of `release`."""
    _HELD[id(held.owner)] = held


def release(owner: nn.Module) -> Held | None:
    """End one block's hold; returns what was held if it was the last one."""
    held = _HELD[id(owner)]
    held.depth -= 1
    return None if held.depth else _HELD.pop(id(owner))


def _version(value: Tensor) -> int:
    return 0 if value.is_inference() else value._version  # inference tensors do not count
