"""Element types of graph tensors: one table that joins a name, a torch dtype and a numpy dtype.

Conversion of values between numpy and torch is here too, because it depends on nothing but the type.
"""

from __future__ import annotations

import ml_dtypes
import numpy as np
import torch


class DType:
    """The element type of a tensor.

    A type is one of a fixed table (`float32`, `int64`, `string`, ...) and is compared by identity or with anything that
    `as_dtype` understands. A reference type (`float32_ref`) is what a variable has; its `base_dtype` is the plain one.

    Example:
        >>> as_dtype("float32").size
        4
    """

    __slots__ = ("name", "torch", "numpy", "kind", "is_ref", "_other")

    def __init__(self, name: str, torch_dtype: torch.dtype | None, numpy_dtype: type, kind: str, is_ref: bool = False):
        self.name = name + "_ref" if is_ref else name
        self.torch = torch_dtype
        self.numpy = np.dtype(numpy_dtype)
        self.kind = kind  # "f" float, "i" int, "u" unsigned, "b" bool, "c" complex, "s" string
        self.is_ref = is_ref
        self._other: DType | None = None if is_ref else DType(name, torch_dtype, numpy_dtype, kind, True)
        if self._other is not None:
            self._other._other = self

    @property
    def base_dtype(self) -> DType:
        """The plain type of a reference type; a plain type itself."""
        return self._other if self.is_ref and self._other is not None else self

    @property
    def _as_ref(self) -> DType:
        return self if self.is_ref or self._other is None else self._other

    @property
    def as_numpy_dtype(self) -> type:
        """The numpy scalar type, `numpy.float32` for `float32`; `object` for strings."""
        return self.numpy.type if self.kind != "s" else object

    @property
    def real_dtype(self) -> DType:
        """The type of the real part: `float32` for `complex64`; any other type itself."""
        return {"complex64": float32, "complex128": float64}.get(self.base_dtype.name, self)

    @property
    def is_floating(self) -> bool:
        return self.kind == "f"

    @property
    def is_integer(self) -> bool:
        return self.kind in "iu"

    @property
    def is_complex(self) -> bool:
        return self.kind == "c"

    @property
    def is_bool(self) -> bool:
        return self.kind == "b"

    @property
    def is_unsigned(self) -> bool:
        return self.kind == "u"

    @property
    def is_numpy_compatible(self) -> bool:
        return True

    @property
    def is_differentiable(self) -> bool:
        """Whether gradients are defined for values of this type."""
        return self.kind in "fc"

    @property
    def min(self) -> float | int | bool:
        """The least finite value of the type."""
        return self._limit("min")

    @property
    def max(self) -> float | int | bool:
        """The largest finite value of the type."""
        return self._limit("max")

    @property
    def limits(self) -> tuple[float | int | bool, float | int | bool]:
        """The (least, largest) intensity of images of this type: (0, 1) for floats, (0, max) for integers."""
        if self.kind in "iu":
            return 0, self.max
        if self.kind in "fb":
            return (0, 1) if self.kind == "f" else (False, True)
        raise ValueError(f"{self} does not have defined limits.")

    def _limit(self, which: str) -> float | int | bool:
        if self.kind == "f":
            return getattr(ml_dtypes.finfo(self.numpy), which)
        if self.kind in "iu":
            return getattr(np.iinfo(self.numpy), which)  # type: ignore[call-overload]
        raise TypeError(f"Cannot find {which}imum value of {self}.")

    @property
    def size(self) -> int:
        """Bytes of one element."""
        return 1 if self.kind == "s" else self.numpy.itemsize

    @property
    def as_datatype_enum(self) -> int:
        """The number that stands for the type in TensorFlow's files (100 more for a reference type)."""
        return ENUMS[self.base_dtype.name] + (100 if self.is_ref else 0)

    def is_compatible_with(self, other: object) -> bool:
        """Whether a tensor of type `other` may be used where this type is asked for."""
        return self.base_dtype is as_dtype(other).base_dtype

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if other is None or isinstance(other, DType):
            return False
        try:
            return as_dtype(other) is self
        except TypeError:
            return False

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(self.name)

    def __reduce__(self) -> tuple:
        return as_dtype, (self.name,)

    def __repr__(self) -> str:
        return f"tf.{self.name}"

    def __str__(self) -> str:
        return f"<dtype: '{self.name}'>"


float16 = DType("float16", torch.float16, np.float16, "f")
bfloat16 = DType("bfloat16", torch.bfloat16, ml_dtypes.bfloat16, "f")
float32 = DType("float32", torch.float32, np.float32, "f")
float64 = DType("float64", torch.float64, np.float64, "f")
int8 = DType("int8", torch.int8, np.int8, "i")
int16 = DType("int16", torch.int16, np.int16, "i")
int32 = DType("int32", torch.int32, np.int32, "i")
int64 = DType("int64", torch.int64, np.int64, "i")
uint8 = DType("uint8", torch.uint8, np.uint8, "u")
uint16 = DType("uint16", torch.uint16, np.uint16, "u")
uint32 = DType("uint32", torch.uint32, np.uint32, "u")
uint64 = DType("uint64", torch.uint64, np.uint64, "u")
bool_ = DType("bool", torch.bool, np.bool_, "b")
complex64 = DType("complex64", torch.complex64, np.complex64, "c")
complex128 = DType("complex128", torch.complex128, np.complex128, "c")
string = DType("string", None, np.object_, "s")
resource = DType("resource", None, np.object_, "s")

