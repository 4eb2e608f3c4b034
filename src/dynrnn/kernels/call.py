"""Calls of the compiled module: forward and backward of one layer in one direction over real tensors.

Tensors that need no second look go the short way of `short.py`; all others here, as addresses and strides, each
through the checks of `check.py`. How autograd, transforms and compiled code come here is in `functions.py` and
`operators.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from dynrnn.errors import describe
from dynrnn.kernels import short
from dynrnn.kernels.availability import _kernels
from dynrnn.kernels.check import Rows, Setting, address_of, check_inputs, check_rows, rowwise
from dynrnn.kernels.fields import CALL, NUMBERS
from dynrnn.kernels.layouts import Layout
from dynrnn.kernels.room import room_of
from dynrnn.kernels.weights import Places, places_of

_PIECES, _OUT, _HN, _CN, _SAVED, _PACKED, _STATES, _GATE0 = (
    CALL.index(name) for name in ("pieces", "out", "hn", "cn", "saved", "packed", "states", "gate0")
)
_NOTHING = [0] * (_STATES + 5 - _HN)  # hn to gate3


class Packed(NamedTuple):
    """Weights as the kernels read them, and the calls that they were packed for."""

    layout: Layout
    isa: int
    input_size: int
    dtype: torch.dtype
    buffer: Tensor


def forward(
    setting: Setting,
    rows: Rows,
    inputs: Tensor,
    state: Sequence[Tensor | None],
    weights: Sequence[Tensor],
    *,
    keep: bool = False,
    any_lengths: bool = False,
    packed: Packed | None = None,
) -> tuple[tuple[Tensor, ...], Tensor | None]:
    """Run a layer; `keep` also fills the buffer that `backward` takes as `saved`.

    `inputs` is `[batch, time, input_size]`, or time first; `state` holds `[pieces, width]` tensors or None (zeros) in
    the order of the table of cells; `weights` are those of the layout. The buffer has room for the steps that are
    walked, with `any_lengths` for all steps, so that its size depends on no value; what is not needed of it is never
    touched. `packed` are the same weights, which are then not packed again if they were packed for such a call.

    Returns the results (outputs, the final state's tensors, c of every step where an LSTM is asked for states, the
    gates) and the buffer, or None. Raises TypeError or ValueError, naming the argument that does not fit.
    """
    ready = address_of_packed(packed, setting, inputs)
    if rows.row is None and not any_lengths:
        found = short.look(setting, inputs, state, rows.length, weights)
        if found is not None:
            return short.forward(found, setting, inputs, keep=keep, packed=ready)
    reads = _Reads(setting, rows, inputs, state, weights)
    call, places, numbers = reads.call, reads.places, reads.places.numbers
    first, second, _ = inputs.shape
    call[_PACKED] = ready
    outputs = inputs.new_empty((first, second, places.output_size))
    final = [inputs.new_empty((reads.pieces, width)) for width in places.state_sizes]
    call[_OUT : _OUT + 3] = outputs.data_ptr(), *_strides(outputs, setting)
    call[_HN] = final[-1].data_ptr()
    if len(final) == 2:
        call[_CN] = final[0].data_ptr()
    results = (outputs, *final)
    if setting.keep_states or setting.keep_gates:
        results += _keep(setting, places, call, inputs)
    saved = None
    if keep:
        if any_lengths:
            saved = inputs.new_empty(first * second * step_size(setting, inputs.dtype))
        else:
            saved = room_of(_kernels.saved_size(call, numbers), inputs)
        call[_SAVED] = saved.data_ptr()
    _kernels.forward(call, reads.weights, numbers)
    return results, saved


def pack(setting: Setting, weights: Sequence[Tensor], input_size: int) -> Packed:
    """Pack weights for calls of `forward` whose inputs have their dtype and `input_size` columns."""
    inputs = weights[0].detach().new_empty((1, 0, input_size))
    state = (None,) * setting.num_states
    reads = _Reads(setting._replace(time_major=False), Rows(None, None, None), inputs, state, weights)
    buffer = room_of(_kernels.packed_size(reads.call, reads.places.numbers), inputs)
    _kernels.pack(reads.call, reads.weights, reads.places.numbers, buffer.data_ptr())
    return Packed(setting.layout, setting.isa, input_size, inputs.dtype, buffer)


def address_of_packed(packed: Packed | None, setting: Setting, inputs: Tensor) -> int:
    """Where packed weights stand, 0 where there are none or they are for other calls."""
    if packed is None or packed[:-1] != (setting.layout, setting.isa, inputs.shape[-1], inputs.dtype):
        return 0
    return packed.buffer.data_ptr()


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

    Raises what `forward` raises.
    """
    if saved is None:
        plain = setting._replace(keep_states=False, keep_gates=False)
        saved, spare = forward(plain, rows, inputs, state, weights, keep=True)[1], False
        assert saved is not None
    if rows.row is None and not spare:
        found = short.backward(setting, rows.length, (inputs, *state, *weights), outputs, grads, wanted, saved)
        if found is not None:
            return found
    reads = _Reads(setting, rows, inputs, state, weights)
    call, places, dtype, alive = reads.call, reads.places, inputs.dtype, reads.alive
    outputs = rowwise("outputs", outputs, (*inputs.shape[:2], places.output_size), dtype, alive)
    call[_OUT : _OUT + 3] = outputs.data_ptr(), *_strides(outputs, setting)
    size = _kernels.saved_size(call, places.numbers)
    if saved.numel() < size or saved.ndim != 1:
        raise ValueError(
            f"run_layer: saved must hold {size} numbers, got {describe('saved', saved.shape, saved.dtype)}"
        )
    saved = saved[:size].clone() if spare else saved
    call[_SAVED] = address_of("saved", saved, (saved.numel(),), dtype, alive)
    given = _given(setting, reads, grads, inputs)
    found = [
        value.new_empty(value.shape) if want and value is not None else None
        for want, value in zip(wanted, (inputs, *state, *weights), strict=True)
    ]
    places_of_found = [0 if value is None else value.data_ptr() for value in found]
    count = 1 + len(state)
    dx, dstate = found[0], places_of_found[1:count]
    given += [0, 0, 0] if dx is None else [places_of_found[0], *_strides(dx, setting)]
    given += [dstate[-1], dstate[0] if len(dstate) == 2 else 0]
    _kernels.backward(call, reads.weights, places.numbers, given, places.addresses_of_some(places_of_found[count:]))
    return found


