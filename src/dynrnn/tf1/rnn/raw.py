"""`tf.nn.raw_rnn`: a loop whose inputs, states and outputs a function of the user's decides, step by step."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from ... import _nest
from ...graph import rules
from ...graph.dtype import int32
from ...graph.op import Op
from ...graph.shape import TensorShape, as_shape
from ..control_flow.loops import while_loop
from ..control_flow.tensor_array import TensorArray
from ..export import export
from ..graph import Tensor, atomic
from ..ops.apply import apply
from ..ops.array import shape, zeros
from ..ops.math.comparison import logical_not, logical_or
from ..ops.convert import constant, convert_to_tensor
from ..ops.math.reduction import reduce_all
from ..rnn_cell.base import check_cell
from ..variable_scope import variable_scope


@export("nn.raw_rnn")
@atomic
def raw_rnn(
    cell: Any, loop_fn: Callable[..., Any], parallel_iterations: int | None = None, swap_memory: bool = False, scope: Any = None
) -> tuple[Any, Any, Any]:
    """Run a cell in a loop that `loop_fn` steers.

    loop_fn: called as `loop_fn(time, cell_output, cell_state, loop_state)`, first with time 0 and None for the rest, and after each step with the step's output and state. It returns
    `(elements_finished, next_input, next_cell_state, emit_output, next_loop_state)`: a bool vector `[batch]` of rows that are done; the next input and state; what to
    emit (in the first call: one row of it, to say its shape and dtype, or None for the cell's output); and anything to carry along (or None). A row that is done emits
    zeros and keeps its state; the loop ends when all are.
    parallel_iterations, swap_memory: accepted; iterations run one after the other, and there is one memory. scope: default "rnn".

    Returns:
        (emit_ta, final_state, final_loop_state): TensorArrays in the structure of what is emitted, the state, and what was carried along.

    Raises:
        TypeError: not a cell, or `loop_fn` cannot be called; structures that differ. ValueError: shapes that do not fit.
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
        structure, sizes, dtypes = _emitted(cell, emit_like, state)
        arrays = [
            TensorArray(dtype, size=0, dynamic_size=True, element_shape=TensorShape([batch]).concatenate(_static(size)), name=f"rnn_output_{i}")
            for i, (size, dtype) in enumerate(zip(sizes, dtypes, strict=True))
        ]
        nothing = [_zeros(batch_size, size, dtype) for size, dtype in zip(sizes, dtypes, strict=True)]
        carried = loop_state if loop_state is not None else constant(0, int32)

        def body(time: Tensor, done: Tensor, inputs: Any, arrays: Any, state: Any, carried: Any) -> Any:
            output, new_state = cell(inputs, state)
            _nest.assert_same_structure(cell.output_size, output)
            after = time + 1
            next_done, next_input, next_state, emit, next_carried = loop_fn(after, output, new_state, carried)
            _nest.assert_same_structure(state, next_state)
            _nest.assert_same_structure(inputs, next_input)
            _nest.assert_same_structure(structure, emit)
            emitted = [_hold(done, old, new) for old, new in zip(nothing, _nest.flatten(emit), strict=True)]
            held = [_hold(done, old, new) for old, new in zip(_nest.flatten(state), _nest.flatten(next_state), strict=True)]
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
    return torch.where(done.view(-1, *[1] * (new.ndim - 1)), old, new) if new.ndim else new.view_as(new)


HELD = Op("SelectDone", "done:bool old:T new:T -> T", _held, lambda inputs, attrs: rules.merged(inputs[1:], attrs))


def _as_leaf(value: Any) -> Any:
    return value if isinstance(value, TensorArray) else convert_to_tensor(value)


def _batch(inputs: list[Tensor]) -> tuple[int | None, Any]:
    """The batch size of the first inputs: as far as it is known, and as an int or a tensor."""
    known = None
    for tensor in inputs:
        if tensor.dims is None or not tensor.dims or None in tensor.dims[1:]:
            raise ValueError(
                f"Input size (depth of inputs) must be accessible via shape inference, but saw value None: {tensor.name} has shape {tensor.shape}"
            )
        size = tensor.dims[0]
        if known is not None and size is not None and size != known:
            raise ValueError(f"raw_rnn: inputs must have one batch size, got {known} and {size} ({tensor.name})")
        known = size if known is None else known
    return known, shape(inputs[0])[0] if known is None else known


def _emitted(cell: Any, emit_like: Any, state: Any) -> tuple[Any, list[Any], list[Any]]:
    """What is emitted: its structure, the shape of each part without the batch (static, or a tensor), and its dtype."""
    if emit_like is not None:
        leaves = [convert_to_tensor(part) for part in _nest.flatten(emit_like)]
        sizes = [part.shape if part.shape.is_fully_defined() else shape(part) for part in leaves]
        return emit_like, sizes, [part.dtype for part in leaves]
    sizes = _nest.flatten(cell.output_size)
    kinds = {part.dtype.base_dtype for part in _nest.flatten(state) if not isinstance(part, TensorArray)}
    if len(kinds) != 1:
        raise ValueError(f"raw_rnn: the state has tensors of different types, {sorted(kind.name for kind in kinds)}, so loop_fn must say what is emitted in its first call")
    return cell.output_size, [as_shape(size) for size in sizes], [kinds.pop()] * len(sizes)


def _static(size: Any) -> TensorShape:
    return size if isinstance(size, TensorShape) else TensorShape([None] * size.shape[0].value)


def _zeros(batch_size: Any, size: Any, dtype: Any) -> Tensor:
    if isinstance(size, TensorShape):
        return zeros([batch_size, *size.as_list()], dtype)
    return zeros([batch_size, *[size[i] for i in range(size.shape[0].value)]], dtype)


def _hold(done: Any, old: Any, new: Any) -> Any:
    """`old` for rows that are done, `new` for the others; arrays and scalars belong to no row and always move on."""
    if isinstance(new, TensorArray):
        return new
    new = convert_to_tensor(new)
    return new if new.shape.ndims == 0 else apply(HELD, [done, old, new])
