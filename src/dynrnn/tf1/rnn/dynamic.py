"""`tf.nn.dynamic_rnn`: a cell over padded sequences, each row for its own length."""

from __future__ import annotations

from typing import Any

from ... import _nest
from ...graph.dtype import int32
from ...graph.shape import TensorShape, merge_dims
from ..control_flow.structure import as_leaves
from ..export import export
from ..graph import Tensor, atomic
from ..ops.array.placeholders import identity
from ..ops.array.sizing import shape
from ..ops.convert import convert_to_tensor
from ..ops.math.cast import cast
from ..rnn_cell.base import check_cell
from ..variable_scope import variable_scope
from .names import name_outputs, name_state
from .walk import Walk


@export("nn.dynamic_rnn")
@atomic
def dynamic_rnn(
    cell: Any,
    inputs: Any,
    sequence_length: Any = None,
    initial_state: Any = None,
    dtype: Any = None,
    parallel_iterations: int | None = None,
    swap_memory: bool = False,
    time_major: bool = False,
    scope: Any = None,
) -> tuple[Any, Any]:
    """Run a cell over sequences: outputs are 0 past each row's length, and the final state is that after its last valid
    step.

    cell: an RNNCell. inputs: `[batch, time, ...]`, a tensor, an array or a nest of them; `[time, batch, ...]` with
    `time_major`, and then tensors only.
    sequence_length: `[batch]`, any number type, cast to int32 (floats are cut off); over `time` it acts as `time`,
    below 0 as 0; None: all steps.
    initial_state: a state of the cell, or None for zeros. dtype: of the zero state; needed where there is no initial
    state.
    parallel_iterations: how many steps' input products the reference loop computes at once, for the cells of
    `tf.nn.rnn_cell`; more takes more memory, fewer more time (None: all). The fused kernels and a cell of your own
    compute none ahead, so there it has nothing to trade.
    swap_memory: accepted; there is one memory here, so there is nothing to move. scope: a variable scope (default
    "rnn").

    Returns:
        (outputs, state): outputs `[batch, time, output_size]` in the layout of the inputs (a nest where
        `cell.output_size` is one), and the final state in the structure of `cell.state_size`.

    Raises:
        TypeError: not a cell; types or structures that do not fit; arrays as inputs with `time_major`. ValueError:
        shapes that do not fit, or neither `initial_state` nor `dtype`.
        tf.errors.InvalidArgumentError: in run, lengths or a state for another batch size.

    Example:
        >>> import dynrnn.tf1 as tf
        >>> cell = tf.nn.rnn_cell.BasicRNNCell(2)
        >>> outputs, state = tf.nn.dynamic_rnn(cell, tf.ones([3, 5, 4]), sequence_length=[5, 2, 0], dtype=tf.float32)
        >>> outputs.shape.as_list(), state.shape.as_list()
        ([3, 5, 2], [3, 2])
    """
    check_cell("cell", cell)
    with variable_scope(scope or "rnn"):
        inputs = as_inputs(inputs, time_major)
        return run_dynamic(cell, inputs, sequence_length, initial_state, dtype, parallel_iterations, time_major)


def run_dynamic(
    cell: Any,
    inputs: Any,
    sequence_length: Any,
    initial_state: Any,
    dtype: Any,
    parallel_iterations: int | None,
    time_major: bool,
    reverse: bool = False,
) -> tuple[Any, Any]:
    """`dynamic_rnn` in the current variable scope; with `reverse`, each row from its last valid step to its first."""
    parallel_iterations = _checked_iterations(parallel_iterations)
    batch_axis = 1 if time_major else 0
    flat = _nest.flatten(inputs)
    batch = check_inputs(flat, batch_axis)
    lengths = as_lengths(sequence_length, batch)
    batch_size = batch if batch is not None else shape(flat[0])[batch_axis]
    state = first_state(cell, initial_state, batch_size, dtype)
    walk = Walk(lengths, time_major=bool(time_major), reverse=reverse, parallel_iterations=parallel_iterations)
    outputs, final = walk.run(cell, inputs, state)
    _nest.assert_same_structure(state, final)
    if not reverse:  # else they are named where they are reversed once more
        outputs = name_outputs(outputs, inputs=len(flat), time_major=time_major)
    return outputs, name_state(final, outputs=len(_nest.flatten(outputs)))


