"""Which way each cell inside a cell is run, and why: found without running anything.

The choice itself is `dynrnn.rnn.dispatch`'s; here it is asked for every cell that runs as a whole, and cells that are
called step by step are told apart. `explain.py` puts it into a sentence.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import torch
from torch import Tensor

from dynrnn import _nest
from dynrnn.nn.kinds import kind_of, why_not_whole
from dynrnn.nn.precision import autocast_dtype
from dynrnn.nn.running import without_needless_compiler
from dynrnn.nn.spec_cell import SpecCell
from dynrnn.nn.step import has_input_product
from dynrnn.rnn.dispatch import choose, describe


class Part(NamedTuple):
    """A cell that is run by itself: its name, and why it is called step by step, or None."""

    name: str
    cell: Any
    by_steps: str | None


def parts_of(cell: Any, by_steps: str | None = None) -> Iterator[Part]:
    """Find the cells that are run by themselves: the layers of a cell of layers, the inner cell of a wrapper.

    Example:
        >>> from dynrnn import GRUCell, MultiRNNCell, ZoneoutWrapper
        >>> [part[::2] for part in parts_of(MultiRNNCell([GRUCell(3), ZoneoutWrapper(GRUCell(3))]))]
        [('GRUCell', None), ('GRUCell', 'zoneout changes the state at every step')]
    """
    cell = without_needless_compiler(cell)
    by_steps = by_steps or why_not_whole(cell)
    inner = () if why_not_whole(cell) else cell._inner_cells()
    if not inner:
        if by_steps is None and not isinstance(cell, SpecCell):
            by_steps = "it runs sequences in a way of its own"
        yield Part(kind_of(cell), cell, by_steps)
    for one in inner:
        yield from parts_of(one, by_steps or cell._why_by_steps())


def way_of(part: Part, inputs: Any, implementation: str) -> str:
    """Which way a part is run over such inputs and why, in words that follow "runs"."""
    if part.by_steps is not None:
        ahead = ", with its input products computed beforehand" if has_input_product(part.cell) else ""
        return f"step by step{ahead}, because {part.by_steps}"
    cell, like = part.cell, _as_met(inputs)
    choice = choose(cell.spec, cell.options, like, implementation=implementation)
    return describe(choice, cell.spec, like)


def _as_met(inputs: Any) -> Tensor:
    """A tensor with the dtype, the device and the kind that a cell meets: autocast has its say."""
    first = _nest.flatten(inputs)[0]
    dtype = autocast_dtype(first)
    if not first.is_floating_point():  # a layer of another kind comes first
        dtype = torch.get_default_dtype()
    return first if dtype is None else first[:0].to(dtype)


def find_obstacle(cell: Any, inputs: Any) -> str | None:
    """Say why not all of a cell can take the fused kernels; None where it can.

    Example:
        >>> from dynrnn import GRUCell, ZoneoutWrapper
        >>> find_obstacle(ZoneoutWrapper(GRUCell(3)), torch.ones(2, 4, 5))
        'GRUCell is called step by step, because zoneout changes the state at every step'
    """
    for part in parts_of(cell):
        if part.by_steps is not None:
            return f"{part.name} is called step by step, because {part.by_steps}"
        choice = choose(part.cell.spec, part.cell.options, _as_met(inputs))
        if choice.obstacle is not None:
            return choice.obstacle
    return None
