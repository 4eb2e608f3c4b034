"""The short way into the compiled module: for calls in whose tensors there is nothing to look after.

The module looks at such tensors itself. Whatever is not plain, or does not fit, is answered with None here and goes the
long way of `call.py`, which copies what lies otherwise and finds the words for what is wrong. Results are the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import torch
from torch import Tensor, nn

from dynrnn.kernels.availability import _kernels, missing
from dynrnn.kernels.check import Setting
from dynrnn.kernels.fields import CALL
from dynrnn.kernels.layouts import Layout
from dynrnn.kernels.room import room_of
from dynrnn.kernels.weights import places_of

_ITEMSIZES = {torch.float32: 4, torch.float64: 8}
# torch 2.10 and later show their tensors
_is_open = missing() is None and _kernels.meet((Tensor, nn.Parameter))


def look(
    setting: Setting,
    inputs: Tensor,
    state: Sequence[Tensor | None] | None,
    lengths: Any,
    weights: Sequence[Tensor | None],
) -> Any:
    """Look at what a call reads; returns the call, or None where it must go the long way.

    `lengths` is an int64 tensor or None, for all steps. Tensors of the state are `[batch, width]`, and may have axes of
    one element before these. The tensors must outlive the call.
    """
    itemsize = _ITEMSIZES.get(inputs.dtype)
    if not _is_open or itemsize is None or inputs.ndim != 3 or setting.keep_states or setting.keep_gates:
        return None
    layout, time_major, reverse, _, _, isa = setting
    layer = _compiled_layer(layout, inputs.shape[2], itemsize)
    return layer.look(inputs, state, lengths, weights, time_major, reverse, isa, torch.get_num_threads())


def forward(
    found: Any, setting: Setting, inputs: Tensor, *, keep: bool, packed: int = 0, axes: tuple[int, ...] = ()
) -> tuple[tuple[Tensor, ...], Tensor | None]:
    """Run what `look` found, as `call.forward` does; final states have `axes` first, `packed` is an address or 0."""
    layout, empty = setting.layout, inputs.new_empty
    first, second, _ = inputs.shape
    batch = second if setting.time_major else first
    outputs, h = empty(first, second, layout.output_size), empty(*axes, batch, layout.output_size)
    saved = room_of(found.saved_size(), inputs) if keep else None
    place = 0 if saved is None else saved.data_ptr()
    if not layout.has_cell_state:
        found.forward(outputs.data_ptr(), h.data_ptr(), 0, place, packed)
        return (outputs, h), saved
    c = empty(*axes, batch, layout.units)
    found.forward(outputs.data_ptr(), h.data_ptr(), c.data_ptr(), place, packed)
    return (outputs, c, h), saved


def backward(
    setting: Setting,
    length: Tensor | None,
    operands: Sequence[Tensor | None],
    outputs: Tensor,
    grads: Sequence[Tensor | None],
    wanted: Sequence[bool],
    saved: Tensor,
) -> list[Tensor | None] | None:
    """Gradients as `call.backward` gives them, or None; `operands` are inputs, the state's tensors and the weights."""
    inputs, end = operands[0], 1 + setting.num_states
    assert inputs is not None
    found = look(setting, inputs, tuple(operands[1:end]), length, operands[end:])
    if found is None:
        return None
    dout = grads[0]
    if dout is not None and dout.stride(-1) != 1:  # a sum's gradient is one number
        grads = (dout.contiguous(), *grads[1:])
    made = [
        torch.empty_like(value) if want and value is not None else None
        for want, value in zip(wanted, operands, strict=True)
    ]
    return made if found.backward(outputs, saved, tuple(grads), made) else None


@lru_cache(maxsize=512)
def _compiled_layer(layout: Layout, input_size: int, itemsize: int) -> Any:
    """What the compiled module keeps of a layer."""
    places, known = places_of(layout, input_size, itemsize), dict.fromkeys(CALL, 0)
    known.update(cell=layout.cell, itemsize=itemsize, input_size=input_size)
    known.update(units=layout.units, projection=layout.projection)
    return _kernels.Layer(list(known.values()), places.shapes, places.constants, places.places, places.numbers)
