"""`dynamic_rnn`: any cell over sequences of different lengths. Arguments are checked here, before any compute."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from dynrnn import _nest
from dynrnn.nn.cell import RNNCell
from dynrnn.nn.kinds import check_cell, zero_state_of
from dynrnn.nn.lengths import check_lengths, check_resets
from dynrnn.nn.paths import find_obstacle
from dynrnn.nn.precision import autocast_dtype
from dynrnn.nn.running import run_cell, without_needless_compiler
from dynrnn.nn.short import run_short_cell
from dynrnn.nn.spec_cell import begins_with_zeros
from dynrnn.nn.state import as_tensor, checked_state
from dynrnn.nn.walk import Pass, Walk
from dynrnn.rnn.dispatch import check_request
from dynrnn.rnn.lengths import length_range

OnStep = Callable[[int, Any, Any, Tensor], object]


def dynamic_rnn(
    cell: Callable[..., Any],
    inputs: Any,
    *,
    sequence_length: Any = None,
    initial_state: Any = None,
    time_major: bool = False,
    reverse: bool = False,
    parallel_iterations: int | None = None,
    swap_memory: bool = False,
    return_states: bool = False,
    return_gates: bool = False,
    on_step: OnStep | None = None,
    resets: Any = None,
    reset_state: Any = None,
    checkpoint_every: int | None = None,
    implementation: str = "auto",
) -> tuple[Any, ...]:
    """Run a cell over a padded batch, each row for its own length.

    `cell` is one of ours, or any module or function `(inputs, state) -> (output, state)`; inputs, states and outputs
    may be nested. `inputs` is `[batch, time, ...]`, or `[time, batch, ...]` with `time_major`. `sequence_length` is
    `[batch]`: a list, an array or a tensor of integers on any device, each within 0..time (None: all rows are full).
    `initial_state` is what the cell's state is, batch first (None: its zero state; for an LSTM `(c, h)` in this order).

    Returns `(outputs, state)`, then `states` with `return_states`, then `gates` with `return_gates`. Outputs keep the
    full time axis and are exactly 0 past a row's end; the state is the one after each row's last valid step, and for a
    row of length 0 its initial state. Padding is never read. For cells of ours work follows `sum(sequence_length)`;
    others are called with the whole batch up to the longest row, a row that has ended getting its last input again.

    A cell that is not ours may have an `input_product` and a `recur` (see `RNNCell`): products are then computed for
    many steps at once, from valid steps alone. It may also be compiled, `torch.compile(cell)`: its code serves all
    steps, times and lengths. With both, compile `cell.recur`. A compiled cell of ours runs as it does uncompiled.

    - `reverse` walks each row from its last valid step to its first; outputs stay at their inputs' places.
    - `return_states` gives the state after every step, nested as the state is, with the axis of time. Past its end a
      row keeps the state that it ended with, so `states[:, -1]` is the final state (with `reverse`, `states[:, 0]`).
    - `return_gates` gives LSTMGates(i, j, f, o) or GRUGates(r, u, c) `[batch, time, units]`, 0 past a row's end; a
      tuple of them for MultiRNNCell.
    - `on_step(t, output, state, mask)` is called for every step up to the longest row, in the order in which they are
      walked, once the pass is done: `t` counts along the axis of time, `mask` is bool `[batch]`, True where t is valid.
    - `resets`, bool in the layout of `[batch, time]`, begins rows anew before the steps it marks, with `reset_state`
      (None: the cell's zero state): the same as cutting the row there, in both directions. No gradient crosses.
    - `checkpoint_every` keeps for backward only every that-many-th state, and computes the steps between again: very
      long sequences train in little memory. A cell that is not ours is called once more at first, to see which tensors
      it takes gradients for; backward raises RuntimeError where a later step uses others.
    - `parallel_iterations` is how many steps' input products are computed at once (None: all): fewer take less memory
      and more time, and change no number. The fused kernels keep no such products, and a cell of yours without
      `input_product` has none: there it has nothing to trade. `swap_memory` keeps on the host what backward needs,
      where the inputs are on an accelerator.
    - `implementation` is "auto", which takes the fused kernels wherever they apply (`explain_dispatch` says where, and
      why not), or "fused" or "reference", which is taken or raises.

    Raises TypeError or ValueError, naming the argument and what was expected, before anything is computed, and for
    "fused" RuntimeError where there are no kernels. Follows
    TF1's `tf.nn.dynamic_rnn`, which clamps and truncates wrong lengths where this refuses them.

    Example:
        >>> import torch
        >>> from dynrnn import LSTMCell, dynamic_rnn
        >>> outputs, state = dynamic_rnn(LSTMCell(4), torch.ones(2, 3, 5), sequence_length=[3, 1])
        >>> torch.equal(outputs[0, 2], state.h[0]), torch.equal(outputs[1, 0], state.h[1]), bool(outputs[1, 1:].any())
        (True, True, False)
    """
    owner = "dynamic_rnn"
    without_extras = resets is reset_state is on_step is checkpoint_every is parallel_iterations is None
    if without_extras and not (swap_memory or return_states or return_gates) and implementation in ("auto", "fused"):
        found = run_short_cell(cell, inputs, initial_state, sequence_length, time_major=time_major, reverse=reverse)
        if found is not None:
            return found
    check_cell(owner, cell)
    cell = without_needless_compiler(cell)
    inputs, batch, max_time = check_inputs(owner, cell, inputs, time_major)
    lengths = None
    if sequence_length is not None:
        lengths = check_lengths(owner, "sequence_length", sequence_length, batch, max_time)
    if resets is not None:
        resets = check_resets(owner, resets, batch, max_time, time_major=time_major)
    elif reset_state is not None:
        raise ValueError("dynamic_rnn: reset_state has no effect without resets")
    _check_count("parallel_iterations", parallel_iterations)
    _check_count("checkpoint_every", checkpoint_every)
    state, from_zeros = None, initial_state is None and begins_with_zeros(cell)
    if not from_zeros:
        state = _state_of(owner, cell, inputs, initial_state, batch, "initial_state", time_major)
    if resets is not None:
        reset_state = _state_of(owner, cell, inputs, reset_state, batch, "reset_state", time_major)
    walk = Walk(
        lengths=lengths,
        time_major=time_major,
        reverse=reverse,
        parallel_iterations=parallel_iterations,
        checkpoint_every=checkpoint_every,
        resets=resets,
        reset_state=reset_state,
        keep_states=return_states or on_step is not None,
        keep_gates=return_gates,
        implementation=implementation,
    )
    check_request(implementation, find_obstacle, cell, inputs)
    if swap_memory and _are_on_an_accelerator(inputs):  # on a CPU there is nothing to move
        with torch.autograd.graph.save_on_cpu():
            result = run_cell(cell, inputs, state, walk)
    else:
        result = cell.sequence(inputs, None, walk) if from_zeros else run_cell(cell, inputs, state, walk)
    if on_step is not None:
        _tell(on_step, result, walk, batch, max_time)
    kept = (result.states,) if return_states else ()
    return (result.outputs, result.state, *kept, *((result.gates,) if return_gates else ()))


def check_inputs(owner: str, cell: Any, inputs: Any, time_major: bool) -> tuple[Any, int, int]:
    """Return inputs as tensors, and their batch size and number of steps."""
    leaves = [inputs]
    if not isinstance(inputs, Tensor):
        inputs = _nest.map_structure(lambda value: as_tensor(value, f"{owner}: inputs"), inputs)
        leaves = _nest.flatten(inputs)
        if not leaves:
            raise ValueError(f"{owner}: inputs must hold at least one tensor, got an empty {type(inputs).__name__}")
    if isinstance(cell, RNNCell):
        cell.check_inputs(owner, inputs, ("time", "batch") if time_major else ("batch", "time"))
    shape = leaves[0].shape
    for value in leaves:
        axes = "[time, batch, ...]" if time_major else "[batch, time, ...]"
        if value.ndim < 2:
            raise ValueError(f"{owner}: inputs must have shape {axes}, got {list(value.shape)}")
        if value is not leaves[0] and value.shape[:2] != shape[:2]:
            shapes = [list(leaf.shape) for leaf in leaves]
            raise ValueError(f"{owner}: inputs must all have the same {axes}, got the shapes {shapes}")
    return inputs, *((shape[1], shape[0]) if time_major else (shape[0], shape[1]))


def _state_of(owner: str, cell: Any, inputs: Any, state: Any, batch: int, name: str, time_major: bool) -> Any:
    first = inputs if isinstance(inputs, Tensor) else _nest.flatten(inputs)[0]
    dtype = first.dtype if first.is_floating_point() else torch.get_default_dtype()
    autocast = autocast_dtype(first)
    if state is not None and autocast is None and isinstance(cell, RNNCell):
        fitting = cell.fitting_state(state, batch, dtype, first.device)
        if fitting is not None:
            return fitting
    if state is None:
        return zero_state_of(owner, cell, batch, dtype=autocast or dtype, device=first.device, name=name)
    if not hasattr(cell, "state_size"):
        return _nest.map_structure(lambda value: as_tensor(value, f"{owner}: {name}"), state)
    hint = ""
    if first.shape[0 if time_major else 1] != batch:
        layout = "batch-major, pass time_major=False" if time_major else "time-major, pass time_major=True"
        hint = f"; inputs have batch = {batch} and time = {first.shape[0 if time_major else 1]}: if they are {layout}"
    return checked_state(
        cell.state_size, state, batch, dtype=None if autocast else dtype, device=first.device, name=name, hint=hint
    )


def _check_count(name: str, value: int | None) -> None:
    if value is None:
        return
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"dynamic_rnn: {name} must be an int or None, got {value!r}")
    if value < 1:
        raise ValueError(f"dynamic_rnn: {name} must be at least 1, got {value}")


def _are_on_an_accelerator(inputs: Any) -> bool:
    return any(value.device.type != "cpu" for value in _nest.flatten(inputs))


def _tell(on_step: OnStep, result: Pass, walk: Walk, batch: int, max_time: int) -> None:
    longest = length_range(walk.lengths, batch, max_time)[1]
    lengths = torch.full((batch,), max_time) if walk.lengths is None else walk.lengths
    device = _nest.flatten(result.outputs)[0].device
    for t in reversed(range(longest)) if walk.reverse else range(longest):
        output, state = (
            _nest.map_structure(lambda value, t=t: value.select(walk.time_axis, t), nest)
            for nest in (result.outputs, result.states)
        )
        on_step(t, output, state, (t < lengths).to(device))
