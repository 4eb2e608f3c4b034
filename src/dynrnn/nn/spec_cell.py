"""How a cell that is made from a row of the table of cells runs: single steps and whole sequences; no formula here.

Its parameters, sizes and states are in `sized_cell.py`; the cells themselves, with their signatures, in `cells.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch
from torch import Tensor

from dynrnn.cells.spec import State
from dynrnn.nn.cell_inputs import explain_inputs
from dynrnn.nn.gates import GATES
from dynrnn.nn.given_state import ExpectedState
from dynrnn.nn.held import held_by
from dynrnn.nn.kinds import runs_whole
from dynrnn.nn.parameters import is_lazy, lookup
from dynrnn.nn.precision import autocast_dtype, device_kind
from dynrnn.nn.sized_cell import SizedCell
from dynrnn.nn.step import Step
from dynrnn.nn.walk import Pass, Walk
from dynrnn.rnn import LayerTrace, trace_layer


class SpecCell(SizedCell):
    """A cell whose math is a row of `dynrnn.cells`; a subclass names the row and makes its options."""

    def _check_call_inputs(self, owner: str, inputs: Any, axes: tuple[str, ...]) -> None:
        """Refuse inputs of another dtype, rank, width or device than the weights."""
        facts = self._facts()
        weight = lookup(self, facts.sized[0])
        if (
            not isinstance(inputs, Tensor)
            or inputs.dtype != weight.dtype
            or not inputs.is_floating_point()
            or inputs.ndim != len(axes) + 1
            or not (is_lazy(weight) or weight.shape[0] == inputs.shape[-1] + facts.other_rows)
            or inputs.device != weight.device
        ):
            explain_inputs(owner, type(self).__name__, inputs, axes, weight, self.input_size, self.hidden_size)

    def forward(self, inputs: Tensor, state: Any = None) -> tuple[Tensor, Any]:
        """Run one step: `inputs` `[batch, input_size]`, `state` as `state_size` says (None: zeros).

        Returns `(output, new_state)`. Raises TypeError or ValueError, naming the argument, for what does not fit.
        """
        owner = type(self).__name__
        self._check_call_inputs(owner, inputs, ("batch",))
        dtype = autocast_dtype(inputs)
        if state is None:
            state = self.zero_state(inputs.shape[0], dtype=dtype or inputs.dtype, device=inputs.device)
        else:
            wanted = inputs.dtype if dtype is None else None
            state = self._checked_state(state, ExpectedState(inputs.shape[0], wanted, inputs.device, f"{owner}: state"))
        inputs, params, leaves = self._cast(inputs, self._ready_params(inputs), _leaves(state))
        with _plain(inputs):
            output, new = self.spec.step(params, inputs, leaves or (), self._options())
        return output, self._structured(new)

    def _run_whole(self, inputs: Tensor, state: Any, walk: Walk) -> Pass:
        """Run over a whole sequence (state None: from zeros); see `dynrnn.dynamic_rnn`, which calls this."""
        names = self._facts().gate_names
        if walk.keep_gates and not names:
            raise ValueError(f"return_gates: {type(self).__name__} has no gates that could be returned")
        params, kind = self._ready_params(inputs), device_kind(inputs)
        leaves, fresh = _leaves(state), _leaves(walk.reset_state)
        held = held_by(self)
        if held is not None:
            held.check_call(params.values(), (inputs, *(leaves or ()), *(fresh or ())))
        if torch.is_autocast_enabled(kind):
            inputs, params, leaves = self._cast(inputs, params, leaves)
            fresh = self._cast(inputs, {}, fresh)[2]
            with torch.autocast(kind, enabled=False):
                trace = self._trace(inputs, params, leaves, fresh, walk, None)
        else:
            trace = self._trace(inputs, params, leaves, fresh, walk, None if held is None else held.packed[0])
        states = self._structured(trace.states) if walk.keep_states else None
        gates = GATES[names](*trace.gates) if walk.keep_gates else None
        return Pass(trace.outputs, self._structured(trace.state), states, gates)

    def _trace(
        self,
        inputs: Tensor,
        params: Mapping[str, Tensor],
        state: State | None,
        reset_state: State | None,
        walk: Walk,
        packed: Any,
    ) -> LayerTrace:
        return trace_layer(
            self.spec,
            params,
            inputs,
            state,
            lengths=walk.lengths,
            options=self._options(),
            time_major=walk.time_major,
            reverse=walk.reverse,
            parallel_iterations=walk.parallel_iterations,
            resets=walk.resets,
            reset_state=reset_state,
            checkpoint_every=walk.checkpoint_every,
            keep_states=walk.keep_states,
            keep_gates=walk.keep_gates,
            implementation=walk.implementation,
            packed=packed,
        )

    def _prepared_step(self, like: Tensor, state: Any) -> Step:
        """The step with prepared weights, for the steps of one pass; its input product is apart."""
        weights = self.spec.prepare(self._cast(like, self._ready_params(like), None)[1], self._options())

        def product(inputs: Tensor) -> Tensor:
            with _plain(inputs):
                return self.spec.product(weights, self._cast(inputs, {}, None)[0])

        def recur(product_t: Tensor, state: Any) -> tuple[Tensor, Any]:
            product_t, _, leaves = self._cast(product_t, {}, _leaves(state))
            with _plain(product_t):
                output, new = self.spec.recur(weights, product_t, leaves or (), self._options())
            return output, self._structured(new)

        return Step(self, recur, product, output_like=like.new_empty(like.shape[0], self.output_size))

    def _options(self) -> Any:
        """The options of a call; a cell that behaves otherwise in training says so here."""
        return self.options

    def _cast(
        self, inputs: Tensor, params: Mapping[str, Tensor], state: State | None
    ) -> tuple[Tensor, Mapping[str, Tensor], State | None]:
        """Inputs, parameters and the state's tensors in one dtype, which under autocast is the one it asks for."""
        dtype = autocast_dtype(inputs)
        if dtype is None:
            return inputs, params, state
        params = {name: value.to(dtype) for name, value in params.items()}
        return inputs.to(dtype), params, None if state is None else tuple(value.to(dtype) for value in state)


def begins_with_zeros(cell: Any) -> bool:
    """Say whether `cell` is a `SpecCell` that runs whole and makes its zero state as all of them do.

    Example:
        >>> from dynrnn import GRUCell
        >>> begins_with_zeros(GRUCell(3))
        True
    """
    if not isinstance(cell, SpecCell) or type(cell).zero_state is not SpecCell.zero_state:
        return False
    return "zero_state" not in cell.__dict__ and runs_whole(cell)


def _leaves(state: Any) -> State | None:
    if state is None or type(state) is tuple:
        return state
    return (state,) if isinstance(state, Tensor) else tuple(state)


def _plain(inputs: Tensor) -> AbstractContextManager[Any]:
    """Autocast off: everything has been cast by then."""
    kind = device_kind(inputs)
    return torch.autocast(kind, enabled=False) if torch.is_autocast_enabled(kind) else nullcontext()
