"""The reference loop for our own cells: one layer, one direction, a whole sequence.

The step is cut at the input product (`CellSpec`): products of all valid steps are computed together, and only running
rows are stepped. The loop for a user's step is in `loop.py`; nothing here knows an equation.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import torch
from torch import Tensor

from dynrnn.cells.spec import CellSpec, State
from dynrnn.errors import describe
from dynrnn.rnn.lengths import check_lengths, length_range, pack


def run_layer(
    spec: CellSpec,
    params: Mapping[str, Tensor],
    inputs: Tensor,
    state: State,
    *,
    lengths: Tensor | None,
    options: Any,
    time_major: bool = False,
    reverse: bool = False,
    parallel_iterations: int | None = None,
) -> tuple[Tensor, State]:
    """Run a cell over `inputs`, each row for its own length; work follows `sum(lengths)`.

    `params` are exactly the tensors that `spec.params` lists; `inputs` is `[batch, time, input_size]`, or time first
    with `time_major`; `state` holds `[batch, width]` tensors in the cell's order; all have one floating dtype and one
    device. `lengths` is None (all rows full) or int64 `[batch]` on the CPU, within 0..time. With `reverse`, each row is
    walked from its last valid step to its first, and outputs stay at their inputs' places. `parallel_iterations` says
    how many steps' input products are computed at once (None: all): fewer take less memory and more time.

    Returns `(outputs, final_state)`: outputs `[batch, time, output_size]` in the layout of the inputs, exactly 0 past a
    row's end, and each row's state after its last step (for an empty row its initial state, bit for bit). Padding is
    never read. Follows TF1's `tf.nn.dynamic_rnn`.

    Raises TypeError or ValueError, naming the argument, where a dtype, a shape or a length does not fit.

    Example:
        >>> from dynrnn.cells import BASIC_RNN, BasicRNNOptions
        >>> params = {"kernel": torch.full((3, 1), 0.5), "bias": torch.zeros(1)}
        >>> inputs = torch.arange(12.0).reshape(2, 3, 2) / 10
        >>> outputs, (h,) = run_layer(BASIC_RNN, params, inputs, (torch.zeros(2, 1),), lengths=torch.tensor([3, 1]),
        ...                           options=BasicRNNOptions(1))
        >>> [round(value, 4) for value in outputs[1, :, 0].tolist()], bool(h[0] == outputs[0, 2])
        ([0.5717, 0.0, 0.0], True)
    """
    _check(spec, params, inputs, state, lengths, options, time_major, parallel_iterations)
    weights = spec.prepare(params, options)
    time_axis = 0 if time_major else 1
    batch, max_time = inputs.shape[1 - time_axis], inputs.shape[time_axis]
    shortest, longest = length_range(lengths, batch, max_time)
    if 0 < shortest == longest:
        rows = inputs.narrow(time_axis, 0, longest)
        rows = rows.flip(time_axis) if reverse else rows
        rows = (rows if time_major else rows.transpose(0, 1)).reshape(longest * batch, -1)
        products = _products(spec, weights, rows, [batch] * longest, parallel_iterations)
        outputs, final_state = _walk(spec, weights, products, state, options)
        if reverse:
            outputs.reverse()
        if longest < max_time:
            outputs += [torch.zeros_like(outputs[0])] * (max_time - longest)
        return torch.stack(outputs, time_axis), final_state

    if lengths is None:  # no rows or no steps
        lengths = torch.zeros(batch, dtype=torch.int64)
    packing = pack(lengths, max_time, time_major=time_major, reverse=reverse, device=inputs.device)
    rows = inputs.reshape(batch * max_time, inputs.shape[2]).index_select(0, packing.source)
    products = _products(spec, weights, rows, packing.batch_sizes, parallel_iterations)
    state = tuple(value.index_select(0, packing.order) for value in state)
    outputs, final_state = _walk(spec, weights, products, state, options)
    outputs.append(outputs[0].new_zeros(1, outputs[0].shape[1]))  # what padding points at
    padded = torch.cat(outputs).index_select(0, packing.target)
    final_state = tuple(value.index_select(0, packing.inverse) for value in final_state)
    return padded.view(*inputs.shape[:2], padded.shape[1]), final_state


def _products(
    spec: CellSpec, weights: Any, rows: Tensor, batch_sizes: list[int], parallel_iterations: int | None
) -> Iterator[Tensor]:
    """Yield each step's input product `[running rows, k]`, computed for `parallel_iterations` steps at a time."""
    at_once = parallel_iterations or len(batch_sizes)
    chunks = [batch_sizes[start : start + at_once] for start in range(0, len(batch_sizes), at_once)]
    # split, not slices: its backward is one concatenation, where each slice's would fill a whole tensor
    for chunk, sizes in zip(rows.split([sum(sizes) for sizes in chunks]), chunks, strict=True):
        yield from spec.product(weights, chunk).split(sizes)


