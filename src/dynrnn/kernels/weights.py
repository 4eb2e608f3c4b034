"""Where a layer's weights lie: TensorFlow 1's parameters or torch's, as addresses and strides for the kernels.

The same places serve the weights and their gradients. Nothing is copied and nothing is computed here.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import torch
from torch.nn import functional

_CELLS = ("lstm", "gru", "gru reset after", "tanh", "relu", "sigmoid")  # as the kernels number them
_LSTM, _GRU, _GRU_AFTER, _TANH, _RELU, _SIGMOID = range(len(_CELLS))
_TANHS = (torch.tanh, torch.Tensor.tanh, functional.tanh)
_BASIC = {
    **dict.fromkeys(_TANHS, _TANH),
    **dict.fromkeys((torch.relu, torch.Tensor.relu, functional.relu), _RELU),
    **dict.fromkeys((torch.sigmoid, torch.Tensor.sigmoid, functional.sigmoid), _SIGMOID),
}
_MODES = {"LSTM": _LSTM, "GRU": _GRU_AFTER, "RNN_TANH": _TANH, "RNN_RELU": _RELU}
_GATES = (4, 3, 3, 0, 0, 0)
_CANDIDATE_AFTER = (
    "candidate/input_projection/kernel",
    "candidate/hidden_projection/kernel",
    "candidate/input_projection/bias",
    "candidate/hidden_projection/bias",
)
_NO_CLIP = float("nan")


class Layout(NamedTuple):
    """A cell, its options, and which of two layouts its weights have: plain values that may also go through a graph."""

    cell: int
    from_torch: bool
    units: int
    projection: int  # 0: none
    peepholes: bool
    biased: bool
    forget_bias: float
    cell_clip: float | None
    proj_clip: float | None

    @property
    def has_cell_state(self) -> bool:
        """Whether the state is (c, h) rather than (h,)."""
        return self.cell == _LSTM

    @property
    def output_size(self) -> int:
        """Width of the outputs."""
        return self.projection or self.units

    @property
    def state_sizes(self) -> dict[str, int]:
        """Widths of the state's tensors, in the order of the table of cells."""
        return {"c": self.units, "h": self.output_size} if self.has_cell_state else {"h": self.output_size}

    @property
    def gates(self) -> int:
        """How many gates there are to be kept."""
        return _GATES[self.cell]

    @property
    def spec_name(self) -> str:
        """What the cell is called in the table of cells."""
        return {_LSTM: "lstm", _GRU: "gru", _GRU_AFTER: "gru"}.get(self.cell, "basic_rnn")

    @property
    def group(self) -> str:
        """What the weights are called together."""
        return "weights" if self.from_torch else "params"

    @property
    def names(self) -> tuple[str, ...]:
        """The weights' names, in the order in which they are given."""
        if self.from_torch:
            biases = ("bias_ih", "bias_hh") if self.biased else ()
            return ("weight_ih", "weight_hh", *biases, *(("weight_hr",) if self.projection else ()))
        if self.cell == _GRU:
            return ("gates/kernel", "gates/bias", "candidate/kernel", "candidate/bias")
        if self.cell == _GRU_AFTER:
            return ("gates/kernel", "gates/bias", *_CANDIDATE_AFTER)
        peepholes = ("w_f_diag", "w_i_diag", "w_o_diag") if self.peepholes else ()
        return ("kernel", "bias", *peepholes, *(("projection/kernel",) if self.projection else ()))


class Matrix(NamedTuple):
    """A block of a weight: element (k, unit) stands at (row + k, column + unit), or mirrored where `transposed`."""

    weight: int
    row: int
    column: int
    transposed: bool


class Vector(NamedTuple):
    """`units` elements of a weight from `start` on."""

    weight: int
    start: int


class Slot(NamedTuple):
    """What one gate reads: its kernels for x and h, and the biases beside each."""

    x: Matrix
    h: Matrix
    bx: Vector | None
    bh: Vector | None


def cell_of(name: str, options: Any) -> int | None:
    """The kernels' number for a row of the table of cells with these options; None where there is no kernel."""
    activation = getattr(options, "activation", None)
    if name == "basic_rnn":
        for known, cell in _BASIC.items():  # not every function can be a key
            if activation is known:
                return cell
        return None
    if not any(activation is known for known in _TANHS):
        return None
    if name == "gru":
        return _GRU_AFTER if options.reset_after else _GRU
    return _LSTM if name == "lstm" else None


def layout_of(name: str, options: Any) -> Layout:
    """The layout of the parameters that the spec called `name` lists for `options`."""
    cell = cell_of(name, options)
    if cell is None:
        raise ValueError(f"run_layer: there is no kernel for {name} with {options}")
    if cell != _LSTM:
        return Layout(cell, False, options.num_units, 0, False, True, 0.0, None, None)
    return Layout(
        cell,
        from_torch=False,
        units=options.num_units,
        projection=options.num_proj or 0,
        peepholes=options.use_peepholes,
        biased=True,
        forget_bias=float(options.forget_bias),
        cell_clip=options.cell_clip,
        proj_clip=options.proj_clip if options.num_proj else None,
    )


def torch_layout(mode: str, units: int, projection: int, biased: bool) -> Layout:
    """The layout of the weights of one layer and direction of a `torch.nn.RNNBase`."""
    return Layout(_MODES[mode], True, units, projection, False, biased, 0.0, None, None)


