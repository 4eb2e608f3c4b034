"""The choice between the fused kernels and the reference loop: `implementation="auto" | "fused" | "reference"`.

It is made here and nowhere else. Both ways refuse the same arguments in the same words: for the reference loop they are
checked by `checks.py`, for the kernels at their own door, which nothing passes unchecked. The kernels are in
`dynrnn.kernels`, the reference loop is in `reference.py`; both are run by `layer.py` and `torch_layer.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from torch import Tensor

from dynrnn import kernels
from dynrnn.cells import CELLS
from dynrnn.cells.spec import CellSpec
from dynrnn.errors import dtype_name

IMPLEMENTATIONS = ("auto", "fused", "reference")


class Choice(NamedTuple):
    """What was chosen for a layer: the fused kernels or not, by the caller's word or not, and why not fused."""

    fused: bool
    asked: bool
    obstacle: str | None


_FUSED = Choice(True, False, None)


def choose(
    spec: CellSpec,
    options: Any,
    inputs: Tensor,
    *,
    implementation: str = "auto",
) -> Choice:
    """Choose how a layer is run over `inputs`; no value of any tensor is read.

    "auto" takes the fused kernels wherever they apply. Raises ValueError for another word, and for "fused" where the
    kernels do not apply; RuntimeError for "fused" where there are none.

    Example:
        >>> import torch
        >>> from dynrnn.cells import GRU, GRUOptions
        >>> choose(GRU, GRUOptions(3), torch.zeros(2, 5, 4), implementation="reference")
        Choice(fused=False, asked=True, obstacle='implementation="reference" asks for it')
    """
    if implementation == "reference":
        return Choice(False, True, 'implementation="reference" asks for it')
    obstacle = kernels.why_not(spec, options, inputs=inputs)
    if CELLS.get(spec.name) is not spec:
        obstacle = f"this {spec.name} is not the one in the table of cells, which the kernels compute"
    if implementation == "auto":
        return _FUSED if obstacle is None else Choice(False, False, obstacle)
    check_request(implementation, lambda: obstacle)
    return Choice(True, True, None)


def check_request(implementation: str, find_obstacle: Callable[..., str | None], *arguments: Any) -> None:
    """Refuse a word that is none of IMPLEMENTATIONS, and "fused" where `find_obstacle(*arguments)` finds one.

    Raises ValueError, or RuntimeError where the obstacle is that the compiled module is missing.
    """
    if implementation == "auto":
        return
    if implementation not in IMPLEMENTATIONS:
        raise ValueError(f"implementation must be one of {', '.join(IMPLEMENTATIONS)}, got {implementation!r}")
    if implementation != "fused":
        return
    obstacle = find_obstacle(*arguments)
    if obstacle is not None:
        error = RuntimeError if obstacle == kernels.missing() else ValueError
        raise error(f'implementation="fused" is not available: {obstacle}')


def describe(choice: Choice, spec: CellSpec, inputs: Tensor) -> str:
    """Say which way was chosen and why, in words that follow "runs".

    Example:
        >>> import torch
        >>> from dynrnn.cells import LAYER_NORM_LSTM, LayerNormLSTMOptions
        >>> inputs = torch.zeros(2, 5, 4)
        >>> describe(choose(LAYER_NORM_LSTM, LayerNormLSTMOptions(3), inputs), LAYER_NORM_LSTM, inputs)
        'through the reference loop, because ...'
    """
    if not choice.fused:
        return f"through the reference loop, because {choice.obstacle}"
    kernel = f"{spec.name} in {dtype_name(inputs.dtype)} on the CPU"
    return f"through the fused kernels ({kernels.isas()[0]}), because there is one for {kernel}"