def step_size(setting: Setting, dtype: torch.dtype) -> int:
    """How many elements the buffer for backward has for each step."""
    layout = setting.layout
    call = [0] * len(CALL)
    call[: _PIECES + 1] = [setting.isa, layout.cell, dtype.itemsize, 1, 1, 1, 1, layout.units, layout.projection, 0, 1]
    return _kernels.saved_size(call, [0.0] * len(NUMBERS))


class _Reads:
    """What a call reads: CALL, where all that is written is still 0, WEIGHTS, and the tensors they point to."""

    __slots__ = ("alive", "call", "pieces", "places", "weights")

    def __init__(
        self,
        setting: Setting,
        rows: Rows,
        inputs: Tensor,
        state: Sequence[Tensor | None],
        weights: Sequence[Tensor],
    ) -> None:
        layout, time_major, reverse, _, _, isa = setting
        check_inputs(inputs, time_major)
        shape, dtype = inputs.shape, inputs.dtype
        time, batch = (shape[0], shape[1]) if time_major else (shape[1], shape[0])
        self.alive = alive = []
        self.places = places = places_of(layout, shape[2], dtype.itemsize)
        self.pieces = pieces = check_rows(rows, batch, time)
        inputs = rowwise("inputs", inputs, shape, dtype, alive)
        if len(weights) != len(places.shapes) or len(state) != len(places.state_sizes):
            got = f"{len(state)} and {len(weights)} tensors"
            raise ValueError(f"run_layer: state and weights must be {places.state_labels}, {places.labels}, got {got}")
        self.weights = places.addresses(
            [
                address_of(label, value, place, dtype, alive)
                for label, value, place in zip(places.labels, weights, places.shapes, strict=True)
            ]
        )
        begin = [
            0 if value is None else address_of(label, value, (pieces, width), dtype, alive)
            for label, value, width in zip(places.state_labels, state, places.state_sizes, strict=True)
        ]
        row, start, length = rows
        x_row, x_time = _strides(inputs, setting)
        self.call = [
            isa,
            layout.cell,
            dtype.itemsize,
            torch.get_num_threads(),
            batch,
            time,
            shape[2],
            layout.units,
            layout.projection,
            int(reverse),
            pieces,
            0 if row is None else address_of("row", row, (pieces,), torch.int64, alive),
            0 if start is None else address_of("start", start, (pieces,), torch.int64, alive),
            0 if length is None else address_of("length", length, (pieces,), torch.int64, alive),
            inputs.data_ptr(),
            x_row,
            x_time,
            *(0, 0, 0),  # out, out_row, out_time
            begin[-1],
            begin[0] if len(begin) == 2 else 0,
            *_NOTHING,
            *_trace_strides(setting, batch, time),
        ]


