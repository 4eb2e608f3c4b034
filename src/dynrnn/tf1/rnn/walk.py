"""How a cell is run over a sequence: layer by layer as whole-sequence nodes where its math is ours, else as a traced
step in a loop.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

import torch

from ... import _nest
from ...graph.control_flow import Body
from ...graph.executor import distinct
from ...graph.op import Op
from ...graph.shape import TensorShape, merge_dims
from ...rnn import run_steps
from ..control_flow.structure import as_leaves, flow, pack
from ..graph import Operation, Tensor, get_default_graph
from ..ops.convert import convert_to_tensor
from ..rnn_cell.base import full_shape
from ..rnn_cell.step import check_states, checked_lengths


@dataclass(frozen=True)
class Walk:
    """The facts of one pass over a sequence.

    lengths: int32 `[batch]`, or None for all steps. reverse: each row from its last valid step to its first. static:
    the steps are those of an unrolled loop, where each has random operations of its own.
    """

    lengths: Tensor | None
    time_major: bool = False
    reverse: bool = False
    static: bool = False
    parallel_iterations: int | None = None

    @property
    def batch_axis(self) -> int:
        return 1 if self.time_major else 0

    def step_shape(self, inputs: Any) -> Any:
        """The static shapes of one step's inputs."""
        return _nest.map_structure(lambda tensor: TensorShape(self._step_dims(tensor)), inputs)

    def _step_dims(self, tensor: Tensor) -> tuple[int | None, ...]:
        assert tensor.dims is not None
        return (tensor.dims[self.batch_axis], *tensor.dims[2:])

    def run(self, cell: Any, inputs: Any, state: Any) -> tuple[Any, Any]:
        """Run `cell` over `inputs`; returns (outputs, final state)."""
        if runs_whole(cell) and isinstance(inputs, Tensor):
            return cell._run_whole(inputs, state, self)
        return self._loop(cell, inputs, state)

    def _loop(self, cell: Any, inputs: Any, state: Any) -> tuple[Any, Any]:
        xs, leaves = _nest.flatten(inputs), as_leaves(state, "a state")
        states = [flow(leaf) for leaf in leaves]
        body, output, new_state = self._trace(cell, inputs, _nest.pack_sequence_as(state, leaves))
        new_leaves = _nest.flatten(new_state)
        batch = self._batch(inputs)
        outputs = body.results[: len(_nest.flatten(output))]
        time = next((t.dims[1 - self.batch_axis] for t in xs if t.dims[1 - self.batch_axis] is not None), None)
        layout = (time, batch) if self.time_major else (batch, time)
        shapes = [None if t.dims is None else (*layout, *t.dims[1:]) for t in outputs]
        shapes += [t.dims for t in body.params[len(xs) :]]
        attrs = {
            "bodies": (body,),
            "num_inputs": len(xs),
            "num_states": len(states),
            "arrays": tuple(i for i, leaf in enumerate(leaves) if leaf is not states[i]),
            "has_lengths": self.lengths is not None,
            "time_major": self.time_major,
            "reverse": self.reverse,
            "output_specs": tuple(((t.dims or (None,))[1:], t.dtype.torch) for t in outputs),
        }
        values = [*([] if self.lengths is None else [self.lengths]), *xs, *states, *body.captures]
        dtypes = [t.dtype.base_dtype for t in body.results]
        node = get_default_graph().add(LOOP, values, attrs, dtypes=dtypes, shapes=shapes, name="while")
        results: list[Any] = node.outputs
        packed = _nest.pack_sequence_as(output, results[: len(outputs)])
        return packed, pack(new_state, new_leaves, results[len(outputs) :])

    def _batch(self, inputs: Any) -> int | None:
        """The batch size, as far as the inputs know it."""
        sizes = [tensor.dims[self.batch_axis] for tensor in _nest.flatten(inputs)]
        return next((size for size in sizes if size is not None), None)

    def _trace(self, cell: Any, inputs: Any, state: Any) -> tuple[Body, Any, Any]:
        """Trace one call of `cell`; the body's results are its outputs, then its new state."""
        graph = get_default_graph()
        body = Body(graph)
        with body.trace(), graph.name_scope("while"):
            step_inputs = _nest.map_structure(lambda t: body.param(t.dtype, self._step_dims(t), "inputs"), inputs)
            leaves = _nest.flatten(state)
            step_state: list[Any] = [body.param(flow(leaf).dtype, flow(leaf).dims, "state") for leaf in leaves]
            output, new_state = cell(step_inputs, pack(state, leaves, step_state))
            _nest.assert_same_structure(cell.output_size, output)
            _nest.assert_same_structure(state, new_state)
            results = [convert_to_tensor(t) for t in _nest.flatten(output)]
            new = [flow(leaf) for leaf in as_leaves(new_state, "a new state")]
            _check_outputs(cell, results, self._batch(inputs))
            _check_new_state(step_state, new)
            body.close([*results, *new])
        return body, output, new_state


