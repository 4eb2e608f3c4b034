"""The nodes that run a cell of `dynrnn.cells`: one step, or a whole sequence of one layer and direction."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import torch

from ...errors import InvalidArgumentError
from ...graph.executor import distinct
from ...graph.op import Op
from ...rnn import clamp_lengths, run_layer
from ..graph import Operation, Tensor


def _bind_cell(node: Operation, runtime: Any, recorded: bool) -> Callable[..., tuple[dict[str, torch.Tensor], Any]]:
    """A function of the values that follow a node's inputs and states: the cell's params by name, and its options."""
    names, activation, options = node.attrs["params"], node.attrs["activation"], node.attrs["options"]
    function = activation.bind(runtime, recorded)

    def of_run(rest: Sequence[torch.Tensor]) -> tuple[dict[str, torch.Tensor], Any]:
        params = dict(zip(names, rest, strict=False))
        if activation.body is None:
            return params, options
        return params, dataclasses.replace(options, activation=function(rest[len(names) :]))

    return of_run


def _bind_step(node: Operation, runtime: Any, recorded: bool) -> Callable[..., tuple[torch.Tensor, ...]]:
    of_run = _bind_cell(node, runtime, recorded)
    spec, num_states = node.attrs["spec"], node.attrs["num_states"]

    def step(inputs: torch.Tensor, *rest: torch.Tensor) -> tuple[torch.Tensor, ...]:
        params, options = of_run(rest[num_states:])
        output, state = spec.step(params, inputs, rest[:num_states], options)
        return distinct((output, *state), (inputs, *rest))

    return step


def _bind_sequence(node: Operation, runtime: Any, recorded: bool) -> Callable[..., tuple[torch.Tensor, ...]]:
    of_run = _bind_cell(node, runtime, recorded)
    attrs = node.attrs
    spec, num_states, has_lengths, time_major = (
        attrs["spec"],
        attrs["num_states"],
        attrs["has_lengths"],
        attrs["time_major"],
    )
    reverse, parallel, owner = attrs["reverse"], attrs["parallel_iterations"], node.name

    def sequence(inputs: torch.Tensor, *rest: torch.Tensor) -> tuple[torch.Tensor, ...]:
        lengths = None
        if has_lengths:
            lengths = checked_lengths(rest[0], inputs, time_major, reverse)
        state = rest[has_lengths : has_lengths + num_states]
        check_states(owner, inputs, state, time_major)
        params, options = of_run(rest[has_lengths + num_states :])
        outputs, final = run_layer(
            spec,
            params,
            inputs,
            state,
            lengths=lengths,
            options=options,
            time_major=time_major,
            reverse=reverse,
            parallel_iterations=parallel,
        )
        return distinct((outputs, *final), (inputs, *rest))

    return sequence


def checked_lengths(lengths: torch.Tensor, inputs: torch.Tensor, time_major: bool, reverse: bool) -> torch.Tensor:
    """Lengths of a run as the loops take them; what TensorFlow refuses when it runs is refused in its words."""
    batch, max_time = (inputs.shape[1], inputs.shape[0]) if time_major else inputs.shape[:2]
    if lengths.shape != (batch,):
        raise InvalidArgumentError(
            None,
            None,
            f"Expected shape for Tensor sequence_length:0 is [{batch}] but saw shape: {list(lengths.shape)} (one "
            "length for each row of the inputs)",
        )
    if reverse:  # here TensorFlow reverses each row first, which does not take lengths out of range
        axis = 0 if time_major else 1
        for row in torch.nonzero((lengths > max_time) | (lengths < 0)).flatten().tolist()[:1]:
            bound = f"> input.dims({axis})" if lengths[row] > max_time else "< 0"
            raise InvalidArgumentError(
                None,
                None,
                f"seq_lens({row}) {bound}: sequence_length[{row}] is {int(lengths[row])}, max_time is {max_time}",
            )
    return clamp_lengths(lengths, max_time)


def check_states(owner: str, inputs: torch.Tensor, state: Sequence[torch.Tensor], time_major: bool) -> None:
    """InvalidArgumentError where a fed state has another batch than the inputs."""
    batch = inputs.shape[1] if time_major else inputs.shape[0]
    for value in state:
        if value.ndim and value.shape[0] != batch:
            raise InvalidArgumentError(
                None, None, f"{owner}: the initial state has {value.shape[0]} rows, the inputs have {batch}"
            )


STEP = Op("CellStep", None, None, None, bind=_bind_step, bodies=True)
SEQUENCE = Op("CellSequence", None, None, None, bind=_bind_sequence, bodies=True)


def _attrs(cell: Any, num_states: int) -> dict[str, Any]:
    bodies = () if cell.activation.body is None else (cell.activation.body,)
    return {
        "spec": cell.spec,
        "options": cell.options,
        "activation": cell.activation,
        "params": tuple(cell.param_tensors()),
        "num_states": num_states,
        "bodies": bodies,
    }


def add_step(cell: Any, inputs: Tensor, state: tuple[Tensor, ...]) -> tuple[Tensor, tuple[Tensor, ...]]:
    """Add one step of a built cell: `inputs` `[batch, input_size]`; returns (output, new state)."""
    values = [inputs, *state, *cell.param_tensors().values(), *cell.activation.captures]
    batch = _batch(inputs, state, 0)
    shapes = [(batch, size) for size in (cell.output_size, *cell.spec.state_sizes(cell.options))]
    node = inputs.graph.add(
        STEP,
        values,
        _attrs(cell, len(state)),
        dtypes=[inputs.dtype.base_dtype] * len(shapes),
        shapes=shapes,
        name=f"{cell.spec.name}_step",
    )
    results: list[Any] = node.outputs
    return results[0], tuple(results[1:])


def add_sequence(
    cell: Any,
    inputs: Tensor,
    lengths: Tensor | None,
    state: tuple[Tensor, ...],
    *,
    time_major: bool,
    reverse: bool,
    parallel_iterations: int | None,
) -> tuple[Tensor, tuple[Tensor, ...]]:
    """Add a built cell over whole sequences: `inputs` `[batch, time, input_size]` (time first with `time_major`);
    returns (outputs, final state).
    """
    values = [
        inputs,
        *([] if lengths is None else [lengths]),
        *state,
        *cell.param_tensors().values(),
        *cell.activation.captures,
    ]
    batch_axis = 1 if time_major else 0
    batch = _batch(inputs, state, batch_axis)
    time = inputs.dims[1 - batch_axis] if inputs.dims is not None else None
    layout = (time, batch) if time_major else (batch, time)
    shapes = [(*layout, cell.output_size), *((batch, size) for size in cell.spec.state_sizes(cell.options))]
    attrs = {
        **_attrs(cell, len(state)),
        "has_lengths": lengths is not None,
        "time_major": time_major,
        "reverse": reverse,
        "parallel_iterations": parallel_iterations,
    }
    node = inputs.graph.add(
        SEQUENCE,
        values,
        attrs,
        dtypes=[inputs.dtype.base_dtype] * len(shapes),
        shapes=shapes,
        name=f"{cell.spec.name}_sequence",
    )
    results: list[Any] = node.outputs
    return results[0], tuple(results[1:])


def _batch(inputs: Tensor, state: Sequence[Tensor], axis: int) -> int | None:
    """The batch size as far as inputs and states know it."""
    known = [
        inputs.dims[axis] if inputs.dims is not None else None,
        *(t.dims[0] if t.dims is not None else None for t in state),
    ]
    return next((size for size in known if size is not None), None)
