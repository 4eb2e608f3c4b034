"""`tf.nn.raw_rnn`: a loop whose inputs, states and outputs a function of the user's decides, step by step."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch

from ... import _nest
from ...errors import InvalidArgumentError
from ...graph import rules
from ...graph.dtype import int32
from ...graph.op import Op
from ...graph.shape import Dims, TensorShape, as_shape, merge_dims
from ..control_flow.loops import while_loop
from ..control_flow.tensor_array import TensorArray
from ..export import export
from ..graph import Tensor, atomic
from ..ops.apply import apply
from ..ops.array.joining import concat
from ..ops.array.making import zeros
from ..ops.array.sizing import shape
from ..ops.convert import constant, convert_to_tensor
from ..ops.math.comparison import logical_not, logical_or
from ..ops.math.reduction import reduce_all
from ..rnn_cell.base import check_cell
from ..variable_scope import variable_scope


@export("nn.raw_rnn")
@atomic
def raw_rnn(
    cell: Any,
    loop_fn: Callable[..., Any],
    parallel_iterations: int | None = None,
    swap_memory: bool = False,
    scope: Any = None,
) -> tuple[Any, Any, Any]:
    """Run a cell in a loop that `loop_fn` steers.

    loop_fn: called as `loop_fn(time, cell_output, cell_state, loop_state)`, first with time 0 and None for the rest,
    and after each step with the step's output and state. It returns `(elements_finished, next_input, next_cell_state,
    emit_output, next_loop_state)`: a bool vector `[batch]` of rows that are done; the next input and state; what to
    emit (in the first call: one row of it, to say its shape and dtype, or None for the cell's output); and anything to
    carry along (or None). A row that is done emits zeros and keeps its state; the loop ends when all are.
    parallel_iterations, swap_memory: accepted; iterations run one after the other, and there is one memory. scope:
    default "rnn".

    Returns:
        (emit_ta, final_state, final_loop_state): TensorArrays in the structure of what is emitted, the state, and what
        was carried along.

    Raises:
        TypeError: not a cell, or `loop_fn` cannot be called; dtypes that differ. ValueError: structures that differ,
        shapes that do not fit.
        tf.errors.InvalidArgumentError: in run, `elements_finished` for another batch size.

    Example:
        >>> import dynrnn.tf1 as tf
        >>> cell = tf.nn.rnn_cell.BasicRNNCell(2)
        >>> def loop_fn(time, cell_output, cell_state, loop_state):
        ...     state = cell.zero_state(3, tf.float32) if cell_output is None else cell_state
        ...     return time >= [4, 2, 1], tf.ones([3, 5]), state, cell_output, None
        >>> emit_ta, state, _ = tf.nn.raw_rnn(cell, loop_fn)
        >>> emit_ta.stack().shape.as_list(), state.shape.as_list()
        ([None, 3, 2], [3, 2])
    """
    check_cell("cell", cell)
    if not callable(loop_fn):
        raise TypeError("loop_fn must be a callable")
    with variable_scope(scope or "rnn"):
        time = constant(0, name="time")
        finished, next_input, state, emit_like, loop_state = loop_fn(time, None, None, None)
        inputs = _nest.map_structure(convert_to_tensor, next_input)
        batch, batch_size = _batch(_nest.flatten(inputs))
        _nest.assert_same_structure(state, cell.state_size)
        state = _nest.map_structure(_as_leaf, state)
        structure, nothing, shapes = _emitted(cell, emit_like, state, batch, batch_size)
        arrays = [
            _array(zero, known, f"rnn_output_{i}") for i, (zero, known) in enumerate(zip(nothing, shapes, strict=True))
        ]
        carried = loop_state if loop_state is not None else constant(0, int32)

        def body(time: Any, done: Any, inputs: Any, arrays: Any, state: Any, carried: Any) -> Any:
            output, new_state = cell(inputs, state)
            _nest.assert_same_structure(cell.output_size, output)
            after = time + 1
            next_done, next_input, next_state, emit, next_carried = loop_fn(after, output, new_state, carried)
            _nest.assert_same_structure(state, next_state)
            _nest.assert_same_structure(inputs, next_input)
            _nest.assert_same_structure(structure, emit)
            emitted = [_hold(done, old, new) for old, new in zip(nothing, _nest.flatten(emit), strict=True)]
            held = [
                _hold(done, old, new) for old, new in zip(_nest.flatten(state), _nest.flatten(next_state), strict=True)
            ]
            written = [array.write(time, value) for array, value in zip(_nest.flatten(arrays), emitted, strict=True)]
            return (
                after,
                logical_or(done, next_done),
                next_input,
                _nest.pack_sequence_as(structure, written),
                _nest.pack_sequence_as(state, held),
                carried if next_carried is None else next_carried,
            )

        result = while_loop(
            lambda time, done, *rest: logical_not(reduce_all(done)),
            body,
            (time, finished, inputs, _nest.pack_sequence_as(structure, arrays), state, carried),
            parallel_iterations=parallel_iterations or 32,
            swap_memory=swap_memory,
        )
        return result[3], result[4], None if loop_state is None else result[5]


def _held(done: torch.Tensor, old: torch.Tensor, new: torch.Tensor) -> torch.Tensor:
    if new.ndim == 0:
        return new.view_as(new)
    if done.ndim and done.shape[0] != new.shape[0]:
        raise InvalidArgumentError(
            None, None, f"raw_rnn: elements_finished has {done.shape[0]} entries for a batch of {new.shape[0]}"
        )
    return torch.where(done.view(-1, *[1] * (new.ndim - 1)), old, new)


def _held_dims(inputs: Sequence[Any], attrs: Mapping[str, Any]) -> Dims:
    done, old, new = inputs
    dims = rules.merged([old, new], attrs)
    if dims and done.dims:
        try:
            merge_dims(done.dims, dims[:1])
        except ValueError:
            raise ValueError(
                f"Dimensions must be equal, but are {done.dims[0]} and {dims[0]}: elements_finished ({done.name}) must "
                f"have one entry for each row of {new.name}, got {done.shape} and {new.shape}"
            ) from None
    return dims


HELD = Op("SelectDone", "done:bool old:T new:T -> T", _held, _held_dims)


def _as_leaf(value: Any) -> Any:
    return value if isinstance(value, TensorArray) else convert_to_tensor(value)


def _batch(inputs: list[Tensor]) -> tuple[int | None, Any]:
    """The batch size of the first inputs: as far as it is known, and as an int or a tensor."""
    known = None
    for tensor in inputs:
        if tensor.dims is None:
            continue
        if not tensor.dims:
            raise ValueError(f"raw_rnn: next_input must be [batch, ...], got the scalar {tensor.name}")
        size = tensor.dims[0]
        if known is not None and size is not None and size != known:
            raise ValueError(f"raw_rnn: inputs must have one batch size, got {known} and {size} ({tensor.name})")
        known = size if known is None else known
    return known, shape(inputs[0])[0] if known is None else known


def _emitted(cell: Any, emit_like: Any, state: Any, batch: int | None, batch_size: Any) -> tuple[Any, list, list]:
    """What is emitted: its structure, zeros for rows that emit nothing, and what is known of the shapes."""
    first = TensorShape([batch])
    if emit_like is not None:
        leaves = [convert_to_tensor(part) for part in _nest.flatten(emit_like)]
        zero = [zeros(concat([[batch_size], shape(part)], 0), part.dtype) for part in leaves]
        return emit_like, zero, [first.concatenate(part.shape) for part in leaves]
    kind = _nest.flatten(state)[0].dtype
    sizes = [as_shape(size) for size in _nest.flatten(cell.output_size)]
    zero = [zeros([batch_size, *size.as_list()], kind) for size in sizes]
    return cell.output_size, zero, [first.concatenate(size) for size in sizes]


def _array(zero: Tensor, known: TensorShape, name: str) -> TensorArray:
    array = TensorArray(zero.dtype, size=0, dynamic_size=True, element_shape=known, name=name)
    return array if known.is_fully_defined() else array.with_elements_like(zero)


def _hold(done: Any, old: Any, new: Any) -> Any:
    """`old` for rows that are done, `new` for the others; arrays and scalars belong to no row and always move on."""
    if isinstance(new, TensorArray):
        return new
    new = convert_to_tensor(new)
    return new if new.shape.ndims == 0 else apply(HELD, [done, old, new])