def _check_outputs(cell: Any, outputs: list[Tensor], batch: int | None) -> None:
    for tensor, size in zip(outputs, _nest.flatten(cell.output_size), strict=True):
        expected = full_shape(batch, size)
        if not tensor.shape.is_compatible_with(expected):
            raise ValueError(
                f"Inconsistent shapes: saw {tensor.shape} but expected {expected}: the output of {cell} is not what "
                "its output_size says"
            )
        tensor.set_shape(expected)


def _check_new_state(before: list[Tensor], after: list[Tensor]) -> None:
    for old, new in zip(before, after, strict=True):
        if old.dtype.base_dtype is not new.dtype.base_dtype:
            raise TypeError(
                f"The state {old.name} enters the step with type {old.dtype.name} and leaves it with type "
                f"{new.dtype.name} ({new.name})"
            )
        try:
            merge_dims(old.dims, new.dims)
        except ValueError:
            raise ValueError(
                f"The shape for {old.name} is not an invariant for the loop. It enters the loop with shape "
                f"{old.shape}, but has shape {new.shape} after one "
                "iteration. A cell must return a state of the shape it was given"
            ) from None


def runs_whole(cell: Any) -> bool:
    """Whether `cell` can run over whole sequences: one of our own, of which nobody has changed what its steps do."""
    owner = next((cls for cls in type(cell).__mro__ if "_run_whole" in vars(cls)), None)
    if owner is None:
        return False
    changed = "call" in vars(cell) or any(
        getattr(type(cell), name, None) is not getattr(owner, name, None) for name in ("call", "__call__")
    )
    return not changed and (not hasattr(cell, "whole") or cell.whole)


def runs_whole_throughout(cell: Any) -> bool:
    """Whether `cell` and every cell inside it can run over whole sequences."""
    inner = getattr(cell, "cells", None) or ([cell.cell] if hasattr(cell, "cell") else [])
    return runs_whole(cell) and all(runs_whole_throughout(part) for part in inner)


def _depends(node: Operation, position: int, differentiable: bool) -> Collection[int]:
    """Which inputs an output depends on: all by value; what its gradients come to is what the steps pass on."""
    if not differentiable:
        return range(len(node.inputs))
    attrs = node.attrs
    first, num_inputs, num_states = int(attrs["has_lengths"]), attrs["num_inputs"], attrs["num_states"]
    states = range(num_inputs, num_inputs + num_states)
    num_outputs = len(attrs["output_specs"])
    (body,) = attrs["bodies"]
    results = body.carried([position], True, states, num_outputs - num_inputs)
    entering = {first + num_inputs + result - num_outputs for result in results if result >= num_outputs}
    return entering | {first + source for result in results for source in body.sources(result, True)}


def _bind_loop(
    node: Operation, runtime: Any, recorded: bool, wanted: Collection[int]
) -> Callable[..., tuple[torch.Tensor, ...]]:
    attrs = node.attrs
    function = attrs["bodies"][0].function(runtime, recorded)
    specs, time_major, reverse = attrs["output_specs"], attrs["time_major"], attrs["reverse"]
    first = int(attrs["has_lengths"])
    middle = first + attrs["num_inputs"]
    last, num_outputs, owner = middle + attrs["num_states"], len(specs), node.name
    arrays = attrs["arrays"]  # states that are no tensors of this run, but arrays of them: no row's, so never held back
    plain = [i for i in range(attrs["num_states"]) if i not in arrays]

    def loop(*values: torch.Tensor) -> tuple[torch.Tensor, ...]:
        inputs, every, captured = values[first:middle], list(values[middle:last]), values[last:]
        state = [every[i] for i in plain]
        lengths = checked_lengths(values[0], inputs[0], time_major, reverse) if first else None
        check_states(owner, inputs[0], state, time_major)

        def step(inputs_t: list[torch.Tensor], state_t: list[torch.Tensor]) -> tuple[Any, Any]:
            for i, value in zip(plain, state_t, strict=True):
                every[i] = value
            results = function(*inputs_t, *every, *captured)
            new = results[num_outputs:]
            for i in arrays:
                every[i] = new[i]
            return results[:num_outputs], [new[i] for i in plain]

        outputs, final = run_steps(
            step, inputs, state, lengths=lengths, output_specs=specs, time_major=time_major, reverse=reverse
        )
        results = iter(distinct([*outputs, *final], values))
        outputs = [next(results) for _ in outputs]
        return (*outputs, *(every[i] if i in arrays else next(results) for i in range(len(every))))

    return loop


LOOP = Op("RNNLoop", None, None, None, bind=_bind_loop, bodies=True, depends=_depends)
