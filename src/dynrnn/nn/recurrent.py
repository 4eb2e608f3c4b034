"""The body of the torch-like modules: checks, layers and directions, dropout between layers, autocast.

The public classes are in `modules.py`; what an input may look like in `arrange.py`; no formula here.
"""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from dynrnn import _nest
from dynrnn.nn.arguments import check_padding_value
from dynrnn.nn.arrange import arrange, check_dtype
from dynrnn.nn.held import check_kept, held_by
from dynrnn.nn.hidden import check_hx
from dynrnn.nn.layers import States, run_layers
from dynrnn.nn.layouts import Layout
from dynrnn.nn.operators import applies, run_layers_by_torch
from dynrnn.nn.parameters import lookup
from dynrnn.nn.precision import autocast_dtype
from dynrnn.nn.short import run_short_module
from dynrnn.rnn import pack_torch_layer
from dynrnn.rnn.dispatch import choose, describe
from dynrnn.rnn.torch_weights import Cell, Weights, cell_of


class Recurrent(nn.RNNBase):
    """What LSTM, GRU and RNN share: torch's attributes and parameters, and one way to run them.

    It adds no attribute to an instance, so that a module of torch becomes one of these by its class alone.
    """

    def _run(self, input: Any, hx: Any, lengths: Any, padding_value: float, implementation: str) -> tuple[Any, States]:
        """Run all layers; `forward` of each class says what may come in and what comes out."""
        if implementation in ("auto", "fused") and padding_value == 0:
            results = run_short_module(self, input, hx, lengths)
            if results is not None:
                return results
        owner = self.mode.partition("_")[0]
        check_padding_value(owner, padding_value)
        cell, weights = cell_of(self.mode, self.hidden_size, self.proj_size), self._weights()
        layout = arrange(owner, input, lengths, self.batch_first, weights[0]["weight_ih"], padding_value)
        inputs, autocast = layout.inputs, autocast_dtype(layout.inputs)
        held = held_by(self)
        if held is not None:
            given = [value for value in _nest.flatten((inputs, hx)) if isinstance(value, Tensor)]
            held.check_call([value for row in weights for value in row.values()], given)
        if autocast is not None:  # everything is cast at the door, as torch does for its own; inside is one dtype
            inputs, weights = inputs.to(autocast), [_cast(row, autocast) for row in weights]
        check_dtype(owner, inputs, weights[0]["weight_ih"])
        states = None  # zeros
        if hx is not None:
            shapes = {name: (len(weights), *layout.state_batch, size) for name, size in cell.state_sizes.items()}
            states = check_hx(owner, hx, shapes, inputs, cast=autocast is not None)
            states = tuple([layout.state_in(value) for value in states])
        if autocast is None:
            packed = None if held is None else held.packed
            outputs, states = self._run_layers(cell, weights, inputs, states, layout, implementation, packed)
        else:
            with torch.autocast(inputs.device.type, enabled=False):
                outputs, states = self._run_layers(cell, weights, inputs, states, layout, implementation)
        return layout.outputs(outputs, padding_value), tuple([layout.state_out(value) for value in states])

    def explain(self, input: Any, lengths: Any, implementation: str) -> str:
        """Say how such a call is run, and why, in words that follow "runs"."""
        owner = self.mode.partition("_")[0]
        cell, like = cell_of(self.mode, self.hidden_size, self.proj_size), self._weights()[0]["weight_ih"]
        layout = arrange(owner, input, lengths, self.batch_first, like, 0.0)
        autocast = autocast_dtype(layout.inputs)
        inputs = layout.inputs if autocast is None else layout.inputs.to(autocast)
        choice = choose(cell.spec, cell.options, inputs, implementation=implementation)
        if choice.fused or choice.asked or layout.pieces is not None:
            return describe(choice, cell.spec, inputs)
        if not applies(cell, inputs, layout.lengths, time_major=layout.time_major):
            return describe(choice, cell.spec, inputs)
        return f"through torch's own operator on {inputs.device.type}, because {choice.obstacle}"

    def _init_flat_weights(self) -> None:
        # torch lists whatever stands under a weight's name, for cuDNN; a weight that is computed (parametrized) would
        # go stale there, and keep the module from being copied
        self._flat_weights = [self._parameters.get(name) for name in self._flat_weights_names]
        self._flat_weight_refs = [None if value is None else weakref.ref(value) for value in self._flat_weights]
        self.flatten_parameters()

    def named_weights(self) -> dict[str, Tensor]:
        """What `frozen` watches: all weights. Raises ValueError where one is computed."""
        named = {name: lookup(self, name) for names in self._all_weights for name in names}
        for name, value in named.items():
            check_kept(self, name, value)
        return named

    def packed_weights(self) -> list[Any]:
        """What `frozen` keeps: each layer's weights packed for the kernels, or None where these do not apply."""
        cell = cell_of(self.mode, self.hidden_size, self.proj_size)
        return [pack_torch_layer(cell, row) for row in self._weights()]

    def _weights(self) -> list[Weights]:
        """The weights of each layer and direction, read anew: whatever now stands under their names."""
        held, rows = self._parameters, []
        for names in self._all_weights:
            row = {}
            for name in names:
                value = held.get(name)  # where it is but for computed weights
                key = name[: 9 if name[0] == "w" else 7]  # "weight_ih" of "weight_ih_l0", "bias_ih" of "bias_ih_l0"
                row[key] = getattr(self, name) if value is None else value
            rows.append(row)
        return rows

    def _run_layers(
        self,
        cell: Cell,
        weights: list[Weights],
        inputs: Tensor,
        states: States | None,
        layout: Layout,
        implementation: str,
        packed: Sequence[Any] | None = None,
    ) -> tuple[Tensor, States]:
        lengths, time_major = layout.lengths, layout.time_major
        choice = choose(cell.spec, cell.options, inputs, implementation=implementation)
        by_torch = not choice.fused and not choice.asked and layout.pieces is None
        by_torch = by_torch and applies(cell, inputs, lengths, time_major=time_major)
        run = run_layers_by_torch if by_torch else partial(run_layers, choice=choice, pieces=layout.pieces)
        directions = 2 if self.bidirectional else 1
        if not self.dropout or not self.training or len(weights) == directions:
            run = run if packed is None or by_torch else partial(run, packed=packed)
            return run(cell, weights, directions, inputs, states, lengths, time_major=time_major)
        finals = []
        for first in range(0, len(weights), directions):
            if first:
                inputs = functional.dropout(inputs, self.dropout)
            rows = slice(first, first + directions)
            given = None if states is None else tuple(value[rows] for value in states)
            inputs, final = run(cell, weights[rows], directions, inputs, given, lengths, time_major=time_major)
            finals.append(final)
        return inputs, tuple(torch.cat(column) for column in zip(*finals, strict=True))


def _cast(weights: Weights, dtype: torch.dtype) -> Weights:
    return {name: value.to(dtype) for name, value in weights.items()}
