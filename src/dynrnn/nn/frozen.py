"""`frozen`: a block in which weights stay packed for the kernels from call to call."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TypeVar

from torch import nn

from dynrnn.nn.held import Held, held_by, hold, release
from dynrnn.nn.kinds import kind_of
from dynrnn.nn.recurrent import Recurrent
from dynrnn.nn.spec_cell import SpecCell

Module = TypeVar("Module", bound=nn.Module)


@contextmanager
def frozen(module: Module) -> Iterator[Module]:
    """Keep the weights of a cell or a module, and of all inside it, packed for the duration of the block.

    Elsewhere weights are read anew in every call, so that no way of changing them is missed; what that costs matters
    for short calls, such as those of a `Stream`. Inside the block:

    - gradients cannot be recorded: such a call raises RuntimeError; use `torch.no_grad()` or `torch.inference_mode()`;
    - weights must not change: a call raises RuntimeError where it sees that they have, and in any case the block does
      so when it ends, having compared every bit. Nothing goes stale unseen.

    Where the kernels do not apply nothing is packed, and the same is refused. Blocks may be nested; compiled code is
    not concerned. Raises ValueError where there is nothing of ours inside `module`, where a parameter waits for its
    input size, and where a weight is computed in every call (parametrized); TypeError for what is no module.

    Example:
        >>> import torch
        >>> from dynrnn import LSTM, frozen
        >>> lstm, inputs = LSTM(3, 4), torch.randn(1, 2, 3)
        >>> with frozen(lstm), torch.no_grad():
        ...     outputs = [lstm(inputs)[0] for _ in range(3)]
        >>> torch.equal(outputs[0], outputs[2])
        True
    """
    if not isinstance(module, nn.Module):
        raise TypeError(f"frozen: module must be a torch.nn.Module, got {type(module).__name__}")
    owners: list[SpecCell | Recurrent] = [one for one in module.modules() if isinstance(one, (SpecCell, Recurrent))]
    if not owners:
        raise ValueError(f"frozen: there is no cell and no recurrent module of dynrnn inside {kind_of(module)}")
    taken: list[nn.Module] = []
    try:
        for owner in owners:
            held = held_by(owner)
            if held is None:
                hold(Held(owner, owner.named_weights(), owner.packed_weights()))
            else:
                held.depth += 1
            taken.append(owner)
        yield module
    except BaseException:
        for owner in taken:
            release(owner)
        raise
    ended = [release(owner) for owner in taken]
    for held in ended:
        if held is not None:
            held.check_weights()
