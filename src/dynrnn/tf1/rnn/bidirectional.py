"""Two cells over the same sequences, one of them from each row's end to its start."""

from __future__ import annotations

from typing import Any

from ... import _nest
from ...graph.dtype import int32, int64
from ..export import export
from ..graph import atomic
from ..ops.arguments import whole_numbers
from ..ops.array.joining import concat
from ..ops.array.placeholders import identity
from ..ops.convert import convert_to_tensor
from ..rnn_cell.base import check_cell
from ..variable_scope import variable_scope
from .dynamic import as_inputs, run_dynamic
from .names import name_reversed
from .static import run_static, static_steps


@export("nn.bidirectional_dynamic_rnn")
@atomic
def bidirectional_dynamic_rnn(
    cell_fw: Any,
    cell_bw: Any,
    inputs: Any,
    sequence_length: Any = None,
    initial_state_fw: Any = None,
    initial_state_bw: Any = None,
    dtype: Any = None,
    parallel_iterations: int | None = None,
    swap_memory: bool = False,
    time_major: bool = False,
    scope: Any = None,
) -> tuple[tuple[Any, Any], tuple[Any, Any]]:
    """Run one cell forward and one backward over sequences; the backward one starts at each row's last valid step.

    Arguments are those of `dynamic_rnn`, with a cell and an initial state for each direction; `sequence_length` is
    int32 or int64 here, within 0..time. scope: default "bidirectional_rnn"; the variables stand under `fw` and `bw` in
    it.

    Returns:
        ((outputs_fw, outputs_bw), (state_fw, state_bw)): both outputs are in the order of the inputs, so `state_bw`
        belongs to `outputs_bw[:, 0]`.

    Raises:
        As `dynamic_rnn`; in run, tf.errors.InvalidArgumentError for a length over `time` or below 0.
    """
    check_cell("cell_fw", cell_fw)
    check_cell("cell_bw", cell_bw)
    with variable_scope(scope or "bidirectional_rnn"):
        inputs = as_inputs(inputs, time_major)
        lengths = _reversible(sequence_length)
        # Each direction reads the inputs through a tensor of its own: so gradients add up in the order of static loops.
        inputs_fw, inputs_bw = (_nest.map_structure(identity, inputs) for _ in range(2))
        with variable_scope("fw") as fw_scope, variable_scope(fw_scope):
            forward = run_dynamic(cell_fw, inputs_fw, lengths, initial_state_fw, dtype, parallel_iterations, time_major)
        with variable_scope("bw") as bw_scope, variable_scope(bw_scope):
            backward = run_dynamic(
                cell_bw, inputs_bw, lengths, initial_state_bw, dtype, parallel_iterations, time_major, reverse=True
            )
    outputs_bw = name_reversed(backward[0], by_length=lengths is not None)
    return (forward[0], outputs_bw), (forward[1], backward[1])


def _reversible(sequence_length: Any) -> Any:
    """Lengths by which rows can be reversed: TensorFlow takes int32 and int64 there, nothing else."""
    if sequence_length is None:
        return None
    lengths = convert_to_tensor(whole_numbers(sequence_length), name="sequence_length")
    if lengths.dtype.base_dtype not in (int32, int64):
        raise TypeError(
            f"Value passed to parameter 'seq_lengths' has DataType {lengths.dtype.name} not in list of allowed "
            "values: int32, int64 "
            "(sequence_length of a bidirectional loop)"
        )
    return lengths


@export("nn.static_bidirectional_rnn", "contrib.rnn.static_bidirectional_rnn")
@atomic
def static_bidirectional_rnn(
    cell_fw: Any,
    cell_bw: Any,
    inputs: Any,
    initial_state_fw: Any = None,
    initial_state_bw: Any = None,
    dtype: Any = None,
    sequence_length: Any = None,
    scope: Any = None,
) -> tuple[list[Any], Any, Any]:
    """Run one cell forward and one backward over a list of steps, each `[batch, input_size]` (or a nest).

    Returns:
        (outputs, state_fw, state_bw): a list of one output a step, forward and backward joined along axis 1.

    Raises:
        TypeError: not cells, or inputs that are no list. ValueError: an empty list, or what `dynamic_rnn` refuses.
    """
    check_cell("cell_fw", cell_fw)
    check_cell("cell_bw", cell_bw)
    static_steps(inputs)
    with variable_scope(scope or "bidirectional_rnn"):
        lengths = _reversible(sequence_length)
        with variable_scope("fw") as fw_scope:
            outputs_fw, state_fw = run_static(cell_fw, inputs, initial_state_fw, dtype, lengths, fw_scope)
        with variable_scope("bw") as bw_scope:
            outputs_bw, state_bw = run_static(cell_bw, inputs, initial_state_bw, dtype, lengths, bw_scope, reverse=True)
    pairs = zip(outputs_fw, outputs_bw, strict=True)
    return [_nest.map_structure(lambda fw, bw: concat([fw, bw], 1), fw, bw) for fw, bw in pairs], state_fw, state_bw
