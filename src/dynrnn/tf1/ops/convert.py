"""Python values to graph tensors: constants, implicit stacking of lists, variables and slices where a tensor is wanted."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from ...graph import rules
from ...graph.dtype import DType, as_dtype, bool_, float32, int32, int64, string, to_bytes, to_numpy, to_torch
from ...graph.op import Op
from ...graph.shape import Dimension, TensorShape, as_shape
from ..export import export
from ..graph import Tensor, atomic, get_default_graph

CONST = Op("Const", "-> @dtype", None, lambda inputs, attrs: tuple(attrs["value"].shape))
_PYTHON_KINDS = {bool: "b", int: "i", float: "f", complex: "c", str: "s", bytes: "s"}
_KIND_NAMES = {"b": "bool", "i": "int", "u": "int", "f": "float", "c": "complex", "s": "str"}
_ACCEPTS = {"f": "fiu", "c": "cfiu", "i": "iu", "u": "iu", "b": "b", "s": "s"}  # dtype's kind -> kinds of Python values


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
        if array.dtype.kind in "OSU":
            if dtype is not None and dtype is not string:
                raise TypeError(f"Expected {dtype.name}, got an array of {array.dtype} instead.")
            return to_bytes(array)
        return np.array(array, (dtype or as_dtype(array.dtype)).numpy)
    kinds = _kinds(value)
    if None in kinds:
        raise TypeError(f"Failed to convert object of type {type(value)} to Tensor. Contents: {value!r}. Consider casting elements to a supported type.")
    if dtype is not None and dtype.base_dtype.kind in _ACCEPTS:
        wrong = [kind for kind in kinds if kind not in _ACCEPTS[dtype.kind]]
        if wrong:
            item = _first(value, wrong[0])
            raise TypeError(f"Expected {dtype.base_dtype.name}, got {item!r} of type '{type(item).__name__}' instead.")
    try:
        array = np.array(value, object if kinds == {"s"} else None)
    except ValueError as error:
        raise ValueError(f"Argument must be a dense tensor: {value!r} - its rows have different lengths.") from error
    if array.dtype.kind == "O":
        array = to_bytes(array)
    if dtype is not None:
        return _checked(array, dtype.base_dtype.numpy, value)
    return array.astype(_default_dtype(array, value).numpy)


def _checked(array: np.ndarray, numpy_dtype: np.dtype, value: Any) -> np.ndarray:
    if array.dtype.kind in "iu" and numpy_dtype.kind in "iu" and array.size:
        limits = np.iinfo(numpy_dtype)
        if int(array.min()) < limits.min or int(array.max()) > limits.max:
            raise ValueError(f"Tensor conversion: {value!r} is out of the range of {numpy_dtype}")
    return array.astype(numpy_dtype)


def _default_dtype(array: np.ndarray, value: Any) -> DType:
    """Floats of Python are float32; ints are int32 where they fit; numpy scalars in a list keep their type."""
    if array.dtype.kind in "OSU":
        return string
    if array.dtype.kind == "b":
        return bool_
    typed = {item.dtype for item in _leaves(value) if isinstance(item, (np.generic, np.ndarray))}
    if typed and not any(type(item) in _PYTHON_KINDS for item in _leaves(value)):
        return as_dtype(array.dtype)
    if array.dtype.kind == "f" or array.size == 0 and array.dtype == np.float64:
        return float32
    if array.dtype.kind in "iu":
        fits = array.size == 0 or (int(array.min()) >= -(2**31) and int(array.max()) < 2**31)
        return int32 if fits else int64
    return as_dtype(array.dtype)


def _leaves(value: Any) -> list[Any]:
    if isinstance(value, (list, tuple)):
        return [leaf for item in value for leaf in _leaves(item)]
    return [value]


def _kinds(value: Any) -> set[str | None]:
    found: set[str | None] = set()
    for item in _leaves(value):
        if isinstance(item, (np.generic, np.ndarray)):
            found.add({"U": "s", "S": "s", "O": "s"}.get(item.dtype.kind, item.dtype.kind if item.dtype.kind in "biufc" else "f"))
        else:
            found.add(_PYTHON_KINDS.get(type(item)) or next((k for t, k in _PYTHON_KINDS.items() if isinstance(item, t)), None))
    return found


def _first(value: Any, kind: str | None) -> Any:
    return next(item for item in _leaves(value) if _kinds(item) == {kind})


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
def constant(value: Any, dtype: Any = None, shape: Any = None, name: str = "Const", verify_shape: bool = False) -> Tensor:
    """Return a constant tensor of a Python value or an array.

    value: a number, a string, nested lists of them, or an array. dtype: its type (default: from the value; Python floats give float32, ints int32).
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
    if array.size > count or (array.size == 0 and count):
        raise ValueError(f"Too many elements provided. Needed at most {count}, but received {array.size}")
    flat = array.reshape(-1)
    if flat.size < count:
        flat = np.concatenate([flat, np.full(count - flat.size, flat[-1], flat.dtype)])
    return flat.reshape(shape.tuple)


@export("convert_to_tensor")
@atomic
def convert_to_tensor(value: Any, dtype: Any = None, name: str | None = None, preferred_dtype: Any = None, dtype_hint: Any = None) -> Tensor:
    """Return `value` as a tensor: a tensor itself, a variable's value, a constant, or a stack of a list that holds tensors.

    Raises:
        ValueError: a tensor of another dtype than asked for. TypeError: a value that no tensor can hold.
    """
    wanted = None if dtype is None else as_dtype(dtype).base_dtype
    if isinstance(value, Tensor):
        if wanted is not None and value.dtype.base_dtype is not wanted:
            raise ValueError(
                f"Tensor conversion requested dtype {wanted.name} for Tensor with dtype {value.dtype.name}: {str(value)!r}"
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
    if dtype is None:
        symbols = [item for item in _leaves(values) if _holds_symbols(item)]
        dtype = symbols[0].dtype.base_dtype
    items = [convert_to_tensor(item, dtype) for item in values]
    dims = pack_dims(items, {"axis": 0})
    graph = items[0].graph
    return graph.add(PACK, items, {"axis": 0}, dtypes=[dtype], shapes=[dims], name=name or "packed").outputs[0]  # type: ignore[return-value]


def _pack(*values: torch.Tensor, axis: int) -> torch.Tensor:
    return torch.stack(values, axis)


def pack_dims(inputs: Any, attrs: Any) -> Any:
    """The shape rule of `Pack`: the items' common shape with a new axis."""
    dims = rules.merged(inputs, attrs)
    if dims is None:
        return None
    axis = rules.normal_axis(attrs["axis"], len(dims) + 1)
    return (*dims[:axis], len(inputs), *dims[axis:])


PACK = Op("Pack", "*values:T -> T", _pack, pack_dims)
