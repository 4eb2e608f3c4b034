"""The door for compiled and exported code: custom operators over the kernels, with fake kernels and gradients.

Sizes of results follow from shapes alone, so that one graph serves all lengths, and nothing that a graph holds is
written to. Loading an exported program needs this module, which `dynrnn.kernels` imports.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from dynrnn.kernels import call
from dynrnn.kernels.check import Rows, Setting
from dynrnn.kernels.layouts import Layout

# What every operator is told besides its tensors: a Setting as plain values, the layout's first.
_SETTING = (
    "int cell, bool from_torch, int units, int projection, bool peepholes, bool biased, "
    "float forget_bias, float? cell_clip, float? proj_clip, "
    "bool time_major, bool reverse, bool keep_states, bool keep_gates, int isa"
)
_TENSORS = "Tensor inputs, Tensor[] state, Tensor[] weights, Tensor? row, Tensor? start, Tensor? length"
_NUM_TENSORS = 6


def _setting(values: Sequence[Any]) -> Setting:
    split = len(Layout._fields)
    return Setting(Layout(*values[:split]), *values[split:])


def _values(setting: Setting) -> tuple[Any, ...]:
    return (*setting.layout, *setting[1:])


def _layer(
    inputs: Tensor,
    state: list[Tensor],
    weights: list[Tensor],
    row: Tensor | None,
    start: Tensor | None,
    length: Tensor | None,
    keep: bool,
    *setting: Any,
) -> list[Tensor]:
    """The results of `call.forward`, and with `keep` the buffer for backward after them."""
    rows = _own(row, start, length)
    results, saved = call.forward(_setting(setting), rows, inputs, state, weights, keep=keep, any_lengths=True)
    return [*results] if saved is None else [*results, saved]


def _layer_fake(
    inputs: Tensor,
    state: list[Tensor],
    weights: list[Tensor],
    row: Tensor | None,
    start: Tensor | None,
    length: Tensor | None,
    keep: bool,
    *values: Any,
) -> list[Tensor]:
    setting = _setting(values)
    layout, lead = setting.layout, inputs.shape[:2]
    pieces = lead[1 if setting.time_major else 0] if row is None else row.shape[0]
    traces = int(setting.keeps_cell_states) + (layout.gates if setting.keep_gates else 0)
    results = [inputs.new_empty((*lead, layout.output_size))]
    results += [inputs.new_empty((pieces, width)) for width in layout.state_sizes.values()]
    results += [inputs.new_empty((*lead, layout.units)) for _ in range(traces)]
    if keep:
        results.append(inputs.new_empty(call.step_size(setting, inputs.dtype) * lead[0] * lead[1]))
    return results


def _layer_backward(
    inputs: Tensor,
    state: list[Tensor],
    weights: list[Tensor],
    row: Tensor | None,
    start: Tensor | None,
    length: Tensor | None,
    outputs: Tensor,
    saved: Tensor | None,
    grads: list[Tensor],
    present: list[int],
    num_grads: int,
    wanted: list[bool],
    *setting: Any,
) -> list[Tensor]:
    """The gradients that are `wanted`; `grads` are those of the results numbered in `present`."""
    given: list[Tensor | None] = [None] * num_grads
    for index, grad in zip(present, grads, strict=True):
        given[index] = grad
    rows = _own(row, start, length)
    found = call.backward(_setting(setting), rows, inputs, state, weights, outputs, given, wanted, saved, spare=True)
    return [value for value in found if value is not None]


def _layer_backward_fake(inputs: Tensor, state: list[Tensor], weights: list[Tensor], *rest: Any) -> list[Tensor]:
    wanted = rest[8]
    values = (inputs, *state, *weights)
    return [value.new_empty(value.shape) for value, want in zip(values, wanted, strict=True) if want]


def _own(*indices: Tensor | None) -> Rows:
    """Copies that nobody else can write to between their check and their use."""
    return Rows(*(None if value is None else value.clone() for value in indices))


_library = torch.library.Library("dynrnn", "DEF")
_library.define(f"layer({_TENSORS}, bool keep, {_SETTING}) -> Tensor[]", tags=(torch.Tag.pt2_compliant_tag,))
_library.define(
    f"layer_backward({_TENSORS}, Tensor outputs, Tensor? saved, Tensor[] grads, int[] present, int num_grads, "
    f"bool[] wanted, {_SETTING}) -> Tensor[]",
    tags=(torch.Tag.pt2_compliant_tag,),
)
_library.impl("layer", _layer, "CPU")
_library.impl("layer_backward", _layer_backward, "CPU")
torch.library.register_fake("dynrnn::layer", _layer_fake, lib=_library)
torch.library.register_fake("dynrnn::layer_backward", _layer_backward_fake, lib=_library)


def _setup_context(ctx: Any, inputs: tuple[Any, ...], output: list[Tensor]) -> None:
    values, state, weights, *indices, keep = inputs[: _NUM_TENSORS + 1]
    ctx.setting, ctx.num_states, ctx.num_results = inputs[_NUM_TENSORS + 1 :], len(state), len(output) - keep
    saved = output[-1] if keep else None
    if saved is not None:
        ctx.mark_non_differentiable(saved)
    ctx.set_materialize_grads(False)
    ctx.save_for_backward(output[0], saved, *indices, values, *state, *weights)


def _backward(ctx: Any, grads: list[Tensor | None]) -> Any:
    outputs, saved, row, start, length, inputs, *rest = ctx.saved_tensors
    state, weights = rest[: ctx.num_states], rest[ctx.num_states :]
    need_inputs, need_state, need_weights = ctx.needs_input_grad[:3]
    wanted = [need_inputs, *need_state, *need_weights]
    grads = grads[: ctx.num_results]
    present = [index for index, grad in enumerate(grads) if grad is not None]
    found: list[Tensor | None] = [None] * len(wanted)
    if present:
        given = [grad for grad in grads if grad is not None]
        each = iter(
            torch.ops.dynrnn.layer_backward(
                inputs,
                state,
                weights,
                row,
                start,
                length,
                outputs,
                saved,
                given,
                present,
                len(grads),
                wanted,
                *ctx.setting,
            )
        )
        found = [next(each) if want else None for want in wanted]
    split = 1 + ctx.num_states
    return found[0], found[1:split], found[split:], *(None,) * (4 + len(ctx.setting))


torch.library.register_autograd("dynrnn::layer", _backward, setup_context=_setup_context, lib=_library)


def apply(
    setting: Setting, rows: Rows, inputs: Tensor, state: Sequence[Tensor], weights: Sequence[Tensor]
) -> Sequence[Tensor]:
    """Run a layer through its operator; returns the results of `call.forward`, and perhaps the buffer after them.

    A forward pass leaves something for backward only where gradients are asked for while a graph is made, and not in
    an exported program, whose backward runs forward again.
    """
    tensors = (inputs, *state, *weights)
    keep = torch.is_grad_enabled() and any(value.requires_grad for value in tensors)
    keep = keep and not torch.compiler.is_exporting()
    return torch.ops.dynrnn.layer(inputs, list(state), list(weights), *rows, keep, *_values(setting))
