"""Other orders along an axis: reverse, reverse_sequence, roll, invert_permutation."""

from __future__ import annotations

from typing import Any

import torch

from .... import errors
from ....graph import rules
from ....graph.dtype import int32
from ....graph.op import INDICES, Op
from ....graph.shape import Dims, TensorShape
from ....rnn import lengths as rows
from ...export import export
from ...graph import Tensor, atomic
from ...legacy.order import reverse_arguments
from ..apply import apply
from ..arguments import part_name, static_int, static_ints, whole_numbers
from ..convert import convert_to_tensor
from ..moving import moves


def _reverse(value: torch.Tensor, axis: tuple[int, ...]) -> torch.Tensor:
    return value.flip(axis)


def _reverse_dims(inputs: Any, attrs: Any) -> Dims:
    dims = inputs[0].dims
    if dims is not None:
        seen: set[int] = set()
        for axis in attrs["axis"]:
            axis = rules.normal_axis(axis, len(dims), "reverse: axis")
            if axis in seen:
                raise ValueError(f"reverse: axis {axis} specified more than once")
            seen.add(axis)
    return dims


def _reverse_sequence(value: torch.Tensor, lengths: torch.Tensor, seq_dim: int, batch_dim: int) -> torch.Tensor:
    problem = _sequence_problem(tuple(value.shape), tuple(lengths.shape), seq_dim, batch_dim)
    if problem is None and lengths.numel():
        size = value.shape[seq_dim]
        wrong = ((lengths < 0) | (lengths > size)).nonzero()
        if len(wrong):
            row = int(wrong[0])
            beyond = f"> input.dims({seq_dim})" if lengths[row] > 0 else "< 0"
            problem = f"seq_lens({row}) {beyond}: it is {int(lengths[row])}, the axis has {size} steps"
    if problem is not None:
        raise errors.InvalidArgumentError(None, None, problem)
    return rows.reverse_sequence(value, lengths.long(), time_axis=seq_dim, batch_axis=batch_dim)


def _sequence_problem(sizes: tuple[int, ...], lengths: tuple[int, ...], seq_dim: int, batch_dim: int) -> str | None:
    rank = len(sizes)
    if seq_dim == batch_dim:
        return f"batch_dim == seq_dim == {seq_dim}"
    if not 0 <= seq_dim < rank:
        return f"Invalid seq_dim {seq_dim}: seq_dim must be < input rank ({seq_dim} vs. {rank})"
    if batch_dim >= rank:
        return f"batch_dim must be < input rank ({batch_dim} vs. {rank})"
    if lengths != (sizes[batch_dim],):
        return f"Length of seq_lengths != input.dims({batch_dim}), ({list(lengths)} vs. {sizes[batch_dim]})"
    return None


def _reverse_sequence_dims(inputs: Any, attrs: Any) -> Dims:
    dims, lengths = inputs[0].dims, inputs[1].dims
    seq_dim, batch_dim = attrs["seq_dim"], attrs["batch_dim"]
    if lengths is not None and len(lengths) != 1:
        raise ValueError(f"reverse_sequence: seq_lengths: Shape must be rank 1 but is rank {len(lengths)}")
    if batch_dim < 0:
        raise ValueError(f"reverse_sequence: batch_dim must be >=0, got {batch_dim}")
    if dims is None:
        return None
    for name, axis in (("seq_dim", seq_dim), ("batch_dim", batch_dim)):
        if axis >= len(dims):
            raise ValueError(f"reverse_sequence: {name} must be < input rank: {axis} vs. {len(dims)}")
    if lengths is None or lengths[0] is None:
        return dims
    if dims[batch_dim] not in (None, lengths[0]):
        raise ValueError(
            f"reverse_sequence: Dimensions must be equal, but are {dims[batch_dim]} and {lengths[0]}: input is "
            f"{TensorShape(dims)} with batch axis {batch_dim}, seq_lengths is {TensorShape(lengths)}"
        )
    return (*dims[:batch_dim], lengths[0], *dims[batch_dim + 1 :])


def _roll(value: torch.Tensor, shift: torch.Tensor, axis: tuple[int, ...]) -> torch.Tensor:
    shifts = shift.reshape(-1).tolist()
    if len(shifts) != len(axis):
        raise errors.InvalidArgumentError(
            None, None, f"shift and axis must have the same size: {shifts} and {list(axis)}"
        )
    return torch.roll(value, shifts, axis) if axis else value.view_as(value)


