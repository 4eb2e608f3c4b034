"""The one caller of the compiled module: tensors to addresses and strides, after the checks of `check.py`.

Forward and backward of one layer in one direction over real tensors. How autograd, transforms and compiled code come
here is in `functions.py` and `operators.py`.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from dynrnn.errors import describe
from dynrnn.kernels.availability import _kernels
from dynrnn.kernels.check import Rows, Setting, Sizes, check, check_memory, check_tensor


def _names(text: str) -> tuple[str, ...]:
    return tuple(text.split())


# The fields of what the compiled module is given, in its order; it has the same lists, and a test compares them.
CALL = _names(
    "isa cell itemsize threads batch time input_size units projection reverse pieces row start length "
    "x x_row x_time out out_row out_time h0 c0 hn cn saved packed "
    "states gate0 gate1 gate2 gate3 trace_row trace_time"
)
WEIGHTS = (
    *(
        name.replace("#", str(gate))
        for gate in range(4)
        for name in ("xk#", "xk#_row", "xk#_column", "hk#", "hk#_row", "hk#_column", "bx#", "bh#")
    ),
    *("peephole_i", "peephole_f", "peephole_o", "projection", "projection_row", "projection_column"),
)
NUMBERS = ("forget_bias", "cell_clip", "proj_clip")
GRADS = _names(
    "dout dout_row dout_time dhn dcn dstates dgate0 dgate1 dgate2 dgate3 dtrace_row dtrace_time "
    "dx dx_row dx_time dh0 dc0"
)
_PIECES, _HN, _CN, _SAVED, _STATES, _GATE0 = (
    CALL.index(name) for name in ("pieces", "hn", "cn", "saved", "states", "gate0")
)


def forward(
    setting: Setting,
    rows: Rows,
    inputs: Tensor,
    state: Sequence[Tensor | None],
    weights: Sequence[Tensor],
    *,
    keep: bool = False,
    any_lengths: bool = False,
) -> tuple[tuple[Tensor, ...], Tensor | None]:
    """Run a layer; `keep` also fills the buffer that `backward` takes as `saved`.

    The buffer has room for the steps that are walked, with `any_lengths` for all steps, so that its size depends on
    no value; what is not needed of it is never touched.

    `inputs` is `[batch, time, input_size]`, or time first; `state` holds `[pieces, width]` tensors or None (zeros) in
    the order of the table of cells; `weights` are those of the layout. Returns the results (outputs, the final state's
    tensors, c of every step where an LSTM is asked for states, the gates) and the buffer, or None.

    Raises what `check` raises.
    """
    sizes = check(setting, rows, inputs, state, weights)
    places, batch, time, pieces = sizes
    units, lead = setting.layout.units, inputs.shape[:2]
    outputs = inputs.new_empty((*lead, places.output_size))
    final = [inputs.new_empty((pieces, width)) for width in places.state_sizes.values()]
    states = [inputs.new_zeros((*lead, units))] if setting.keeps_cell_states else []
    gates = [inputs.new_empty((*lead, units)) for _ in range(places.gates)] if setting.keep_gates else []
    held = _Held(inputs, state, weights, rows)
    call = _call(setting, sizes, held, outputs)
    _set_written(call, final, states, gates)
    addresses = places.addresses(held.weights)
    saved = None
    if keep:
        every = batch * time * step_size(setting, inputs.dtype) if any_lengths else 0
        saved = inputs.new_empty(every or _kernels.saved_size(call, places.numbers))
        call[_SAVED] = _address(saved)
    _kernels.forward(call, addresses, places.numbers)
    return (outputs, *final, *states, *gates), saved


def backward(
    setting: Setting,
    rows: Rows,
    inputs: Tensor,
    state: Sequence[Tensor | None],
    weights: Sequence[Tensor],
    outputs: Tensor,
    grads: Sequence[Tensor | None],
    wanted: Sequence[bool],
    saved: Tensor | None,
    *,
    spare: bool = False,
) -> list[Tensor | None]:
    """Compute gradients for `inputs`, the state's tensors and the weights, in this order, where they are `wanted`.

    `grads` are those of `forward`'s results, None for zeros; `outputs` is the first of these results. `saved` is
    `forward`'s buffer, whose content is used up but with `spare`; with None the layer runs forward once more.

    Raises what `check` raises.
    """
    if saved is None:
        plain = setting._replace(keep_states=False, keep_gates=False)
        _, saved = forward(plain, rows, inputs, state, weights, keep=True)
        assert saved is not None
        spare = False
    sizes = check(setting, rows, inputs, state, weights)
    places, dtype = sizes.places, inputs.dtype
    check_tensor("outputs", outputs, (*inputs.shape[:2], places.output_size), dtype)
    check_memory("outputs", outputs)
    held = _Held(inputs, state, weights, rows)
    call = _call(setting, sizes, held, _rowwise(outputs, held.alive))
    size = _kernels.saved_size(call, places.numbers)
    if saved.numel() < size or saved.dtype is not dtype or not saved.is_contiguous():
        raise ValueError(
            f"run_layer: saved must hold {size} {dtype}, got {describe('saved', saved.shape, saved.dtype)}"
        )
    if spare:
        saved = saved[:size].clone()
    call[_SAVED] = _address(saved)
    fields = _given_grads(setting, sizes, grads, inputs, held.alive)
    count = 1 + len(state)
    found: list[Tensor | None] = [
        inputs.new_empty(value.shape) if want and value is not None else None
        for want, value in zip(wanted, (inputs, *state, *weights), strict=True)
    ]
    dx, dstate = found[0], found[1:count]
    fields += [0, 0, 0] if dx is None else [dx.data_ptr(), *_strides(dx, setting)]
    fields += [
        0 if value is None else value.data_ptr() for value in (dstate[-1], dstate[0] if len(dstate) == 2 else None)
    ]
    dweights = places.addresses_of_some([None if value is None else value.data_ptr() for value in found[count:]])
    _kernels.backward(call, places.addresses(held.weights), places.numbers, fields, dweights)
    return found


def step_size(setting: Setting, dtype: torch.dtype) -> int:
    """How many elements the buffer for backward has for each step."""
    layout = setting.layout
    call = [0] * len(CALL)
    call[:10] = [setting.isa, layout.cell, dtype.itemsize, 1, 1, 1, 1, layout.units, layout.projection, 0]
    call[_PIECES] = 1
    return _kernels.saved_size(call, [0.0] * len(NUMBERS))


class _Held:
    """Addresses of what a call reads, and the tensors that stand there, which must outlive the call."""

    def __init__(self, inputs: Tensor, state: Sequence[Tensor | None], weights: Sequence[Tensor], rows: Rows) -> None:
        self.alive: list[Tensor] = []
        self.inputs = _rowwise(inputs, self.alive)
        self.state = [0 if value is None else _address(_dense(value, self.alive)) for value in state]
        self.weights = [_address(_dense(value, self.alive)) for value in weights]
        self.rows = [0 if value is None else _dense(value, self.alive).data_ptr() for value in rows]


def _dense(value: Tensor, alive: list[Tensor]) -> Tensor:
    if value.is_contiguous() and not value.is_neg():
        return value
    value = value.resolve_neg().contiguous()
    alive.append(value)
    return value


def _rowwise(value: Tensor, alive: list[Tensor]) -> Tensor:
    """A tensor whose last axis is contiguous, whatever its other strides."""
    if (value.stride(-1) == 1 or value.shape[-1] <= 1) and not value.is_neg():
        return value
    return _dense(value, alive)


def _address(value: Tensor) -> int:
    address = value.data_ptr()
    if not address and value.numel():
        raise ValueError(f"run_layer: a tensor of shape {list(value.shape)} has no memory")
    return address


def _strides(value: Tensor, setting: Setting) -> tuple[int, int]:
    """Elements between rows, and between steps."""
    first, second, _ = value.stride()
    return (second, first) if setting.time_major else (first, second)


def _call(setting: Setting, sizes: Sizes, held: _Held, outputs: Tensor) -> list[int]:
    """The kernels' CALL for what is read, and outputs; what else is written is 0 at first."""
    layout, inputs, state = setting.layout, held.inputs, held.state
    time_major = setting.time_major
    x_row, x_time, _ = inputs.stride()
    out_row, out_time, _ = outputs.stride()
    trace_row, trace_time = sizes.time * layout.units, layout.units
    if time_major:
        x_row, x_time, out_row, out_time = x_time, x_row, out_time, out_row
        trace_row, trace_time = layout.units, sizes.batch * layout.units
    c0, h0 = state if len(state) == 2 else (0, state[0])
    return [
        setting.isa,
        layout.cell,
        inputs.dtype.itemsize,
        torch.get_num_threads(),
        sizes.batch,
        sizes.time,
        inputs.shape[2],
        layout.units,
        layout.projection,
        int(setting.reverse),
        sizes.pieces,
        *held.rows,
        _address(inputs),
        x_row,
        x_time,
        _address(outputs),
        out_row,
        out_time,
        h0,
        c0,
        *(0, 0, 0, 0),  # hn, cn, saved, packed
        *(0, 0, 0, 0, 0),  # states, gates
        trace_row,
        trace_time,
    ]


