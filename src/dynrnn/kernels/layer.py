"""A layer by the kernels, for weights as TensorFlow 1 and as torch lay them out; the door is chosen here.

Whether the kernels should run at all is for the caller to decide (`why_not` in `availability.py`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

import torch
from torch import Tensor
from torch._C._functorch import TransformType, get_interpreter_stack  # pyright: ignore[reportMissingImports]
from torch.autograd import forward_ad

from dynrnn.cells.spec import CellSpec
from dynrnn.kernels import call, operators, short
from dynrnn.kernels.check import Rows, Setting
from dynrnn.kernels.derivatives import Layer, Reference, Results, zeros_of
from dynrnn.kernels.functions import LayerFunction, Record, UntransformedLayerFunction
from dynrnn.kernels.layouts import cell_of, layout_of, named_layout, named_torch_layout, torch_layout


class Pieces(Protocol):
    """Where rows are cut: int64 `[pieces]` on the CPU each; see `dynrnn.rnn.pieces`."""

    @property
    def row(self) -> Tensor: ...
    @property
    def start(self) -> Tensor: ...
    @property
    def length(self) -> Tensor: ...


def run_layer(
    spec: CellSpec,
    params: Mapping[str, Tensor],
    inputs: Tensor,
    state: tuple[Tensor, ...] | None,
    *,
    lengths: Tensor | None,
    options: Any,
    reference: Reference,
    time_major: bool = False,
    reverse: bool = False,
    pieces: Pieces | None = None,
    keep_states: bool = False,
    keep_gates: bool = False,
    isa: int = -1,
    packed: call.Packed | None = None,
) -> Results:
    """Run a cell over `inputs` by the kernels, each row for its own length, as `dynrnn.rnn.run_layer` does.

    `params`, `inputs`, `lengths`, `options`, `time_major` and `reverse` are those of `run_layer`; lengths may be mapped
    over by `torch.vmap`, and are read only where they can be. `state` holds `[batch, width]` tensors in the cell's
    order, or is None for zeros. With `pieces`, which stand for lengths, each piece of a row is walked as a row of its
    own, and the state and the final state are per piece. `isa` is an index into `isas()`, -1 for the best one. `packed`
    is what `pack_layer` gave for these parameters; where gradients are recorded, it is not used.

    Returns `(outputs, final, states, gates)`. With `keep_states`, `states` are the state's tensors after every valid
    step; with `keep_gates`, `gates` are those of `spec.gate_names`. Both are laid out as outputs are, and exactly 0 in
    the padding. What is not kept is `()`.

    `reference(inputs, state, params, lengths)` computes the same by torch operations, for derivatives that the kernels
    do not have: second ones, and forward ones. What stands in the padding of its states is not looked at.

    Raises TypeError or ValueError, naming the argument, where a dtype, a shape, a device or a length does not fit.

    Example:
        >>> from dynrnn.cells import BASIC_RNN, BasicRNNOptions
        >>> from dynrnn.kernels import missing
        >>> params = {"kernel": torch.full((3, 1), 0.5), "bias": torch.zeros(1)}
        >>> inputs, lengths = torch.arange(12.0).reshape(2, 3, 2) / 10, torch.tensor([3, 1])
        >>> if missing() is None:
        ...     outputs, (h,), _, _ = run_layer(BASIC_RNN, params, inputs, None, lengths=lengths,
        ...                                     options=BasicRNNOptions(1), reference=None)
        ...     assert h[0] == outputs[0, 2] and not outputs[1, 1:].any()
    """
    layout, names = named_layout(spec.name, options)
    setting = Setting(layout, time_major, reverse, keep_states, keep_gates, isa)
    return _run(Layer(setting, names, reference), params, inputs, state, lengths, pieces, packed)


def run_torch_layer(
    mode: str,
    weights: Mapping[str, Tensor],
    inputs: Tensor,
    state: tuple[Tensor, ...] | None,
    *,
    lengths: Tensor | None,
    reference: Reference,
    time_major: bool = True,
    reverse: bool = False,
    pieces: Pieces | None = None,
    keep_states: bool = False,
    keep_gates: bool = False,
    isa: int = -1,
    packed: call.Packed | None = None,
) -> Results:
    """Run one layer of a `torch.nn.RNNBase` in one direction, as `run_layer` does, on its weights as they lie.

    `mode` is torch's: "LSTM", "GRU", "RNN_TANH" or "RNN_RELU". `weights` are "weight_ih", "weight_hh", with biases
    "bias_ih" and "bias_hh", with a projection "weight_hr". State, final state and gates have the order of our cells:
    (c, h), and i, j, f, o. `reference` is given these weights.
    """
    layout, names = named_torch_layout(mode, weights)
    setting = Setting(layout, time_major, reverse, keep_states, keep_gates, isa)
    return _run(Layer(setting, names, reference), weights, inputs, state, lengths, pieces, packed)


def _run(
    layer: Layer,
    weights: Mapping[str, Tensor],
    inputs: Tensor,
    state: tuple[Tensor, ...] | None,
    lengths: Tensor | None,
    pieces: Pieces | None,
    packed: call.Packed | None,
) -> Results:
    if len(weights) != len(layer.names) or not all([name in weights for name in layer.names]):
        layout = layer.setting.layout
        what = "weights" if layout.from_torch else f"params of {layout.spec_name}"
        raise ValueError(f"run_layer: {what} must be {list(layer.names)}, got {list(weights)}")
    if state is not None and len(state) != layer.setting.num_states:
        layout = layer.setting.layout
        names = ", ".join(layout.state_sizes)
        raise ValueError(f"run_layer: state of {layout.spec_name} must be ({names}), got {len(state)} tensors")
    tensors = [weights[name] for name in layer.names]
    rows = _rows(lengths, pieces)
    in_graph = torch.compiler.is_compiling() or torch._C._len_torch_dispatch_stack() > 0
    transformed = torch._C._are_functorch_transforms_active()
    if _is_followed_by_torch_alone(in_graph, transformed):
        state = zeros_of(layer.setting, rows.row, inputs) if state is None else state
        return layer.reference(inputs, state, dict(zip(layer.names, tensors, strict=True)), lengths)
    if in_graph:
        state = zeros_of(layer.setting, rows.row, inputs) if state is None else state
        return layer.named(operators.apply(layer.setting, rows, inputs, state, tensors))
    given = (None,) * layer.setting.num_states if state is None else state
    keep = torch.is_grad_enabled() and _wants_gradients(inputs, given, tensors)
    if transformed:
        return layer.named(LayerFunction.apply(Record(layer, keep=keep), *rows, inputs, *given, *tensors))
    if keep:
        record = Record(layer, keep=True, rows=rows)
        return layer.named(UntransformedLayerFunction.apply(record, inputs, *given, *tensors))
    return layer.named(call.forward(layer.setting, rows, inputs, given, tensors, packed=packed)[0])


def layer_for(
    spec: CellSpec, options: Any, reference: Reference, *, time_major: bool = False, reverse: bool = False
) -> Layer | None:
    """A layer to be run by `run_short`, as `run_layer` runs it; None where there is no kernel for it."""
    if cell_of(spec.name, options) is None:
        return None
    layout = layout_of(spec.name, options)
    return Layer(Setting(layout, time_major, reverse), layout.names, reference)


def torch_layer_for(
    mode: str,
    units: int,
    projection: int,
    biased: bool,
    reference: Reference,
    *,
    time_major: bool = True,
    reverse: bool = False,
) -> Layer:
    """The same for `run_torch_layer`; a projection of 0 is none."""
    layout = torch_layout(mode, units, projection, biased)
    return Layer(Setting(layout, time_major, reverse), layout.names, reference)


def run_short(
    layer: Layer,
    weights: Sequence[Tensor | None],
    inputs: Tensor,
    state: tuple[Tensor, ...] | None,
    lengths: Any,
    *,
    packed: call.Packed | None = None,
    axes: tuple[int, ...] = (),
) -> tuple[Tensor, ...] | None:
    """Run a layer at once where there is nothing to look after, or return None and have done nothing.

    `weights` stand in the layer's order; `lengths` is a tensor or a list. Tensors of the state and of the final state
    are `[*axes, batch, width]`, where axes are none or 1. Returns outputs and the final state's tensors.

    Example:
        >>> from dynrnn.cells import BASIC_RNN, BasicRNNOptions
        >>> layer = layer_for(BASIC_RNN, BasicRNNOptions(1), reference=None)
        >>> found = run_short(layer, [torch.ones(3, 1), torch.zeros(1)], torch.ones(2, 9, 2), None, [9, 0])
        >>> found is None or found[1].shape == (2, 1)
        True
    """
    if _is_watched():
        return None
    setting, given = layer.setting, () if state is None else state
    if not torch.is_grad_enabled() or not _wants_gradients(inputs, given, weights):
        found = short.look(setting, inputs, state, lengths, weights)
        if found is None:
            return None
        ready = call.address_of_packed(packed, setting, inputs)
        return short.forward(found, setting, inputs, keep=False, packed=ready, axes=axes)[0]
    if isinstance(lengths, Tensor):
        lengths = lengths.clone()  # backward needs them as they are now
    found = short.look(setting, inputs, state, lengths, weights)
    if found is None:
        return None
    if lengths is not None and not isinstance(lengths, Tensor):
        lengths = torch.tensor(lengths, dtype=torch.int64, device="cpu")
    record = Record(layer, keep=True, rows=Rows(None, None, lengths), found=found, axes=axes)
    begin = (None,) * setting.num_states if state is None else state
    return UntransformedLayerFunction.apply(record, inputs, *begin, *weights)[:-1]


def _is_watched() -> bool:
    """Whether anything looks at or takes the place of torch's operations: a compiler, a mode, a transform, a trace."""
    return (
        torch.compiler.is_compiling()
        or torch._C._len_torch_dispatch_stack() > 0
        or torch._C._are_functorch_transforms_active()
        or forward_ad._current_level >= 0
        or torch._C._get_tracing_state() is not None
    )


def _is_followed_by_torch_alone(in_graph: bool, transformed: bool) -> bool:
    """Whether something watches the call that only follows torch's operations: dual numbers, a trace, a transform."""
    if forward_ad._current_level >= 0:
        return True
    if transformed:
        return in_graph or any(level.key() == TransformType.Functionalize for level in get_interpreter_stack())
    return not in_graph and torch._C._get_tracing_state() is not None  # torch.jit.trace


def _wants_gradients(inputs: Tensor, state: Iterable[Tensor | None], weights: Iterable[Tensor | None]) -> bool:
    for value in weights:
        if value is not None and value.requires_grad:
            return True
    return inputs.requires_grad or any(value is not None and value.requires_grad for value in state)


def _rows(lengths: Tensor | None, pieces: Pieces | None) -> Rows:
    """Which steps are walked: in copies, which nobody else can write to."""
    if pieces is not None:
        if lengths is not None:
            raise ValueError("run_layer: lengths must be None where pieces are given")
        return Rows(pieces.row.clone(), pieces.start.clone(), pieces.length.clone())
    return Rows(None, None, None if lengths is None else lengths.clone())