class Places:
    """Shapes and places of a layout's weights for inputs of one width and elements of one size.

    Example:
        >>> layout = torch_layout("RNN_TANH", 3, 0, True)
        >>> list(zip(layout.names, places_of(layout, 2, 4).shapes))[:2]
        [('weight_ih', (3, 2)), ('weight_hh', (3, 3))]
    """

    def __init__(self, layout: Layout, input_size: int, itemsize: int) -> None:
        find = _torch_places if layout.from_torch else _tensorflow_places
        self.shapes, slots, rest = find(layout, input_size)
        self.labels = tuple(f"{layout.group}[{name!r}]" for name in layout.names)
        self.state_labels = tuple(f"state.{name}" for name in layout.state_sizes)
        self.state_sizes = tuple(layout.state_sizes.values())
        self.output_size, self.gates = layout.output_size, layout.gates
        clips = (_NO_CLIP if clip is None else float(clip) for clip in (layout.cell_clip, layout.proj_clip))
        self.numbers = [layout.forget_bias, *clips]
        fields: list[
            tuple[int | None, int]
        ] = []  # of each field: which weight's address it counts from, and by how much
        for slot in slots:
            for block in (slot.x, slot.h):
                fields += self._matrix(block, itemsize)
            for part in (slot.bx, slot.bh):
                fields.append((None, 0) if part is None else (part.weight, part.start * itemsize))
        fields += [(None, 0)] * (8 * (4 - len(slots)))
        fields += [(weight, 0) for weight in rest.peepholes]
        fields += [(None, 0)] * 3 if rest.projection is None else self._matrix(rest.projection, itemsize)
        self._constants = [offset if weight is None else 0 for weight, offset in fields]
        self._places = [(field, weight, offset) for field, (weight, offset) in enumerate(fields) if weight is not None]

    def _matrix(self, block: Matrix, itemsize: int) -> list[tuple[int | None, int]]:
        width = self.shapes[block.weight][1]
        row, column = (1, width) if block.transposed else (width, 1)
        return [(block.weight, (block.row * width + block.column) * itemsize), (None, row), (None, column)]

    def addresses(self, pointers: Sequence[int]) -> list[int]:
        """The kernels' WEIGHTS for contiguous weights at `pointers`, in the order of the names."""
        fields = self._constants.copy()
        for field, weight, offset in self._places:
            fields[field] = pointers[weight] + offset
        return fields

    def addresses_of_some(self, pointers: Sequence[int]) -> list[int]:
        """The same where a pointer may be 0: what it would lead to is 0, too."""
        fields = self._constants.copy()
        for field, weight, offset in self._places:
            if pointers[weight]:
                fields[field] = pointers[weight] + offset
        return fields


@lru_cache(maxsize=512)
def places_of(layout: Layout, input_size: int, itemsize: int) -> Places:
    """The places of a layout's weights, worked out once."""
    return Places(layout, input_size, itemsize)


class _Rest(NamedTuple):
    """What no gate reads: the peepholes' weights of i, f and o, and the projection."""

    peepholes: tuple[int | None, int | None, int | None] = (None, None, None)
    projection: Matrix | None = None


_Shapes = tuple[tuple[int, ...], ...]


def _tensorflow_places(layout: Layout, input_size: int) -> tuple[_Shapes, list[Slot], _Rest]:
    """Kernels `[input_size + output, gates * units]`, as `CellSpec.params` lists them."""
    units, rows = layout.units, input_size + layout.output_size

    def slot(weight: int, gate: int, bias: int) -> Slot:
        column = gate * units
        x, h = Matrix(weight, 0, column, False), Matrix(weight, input_size, column, False)
        return Slot(x, h, Vector(bias, column), None)

    def kernel(gates: int) -> _Shapes:
        return (rows, gates * units), (gates * units,)

    if layout.cell == _GRU:
        return (*kernel(2), *kernel(1)), [slot(0, 0, 1), slot(0, 1, 1), slot(2, 0, 3)], _Rest()
    if layout.cell == _GRU_AFTER:
        candidate = Slot(Matrix(2, 0, 0, False), Matrix(3, 0, 0, False), Vector(4, 0), Vector(5, 0))
        shapes = (*kernel(2), (input_size, units), (units, units), (units,), (units,))
        return shapes, [slot(0, 0, 1), slot(0, 1, 1), candidate], _Rest()
    if layout.cell != _LSTM:
        return kernel(1), [slot(0, 0, 1)], _Rest()
    shapes, rest = kernel(4), _Rest()
    if layout.peepholes:
        rest = _Rest((3, 2, 4))  # TensorFlow 1 lists f, i, o
        shapes += ((units,),) * 3
    if layout.projection:
        rest = rest._replace(projection=Matrix(len(shapes), 0, 0, False))
        shapes += ((units, layout.projection),)
    return shapes, [slot(0, gate, 1) for gate in range(4)], rest


def _torch_places(layout: Layout, input_size: int) -> tuple[_Shapes, list[Slot], _Rest]:
    """`weight_ih` `[gates * units, input_size]` and so on; torch's i, f, g, o are our i, f, j, o."""
    units = layout.units
    blocks = {_LSTM: (0, 2, 1, 3), _GRU_AFTER: (0, 1, 2)}.get(layout.cell, (0,))
    rows = len(blocks) * units
    shapes: _Shapes = ((rows, input_size), (rows, layout.output_size))
    if layout.biased:
        shapes += ((rows,), (rows,))
    rest = _Rest()
    if layout.projection:
        rest = _Rest(projection=Matrix(len(shapes), 0, 0, True))
        shapes += ((layout.projection, units),)

    def slot(block: int) -> Slot:
        row = block * units
        biases = (Vector(2, row), Vector(3, row)) if layout.biased else (None, None)
        return Slot(Matrix(0, row, 0, True), Matrix(1, row, 0, True), *biases)

    return shapes, [slot(block) for block in blocks], rest
