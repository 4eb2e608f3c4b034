"""The LSTM's state, states of zeros, and which of a state's tensors are an LSTM's c.

What a structure of sizes is, is said in `sizes.py`; states that somebody gives are checked in `given_state.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.utils import _pytree

from dynrnn.nn.sizes import children_of, dims_of, is_size, rebuilt


class LSTMState(NamedTuple):
    """The state of an LSTM cell in TensorFlow 1's order: `c` `[batch, units]`, then `h` `[batch, output]`.

    Mind the order: torch's own modules say `(h, c)`.

    Example:
        >>> import torch
        >>> LSTMState(c=torch.zeros(2, 4), h=torch.zeros(2, 3)).h.shape
        torch.Size([2, 3])
    """

    c: Tensor
    h: Tensor


def name_for_export(kind: type) -> None:
    """Let a named tuple be part of what a saved `torch.export` program takes and returns; torch's message asks for it.

    Example:
        >>> from typing import NamedTuple
        >>> name_for_export(NamedTuple("Pair", [("one", int), ("two", int)]))
    """
    _pytree._register_namedtuple(kind, serialized_type_name=f"dynrnn.{kind.__name__}")


name_for_export(LSTMState)


def zeros_like_sizes(sizes: Any, batch_size: int, dtype: torch.dtype | None, device: torch.device | str | None) -> Any:
    """Make zeros `[batch_size, size]` for every size of a structure.

    Example:
        >>> zeros_like_sizes((2, 1), 1, torch.float64, None)
        (tensor([[0., 0.]], dtype=torch.float64), tensor([[0.]], dtype=torch.float64))
    """
    if is_size(sizes):
        return torch.zeros(batch_size, *dims_of(sizes), dtype=dtype, device=device)
    return rebuilt(sizes, [zeros_like_sizes(size, batch_size, dtype, device) for size in children_of(sizes)])


def memories_in(state: Any) -> list[bool]:
    """Say of each tensor of a state, in the order of `_nest.flatten`, whether it is an LSTM's c; sizes will do too.

    Example:
        >>> memories_in({"b": LSTMState(4, 4), "a": (3, torch.Size([2, 2]))})
        [False, False, True, False]
    """
    if isinstance(state, LSTMState):
        return [True, False]
    if is_size(state):
        return [False]
    parts = [state[key] for key in sorted(state)] if isinstance(state, Mapping) else state
    return [is_memory for part in parts for is_memory in memories_in(part)]
