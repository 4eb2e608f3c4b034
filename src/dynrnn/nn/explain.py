"""`explain_dispatch`: which way a cell or a module is run, and why, in one sentence."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dynrnn.nn.arguments import as_flag, check_inputs
from dynrnn.nn.kinds import check_cell, kind_of
from dynrnn.nn.lengths import check_lengths
from dynrnn.nn.paths import find_obstacle, parts_of, way_of
from dynrnn.nn.recurrent import Recurrent
from dynrnn.rnn.dispatch import check_request


def explain_dispatch(
    cell: Callable[..., Any],
    inputs: Any,
    *,
    lengths: Any = None,
    time_major: bool = False,
    implementation: str = "auto",
) -> str:
    """Say in one sentence which implementation runs a cell or a module over `inputs`, and why; nothing is run.

    `cell` and `inputs` are what `dynamic_rnn` takes, or a module such as `dynrnn.LSTM` and what it takes; `lengths`,
    `time_major` (of a cell) and `implementation` are those of the call that is asked about. Whether the cell is
    training is taken as it is now. The ways are: the fused kernels, with the instruction set that they were built for;
    the reference loop, which follows the lengths by torch's operators; torch's own operator for a whole module; a call
    of the cell for every step.

    Raises what the call would raise for these arguments, and ValueError for `time_major` with a module.

    Example:
        >>> import torch
        >>> from dynrnn import GRUCell, LayerNormLSTMCell, MultiRNNCell, explain_dispatch
        >>> explain_dispatch(LayerNormLSTMCell(4), torch.ones(2, 3, 5))
        'LayerNormLSTMCell runs through the reference loop, because ...'
        >>> explain_dispatch(GRUCell(4), torch.ones(2, 3, 5), implementation="reference")
        'GRUCell runs through the reference loop, because implementation="reference" asks for it.'
    """
    owner = "explain_dispatch"
    if isinstance(cell, Recurrent):
        if time_major is not False:
            raise ValueError(f"{owner}: time_major is for cells; a module has batch_first")
        return f"{kind_of(cell)} runs {cell.explain(inputs, lengths, implementation)}."
    check_cell(owner, cell)
    inputs, batch, max_time = check_inputs(owner, cell, inputs, as_flag(owner, "time_major", time_major))
    if lengths is not None:
        check_lengths(owner, "lengths", lengths, batch, max_time)
    check_request(implementation, find_obstacle, cell, inputs)
    found = [(part.name, way_of(part, inputs, implementation)) for part in parts_of(cell)]
    ways = {way for _, way in found}
    if len(ways) == 1:
        return f"{kind_of(cell)} runs {ways.pop()}."
    return f"{kind_of(cell)} runs layer by layer: {'; '.join(f'{name} {way}' for name, way in found)}."
