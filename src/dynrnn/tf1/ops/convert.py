"""Python values to graph tensors: constants, implicit stacking of lists, variables and slices where a tensor is
wanted.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import torch

from ...graph import rules
from ...graph.dtype import DType, as_dtype, cast_array, float32, int32, string, to_numpy, to_torch
from ...graph.op import Op
from ...graph.shape import Dimension, TensorShape, as_shape
from ..export import export
from ..graph import Tensor, atomic, get_default_graph
from .moving import moves

CONST = Op("Const", "-> @dtype", None, lambda inputs, attrs: tuple(attrs["value"].shape))
_PYTHON_KINDS = {bool: "b", int: "i", float: "f", complex: "c", str: "s", bytes: "s"}
# dtype's kind -> kinds of Python values it takes
_ACCEPTS = {"f": "fiub", "c": "cfiub", "i": "iub", "u": "iub", "b": "bn", "s": "s"}


def make_array(value: Any, dtype: DType | None) -> np.ndarray:
    """Return `value` as a new array of `dtype`, by TensorFlow's rules for Python numbers, lists and arrays.

    Raises:
        TypeError: a Python value of another kind than `dtype`; its first offending item is named.
        ValueError: a ragged list.
    """
    if isinstance(value, torch.Tensor):
        value = to_numpy(value)
    if isinstance(value, (np.ndarray, np.generic)):
        array = np.asarray(value)
        if array.dtype.kind in "OSU" and dtype is not None and dtype is not string:
            raise TypeError(f"Expected {dtype.name}, got an array of {array.dtype} instead.")
        return cast_array(array, dtype or as_dtype(array.dtype))
    leaves = _leaves(value)
    kinds = {_kind(kind) for kind in set(map(type, leaves))}
    if None in kinds or ("s" in kinds and len(kinds) > 1 and dtype is None):
        raise _unfit(value)
    if dtype is not None:
        _check_kinds(leaves, kinds, dtype.base_dtype)
    try:
        array = np.array(value, object if kinds == {"s"} else None)
    except ValueError as error:
        raise ValueError(f"Argument must be a dense tensor: {value!r} - its rows have different lengths.") from error
    if array.dtype.kind == "O" and kinds != {"s"}:  # an int of more than 64 bits
        raise _unfit(value)
    return cast_array(array, dtype.base_dtype if dtype is not None else _default_dtype(array))


def _unfit(value: Any) -> TypeError:
    return TypeError(
        f"Failed to convert object of type {type(value)} to Tensor. Contents: {value!r}. "
        "Consider casting elements to a supported type."
    )


def _check_kinds(leaves: list[Any], kinds: set[str | None], dtype: DType) -> None:
    if kinds <= set(_ACCEPTS.get(dtype.kind, "")):
        return
    item = next(leaf for leaf in leaves if (_kind(type(leaf)) or "?") not in _ACCEPTS.get(dtype.kind, ""))
    raise TypeError(f"Expected {dtype.name}, got {item!r} of type '{type(item).__name__}' instead.")


def _default_dtype(array: np.ndarray) -> DType:
    """Floats are float32; ints are int32 where they fit; what numpy makes of other numbers stays."""
    if array.dtype.kind == "O":
        return string
    if array.dtype == np.float64:
        return float32
    if array.dtype == np.int64 and (not array.size or (array.min() >= -(2**31) and array.max() < 2**31)):
        return int32
    return as_dtype(array.dtype)


def _leaves(value: Any) -> list[Any]:
    """The items of nested lists, an array's too."""
    if isinstance(value, (list, tuple, range)):
        return [leaf for item in value for leaf in _leaves(item)]
    return value.reshape(-1)[:1].tolist() if isinstance(value, np.ndarray) else [value]


@functools.cache
def _kind(kind: type) -> str | None:
    """The letter of a type of Python or numpy numbers, "n" for numpy's bool; None for one that is neither."""
    found = next((letter for python, letter in _PYTHON_KINDS.items() if issubclass(kind, python)), None)
    if found is None and issubclass(kind, np.generic):
        letter = np.dtype(kind).kind
        found = {"b": "n", "U": "s", "S": "s", "V": "f"}.get(letter, letter if letter in "iufc" else None)
    return found


