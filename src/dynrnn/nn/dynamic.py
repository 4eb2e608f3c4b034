"""`dynamic_rnn`: any cell over sequences of different lengths. How a call is checked and run is in `call.py`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dynrnn.nn.call import OnStep, prepare
from dynrnn.nn.short import run_short_cell


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

    Where `torch.func.vmap` maps over the lengths, and in compiled code, nobody can read them: work then follows the
    axis of time, and `resets` is refused, as `resets` are whose own values are hidden. `checkpoint_every` is refused in
    compiled code and inside any of `torch.func`'s transforms while gradients are recorded.

    Raises TypeError or ValueError, naming the argument and what was expected, before anything is computed, and for
    "fused" RuntimeError where there are no kernels. Follows TF1's `tf.nn.dynamic_rnn`, which clamps and truncates wrong
    lengths where this refuses them.

    Example:
        >>> import torch
        >>> from dynrnn import LSTMCell, dynamic_rnn
        >>> outputs, state = dynamic_rnn(LSTMCell(4), torch.ones(2, 3, 5), sequence_length=[3, 1])
        >>> torch.equal(outputs[0, 2], state.h[0]), torch.equal(outputs[1, 0], state.h[1]), bool(outputs[1, 1:].any())
        (True, True, False)
    """
    without_extras = resets is reset_state is on_step is checkpoint_every is parallel_iterations is None
    is_plain = (
        time_major.__class__ is reverse.__class__ is bool and swap_memory is return_states is return_gates is False
    )
    if without_extras and is_plain and implementation in ("auto", "fused"):
        found = run_short_cell(cell, inputs, initial_state, sequence_length, time_major=time_major, reverse=reverse)
        if found is not None:
            return found
    call = prepare(
        "dynamic_rnn",
        cell,
        inputs,
        sequence_length=sequence_length,
        initial_state=initial_state,
        time_major=time_major,
        reverse=reverse,
        parallel_iterations=parallel_iterations,
        swap_memory=swap_memory,
        return_states=return_states,
        return_gates=return_gates,
        on_step=on_step,
        resets=resets,
        reset_state=reset_state,
        checkpoint_every=checkpoint_every,
        implementation=implementation,
    )
    return call.run()
