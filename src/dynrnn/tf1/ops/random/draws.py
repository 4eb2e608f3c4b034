"""Where a random operation's numbers come from: a stream of its own where it has seeds, the session's generator where
it has none.

What is made of the numbers is in `distributions.py` and `sampling.py`, and in `../nn/dropout.py`.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from typing import Any

import torch

from .... import errors
from ....graph.executor import Runtime
from ....graph.node import Node
from ....graph.op import INDICES, Op
from ....graph.random import Stream

# Streams of ops without a seed of their own lie above this, out of reach of all seeds that a program can give.
_UNSEEDED = 1 << 32


class Fresh:
    """Numbers that are new in every session, from a torch generator, with the methods of `Stream`."""

    def __init__(self, generator: torch.Generator):
        self.generator = generator

    def uniform(self, shape: Sequence[int], dtype: torch.dtype) -> torch.Tensor:
        return torch.rand(tuple(shape), generator=self.generator, dtype=dtype)

    def uniform_steps(self, steps: int, shape: Sequence[int], dtype: torch.dtype) -> torch.Tensor:
        return torch.rand((steps, *shape), generator=self.generator, dtype=dtype)

    def normal(self, shape: Sequence[int], dtype: torch.dtype) -> torch.Tensor:
        return torch.randn(tuple(shape), generator=self.generator, dtype=dtype)

    def truncated_normal(self, shape: Sequence[int], dtype: torch.dtype) -> torch.Tensor:
        numbers = self.normal(shape, dtype)
        while (large := numbers.abs() >= 2).any():
            numbers[large] = self.normal([int(large.sum())], dtype)
        return numbers

    def uniform_int(self, shape: Sequence[int], low: int, high: int, dtype: torch.dtype) -> torch.Tensor:
        return torch.randint(low, high, tuple(shape), generator=self.generator, dtype=dtype)

    def permutation(self, n: int) -> torch.Tensor:
        return torch.randperm(n, generator=self.generator)

    def categorical(self, logits: torch.Tensor, num_samples: int, dtype: torch.dtype = torch.int64) -> torch.Tensor:
        finite = torch.where(logits.isfinite(), logits.double(), -torch.inf)
        if num_samples == 0 or len(logits) == 0:
            return torch.empty((len(logits), num_samples), dtype=dtype)
        return torch.multinomial(torch.softmax(finite, 1), num_samples, True, generator=self.generator).to(dtype)


Numbers = Stream | Fresh


def source(node: Node, runtime: Runtime) -> Numbers:
    """The numbers of a random node in a session; executions go on where the last one stopped.

    The node's attribute `seeds` is None (fresh numbers), a pair, or (seed, None): only the graph has a seed; then the
    node's name tells its numbers from those of others.
    """
    if node.attrs["seeds"] is None:
        return Fresh(runtime.generator)
    with runtime.lock:
        if node not in runtime.states:
            runtime.states[node] = Stream(*_seed_pair(node))
        return runtime.states[node]


def generator(node: Node, runtime: Runtime) -> torch.Generator:
    """As `source`, for draws that only torch makes: the numbers repeat as those of `source` do, but are not
    TensorFlow's.
    """
    if node.attrs["seeds"] is None:
        return runtime.generator
    with runtime.lock:
        if node not in runtime.states:
            seed, seed2 = _seed_pair(node)
            runtime.states[node] = torch.Generator().manual_seed((seed << 32) ^ seed2)
        return runtime.states[node]


def _seed_pair(node: Node) -> tuple[int, int]:
    seed, seed2 = node.attrs["seeds"]
    return seed, (_UNSEEDED + zlib.crc32(node.name.encode()) if seed2 is None else seed2)


def drawing(
    function: Callable[..., Any], numbers: Callable[[Node, Runtime], Any] = source
) -> Callable[[Node, Runtime], Callable[..., Any]]:
    """Bind `function(numbers, node, *input values)` to a session; its executions there do not overlap."""

    def bind(node: Node, runtime: Runtime) -> Callable[..., Any]:
        mine = numbers(node, runtime)

        def draw(*values: Any) -> Any:
            with runtime.lock:
                return function(mine, node, *values)

        return draw

    return bind


def sizes(shape: torch.Tensor) -> list[int]:
    """A shape tensor's value as ints.

    Raises:
        errors.InvalidArgumentError: a size is negative.
    """
    found = shape.tolist()
    if any(size < 0 for size in found):
        raise errors.InvalidArgumentError(None, None, f"shape must have sizes of at least 0, got {found}")
    return found


def random_row(
    type: str,
    signature: str,
    kernel: Callable[..., Any],
    shape: Callable[..., Any],
    numbers: Callable[[Node, Runtime], Any] = source,
    **types: frozenset[str],
) -> Op:
    """The row of a random operation whose `kernel` takes (numbers, node, *input values); the type variable S is an
    index type.
    """
    bind = drawing(kernel, numbers)
    return Op(type, signature, None, shape, types={"S": INDICES, **types}, bind=bind, stateful=True)
