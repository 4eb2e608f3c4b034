"""States and their structures: LSTMState, zero states, and how a state that somebody gives is held against them.

A structure is what a cell's `state_size` is: an int, a `torch.Size` (for a state `[batch, *size]`), or these nested in
tuples, lists, dicts and LSTMState.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.utils import _pytree

from dynrnn import _nest


class LSTMState(NamedTuple):
    """The state of an LSTM cell in TensorFlow 1's order: `c` `[batch, units]`, then `h` `[batch, output]`.

    Mind the order: torch's own modules say `(h, c)`.

    Example:
        >>> import torch
        >>> LSTMState(c=torch.zeros(2, 4), h=torch.zeros(2, 3)).h.shape
        torch.Size([2, 3])
    """

    c: Tensor
    h: Tensor


def name_for_export(kind: type) -> None:
    """Let a named tuple be part of what a saved `torch.export` program takes and returns; torch's message asks for it.

    Example:
        >>> from typing import NamedTuple
        >>> name_for_export(NamedTuple("Pair", [("one", int), ("two", int)]))
    """
    _pytree._register_namedtuple(kind, serialized_type_name=f"dynrnn.{kind.__name__}")


name_for_export(LSTMState)


def zeros_like_sizes(sizes: Any, batch_size: int, dtype: torch.dtype | None, device: torch.device | str | None) -> Any:
    """Make zeros `[batch_size, size]` for every size of a structure.

    Example:
        >>> zeros_like_sizes((2, 1), 1, torch.float64, None)
        (tensor([[0., 0.]], dtype=torch.float64), tensor([[0.]], dtype=torch.float64))
    """
    if _is_leaf(sizes):
        return torch.zeros(batch_size, *_dims(sizes), dtype=dtype, device=device)
    return _rebuilt(sizes, [zeros_like_sizes(size, batch_size, dtype, device) for size in _children(sizes)])


def checked_state(
    sizes: Any,
    state: Any,
    batch_size: int,
    *,
    dtype: torch.dtype | None,
    device: torch.device,
    name: str,
    hint: str = "",
) -> Any:
    """Hold a state against the structure `sizes`; return it in that structure.

    A tuple, a list or a named tuple is taken for an LSTMState or a tuple, in the order `(c, h)` or by its names; arrays
    become tensors. Any `dtype` will do where it is None. `hint` is added where only the batch size is wrong.

    Raises ValueError for another structure or shape and TypeError for what is no tensor or of another dtype, in words
    like `initial_state.h has shape [3, 2], expected [2, 2]`.

    Example:
        >>> given = [torch.zeros(2, 4), torch.zeros(2, 4)]
        >>> checked_state(LSTMState(4, 4), given, 2, dtype=torch.float32, device=torch.device("cpu"), name="s")._fields
        ('c', 'h')
    """
    if _is_leaf(sizes):
        return _checked_leaf(sizes, state, batch_size, dtype, device, name, hint)
    parts = _parts(sizes, state, name)
    _refuse_swapped(sizes, parts, batch_size, name)
    names = _names(sizes)
    checked = [
        checked_state(size, part, batch_size, dtype=dtype, device=device, name=name + label, hint=hint)
        for size, part, label in zip(_children(sizes), parts, names, strict=True)
    ]
    return _rebuilt(sizes, checked)


def _is_leaf(sizes: Any) -> bool:
    if isinstance(sizes, tuple):  # the usual ones, known at once, also to the compiler
        return isinstance(sizes, torch.Size)
    return isinstance(sizes, int) or not _nest.is_nested(sizes)


def _dims(size: Any) -> list[int]:
    return list(size) if isinstance(size, torch.Size) else [size]


def _children(sizes: Any) -> list[Any]:
    return list(sizes.values()) if isinstance(sizes, Mapping) else list(sizes)


def _names(sizes: Any) -> list[str]:
    if isinstance(sizes, Mapping):
        return [f"[{key!r}]" for key in sizes]
    fields = getattr(sizes, "_fields", None)
    return [f".{field}" for field in fields] if fields else [f"[{index}]" for index in range(len(sizes))]


def _rebuilt(sizes: Any, values: list[Any]) -> Any:
    if isinstance(sizes, Mapping):
        return dict(zip(sizes, values, strict=True))
    return type(sizes)(*values) if hasattr(sizes, "_fields") else type(sizes)(values)


def _parts(sizes: Any, state: Any, name: str) -> list[Any]:
    """The parts of a given state in the order of the structure."""
    labels = ", ".join(label.lstrip(".") for label in _names(sizes))
    article = "an" if isinstance(sizes, LSTMState) else "a"
    expected = f"{article} {type(sizes).__name__} of {len(sizes)} ({labels})"
    if isinstance(sizes, Mapping):
        if not isinstance(state, Mapping) or state.keys() != sizes.keys():
            got = f"the keys {list(state)}" if isinstance(state, Mapping) else _say(state)
            raise ValueError(f"{name} must be a dict with the keys {list(sizes)}, got {got}")
        return [state[key] for key in sizes]
    fields = getattr(sizes, "_fields", None)
    if fields and set(getattr(state, "_fields", ())) == set(fields):
        return [getattr(state, field) for field in fields]
    if not isinstance(state, Sequence) or len(state) != len(sizes):
        raise ValueError(f"{name} must be {expected}, got {_say(state)}")
    return list(state)


def _refuse_swapped(sizes: Any, parts: list[Any], batch_size: int, name: str) -> None:
    """Say so where torch's order (h, c), or torch's shape [layers, batch, units], is the obvious mistake."""
    if not isinstance(sizes, LSTMState) or not all(isinstance(part, Tensor) for part in parts):
        return
    found = [list(part.shape) for part in parts]
    wanted = [[batch_size, sizes.c], [batch_size, sizes.h]]
    if found != wanted and found == wanted[::-1]:
        raise ValueError(
            f"{name}.c has shape {found[0]}, expected {wanted[0]}: this looks like torch's (h, c), where (c, h) is "
            "meant; pass LSTMState(c=..., h=...)"
        )
    if [shape[1:] for shape in found] in (wanted, wanted[::-1]):
        raise ValueError(
            f"{name}.c has shape {found[0]}, expected {wanted[0]}: this looks like torch's (h, c) of [layers, batch, "
            "units]; pass LSTMState(c=c[layer], h=h[layer])"
        )


def _checked_leaf(
    size: Any, value: Any, batch_size: int, dtype: torch.dtype | None, device: torch.device, name: str, hint: str
) -> Tensor:
    expected = [batch_size, *_dims(size)]
    if not isinstance(value, Tensor) and _nest.is_nested(value):
        raise ValueError(f"{name} must be one tensor {expected}, got {_say(value)}")
    value = as_tensor(value, name)
    counts = len(expected) == 1 and value.ndim == 0  # belongs to no row
    if list(value.shape) != expected and not counts:
        only_batch = value.ndim > 1 and list(value.shape[1:]) == expected[1:]
        raise ValueError(
            f"{name} has shape {list(value.shape)}, expected {expected}{_transposed(value, expected)}"
            f"{hint if only_batch else ''}"
        )
    if dtype is not None and value.is_floating_point() and value.dtype != dtype:
        wanted, got = (str(kind).removeprefix("torch.") for kind in (dtype, value.dtype))
        raise TypeError(f"{name} is {got}, expected {wanted}, as inputs and weights are; cast it")
    if value.device != device:
        raise ValueError(f"{name} must be on {device}, as inputs are, got {value.device}")
    return value


def _transposed(value: Tensor, expected: list[int]) -> str:
    if value.ndim == 3 and list(value.shape[1:]) == expected:
        return "; a cell's state has no axis of layers, so pass state[layer]"
    return "; its transpose would fit" if list(value.shape) == expected[::-1] else ""


def as_tensor(value: Any, name: str) -> Tensor:
    """Take a tensor as it is and anything like an array as a tensor; TypeError for the rest, naming it `name`."""
    if isinstance(value, Tensor):
        return value
    if hasattr(value, "__array__"):
        return torch.as_tensor(value)
    raise TypeError(f"{name} must be a tensor, got {_say(value)}")


def _say(value: Any) -> str:
    if isinstance(value, Tensor):
        return f"one tensor {list(value.shape)}"
    if _nest.is_nested(value):
        return f"a {type(value).__name__} of {len(value)}"
    return type(value).__name__
