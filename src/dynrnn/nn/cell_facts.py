"""What a cell's options alone decide, found out once: names, widths, and which parameters know the input size."""

from __future__ import annotations

from typing import Any, NamedTuple

from dynrnn.cells.spec import CellSpec


class CellFacts(NamedTuple):
    """Facts about a row of the table of cells under certain options; no tensor and nothing that could change."""

    options: Any
    names: tuple[str, ...]  # the parameters, by TensorFlow 1's names and in its order
    sized: tuple[str, ...]  # those whose rows depend on the input size
    other_rows: int  # how many rows the first of these has besides those of the inputs
    state_sizes: tuple[int, ...]
    gate_names: tuple[str, ...]


def learn(spec: CellSpec, options: Any) -> CellFacts:
    """Find out the facts.

    Example:
        >>> from dynrnn.cells import GRU, GRUOptions
        >>> facts = learn(GRU, GRUOptions(3))
        >>> facts.names[0], facts.sized, facts.other_rows, facts.state_sizes
        ('gates/kernel', ('gates/kernel', 'candidate/kernel'), 3, (3,))
    """
    one, two = (spec.params(size, options) for size in (1, 2))
    sized = [param for param, other in zip(one, two, strict=True) if param.shape != other.shape]
    return CellFacts(
        options,
        tuple(param.name for param in one),
        tuple(param.name for param in sized),
        sized[0].shape[0] - 1,
        spec.state_sizes(options),
        spec.gate_names(options),
    )
