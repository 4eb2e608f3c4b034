"""What a cell is: its parameters, its sizes and its step, as data and pure functions on tensors.

No cell stands here (see the family files), no module, no variable and no loop over time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from torch import Tensor

State = tuple[Tensor, ...]
Activation = Callable[[Tensor], Tensor]


@dataclass(frozen=True)
class Param:
    """One parameter of a cell, under the name that TensorFlow 1 gives it below the cell's scope.

    `name` is for example "gates/kernel". `initial` is the value that every entry starts from; None means that the
    face's default initializer draws it.
    """

    name: str
    shape: tuple[int, ...]
    initial: float | None = None


@dataclass(frozen=True, eq=False)  # a row is itself: it serves as a key, and hashing its fields would take long
class CellSpec:
    """A cell as a table row: facts about it, and its step cut in two at the input product.

    `options` below is the family's frozen options object, for example `LSTMOptions`. `weights` is whatever `prepare`
    returns; only `product` and `recur` look into it.

    | field | what it is |
    |---|---|
    | `name` | the row's key in `CELLS` |
    | `params(input_size, options)` | the parameters in TF1's order of creation |
    | `state_names(options)` | names of the state's tensors, in TF1's order |
    | `state_sizes(options)` | width of each state tensor, which is `[batch, width]` |
    | `output_size(options)` | width of the output, which is `[batch, width]` |
    | `prepare(params, options)` | `weights`: kernels split into input and recurrent rows, constants folded in |
    | `product(weights, inputs)` | `[..., input_size]` to `[..., k]`: all that depends on no state, biases included |
    | `gate_names(options)` | names of the gates, `()` for a cell without |
    | `gated(weights, product, state, options)` | `[rows, k]` and the state to `(output, new_state, gates)` |

    A gate is what enters the new state, after its sigmoid or activation: `[rows, units]`. A cell's output and its new
    state may be the same tensor; the state that comes in is never written to.
    """

    name: str
    params: Callable[[int, Any], tuple[Param, ...]]
    state_names: Callable[[Any], tuple[str, ...]]
    state_sizes: Callable[[Any], tuple[int, ...]]
    output_size: Callable[[Any], int]
    prepare: Callable[[Mapping[str, Tensor], Any], Any]
    product: Callable[[Any, Tensor], Tensor]
    gate_names: Callable[[Any], tuple[str, ...]]
    gated: Callable[[Any, Tensor, State, Any], tuple[Tensor, State, State]]

    def recur(self, weights: Any, product: Tensor, state: State, options: Any) -> tuple[Tensor, State]:
        """Run the part of a step that depends on the state: `[rows, k]` and the state to `(output, new_state)`."""
        output, state, _ = self.gated(weights, product, state, options)
        return output, state

    def step(self, params: Mapping[str, Tensor], inputs: Tensor, state: State, options: Any) -> tuple[Tensor, State]:
        """Run one time step: `inputs` `[batch, input_size]`, each state tensor `[batch, width]`.

        Returns `(output, new_state)`. The equations stand at the family's own step, for example `lstm_step`.
        """
        weights = self.prepare(params, options)
        return self.recur(weights, self.product(weights, inputs), state, options)
