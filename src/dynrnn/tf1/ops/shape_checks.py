"""Checks of ranks, shapes and types: `tf.assert_rank`, `tf.assert_type` and the like. Those of values are in
`checks.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ...errors import InvalidArgumentError
from ...graph.constants import constant_value
from ...graph.dtype import DType, as_dtype, float32, int32
from ...graph.op import NUMBERS
from ...graph.shape import Dims, TensorShape, as_shape, merge_dims
from ..export import export
from ..graph import Operation, Tensor, atomic
from ..scopes import name_scope
from .apply import apply
from .array.sizing import rank as rank_of
from .array.sizing import shape
from .assertions import Assert
from .control import group, no_op
from .convert import convert_to_tensor
from .math.comparison import equal, greater_equal, logical_or
from .moving import moves


def _ranks(op: str, ranks: Sequence[Any]) -> tuple[list[Tensor], list[int] | None]:
    """The ranks as int32 scalars, and as ints where they are known."""
    tensors = [convert_to_tensor(item, name="rank") for item in ranks]
    for tensor in tensors:
        if tensor.dtype.base_dtype is not int32:
            raise TypeError(f"{tensor.name} must be of type tf.int32; got tf.{tensor.dtype.base_dtype.name} ({op})")
        if tensor.shape.ndims not in (None, 0):
            raise ValueError(f"Rank must be a scalar. {op} got {tensor.name} of shape {tensor.shape}")
    known = [constant_value(tensor) for tensor in tensors]
    return tensors, None if any(value is None for value in known) else [
        int(value) for value in known if value is not None
    ]


def _check_rank(
    op: str, what: str, x: Any, ranks: Sequence[Any], data: Any, summarize: int | None, message: str | None
) -> Operation:
    x = convert_to_tensor(x, name="x")
    tensors, known = _ranks(op, ranks)
    least = what.endswith("at least")
    if known is not None and x.shape.ndims is not None:
        if not (x.shape.ndims >= known[0] if least else x.shape.ndims in known):
            shown = tuple(known) if what.endswith("in") else known[0]
            raise ValueError(
                f"{message + '.  ' if message else ''}Tensor {x.name} must have {what} {shown}.  Received rank "
                f"{x.shape.ndims}, shape {x.shape}"
            )
        return no_op(name="static_checks_determined_all_ok")
    actual = rank_of(x)
    condition = greater_equal(actual, tensors[0]) if least else equal(actual, tensors[0])
    for tensor in tensors[1:]:
        condition = logical_or(condition, equal(actual, tensor))
    if data is None:
        data = [f"Tensor {x.name} must have {what}", *tensors, "Received shape: ", shape(x)]
    return Assert(condition, [*([message] if message else []), *data], summarize)


@export("assert_rank", "debugging.assert_rank")
@atomic
def assert_rank(
    x: Any,
    rank: Any,
    data: Sequence[Any] | None = None,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> Operation:
    """Return an operation that fails unless x has `rank` axes.

    data: what the error shows (default: the shape of x). summarize: how many elements of each (default: 3). message:
    what the error begins with.

    Raises:
        ValueError: x is known to have another rank. tf.errors.InvalidArgumentError: it has, in a run.
    """
    with name_scope(name, "assert_rank"):
        return _check_rank("assert_rank", "rank", x, [rank], data, summarize, message)


@export("assert_rank_at_least", "debugging.assert_rank_at_least")
@atomic
def assert_rank_at_least(
    x: Any,
    rank: Any,
    data: Sequence[Any] | None = None,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> Operation:
    """Return an operation that fails unless x has `rank` axes or more; arguments and errors are `assert_rank`'s."""
    with name_scope(name, "assert_rank_at_least"):
        return _check_rank("assert_rank_at_least", "rank at least", x, [rank], data, summarize, message)


