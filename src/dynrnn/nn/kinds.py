"""What is known of a cell of any kind: ours, a module or a function of the user's; and what is no cell."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from dynrnn.nn.compiled import uncompiled
from dynrnn.nn.given_state import ExpectedState, checked_rows, checked_state
from dynrnn.nn.state import zeros_like_sizes


def kind_of(cell: Any) -> str:
    """A cell's name for messages.

    Example:
        >>> kind_of(torch.nn.Identity()), kind_of(kind_of)
        ('Identity', 'kind_of')
    """
    cell = uncompiled(cell)
    return getattr(cell, "__name__", type(cell).__name__)


def check_cell(owner: str, cell: Any, name: str = "cell") -> None:
    """Refuse what cannot be called as `cell(inputs, state) -> (output, state)`.

    Raises TypeError for what cannot be called at all and for torch's own recurrent modules and cells, which return
    other things; the message says what to use instead.
    """
    cell = uncompiled(cell)
    if getattr(type(cell), "is_rnn_cell", False):
        return
    if isinstance(cell, nn.RNNCellBase):
        raise TypeError(
            f"{owner}: {name} is torch.nn.{type(cell).__name__}, which returns a state and no (output, state); use "
            f"{_ours_for(cell)}"
        )
    if isinstance(cell, nn.RNNBase):
        raise TypeError(
            f"{owner}: {name} is a whole {type(cell).__name__} module, which walks sequences by itself; call it with "
            "lengths=, or give a cell such as dynrnn.LSTMCell"
        )
    if isinstance(cell, type) or not callable(cell):
        got = f"the class {cell.__name__}" if isinstance(cell, type) else type(cell).__name__
        raise TypeError(f"{owner}: {name} must be a module or a function (inputs, state) -> (output, state), got {got}")


def _ours_for(cell: nn.RNNCellBase) -> str:
    """Which of our cells computes what one of torch's does, and what is otherwise there."""
    sizes = f"hidden_size={cell.hidden_size}, input_size={cell.input_size}"
    if isinstance(cell, nn.LSTMCell):
        return f"dynrnn.LSTMCell({sizes}, forget_bias=0.0), whose state is (c, h) where torch's is (h, c)"
    if isinstance(cell, nn.GRUCell):
        return f"dynrnn.GRUCell({sizes}, reset_after=True)"
    activation = ", activation=torch.relu" if getattr(cell, "nonlinearity", "tanh") == "relu" else ""
    return f"dynrnn.BasicRNNCell({sizes}{activation})"


def runs_whole(cell: Any) -> bool:
    """Say whether `cell` runs over whole sequences: one of ours whose steps nobody has changed or watches by a hook."""
    return why_not_whole(cell) is None


def why_not_whole(cell: Any) -> str | None:
    """Say why `cell` is called step by step, in words that follow "because"; None where it runs over whole sequences.

    Example:
        >>> why_not_whole(kind_of)
        'it is a cell of your own'
    """
    kind = type(cell)
    for owner in kind.__mro__ if getattr(kind, "is_rnn_cell", False) else ():
        if "_run_whole" in owner.__dict__:
            break
    else:
        return "it is a cell of your own"
    if kind.forward is not owner.forward or "forward" in cell.__dict__:
        return "it has a step of its own"
    return "a hook watches its steps" if is_watched(cell) else None


def is_watched(module: nn.Module) -> bool:
    """Say whether a hook watches a module's calls.

    Example:
        >>> is_watched(torch.nn.Identity())
        False
    """
    forward = module._forward_hooks or module._forward_pre_hooks
    return bool(forward or module._backward_hooks or module._backward_pre_hooks)


def zero_state_of(
    owner: str, cell: Any, batch_size: int, *, dtype: torch.dtype, device: torch.device, name: str = "initial_state"
) -> Any:
    """Make the state that a cell begins with where none is given.

    A cell's `zero_state(batch_size)` makes it (ours are also told dtype and device); without one, its `state_size`
    says which zeros. Raises ValueError where the cell has neither.
    """
    if getattr(cell, "is_rnn_cell", False):
        return cell.zero_state(batch_size, dtype=dtype, device=device)
    if hasattr(cell, "zero_state"):
        return cell.zero_state(batch_size)
    if hasattr(cell, "state_size"):
        return zeros_like_sizes(cell.state_size, batch_size, dtype, device)
    raise ValueError(
        f"{owner}: {name} must be given, because {kind_of(cell)} has neither zero_state nor state_size to make one from"
    )


def given_state_of(cell: Any, state: Any, expected: ExpectedState) -> Any:
    """Hold a state that somebody gives against what is known of the cell; return it in the cell's structure.

    Raises TypeError or ValueError, naming the tensor, where it does not fit.
    """
    if getattr(cell, "is_rnn_cell", False):
        return cell._checked_state(state, expected)
    if hasattr(cell, "state_size"):
        return checked_state(cell.state_size, state, expected)
    return checked_rows(state, expected)