def _roll_dims(inputs: Any, attrs: Any) -> Dims:
    if inputs[0].dims is not None:
        for axis in attrs["axis"]:
            rules.normal_axis(axis, len(inputs[0].dims), "roll: axis")
    return inputs[0].dims


def _invert(value: torch.Tensor) -> torch.Tensor:
    size = value.numel()
    wrong = ((value < 0) | (value >= size)).nonzero()
    if len(wrong):
        raise errors.InvalidArgumentError(None, None, f"{int(value[wrong[0]])} is not between 0 and {size}")
    counts = torch.bincount(value, minlength=size)
    if size and int(counts.max()) > 1:
        raise errors.InvalidArgumentError(None, None, f"{int(counts.argmax())} is duplicated in the input.")
    return torch.empty_like(value).scatter(0, value.long(), torch.arange(size, dtype=value.dtype))


def _invert_dims(inputs: Any, attrs: Any) -> Dims:
    dims = inputs[0].dims
    if dims is not None and len(dims) != 1:
        raise ValueError(f"invert_permutation: x: Shape must be rank 1 but is rank {len(dims)}")
    return (None,) if dims is None else dims


_I = {"I": INDICES}
_REVERSE = moves("ReverseV2", "tensor:T -> T", _reverse, _reverse_dims)
_REVERSE_SEQUENCE = moves(
    "ReverseSequence", "input:T seq_lengths:I -> T", _reverse_sequence, _reverse_sequence_dims, types=_I
)
_ROLL = moves("Roll", "input:T shift:I -> T", _roll, _roll_dims, types=_I)
_INVERT = Op("InvertPermutation", "x:I -> I", _invert, _invert_dims, _I)


@export("reverse", "manip.reverse")
@atomic
@reverse_arguments
def reverse(tensor: Any, axis: Any, name: str | None = None) -> Tensor:
    """Return `tensor` with the order of its elements turned around along each axis in `axis` (a list of ints).

    Raises:
        ValueError: an axis is out of range or named twice.
    """
    return apply(_REVERSE, [tensor], {"axis": static_ints("reverse", "axis", axis)}, name)


@export("reverse_sequence")
@atomic
def reverse_sequence(
    input: Any,
    seq_lengths: Any,
    seq_axis: int | None = None,
    batch_axis: int | None = None,
    name: str | None = None,
    seq_dim: int | None = None,
    batch_dim: int | None = None,
) -> Tensor:
    """Return `input` with each row's first `seq_lengths[b]` steps turned around and the rest where it is.

    input: any shape that has the axes `seq_axis` (steps) and `batch_axis` (rows, default 0); `seq_dim` and
    `batch_dim` are their old names.
    seq_lengths: int32 or int64 `[rows]`, within 0..steps.

    Raises:
        ValueError: an axis is out of range; the number of lengths is not that of rows.
        tf.errors.InvalidArgumentError: in a run: a length out of range, the same axis twice.
    """
    if (seq_axis is not None and seq_dim is not None) or (batch_axis is not None and batch_dim is not None):
        raise ValueError(
            "reverse_sequence: Cannot specify both 'seq_dim' and 'seq_axis', or both 'batch_dim' and 'batch_axis'"
        )
    steps = seq_axis if seq_axis is not None else seq_dim
    batch = batch_axis if batch_axis is not None else batch_dim
    attrs = {
        "seq_dim": static_int("reverse_sequence", "seq_dim", steps),
        "batch_dim": static_int("reverse_sequence", "batch_dim", 0 if batch is None else batch),
    }
    return apply(_REVERSE_SEQUENCE, [input, whole_numbers(seq_lengths)], attrs, name)


@export("roll", "manip.roll")
@atomic
def roll(input: Any, shift: Any, axis: Any, name: str | None = None) -> Tensor:
    """Return `input` moved on by `shift` places along `axis`, where what leaves at the end comes in at the start.

    shift: an int or an integer vector; axis: an int or a list, one for each shift.
    """
    axes = static_ints("roll", "axis", axis) if isinstance(axis, (list, tuple)) else (static_int("roll", "axis", axis),)
    return apply(_ROLL, [input, shift], {"axis": axes}, name)


@export("invert_permutation")
@atomic
def invert_permutation(x: Any, name: str | None = None) -> Tensor:
    """Return the permutation that undoes `x` (int32 or int64 `[n]`): `result[x[i]] = i`.

    Raises:
        tf.errors.InvalidArgumentError: `x` is no permutation of 0..n-1.
    """
    return apply(
        _INVERT,
        [convert_to_tensor(x, name=part_name(name, "InvertPermutation", "x"), preferred_dtype=int32)],
        name=name,
    )