def _set_written(call: list[int], final: list[Tensor], states: list[Tensor], gates: list[Tensor]) -> None:
    call[_HN] = final[-1].data_ptr()
    if len(final) == 2:
        call[_CN] = final[0].data_ptr()
    if states:
        call[_STATES] = states[0].data_ptr()
    for index, gate in enumerate(gates):
        call[_GATE0 + index] = gate.data_ptr()


def _given_grads(
    setting: Setting, sizes: Sizes, grads: Sequence[Tensor | None], inputs: Tensor, alive: list[Tensor]
) -> list[int]:
    """The first fields of the kernels' GRADS: the gradients of `forward`'s results, by their kinds."""
    places, units, lead = sizes.places, setting.layout.units, tuple(inputs.shape[:2])
    num_states = len(places.state_sizes)
    shapes = [(*lead, places.output_size), *((sizes.pieces, width) for width in places.state_sizes.values())]
    shapes += [(*lead, units)] * (len(grads) - len(shapes))
    for value, shape in zip(grads, shapes, strict=True):
        if value is not None:
            check_tensor("a gradient", value, shape, inputs.dtype)
            check_memory("a gradient", value)
    dout = grads[0]
    if dout is None:
        fields = [0, 0, 0]
    else:
        dout = _rowwise(dout, alive)
        fields = [dout.data_ptr(), *_strides(dout, setting)]
    rest = [0 if value is None else _dense(value, alive).data_ptr() for value in grads[1:]]
    final, kept = rest[:num_states], rest[num_states:]
    states = kept.pop(0) if setting.keeps_cell_states else 0
    kept += [0] * (4 - len(kept))
    trace = (units, sizes.batch * units) if setting.time_major else (sizes.time * units, units)
    return [*fields, final[-1], final[0] if num_states == 2 else 0, states, *kept, *trace]