DTYPES: dict[str, DType] = {
    dtype.name: dtype
    for dtype in (
        float16, bfloat16, float32, float64, int8, int16, int32, int64, uint8, uint16, uint32, uint64, bool_,
        complex64, complex128, string, resource,
    )
}  # fmt: skip
ENUMS = {
    "float32": 1, "float64": 2, "int32": 3, "uint8": 4, "int16": 5, "int8": 6, "string": 7, "complex64": 8, "int64": 9,
    "bool": 10, "bfloat16": 14, "uint16": 17, "complex128": 18, "float16": 19, "resource": 20, "uint32": 22,
    "uint64": 23,
}  # fmt: skip
_ALIASES = {"half": float16, "float": float32, "double": float64}
_BY_TORCH = {dtype.torch: dtype for dtype in DTYPES.values() if dtype.torch is not None}
_BY_NUMPY = {dtype.numpy: dtype for dtype in DTYPES.values() if dtype.kind != "s"}
_BY_PYTHON = {float: float32, int: int64, bool: bool_, complex: complex128, str: string, bytes: string, object: string}
_BY_ENUM = {number: DTYPES[name] for name, number in ENUMS.items()}


def as_dtype(value: object) -> DType:
    """Return the `DType` that `value` names: a DType, a name, a number of TensorFlow's enum, a numpy or torch dtype, a
    Python type.

    Raises:
        TypeError: nothing in the table fits.
    """
    if isinstance(value, DType):
        return value
    if isinstance(value, str):
        name = value.removesuffix("_ref")
        found = DTYPES.get(name) or _ALIASES.get(name)
        if found is not None:
            return found._as_ref if name != value else found
    if isinstance(value, torch.dtype) and value in _BY_TORCH:
        return _BY_TORCH[value]
    if isinstance(value, type) and value in _BY_PYTHON:
        return _BY_PYTHON[value]
    if isinstance(value, int) and not isinstance(value, bool) and value % 100 in _BY_ENUM:
        found = _BY_ENUM[value % 100]
        return found._as_ref if value > 100 else found
    try:
        array_type = np.dtype(value).newbyteorder("=")  # type: ignore[call-overload]
    except (TypeError, ValueError):
        array_type = None
    if array_type is not None and value is not None:
        if array_type in _BY_NUMPY:
            return _BY_NUMPY[array_type]
        if array_type.kind in "SUO":
            return string
    raise TypeError(f"Cannot convert value {value!r} to a TensorFlow DType.")


def cast_array(array: np.ndarray, dtype: DType) -> np.ndarray:
    """Return a new array of `dtype` with the values of `array`, by numpy's rules: 1.7 becomes 1, 300 is 44 as `uint8`,
    "2.5" is 2.5.

    Strings become bytes.

    Raises:
        ValueError: text that is no number of the kind. TypeError: an object that is none.
    """
    if dtype.kind == "s":
        return to_bytes(array)
    if array.dtype == dtype.numpy:
        return array.astype(dtype.numpy, order="C")  # unlike copy(), it unifies numpy's two names of 64-bit integers
    with np.errstate(invalid="ignore", over="ignore"):
        return array.astype(dtype.numpy, order="C")


def to_bytes(array: np.ndarray) -> np.ndarray:
    """Return a new array of bytes objects; TypeError for an item that is no string."""
    result = np.empty(array.shape, object)
    for index, item in enumerate(array.reshape(-1).tolist()):
        if not isinstance(item, (str, bytes)):
            raise TypeError(f"Expected binary or unicode string, got {item!r}")
        result.reshape(-1)[index] = item.encode() if isinstance(item, str) else item
    return result


def to_torch(array: np.ndarray) -> torch.Tensor | np.ndarray:
    """Return a tensor over the memory of `array` (which the caller must own); an array of strings stays an array."""
    kind = array.dtype.kind
    if kind in "OSU":
        return array
    if kind == "V":  # bfloat16, which torch does not take from numpy
        return torch.from_numpy(np.ascontiguousarray(array).view(np.int16)).view(torch.bfloat16).reshape(array.shape)
    if not array.flags.c_contiguous or not array.dtype.isnative:
        array = np.ascontiguousarray(array, array.dtype.newbyteorder("=")).reshape(array.shape)
    return torch.from_numpy(array)


def to_numpy(value: torch.Tensor | np.ndarray) -> np.ndarray:
    """Return a new C-ordered array with the values of a tensor; it shares no memory with it."""
    if isinstance(value, np.ndarray):
        return value.copy()
    value = value.detach()
    if value.dtype is torch.bfloat16:
        return value.contiguous().view(torch.int16).cpu().numpy().view(ml_dtypes.bfloat16).copy()
    return np.array(value.numpy(force=True), order="C")
