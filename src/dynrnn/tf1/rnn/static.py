"""`tf.nn.static_rnn`: a cell over a list of steps.

Our own cells go through the same whole-sequence path as in `dynamic_rnn`. Any other cell is called once for every step,
as TensorFlow does, because such a call may do something else each time.
"""

from __future__ import annotations

from typing import Any

from ... import _nest
from ...graph.shape import merge_dims
from ..export import export
from ..graph import Tensor, atomic
from ..ops.array.joining import stack
from ..ops.array.sizing import shape
from ..ops.array.splitting import unstack
from ..ops.convert import convert_to_tensor
from ..rnn_cell.base import check_cell
from ..variable_scope import variable_scope
from .dynamic import as_lengths, first_state
from .unrolled import call_while_running, fit_lengths, freeze, in_input_order, select_valid
from .walk import Walk, runs_whole_throughout


@export("nn.static_rnn", "contrib.rnn.static_rnn")
@atomic
def static_rnn(
    cell: Any, inputs: Any, initial_state: Any = None, dtype: Any = None, sequence_length: Any = None, scope: Any = None
) -> tuple[list[Any], Any]:
    """Run a cell over a list of steps, each `[batch, input_size]` (or a nest of tensors).

    initial_state, dtype, sequence_length, scope: as for `dynamic_rnn`.

    Returns:
        (outputs, state): a list of one output a step, 0 past each row's length, and the final state.

    Raises:
        TypeError: not a cell, or inputs that are no list. ValueError: an empty list, or what `dynamic_rnn` refuses.

    Example:
        >>> import dynrnn.tf1 as tf
        >>> outputs, state = tf.nn.static_rnn(tf.nn.rnn_cell.GRUCell(2), [tf.ones([3, 4])] * 5, dtype=tf.float32)
        >>> len(outputs), state.shape.as_list()
        (5, [3, 2])
    """
    check_cell("cell", cell)
    static_steps(inputs)
    with variable_scope(scope or "rnn") as entered:
        return run_static(cell, inputs, initial_state, dtype, sequence_length, entered)


def static_steps(inputs: Any) -> None:
    """Refuse inputs that are no list of steps."""
    if not _nest.is_nested(inputs):
        raise TypeError("inputs must be a sequence: a list with one tensor for each step")
    if not inputs:
        raise ValueError("inputs must not be empty")


def run_static(
    cell: Any, inputs: Any, initial_state: Any, dtype: Any, sequence_length: Any, scope: Any, reverse: bool = False
) -> tuple[list[Any], Any]:
    """`static_rnn` in the current variable scope, which is `scope`; with `reverse`, each row from its last valid step
    to its first.
    """
    steps = [_nest.map_structure(convert_to_tensor, step) for step in inputs]
    batch = _check_steps(steps)
    lengths = fit_lengths(as_lengths(sequence_length, batch), steps)
    batch_size = batch if batch is not None else shape(_nest.flatten(steps[0])[0])[0]
    state = first_state(cell, initial_state, batch_size, dtype)
    if runs_whole_throughout(cell) and isinstance(steps[0], Tensor):
        walk = Walk(lengths, time_major=True, reverse=reverse, static=True)
        outputs, final = walk.run(cell, stack(steps, axis=0), state)
        return _unstack_nest(outputs, len(steps)), final
    return _unroll(cell, steps, state, lengths, scope, reverse)


def _unstack_nest(outputs: Any, count: int) -> list[Any]:
    columns = [unstack(tensor, num=count, axis=0) for tensor in _nest.flatten(outputs)]
    return [_nest.pack_sequence_as(outputs, list(step)) for step in zip(*columns, strict=True)]


def _check_steps(steps: list[Any]) -> int | None:
    """Hold the steps against each other; returns their batch size, as far as it is known."""
    first = _nest.flatten(steps[0])
    joined = [tensor.dims for tensor in first]
    batch: tuple[int | None, ...] | None = (None,)
    for number, step in enumerate(steps):
        flat = _nest.flatten(step)
        for i, tensor in enumerate(flat):
            if tensor.dims is None or len(tensor.dims) == 0:
                raise ValueError(f"inputs[{number}] must have shape [batch, ...] of known rank, got {tensor.shape}")
            if None in tensor.dims[1:]:
                raise ValueError(
                    "Input size (dimension 1 of inputs) must be accessible via shape inference, but saw value None: "
                    f"inputs[{number}] has shape {tensor.shape}"
                )
            try:
                joined[i] = merge_dims(joined[i], tensor.dims)
                batch = merge_dims(batch, tensor.dims[:1])
            except ValueError:
                raise ValueError(
                    f"inputs[{number}] has shape {tensor.shape}, which does not fit the steps before it, "
                    f"{first[i].shape}"
                ) from None
    assert batch is not None
    return batch[0]


def _unroll(
    cell: Any, steps: list[Any], state: Any, lengths: Tensor | None, scope: Any, reverse: bool
) -> tuple[list[Any], Any]:
    """Call the cell step by step; the variables of the first call are reused by all others."""
    given = select_valid(steps, lengths, reverse)
    outputs = []
    for time, step in enumerate(given):
        if time > 0:
            scope.reuse_variables()
        output, new_state = call_while_running(time, lengths, cell, step, state)
        if lengths is not None:
            output, new_state = freeze(time, lengths, output, new_state, state)
        state = new_state
        outputs.append(output)
    return in_input_order(outputs, lengths) if reverse else outputs, state