def as_inputs(inputs: Any, time_major: bool) -> Any:
    """The inputs as tensors. As in TensorFlow, arrays are taken only where the batch comes first."""
    for value in _nest.flatten(inputs) if time_major else []:
        if not (isinstance(value, Tensor) or hasattr(value, "_as_tensor")):
            raise TypeError(
                f"inputs must be tensors with time_major=True, got {type(value).__name__}; tf.convert_to_tensor makes "
                "one"
            )
    return _nest.map_structure(convert_to_tensor, inputs)


def _checked_iterations(parallel_iterations: Any) -> int | None:
    """`parallel_iterations`, with TensorFlow's classes of errors; 0 is the default there, as None is."""
    if not parallel_iterations:
        return None
    wrong = f"parallel_iterations must be a positive integer, got {parallel_iterations!r}"
    if not isinstance(parallel_iterations, int):
        raise AssertionError(wrong)
    if parallel_iterations < 0:
        raise TypeError(wrong)
    return parallel_iterations


def check_inputs(flat: list[Tensor], batch_axis: int) -> int | None:
    """Hold the inputs against each other; returns their batch size, as far as it is known."""
    joined: tuple[int | None, ...] | None = (None, None)
    for tensor in flat:
        if tensor.dims is None:
            raise ValueError(f"inputs must have a known rank of at least 3, but the shape of {tensor.name} is unknown")
        if len(tensor.dims) < 3:
            raise ValueError(
                f"Shape {tensor.shape} of {tensor.name} must have rank at least 3: inputs are [batch, time, ...] (or "
                "[time, batch, ...] with time_major)"
            )
        if None in tensor.dims[2:]:
            raise ValueError(
                "Input size (depth of inputs) must be accessible via shape inference, but saw value None: "
                f"{tensor.name} has shape {tensor.shape}"
            )
        for axis, what in ((1 - batch_axis, "Time steps is"), (batch_axis, "Batch_size is")):
            known, size = joined[axis], tensor.dims[axis]
            if known is not None and size is not None and known != size:
                raise ValueError(
                    f"{what} not the same for all the elements in the input in a batch: saw {size} in {tensor.name} "
                    f"and {known} before"
                )
        joined = merge_dims(joined, tensor.dims[:2])
        assert joined is not None
    return joined[batch_axis]


def as_lengths(sequence_length: Any, batch: int | None) -> Tensor | None:
    """`sequence_length` as an int32 vector; ValueError where it can be seen not to fit the batch."""
    if sequence_length is None:
        return None
    lengths = cast(convert_to_tensor(sequence_length, name="sequence_length"), int32)
    if lengths.shape.ndims not in (None, 1):
        raise ValueError(
            f"sequence_length must be a vector of length batch_size, but saw shape: {lengths.shape}, for a batch of "
            f"{TensorShape([batch])[0]}"
        )
    if not lengths.shape.is_compatible_with([batch]):
        raise ValueError(
            f"Dimensions must be equal, but are {lengths.shape[0]} and {batch}: sequence_length must have one entry "
            "for each row of inputs"
        )
    return identity(lengths, name="sequence_length")


def first_state(cell: Any, initial_state: Any, batch_size: Any, dtype: Any) -> Any:
    """The given initial state, with arrays as tensors, or the cell's zero state."""
    if initial_state is not None:
        return _nest.pack_sequence_as(initial_state, as_leaves(initial_state, "initial_state"))
    if not dtype:
        raise ValueError(
            "If no initial_state is provided, argument `dtype` must be specified: there is no initial_state to take "
            "it from"
        )
    get_initial_state = getattr(cell, "get_initial_state", None)
    if get_initial_state is not None:
        return get_initial_state(inputs=None, batch_size=batch_size, dtype=dtype)
    return cell.zero_state(batch_size, dtype)
