"""The short way to the fused kernels, for layers over tensors in which there is nothing to look after.

A short call would spend most of its time on questions; here they are put to the compiled module at once. What is not
plain, or does not fit, is left to `layer.py` and `torch_layer.py`, which compute the same and say what is wrong.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from torch import Tensor

from dynrnn import kernels
from dynrnn.cells import CELLS
from dynrnn.cells.spec import CellSpec, State
from dynrnn.rnn.reference import Traced, trace_reference
from dynrnn.rnn.torch_layer import reference_of
from dynrnn.rnn.torch_weights import Weights, cell_of


def run_short_layer(
    spec: CellSpec,
    params: Sequence[Tensor | None],
    inputs: Tensor,
    state: State | None,
    lengths: Any,
    *,
    options: Any,
    time_major: bool = False,
    reverse: bool = False,
    packed: Any = None,
) -> tuple[Tensor, ...] | None:
    """Run a layer as `run_layer` does, by the fused kernels at once, or return None and have done nothing.

    It is done where there is nothing to look after: tensors without gaps that fit, lengths that are right (a tensor or
    a list), no compiler, no transform. `params` stand in the order of `spec.params`. Returns the outputs and the final
    state's tensors.

    Example:
        >>> import torch
        >>> from dynrnn.cells import BASIC_RNN, BasicRNNOptions
        >>> params = [torch.full((3, 1), 0.5), torch.zeros(1)]
        >>> found = run_short_layer(BASIC_RNN, params, torch.ones(1, 3, 2), None, [2], options=BasicRNNOptions(1))
        >>> found is None or torch.equal(found[0][:, 1], found[1])
        True
    """
    try:
        layer = _cell_layer(spec, options, time_major, reverse)
    except (LookupError, TypeError):  # no kernel, or an activation that is no key of a cache
        return None
    return kernels.run_short(layer, params, inputs, state, lengths, packed=packed)


def run_short_torch_layer(
    mode: str,
    sizes: tuple[int, int],
    weights: Sequence[Tensor | None],
    inputs: Tensor,
    state: State | None,
    lengths: Any,
    *,
    time_major: bool,
    reverse: bool = False,
    packed: Any = None,
) -> tuple[Tensor, ...] | None:
    """Run a layer by the fused kernels at once, or return None and have done nothing.

    As `run_short_layer`, for weights as torch's modules have them: `mode` is torch's, `sizes` are those of the units
    and of the projection (0: none), `weights` stand in torch's order. `state` is in our order, `(c, h)` or `(h,)`, and
    holds `[1, batch, width]` tensors, as the final state's do.

    Example:
        >>> import torch
        >>> found = run_short_torch_layer("RNN_TANH", (3, 0), [torch.ones(3, 2), torch.zeros(3, 3)],
        ...                               torch.ones(4, 1, 2), None, [2], time_major=True)
        >>> found is None or torch.equal(found[0][1:2], found[1])
        True
    """
    layer = _torch_layer(mode, *sizes, len(weights) >= 4, time_major, reverse)
    return kernels.run_short(layer, weights, inputs, state, lengths, packed=packed, axes=(1,))


@lru_cache(maxsize=256)
def _torch_layer(mode: str, units: int, projection: int, biased: bool, time_major: bool, reverse: bool) -> Any:
    layout = {"time_major": time_major, "reverse": reverse}
    reference = reference_of(cell_of(mode, units, projection), layout)
    return kernels.torch_layer_for(mode, units, projection, biased, reference, **layout)


@lru_cache(maxsize=256)
def _cell_layer(spec: CellSpec, options: Any, time_major: bool, reverse: bool) -> Any:
    def reference(inputs: Tensor, state: State, params: Weights, lengths: Tensor | None) -> Traced:
        layout = {"options": options, "time_major": time_major, "reverse": reverse}
        return trace_reference(spec, params, inputs, state, lengths=lengths, **layout)

    layer = None
    if CELLS.get(spec.name) is spec:
        layer = kernels.layer_for(spec, options, reference, time_major=time_major, reverse=reverse)
    if layer is None:  # not kept: an activation may be a module, which would live on here
        raise LookupError(spec.name)
    return layer
