"""What a layer may be run with, whichever way it is run: refuses early, before an implementation is chosen.

The lengths' own check is in `lengths.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NoReturn

import torch
from torch import Tensor

from dynrnn.cells.spec import CellSpec, State
from dynrnn.errors import describe
from dynrnn.rnn.lengths import check_lengths


def check_layer(
    spec: CellSpec,
    params: Mapping[str, Tensor],
    inputs: Tensor,
    state: State | None,
    lengths: Tensor | None,
    options: Any,
    *,
    time_major: bool = False,
    parallel_iterations: int | None = None,
) -> None:
    """Refuse what would fail late, broadcast, or be silently wrong; arguments are those of `run_layer`.

    Raises TypeError or ValueError, naming the argument.
    """
    if inputs.ndim != 3:
        layout = "[time, batch, input_size]" if time_major else "[batch, time, input_size]"
        raise ValueError(f"run_layer: inputs must have shape {layout}, got {list(inputs.shape)}")
    if not inputs.dtype.is_floating_point:
        raise TypeError(
            f"run_layer: inputs must be floating point, got {describe('inputs', inputs.shape, inputs.dtype)}"
        )
    batch, max_time = (inputs.shape[1], inputs.shape[0]) if time_major else inputs.shape[:2]
    shapes, sizes = _expected(spec, inputs.shape[2], options)
    if params.keys() != shapes.keys():
        raise ValueError(f"run_layer: params of {spec.name} must be {list(shapes)}, got {list(params)}")
    dtype = inputs.dtype
    for name, shape in shapes.items():
        value = params[name]
        if value.shape != shape or value.dtype is not dtype:
            _refuse(f"params[{name!r}]", value, shape, dtype)
    if state is not None:
        if len(state) != len(sizes):
            raise ValueError(f"run_layer: state of {spec.name} must be ({', '.join(sizes)}), got {len(state)} tensors")
        for value, (name, size) in zip(state, sizes.items(), strict=True):
            if value.shape != (batch, size) or value.dtype is not dtype:
                _refuse(f"state.{name}", value, (batch, size), dtype)
    if lengths is not None:
        check_lengths("run_layer", lengths, batch, max_time)
    if parallel_iterations is not None and parallel_iterations < 1:
        raise ValueError(f"run_layer: parallel_iterations must be at least 1, got {parallel_iterations}")


def _expected(spec: CellSpec, input_size: int, options: Any) -> tuple[dict[str, tuple[int, ...]], dict[str, int]]:
    """The shapes of the parameters and the sizes of the states, by name."""
    shapes = {param.name: param.shape for param in spec.params(input_size, options)}
    return shapes, dict(zip(spec.state_names(options), spec.state_sizes(options), strict=True))


def _refuse(name: str, value: Tensor, shape: tuple[int, ...], dtype: torch.dtype) -> NoReturn:
    if value.shape != shape:
        raise ValueError(f"run_layer: {name} must have shape {list(shape)}, got {list(value.shape)}")
    raise TypeError(f"run_layer: {name} must be {dtype}, as inputs are, got {describe(name, value.shape, value.dtype)}")