@export("assert_rank_in", "debugging.assert_rank_in")
@atomic
def assert_rank_in(
    x: Any,
    ranks: Sequence[Any],
    data: Sequence[Any] | None = None,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> Operation:
    """Return an operation that fails unless the rank of x is one of `ranks`; the rest is `assert_rank`'s."""
    with name_scope(name, "assert_rank_in"):
        return _check_rank("assert_rank_in", "rank in", x, list(ranks), data, summarize, message)


@export("assert_scalar", "debugging.assert_scalar")
@atomic
def assert_scalar(tensor: Any, name: str | None = None, message: str | None = None) -> Tensor:
    """Return `tensor`, which must be known to be a scalar; else a ValueError says what it is."""
    with name_scope(name, "assert_scalar"):
        result = convert_to_tensor(tensor)
        if result.shape.ndims != 0:
            raise ValueError(f"{message or ''}Expected scalar shape for {result.name}, saw shape: {result.shape}.")
        return result


@export("assert_type", "debugging.assert_type")
@atomic
def assert_type(tensor: Any, tf_type: Any, message: str | None = None, name: str | None = None) -> Operation:
    """Return an operation that does nothing; a TypeError says so unless `tensor` has the dtype `tf_type`."""
    with name_scope(name, "assert_type"):
        result, wanted = convert_to_tensor(tensor), as_dtype(tf_type)
        if result.dtype.base_dtype is not wanted:
            raise TypeError(
                f"{message + '  ' if message else ''}{result.name} must be of type tf.{wanted.name}; got "
                f"tf.{result.dtype.base_dtype.name}"
            )
        return no_op(name="statically_determined_correct_type")


@export("assert_integer", "debugging.assert_integer")
@atomic
def assert_integer(x: Any, message: str | None = None, name: str | None = None) -> Operation:
    """Return an operation that does nothing; a TypeError says so unless x is of an integer dtype."""
    with name_scope(name, "assert_integer"):
        tensor = convert_to_tensor(x, name="x")
        if not tensor.dtype.is_integer:
            raise TypeError(
                f'{message + "  " if message else ""}Expected "x" to be integer type.  Found: {tensor.name} of dtype '
                f"{tensor.dtype!r}"
            )
        return no_op(name="statically_determined_was_integer")


@export("is_numeric_tensor", "debugging.is_numeric_tensor")
def is_numeric_tensor(tensor: Any) -> bool:
    """Return whether `tensor` is a tensor of numbers, which those of bools and strings and plain numbers are not."""
    return isinstance(tensor, Tensor) and tensor.dtype.base_dtype.name in NUMBERS


@export("assert_proper_iterable", "debugging.assert_proper_iterable")
def assert_proper_iterable(values: Any) -> None:
    """Raise a TypeError unless `values` can be iterated over item by item, as tensors, strings and arrays are not meant
    to be.
    """
    found = f"Found: {type(values)}"
    if isinstance(values, (Tensor, str, bytes)) or hasattr(values, "_as_tensor") or hasattr(values, "dtype"):
        raise TypeError(f'Expected argument "values" to be a "proper" iterable.  {found}')
    if not isinstance(values, Iterable):
        raise TypeError(f'Expected argument "values" to be iterable.  {found}')


@export("assert_same_float_dtype", "debugging.assert_same_float_dtype")
@atomic
def assert_same_float_dtype(tensors: Sequence[Any] | None = None, dtype: Any = None) -> DType:
    """Return the float dtype that all `tensors` have, `dtype` where it is given (float32 where nothing is).

    Raises:
        ValueError: they differ, or it is no float dtype.
    """
    wanted, source = (None, None) if dtype is None else (as_dtype(dtype).base_dtype, None)
    for item in tensors or ():
        tensor = convert_to_tensor(item)
        kind = tensor.dtype.base_dtype
        if wanted is not None and kind is not wanted:
            raise ValueError(
                f"{tensor.name}, type={kind!r}, must be of the same type ({wanted!r})"
                f"{' as ' + source if source else ''}."
            )
        wanted, source = kind, source or (tensor.name if dtype is None else None)
    wanted = float32 if wanted is None else wanted
    if not wanted.is_floating:
        raise ValueError(f"Expected floating point type, got {wanted!r}.")
    return wanted


@export("debugging.assert_shapes")
@atomic
def assert_shapes(
    shapes: Any,
    data: Sequence[Any] | None = None,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> Operation:
    """Return an operation that fails unless tensors have the shapes that are described.

    shapes: a dict or a list of pairs of a tensor and a sequence that has, for each axis, an int, a name that stands for
    the same size wherever it occurs, or None for any size.

    Raises:
        ValueError: what is known of a shape contradicts it. tf.errors.InvalidArgumentError: a shape does, in a run.
    """
    pairs = list(shapes.items() if isinstance(shapes, Mapping) else shapes)
    seen: dict[str, tuple[str, int | None, Tensor]] = {}
    checks: list[Operation] = []
    with name_scope(name, "assert_shapes"):
        for item, symbols in pairs:
            tensor = convert_to_tensor(item)
            symbols = (symbols,) if isinstance(symbols, (int, str)) else tuple(symbols)
            checks.append(assert_rank(tensor, len(symbols), data, summarize, message))
            for axis, symbol in enumerate(symbols):
                if symbol is None:
                    continue
                known = None if tensor.dims is None else tensor.dims[axis]
                actual = shape(tensor)[axis]
                if isinstance(symbol, int):
                    wanted = ("Specified explicitly", symbol, convert_to_tensor(symbol))
                else:
                    place = f"Specified by tensor {tensor.name} dimension {axis}"
                    wanted = seen.setdefault(symbol, (place, known, actual))
                if known is not None and wanted[1] is not None:
                    if known != wanted[1]:
                        raise ValueError(
                            f"{message + '.  ' if message else ''}{wanted[0]}.  Tensor {tensor.name} dimension {axis} "
                            f"must have size {wanted[1]}.  Received size {known}, shape {tensor.shape}"
                        )
                    continue
                if wanted[2] is not actual:
                    text = [wanted[0], f"Tensor {tensor.name} dimension", axis, "must have size", wanted[2]]
                    shown = data or [*text, "Received shape: ", shape(tensor)]
                    checks.append(
                        Assert(equal(actual, wanted[2]), [*([message] if message else []), *shown], summarize)
                    )
        return group(*checks)


def _with_shape(input: Any, shape: Dims) -> Any:
    found = tuple(input.shape)
    if not TensorShape(shape).is_compatible_with(found):
        raise InvalidArgumentError(
            None, None, f"Shape of tensor {list(found)} is not compatible with expected shape {TensorShape(shape)}."
        )
    return input.view_as(input)


ENSURE_SHAPE = moves(
    "EnsureShape", "input:T -> T", _with_shape, lambda inputs, attrs: merge_dims(inputs[0].dims, attrs["shape"])
)


@export("ensure_shape")
@atomic
def ensure_shape(x: Any, shape: Any, name: str | None = None) -> Tensor:
    """Return x, whose static shape is then known to be `shape`; in a run, x of another shape is an error.

    Raises:
        ValueError: the static shapes conflict. tf.errors.InvalidArgumentError: in a run.
    """
    return apply(ENSURE_SHAPE, [x], {"shape": as_shape(shape).tuple}, name)