def _holds_symbols(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return any(_holds_symbols(item) for item in value)
    return isinstance(value, Tensor) or hasattr(value, "_as_tensor")


def _plain(value: Any) -> Any:
    """Sizes of shapes as ints, at any depth."""
    if isinstance(value, Dimension):
        if value.value is None:
            raise ValueError(f"Cannot convert an unknown Dimension to a Tensor: {value}")
        return value.value
    if isinstance(value, TensorShape):
        if not value.is_fully_defined():
            raise ValueError(f"Cannot convert a partially known TensorShape to a Tensor: {value}")
        return value.as_list()
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return value


def add_constant(array: np.ndarray, dtype: DType, name: str | None = None) -> Tensor:
    """Add a constant that owns `array`."""
    graph = get_default_graph()
    attrs = {"value": to_torch(array), "dtype": dtype}
    return graph.add(CONST, (), attrs, dtypes=[dtype], shapes=[array.shape], name=name).outputs[0]  # type: ignore[return-value]


@export("constant")
@atomic
def constant(
    value: Any, dtype: Any = None, shape: Any = None, name: str = "Const", verify_shape: bool = False
) -> Tensor:
    """Return a constant tensor of a Python value or an array.

    value: a number, a string, nested lists of them, or an array. dtype: its type (default: from the value; Python
    floats give float32, ints int32).
    shape: what to reshape it to; a single item, or the last one where there are too few, fills the rest.

    Raises:
        TypeError: the value does not fit `dtype`. ValueError: more items than `shape` holds.
    """
    value = _plain(value)
    wanted = None if dtype is None else as_dtype(dtype).base_dtype
    if value is None:
        raise ValueError("None values not supported.")
    if _holds_symbols(value):
        raise TypeError(f"constant: value must not hold tensors, got {value!r}; use tf.stack or tf.convert_to_tensor")
    array = make_array(value, wanted)
    if shape is not None:
        array = _shaped(array, as_shape(shape), verify_shape)
    return add_constant(array, wanted or as_dtype(array.dtype), name)


def _shaped(array: np.ndarray, shape: TensorShape, verify: bool) -> np.ndarray:
    count = shape.num_elements()
    if count is None:
        raise ValueError(f"constant: shape must be fully known, got {shape}")
    if verify and array.shape != shape.tuple:
        raise TypeError(f"Expected Tensor's shape: {shape}, got {TensorShape(array.shape)}.")
    if array.size > count:
        raise ValueError(f"Too many elements provided. Needed at most {count}, but received {array.size}")
    flat = array.reshape(-1)
    if flat.size < count:
        last = flat[-1] if flat.size else 0
        flat = np.concatenate([flat, np.full(count - flat.size, last, flat.dtype)])
    return flat.reshape(shape.tuple)  # type: ignore[arg-type]


@export("convert_to_tensor")
@atomic
def convert_to_tensor(
    value: Any, dtype: Any = None, name: str | None = None, preferred_dtype: Any = None, dtype_hint: Any = None
) -> Tensor:
    """Return `value` as a tensor: a tensor itself, a variable's value, a constant, or a stack of a list that holds
    tensors.

    Raises:
        ValueError: a tensor of another dtype than asked for. TypeError: a value that no tensor can hold.
    """
    wanted = None if dtype is None else as_dtype(dtype).base_dtype
    if isinstance(value, Tensor):
        if wanted is not None and value.dtype.base_dtype is not wanted:
            raise ValueError(
                f"Tensor conversion requested dtype {wanted.name} for Tensor with dtype {value.dtype.name}: "
                f"{str(value)!r}"
            )
        return value
    if hasattr(value, "_as_tensor"):
        return convert_to_tensor(value._as_tensor(), dtype)
    hint = preferred_dtype if preferred_dtype is not None else dtype_hint
    if value is None:
        raise ValueError("None values not supported.")
    if isinstance(value, (list, tuple)) and _holds_symbols(value):
        return _stack_list(value, wanted, name)
    value = _plain(value)
    if wanted is None and hint is not None:
        try:
            return constant(value, hint, name=name or "Const")
        except (TypeError, ValueError):
            return constant(value, name=name or "Const")
    return constant(value, wanted, name=name or "Const")


def _stack_list(values: Any, dtype: DType | None, name: str | None) -> Tensor:
    """Stack a nested list in which some items are tensors; plain items take the tensors' dtype."""
    common: DType = _first_symbol(values).dtype.base_dtype if dtype is None else dtype
    name = name or "packed"
    items = [_stacked(item, common, f"{name}/{i}") for i, item in enumerate(values)]
    dims = pack_dims(items, {"axis": 0})
    graph = items[0].graph
    return graph.add(PACK, items, {"axis": 0}, dtypes=[common], shapes=[dims], name=name).outputs[0]  # type: ignore[return-value]


def _first_symbol(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return next((found for item in value if (found := _first_symbol(item)) is not None), None)
    return value if _holds_symbols(value) else None


def _stacked(item: Any, dtype: DType, name: str) -> Tensor:
    if _holds_symbols(item) and not isinstance(item, (list, tuple)) and item.dtype.base_dtype is not dtype:
        raise TypeError(
            f"Cannot convert a list containing a tensor of dtype {item.dtype.base_dtype} to {dtype} (Tensor is: "
            f"{item!r})"
        )
    return convert_to_tensor(item, dtype, name)


def _pack(*values: torch.Tensor, axis: int) -> torch.Tensor:
    return torch.stack(values, axis)


def pack_dims(inputs: Any, attrs: Any) -> Any:
    """The shape rule of `Pack`: the items' common shape with a new axis."""
    dims = rules.merged(inputs, attrs)
    if dims is None:
        return None
    axis = rules.normal_axis(attrs["axis"], len(dims) + 1)
    return (*dims[:axis], len(inputs), *dims[axis:])


PACK = moves("Pack", "*values:T -> T", _pack, pack_dims)
