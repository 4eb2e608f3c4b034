"""The short way of our modules and cells over a padded batch, where there is nothing to look after.

Short calls would otherwise spend their time on questions. What does not take this way goes through `recurrent.py` or
`dynamic.py`, which compute the same and say what is wrong.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from dynrnn.nn.held import held_by
from dynrnn.nn.spec_cell import SpecCell, begins_with_zeros
from dynrnn.nn.state import LSTMState
from dynrnn.rnn import run_short_layer, run_short_torch_layer


def run_short_module(module: nn.RNNBase, input: Any, hx: Any, lengths: Any) -> tuple[Tensor, tuple[Tensor, ...]] | None:
    """Run a torch-like module over a padded batch, or return None and have done nothing that shows.

    Arguments and results are those of the module's `forward`; the states come as a tuple, also where there is one.
    """
    if torch.compiler.is_compiling() or type(input) is not Tensor or torch.is_autocast_enabled("cpu"):
        return None
    all_names, directions = module._all_weights, 2 if module.bidirectional else 1
    count = len(all_names)
    if module.dropout and module.training and count > directions:
        return None
    state = None
    if hx is not None:
        if module.mode != "LSTM":
            hx = (hx,)
        elif type(hx) not in (tuple, list) or len(hx) != 2:
            return None
        for value in hx:
            if type(value) is not Tensor or value.ndim != 3 or value.shape[0] != count:
                return None
        state = tuple(hx[::-1])  # ours is the order (c, h)
    parameters = module._parameters
    weights = [[parameters.get(name) for name in names] for names in all_names]  # a computed one is None
    packed = _packed_of(module, [weight for row in weights for weight in row], input, state)
    sizes, time_major = (module.hidden_size, module.proj_size), not module.batch_first
    outputs, finals = [], []
    for row, row_weights in enumerate(weights):
        begin = state if state is None or count == 1 else tuple([value.narrow(0, row, 1) for value in state])
        found = run_short_torch_layer(
            module.mode,
            sizes,
            row_weights,
            input,
            begin,
            lengths,
            time_major=time_major,
            reverse=row % directions == 1,
            packed=None if packed is None else packed[row],
        )
        if found is None:
            return None
        outputs.append(found[0])
        finals.append(found[:0:-1])
        if len(outputs) == directions:
            input = found[0] if directions == 1 else torch.cat(outputs, 2)
            outputs = []
    if count == 1:
        return input, finals[0]
    return input, tuple([torch.cat(column) for column in zip(*finals, strict=True)])


def run_short_cell(
    cell: Any, inputs: Any, state: Any, lengths: Any, *, time_major: bool, reverse: bool
) -> tuple[Tensor, Any] | None:
    """Run a cell of ours as `dynamic_rnn` does, or return None and have done nothing."""
    if torch.compiler.is_compiling() or type(inputs) is not Tensor or torch.is_autocast_enabled("cpu"):
        return None
    if not begins_with_zeros(cell) or type(cell)._run_whole is not SpecCell._run_whole:
        return None
    if state is not None:
        state = state if type(state) in (LSTMState, tuple) else (state,)
        if not all([type(value) is Tensor and value.ndim == 2 for value in state]):
            return None
    params = list(cell.params().values())
    packed = _packed_of(cell, params, inputs, state)
    how = {"options": cell._options(), "time_major": time_major, "reverse": reverse, "packed": packed and packed[0]}
    found = run_short_layer(cell.spec, params, inputs, state, lengths, **how)
    return None if found is None else (found[0], cell._structured(found[1:]))


def _packed_of(
    owner: nn.Module, weights: Sequence[Tensor | None], inputs: Tensor, state: tuple[Tensor, ...] | None
) -> Any:
    """What a frozen module holds of its weights; None for others."""
    held = held_by(owner)
    if held is None:
        return None
    held.check_call([weight for weight in weights if weight is not None], (inputs, *(state or ())))
    return held.packed
