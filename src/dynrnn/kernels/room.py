"""Room for what the kernels leave: for backward, or packed weights for later calls. A tensor owns it as any other."""

from __future__ import annotations

import torch
from torch import Tensor

from dynrnn.kernels.availability import _kernels


def room_of(size: int, like: Tensor) -> Tensor:
    """A tensor of `size` elements of the dtype of `like`; what stands in it is anything.

    It takes memory that is kept from call to call, and large pages, where torch lets it.
    """
    # where torch fills fresh memory, it is to fill this, too
    if not torch.are_deterministic_algorithms_enabled():
        room = _kernels.kept_room(size, like.itemsize)
        if room is not None:
            return room
    return like.new_empty(size)