def _strides(value: Tensor, setting: Setting) -> tuple[int, int]:
    """Elements between rows, and between steps."""
    first, second, _ = value.stride()
    return (second, first) if setting.time_major else (first, second)


def _trace_strides(setting: Setting, batch: int, time: int) -> tuple[int, int]:
    """The same for states and gates, which are contiguous."""
    units = setting.layout.units
    return (units, batch * units) if setting.time_major else (time * units, units)


def _keep(setting: Setting, places: Places, call: list[int], inputs: Tensor) -> tuple[Tensor, ...]:
    """Make room for states and gates as far as they are asked for."""
    shape = (*inputs.shape[:2], setting.layout.units)
    # the kernels write states of valid steps only
    states = [inputs.new_zeros(shape)] if setting.keeps_cell_states else []
    gates = [inputs.new_empty(shape) for _ in range(places.gates)] if setting.keep_gates else []
    for field, value in zip((_STATES,), states, strict=False):
        call[field] = value.data_ptr()
    for index, value in enumerate(gates):
        call[_GATE0 + index] = value.data_ptr()
    return *states, *gates


def _given(setting: Setting, reads: _Reads, grads: Sequence[Tensor | None], inputs: Tensor) -> list[int]:
    """The first fields of GRADS, up to dx: the gradients of `forward`'s results, by their kinds."""
    places, units, alive, dtype = reads.places, setting.layout.units, reads.alive, inputs.dtype
    first, second, _ = inputs.shape
    count = len(places.state_sizes)
    shapes = [(first, second, places.output_size), *((reads.pieces, width) for width in places.state_sizes)]
    shapes += [(first, second, units)] * (len(grads) - len(shapes))
    dout = grads[0]
    if dout is None:
        fields = [0, 0, 0]
    else:
        dout = rowwise("the gradient of outputs", dout, shapes[0], dtype, alive)
        alive.append(dout)
        fields = [dout.data_ptr(), *_strides(dout, setting)]
    rest = [
        0 if value is None else address_of("a gradient", value, shape, dtype, alive)
        for value, shape in zip(grads[1:], shapes[1:], strict=True)
    ]
    final, kept = rest[:count], rest[count:]
    fields += [final[-1], final[0] if count == 2 else 0]
    fields.append(kept.pop(0) if setting.keeps_cell_states else 0)
    fields += kept + [0] * (4 - len(kept))
    return [*fields, *_trace_strides(setting, *((second, first) if setting.time_major else (first, second)))]
