"""The names that programs fetch a loop's results by: those of the operations that give them in TensorFlow, whose loop
is built of many more.
"""

from __future__ import annotations

from typing import Any

from ... import _nest
from ..graph import Tensor
from ..ops.array.placeholders import identity


def name_outputs(outputs: Any, *, inputs: int, time_major: bool) -> Any:
    """Name the outputs of a loop over so many input tensors: stacks of steps, transposed where the batch comes
    first.
    """
    leaves = _nest.flatten(outputs)
    if time_major:
        stacks = ["TensorArrayStack", *[f"TensorArrayStack_{k}" for k in range(1, len(leaves))]]
        names = [f"{stack}/TensorArrayGatherV3" for stack in stacks]
    else:
        names = [f"transpose_{inputs + k}" for k in range(len(leaves))]
    return _named(outputs, names)


def name_state(state: Any, *, outputs: int) -> Any:
    """Name the final state: exits of a loop that carries a counter, the time and so many outputs before it."""
    return _named(state, [f"while/Exit_{2 + outputs + k}" for k in range(len(_nest.flatten(state)))])


def name_reversed(outputs: Any, *, by_length: bool) -> Any:
    """Name the outputs of a backward loop, which are reversed once more."""
    return _named(outputs, ["ReverseSequence" if by_length else "ReverseV2"] * len(_nest.flatten(outputs)))


def _named(structure: Any, names: list[str]) -> Any:
    leaves = [
        identity(leaf, name=name) if isinstance(leaf, Tensor) else leaf
        for leaf, name in zip(_nest.flatten(structure), names, strict=True)
    ]
    return _nest.pack_sequence_as(structure, leaves)
