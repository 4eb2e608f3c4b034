"""Functions of which only the arguments are kept for backward, which calls them again.

`torch.utils.checkpoint` keeps a node and a holder for every operation all the same, which for thousands of small steps
is most of what there is to keep; here one node stands for the whole call.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor
from torch.utils.checkpoint import checkpoint

Function = Callable[..., tuple[Tensor, ...]]


def recomputed(function: Function, tensors: Sequence[Tensor], captured: Sequence[Tensor] | None = ()) -> Any:
    """Call `function(*tensors)`, a tuple of new tensors, and keep only `tensors` for backward.

    `captured` are the tensors that `function` takes gradients for besides its arguments, as `captured_tensors` finds
    them; where it finds None, `torch.utils.checkpoint` does the work. Backward calls `function` again, with the random
    numbers and the autocast of the first call. Derivatives of derivatives work. Backward raises RuntimeError where
    `function` turns out to take gradients for yet another tensor.

    Example:
        >>> x = torch.tensor([2.0], requires_grad=True)
        >>> (y,) = recomputed(lambda value: (value.sin() ** 2,), [x])
        >>> torch.equal(torch.autograd.grad(y, x)[0], (2 * x.sin() * x.cos()).detach())
        True
    """
    if captured is None:
        return checkpoint(function, *tensors, use_reentrant=False)
    call = _Call(function, captured, tensors[0].device)
    return _Recomputed.apply(call, *tensors, *captured)


def captured_tensors(function: Function, tensors: Sequence[Tensor]) -> list[Tensor] | None:
    """Find what `function` takes gradients for besides its arguments, by calling it once on `tensors`.

    Returns leaves, such as the parameters of a module. None where it works on tensors that were made from such ones
    before it was called: their gradients go further than it can be called again.

    Example:
        >>> weight = torch.ones(1, requires_grad=True)
        >>> found = captured_tensors(lambda value: (value * weight,), [torch.ones(1)])
        >>> found[0] is weight, captured_tensors(lambda value, made=weight * 2: (value * made,), [torch.ones(1)])
        (True, None)
    """
    with torch.enable_grad(), _Surroundings(tensors[0].device).restored():
        start = torch.ones(1, requires_grad=True, device="cpu").clone()
        fresh = _as_leaves(tensors)
        leaves, oldest = _leaves_below(function(*fresh), fresh)
    assert start.grad_fn is not None
    return None if oldest < start.grad_fn._sequence_nr() else leaves


def _as_leaves(tensors: Sequence[Tensor]) -> list[Tensor]:
    return [value.detach().requires_grad_(value.is_floating_point()) for value in tensors]


def _leaves_below(outputs: Sequence[Tensor], known: Sequence[Tensor]) -> tuple[list[Tensor], float]:
    """The leaves that outputs depend on, but for known ones, and the number of the oldest operation in between."""
    seen = {id(value) for value in known}
    stack, leaves, oldest = [value.grad_fn for value in outputs if value.grad_fn is not None], [], float("inf")
    visited = set(stack)
    while stack:
        node: Any = stack.pop()
        leaf = getattr(node, "variable", None)
        if leaf is None:
            oldest = min(oldest, node._sequence_nr())
        elif id(leaf) not in seen:
            seen.add(id(leaf))
            leaves.append(leaf)
        for following, _ in node.next_functions:
            if following is not None and following not in visited:
                visited.add(following)
                stack.append(following)
    return leaves, oldest


class _Call:
    """A function, and what a call of it depends on besides its arguments.

    Captured tensors are held as they are: they are leaves, and those that autograd saves may come back as others.
    """

    def __init__(self, function: Function, captured: Sequence[Tensor], device: torch.device) -> None:
        self.function = function
        self.captured = captured
        self.surroundings = _Surroundings(device)

    def gradients(self, values: Sequence[Tensor], grads: Sequence[Tensor | None], again: bool) -> list[Any]:
        """Call again; return gradients for floating `values`, which are leaves, and for captured tensors, else None."""
        with torch.enable_grad(), self.surroundings.restored():
            outputs = self.function(*values)
            sources = [*values, *self.captured]
            foreign = _leaves_below(outputs, sources)[0]
            if foreign:
                raise RuntimeError(
                    f"checkpoint_every: a step takes gradients for a tensor {list(foreign[0].shape)} that the first "
                    "step did not use; a cell whose parameters come and go cannot be computed again"
                )
            pairs = [(one, grad) for one, grad in zip(outputs, grads, strict=True) if grad is not None]
            pairs = [(one, grad) for one, grad in pairs if one.requires_grad]
            wanted = [value for value in sources if value.requires_grad]
            if not pairs or not wanted:
                return [None] * len(sources)
            ends, given = zip(*pairs, strict=True)
            found = iter(torch.autograd.grad(ends, wanted, given, create_graph=again, allow_unused=True))
            return [next(found) if value.requires_grad else None for value in sources]


class _Recomputed(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, call: _Call, *tensors: Tensor) -> tuple[Tensor, ...]:
        ctx.call = call
        values = tensors[: len(tensors) - len(call.captured)]
        ctx.save_for_backward(*values)
        ctx.set_materialize_grads(False)
        return call.function(*values)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor | None) -> tuple[Tensor | None, ...]:
        call, values = ctx.call, ctx.saved_tensors
        if torch.is_grad_enabled():  # this backward is to be differentiated itself
            found = _differentiable_gradients(call, values, grads)
        else:
            found = call.gradients(_as_leaves(values), grads, False)
        return (None, *(grad if need else None for grad, need in zip(found, ctx.needs_input_grad[1:], strict=True)))


def _differentiable_gradients(
    call: _Call, values: Sequence[Tensor], grads: Sequence[Tensor | None]
) -> list[Tensor | None]:
    """The gradients as a function of arguments and gradients that is computed again in its turn."""
    present = [index for index, grad in enumerate(grads) if grad is not None]
    given = [grad for grad in grads if grad is not None]
    if not given:
        return [None] * (len(values) + len(call.captured))

    def gradients(*arguments: Tensor) -> tuple[Tensor, ...]:
        # called without gradients the first time; later on the arguments are leaves, whose graph must go on
        leaves = list(arguments[: len(values)])
        leaves = leaves if torch.is_grad_enabled() else _as_leaves(leaves)
        padded: list[Any] = [None] * len(grads)
        for index, grad in zip(present, arguments[len(values) :], strict=True):
            padded[index] = grad
        found = call.gradients(leaves, padded, True)
        return tuple(
            torch.zeros_like(value) if grad is None else grad
            for value, grad in zip([*leaves, *call.captured], found, strict=True)
        )

    return list(recomputed(gradients, [*values, *given], call.captured))


class _Surroundings:
    """What a call depends on besides its arguments: the random numbers to come, and autocast."""

    def __init__(self, device: torch.device) -> None:
        self._kind = device.type
        self._device = device
        self._random = torch.get_rng_state()
        self._on_device = None if self._kind == "cpu" else torch.get_device_module(device).get_rng_state(device)
        self._autocast = torch.is_autocast_enabled(self._kind), torch.get_autocast_dtype(self._kind)

    @contextmanager
    def restored(self) -> Iterator[None]:
        enabled, dtype = self._autocast
        devices = [] if self._on_device is None else [self._device]
        with torch.random.fork_rng(devices, device_type="cuda" if self._kind == "cpu" else self._kind):
            torch.set_rng_state(self._random)
            if self._on_device is not None:
                torch.get_device_module(self._device).set_rng_state(self._on_device, self._device)
            with torch.autocast(self._kind, dtype, enabled=enabled):
                yield
