"""Where a layer's weights lie: TensorFlow 1's parameters or torch's, as addresses and strides for the kernels.

The same places serve the weights and their gradients. Nothing is copied and nothing is computed here.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from dynrnn.kernels.layouts import GRU, GRU_AFTER, LSTM, Layout

_NO_CLIP = float("nan")


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


class Places:
    """Shapes and places of a layout's weights for inputs of one width and elements of one size.

    `constants` are the kernels' WEIGHTS without addresses, and `places` what belongs into them: the field, the weight
    whose address it counts from, and by how many bytes.

    Example:
        >>> from dynrnn.kernels.layouts import torch_layout
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
        self.constants = [offset if weight is None else 0 for weight, offset in fields]
        self.places = [(field, weight, offset) for field, (weight, offset) in enumerate(fields) if weight is not None]

    def _matrix(self, block: Matrix, itemsize: int) -> list[tuple[int | None, int]]:
        width = self.shapes[block.weight][1]
        row, column = (1, width) if block.transposed else (width, 1)
        return [(block.weight, (block.row * width + block.column) * itemsize), (None, row), (None, column)]

    def addresses(self, pointers: Sequence[int]) -> list[int]:
        """The kernels' WEIGHTS for contiguous weights at `pointers`, in the order of the names."""
        fields = self.constants.copy()
        for field, weight, offset in self.places:
            fields[field] = pointers[weight] + offset
        return fields

    def addresses_of_some(self, pointers: Sequence[int]) -> list[int]:
        """The same where a pointer may be 0: what it would lead to is 0, too."""
        fields = self.constants.copy()
        for field, weight, offset in self.places:
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

    if layout.cell == GRU:
        return (*kernel(2), *kernel(1)), [slot(0, 0, 1), slot(0, 1, 1), slot(2, 0, 3)], _Rest()
    if layout.cell == GRU_AFTER:
        candidate = Slot(Matrix(2, 0, 0, False), Matrix(3, 0, 0, False), Vector(4, 0), Vector(5, 0))
        shapes = (*kernel(2), (input_size, units), (units, units), (units,), (units,))
        return shapes, [slot(0, 0, 1), slot(0, 1, 1), candidate], _Rest()
    if layout.cell != LSTM:
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
    blocks = {LSTM: (0, 2, 1, 3), GRU_AFTER: (0, 1, 2)}.get(layout.cell, (0,))
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
