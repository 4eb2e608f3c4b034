"""How one step of a cell is called, and which cells let their input product be computed beforehand.

The loop that calls a step is in `steps.py`; which cells need no steps at all is said in `kinds.py`, and whose step a
cell inside another one has in `running.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from torch import Tensor, nn

from dynrnn.nn.compiled import is_compiled
from dynrnn.nn.kinds import is_watched


@dataclass(frozen=True)
class Step:
    """A cell as it is called step by step: `call(inputs, state) -> (output, new_state)`.

    With `product`, `call` is given `product(inputs)` in place of inputs, which has been computed for many steps at
    once. `cell` is whose step it is, `compiled` whether it runs compiled code. `output_like` is a tensor that is shaped
    as the output of every step, None where nobody knows.
    """

    cell: Any
    call: Callable[[Any, Any], Any]
    product: Callable[[Any], Any] | None = None
    compiled: bool = False
    output_like: Tensor | None = None

    def run(self, inputs: Any, state: Any) -> Any:
        """One whole step, from its inputs."""
        return self.call(inputs if self.product is None else self.product(inputs), state)


def own_step(cell: Any) -> Step:
    """The step of a cell of a user's; its input product is apart where `has_input_product`.

    Example:
        >>> own_step(has_input_product).product is None
        True
    """
    if has_input_product(cell):
        return Step(cell, cell.recur, cell.input_product, compiled=is_compiled(cell.recur))
    return Step(cell, cell, compiled=is_compiled(cell))


def has_input_product(cell: Any) -> bool:
    """Say whether a cell's step is `recur(input_product(inputs), state)`, so that the two may be called apart.

    It is where a cell has both, unless a call of the cell itself does more: a step that was written anew further down
    (`forward`, or `__call__` of what is no module), a hook that watches it, or compiled code.
    """
    if not callable(getattr(cell, "input_product", None)) or not callable(getattr(cell, "recur", None)):
        return False
    is_module = isinstance(cell, nn.Module)
    call = "forward" if is_module else "__call__"
    if is_compiled(cell) or call in cell.__dict__:
        return False
    if is_module and is_watched(cell):
        return False
    return _depth(cell, call) >= min(_depth(cell, "input_product"), _depth(cell, "recur"))


def _depth(cell: Any, name: str) -> int:
    """How far up the bases of a cell's class a method is defined; beyond them all where only the cell has it."""
    bases = type(cell).__mro__
    return next((index for index, base in enumerate(bases) if name in base.__dict__), len(bases))