def _walk(
    spec: CellSpec, weights: Any, products: Iterable[Tensor], state: State, options: Any
) -> tuple[list[Tensor], State]:
    """Step the running rows, a shrinking prefix of `state`; return each step's outputs and all rows' final state.

    Where no row ever runs, the caller still gives one product of no rows, so that outputs have their width and dtype
    and hang on params, inputs and state as they always do.
    """
    recur, outputs, finished = spec.recur, [], []
    running = state[0].shape[0]
    for product in products:
        if product.shape[0] < running:
            sizes = (product.shape[0], running - product.shape[0])
            pieces = [value.split(sizes) for value in state]
            state = tuple(piece[0] for piece in pieces)
            finished.append([piece[1] for piece in pieces])
            running = sizes[0]
        output, state = recur(weights, product, state, options)
        outputs.append(output)
    if not finished:
        return outputs, state
    finished.append(state)
    return outputs, tuple(torch.cat(pieces[::-1]) for pieces in zip(*finished, strict=True))


def _check(
    spec: CellSpec,
    params: Mapping[str, Tensor],
    inputs: Tensor,
    state: State,
    lengths: Tensor | None,
    options: Any,
    time_major: bool,
    parallel_iterations: int | None,
) -> None:
    """Refuse what would fail late, broadcast, or be silently wrong."""
    if inputs.ndim != 3:
        layout = "[time, batch, input_size]" if time_major else "[batch, time, input_size]"
        raise ValueError(f"run_layer: inputs must have shape {layout}, got {list(inputs.shape)}")
    if not inputs.dtype.is_floating_point:
        raise TypeError(f"run_layer: inputs must be floating point, got {_describe('inputs', inputs)}")
    expected = {param.name: param.shape for param in spec.params(inputs.shape[2], options)}
    if params.keys() != expected.keys():
        raise ValueError(f"run_layer: params of {spec.name} must be {list(expected)}, got {list(params)}")
    batch, max_time = (inputs.shape[1], inputs.shape[0]) if time_major else inputs.shape[:2]
    sizes = dict(zip(spec.state_names(options), spec.state_sizes(options), strict=True))
    if len(state) != len(sizes):
        raise ValueError(f"run_layer: state of {spec.name} must be ({', '.join(sizes)}), got {len(state)} tensors")
    named = [(f"params[{name!r}]", params[name], shape) for name, shape in expected.items()]
    named += [(f"state.{name}", value, (batch, sizes[name])) for name, value in zip(sizes, state, strict=True)]
    for name, value, shape in named:
        if value.shape != shape:
            raise ValueError(f"run_layer: {name} must have shape {list(shape)}, got {list(value.shape)}")
        if value.dtype != inputs.dtype:
            raise TypeError(f"run_layer: {name} must be {inputs.dtype}, as inputs are, got {_describe(name, value)}")
    check_lengths("run_layer", lengths, batch, max_time)
    if parallel_iterations is not None and parallel_iterations < 1:
        raise ValueError(f"run_layer: parallel_iterations must be at least 1, got {parallel_iterations}")


def _describe(name: str, value: Tensor) -> str:
    return describe(name, value.shape, value.dtype)
