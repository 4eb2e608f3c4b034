"""`tf.nn.static_state_saving_rnn`: a loop over a list of steps whose state is kept by a saver between runs."""

from __future__ import annotations

from typing import Any

from ... import _nest
from ...graph.shape import as_shape
from ..export import export
from ..graph import Tensor, atomic, get_default_graph
from ..ops.array.placeholders import identity
from ..ops.convert import convert_to_tensor
from ..rnn_cell.base import check_cell, full_shape
from .static import static_rnn


@export("nn.static_state_saving_rnn", "contrib.rnn.static_state_saving_rnn")
@atomic
def static_state_saving_rnn(
    cell: Any, inputs: Any, state_saver: Any, state_name: Any, sequence_length: Any = None, scope: Any = None
) -> tuple[list[Any], Any]:
    """Run a cell over a list of steps from the state that `state_saver` holds, and save the final state there.

    state_saver: an object with `state(name)`, which returns a state tensor, and `save_state(name, value)`, which
    returns an operation. state_name: a name, or a nest of names in the structure of `cell.state_size`. The last output
    depends on the saving. The other arguments are those of `static_rnn`.

    Returns:
        (outputs, state) as `static_rnn`.

    Raises:
        ValueError: names and states of different structures.
    """
    check_cell("cell", cell)
    size, names = cell.state_size, state_name
    if _nest.is_nested(size) != _nest.is_nested(names):
        raise ValueError(
            f"state_name should be the same type as cell.state_size. state_name: {names}, cell.state_size: {size}"
        )
    if _nest.is_nested(size):
        flat_names, flat_sizes = _nest.flatten(names), _nest.flatten(size)
        if len(flat_names) != len(flat_sizes):
            raise ValueError(f"#elems(state_name) != #elems(cell.state_size): {len(flat_names)} vs. {len(flat_sizes)}")
    else:
        flat_names, flat_sizes = [names], [size]
    parts = [_held(state_saver.state(name), part) for name, part in zip(flat_names, flat_sizes, strict=True)]
    initial_state = _nest.pack_sequence_as(size, parts) if _nest.is_nested(size) else parts[0]
    outputs, state = static_rnn(cell, inputs, initial_state=initial_state, sequence_length=sequence_length, scope=scope)
    saved = [state_saver.save_state(name, part) for name, part in zip(flat_names, _nest.flatten(state), strict=True)]
    with get_default_graph().control_dependencies(saved):
        last = outputs[-1]
        outputs[-1] = _nest.map_structure(identity, last)
        state = _nest.map_structure(identity, state)
    return outputs, state


def _held(state: Any, size: Any) -> Tensor:
    """A saved state, known to have the shape that the cell's state has (a scalar state has no batch)."""
    tensor = convert_to_tensor(state)
    if as_shape(size).ndims:
        tensor.set_shape(full_shape(None, size))
    return tensor
