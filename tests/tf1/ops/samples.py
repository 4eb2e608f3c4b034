"""What a sample of an op row is, and how one is built. The samples themselves stand in `samples_<file>.py`.

Each such file has a list `SAMPLES`; `test_ops_table.py` walks all of them.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dynrnn import _nest
from dynrnn.graph.dtype import as_dtype
from dynrnn.graph.op import Op
from dynrnn.graph.shape import Dims
from dynrnn.tf1.graph import Graph, Operation, Tensor

PLACEHOLDER = Op("Placeholder", "-> @dtype", None, lambda inputs, attrs: attrs["shape"])


@dataclass(frozen=True)
class Sample:
    """A small use of an op row.

    type: the row's op type.
    build: makes the node, given a placeholder for every item of `values`; returns the output or a nest of outputs.
    values: what is fed, arrays or Python values; gradients are checked with respect to the float64 ones.
    expected: the outputs' values (an array, or a list of them for several), or a function of `values` that gives
        them; None: not checked.
    tolerance: relative and absolute, for `expected`; 0 asks for the same bits.
    static: how much the placeholders' shapes tell: "known", "partial" (sizes unknown), "unknown" (rank unknown).
    exact: with known shapes the output's static shape is fully known; False for rows whose sizes depend on values.
    gradient: whether differences are compared; None: where the row is differentiable and a float64 value is fed.
    second: whether the gradient's gradient is compared too.
    label: tells samples of one type apart in test ids.
    """

    type: str
    build: Callable[..., Any]
    values: tuple[Any, ...] = ()
    expected: Any = None
    tolerance: float = 1e-12
    static: tuple[str, ...] = ("known", "partial", "unknown")
    exact: bool = True
    gradient: bool | None = None
    second: bool = True
    label: str = ""

    @property
    def id(self) -> str:
        return f"{self.type}-{self.label}" if self.label else self.type

    @property
    def arrays(self) -> list[np.ndarray]:
        return [np.asarray(value, object if isinstance(value, (str, bytes)) else None) for value in self.values]


@dataclass
class Built:
    """A sample in a graph: the placeholders, the outputs, and the sample's own node."""

    sample: Sample
    graph: Graph
    inputs: list[Tensor]
    outputs: list[Tensor]
    node: Operation


def build(sample: Sample, static: str = "known") -> Built:
    """Build a sample in a graph of its own.

    Raises:
        AssertionError: no node of the sample's type was made.
    """
    graph = Graph()
    with graph.as_default():
        inputs = [_placeholder(graph, array, static) for array in sample.arrays]
        outputs = [out for out in _nest.flatten(sample.build(*inputs)) if isinstance(out, Tensor)]
    nodes = [node for node in graph.get_operations() if node.type == sample.type]
    assert nodes, f"{sample.id} made only {[node.type for node in graph.get_operations()]}"
    return Built(sample, graph, inputs, outputs, nodes[-1])


def _placeholder(graph: Graph, array: np.ndarray, static: str) -> Tensor:
    dims: Dims = {"known": array.shape, "partial": (None,) * array.ndim, "unknown": None}[static]
    dtype = as_dtype(array.dtype)
    node = graph.add(PLACEHOLDER, (), {"dtype": dtype, "shape": dims}, dtypes=[dtype], shapes=[dims], name="x")
    return node.outputs[0]  # type: ignore[return-value]


def all_samples() -> list[Sample]:
    """The samples of every file of samples."""
    found: list[Sample] = []
    for file in sorted(Path(__file__).parent.glob("samples_*.py")):
        found.extend(importlib.import_module(f"tf1.ops.{file.stem}").SAMPLES)
    return found


# Rows that change a session's state or only order others: `test_state.py`, `test_scattering.py` and `test_control.py`
# are about them.
_WAYS = ("Add", "Div", "Max", "Min", "Mul", "NdAdd", "NdSub", "NdUpdate", "Sub", "Update")
_UPDATES = {f"Scatter{way}" for way in _WAYS}
_ACTIONS = {"Assign", "AssignAdd", "AssignSub", "CountUpTo", "NoOp", *_UPDATES}


def all_rows() -> dict[str, Op]:
    """Every op row of the face's op modules, by type: a module's own, those in its tables and of its functions."""
    found: dict[str, Op] = {}
    package = importlib.import_module("dynrnn.tf1.ops")
    for module in pkgutil.walk_packages(package.__path__, "dynrnn.tf1.ops."):
        for value in vars(importlib.import_module(module.name)).values():
            for row in _rows_in(value):
                if row.type not in _ACTIONS:
                    found.setdefault(row.type, row)
    return found


def _rows_in(value: Any) -> Iterator[Op]:
    if isinstance(value, Op):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from _rows_in(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _rows_in(item)
    elif callable(value) and isinstance(getattr(value, "row", None), Op):
        yield value.row


def numeric_gradient(
    function: Callable[[Sequence[np.ndarray]], float], arrays: Sequence[np.ndarray], position: int, step: float = 1e-6
) -> np.ndarray:
    """The gradient of a function of arrays with respect to one of them, by central differences."""
    result = np.zeros(arrays[position].shape)
    for index in np.ndindex(*arrays[position].shape):
        sides = []
        for sign in (1, -1):
            moved = [array.copy() for array in arrays]
            moved[position][index] += sign * step
            sides.append(function(moved))
        result[index] = (sides[0] - sides[1]) / (2 * step)
    return result
