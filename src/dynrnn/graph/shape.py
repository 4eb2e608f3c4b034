"""Static shapes: `Dimension` and `TensorShape`, with sizes and ranks that may be unknown.

Shape rules work on plain tuples (`Dims`): a tuple of `int` or None (unknown size), or None (unknown rank).
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator

Dims = tuple["int | None", ...] | None


class Dimension:
    """One size of a shape, known or not.

    Arithmetic with an unknown size gives an unknown size; a comparison with one gives None.

    Example:
        >>> (Dimension(2) * 3).value, (Dimension(None) + 1).value
        (6, None)
    """

    __slots__ = ("_value",)

    def __init__(self, value: object):
        if isinstance(value, Dimension):
            self._value = value._value
        elif value is None:
            self._value = None
        else:
            try:
                self._value = int(operator.index(value))  # type: ignore[arg-type]
            except TypeError:
                if not isinstance(value, (str, bytes)) and int(value) == value:  # type: ignore[call-overload]
                    self._value = int(value)  # type: ignore[call-overload]
                else:
                    raise ValueError(f"Ambiguous dimension: {value!r}") from None
            if self._value < 0:
                raise ValueError(f"Dimension {self._value} must be >= 0")

    @property
    def value(self) -> int | None:
        """The size, or None where it is unknown."""
        return self._value

    def merge_with(self, other: object) -> Dimension:
        """Return the better known one of two compatible sizes; ValueError where they differ."""
        other = as_dimension(other)
        self.assert_is_compatible_with(other)
        return other if self._value is None else self

    def is_compatible_with(self, other: object) -> bool:
        other = as_dimension(other)
        return self._value is None or other._value is None or self._value == other._value

    def assert_is_compatible_with(self, other: object) -> None:
        if not self.is_compatible_with(other):
            raise ValueError(f"Dimensions {self} and {as_dimension(other)} are not compatible")

    def _calculate(self, other: object, function: Callable[[int, int], int], swap: bool = False) -> Dimension:
        try:
            other = as_dimension(other)
        except (TypeError, ValueError):
            return NotImplemented  # the other operand may know better, as a tensor does
        if self._value is None or other._value is None:
            return Dimension(None)
        return Dimension(function(other._value, self._value) if swap else function(self._value, other._value))

    def __add__(self, other: object) -> Dimension:
        return self._calculate(other, operator.add)

    def __sub__(self, other: object) -> Dimension:
        return self._calculate(other, operator.sub)

    def __rsub__(self, other: object) -> Dimension:
        return self._calculate(other, operator.sub, swap=True)

    def __mul__(self, other: object) -> Dimension:
        if not isinstance(other, (Dimension, int, type(None))):
            return NotImplemented
        return self._calculate(other, operator.mul)

    def __floordiv__(self, other: object) -> Dimension:
        return self._calculate(other, operator.floordiv)

    def __rfloordiv__(self, other: object) -> Dimension:
        return self._calculate(other, operator.floordiv, swap=True)

    def __mod__(self, other: object) -> Dimension:
        return self._calculate(other, operator.mod)

    def __rmod__(self, other: object) -> Dimension:
        return self._calculate(other, operator.mod, swap=True)

    __radd__, __rmul__ = __add__, __mul__
    __div__, __truediv__, __rtruediv__ = __floordiv__, __floordiv__, __rfloordiv__

    def _compare(self, other: object, function: Callable[[int, int], bool]) -> bool | None:
        other = as_dimension(other)
        if self._value is None or other._value is None:
            return None
        return function(self._value, other._value)

    def __lt__(self, other: object) -> bool | None:
        return self._compare(other, operator.lt)

    def __le__(self, other: object) -> bool | None:
        return self._compare(other, operator.le)

    def __gt__(self, other: object) -> bool | None:
        return self._compare(other, operator.gt)

    def __ge__(self, other: object) -> bool | None:
        return self._compare(other, operator.ge)

    def __eq__(self, other: object) -> bool | None:  # type: ignore[override]
        try:
            return self._compare(other, operator.eq)
        except (TypeError, ValueError):
            return NotImplemented

    def __ne__(self, other: object) -> bool | None:  # type: ignore[override]
        try:
            return self._compare(other, operator.ne)
        except (TypeError, ValueError):
            return NotImplemented

    def __hash__(self) -> int:
        return hash(self._value)

    def __int__(self) -> int:
        if self._value is None:
            raise TypeError("__int__ returned non-int (the size of this dimension is unknown while the graph is built)")
        return self._value

    def __index__(self) -> int:
        return int(self)

    def __reduce__(self) -> tuple:
        return Dimension, (self._value,)

    def __repr__(self) -> str:
        return f"Dimension({self._value!r})"

    def __str__(self) -> str:
        return "?" if self._value is None else str(self._value)


def as_dimension(value: object) -> Dimension:
    """Return `value` as a `Dimension`."""
    return value if isinstance(value, Dimension) else Dimension(value)


class TensorShape:
    """The static shape of a tensor: known, partly known (None for a size), or of unknown rank.

    Example:
        >>> TensorShape([None, 3]).concatenate([4]).as_list()
        [None, 3, 4]
    """

    __slots__ = ("_dims",)

    def __init__(self, dims: object):
        if dims is None:
            self._dims: Dims = None
        elif isinstance(dims, TensorShape):
            self._dims = dims._dims
        elif isinstance(dims, (str, bytes)):
            raise TypeError(f"A shape must be a sequence of sizes, got the string {dims!r}")
        else:
            try:
                sizes = tuple(dims)  # type: ignore[arg-type]
            except TypeError:
                sizes = (dims,)
            self._dims = tuple(d if type(d) is int and d >= 0 else Dimension(d).value for d in sizes)

    @property
    def tuple(self) -> Dims:
        """The sizes as a plain tuple of int or None; None for an unknown rank."""
        return self._dims

    @property
    def dims(self) -> list[Dimension] | None:
        return None if self._dims is None else [Dimension(d) for d in self._dims]

    @property
    def ndims(self) -> int | None:
        """The rank, or None where it is unknown."""
        return None if self._dims is None else len(self._dims)

    rank = ndims

    def _known(self) -> tuple[int | None, ...]:
        if self._dims is None:
            raise ValueError("the rank of this shape is unknown")
        return self._dims

    def as_list(self) -> list[int | None]:
        """The sizes as a list, None where unknown; ValueError for an unknown rank."""
        if self._dims is None:
            raise ValueError("as_list() is not defined on an unknown TensorShape.")
        return list(self._dims)

    def num_elements(self) -> int | None:
        if not self.is_fully_defined():
            return None
        count = 1
        for size in self._known():
            count *= size or 0
        return count

    def is_fully_defined(self) -> bool:
        return self._dims is not None and None not in self._dims

    def assert_is_fully_defined(self) -> None:
        if not self.is_fully_defined():
            raise ValueError(f"Shape {self} is not fully defined")

    def merge_with(self, other: object) -> TensorShape:
        """Return the shape that joins what two compatible shapes know; ValueError where they conflict."""
        return TensorShape(merge_dims(self._dims, as_shape(other)._dims))

    def concatenate(self, other: object) -> TensorShape:
        other = as_shape(other)
        return TensorShape(None if self._dims is None or other._dims is None else self._dims + other._dims)

    def is_compatible_with(self, other: object) -> bool:
        try:
            merge_dims(self._dims, as_shape(other)._dims)
        except ValueError:
            return False
        return True

    def assert_is_compatible_with(self, other: object) -> None:
        if not self.is_compatible_with(other):
            raise ValueError(f"Shapes {self} and {as_shape(other)} are incompatible")

    def assert_same_rank(self, other: object) -> None:
        other = as_shape(other)
        if self.ndims is not None and other.ndims is not None and self.ndims != other.ndims:
            raise ValueError(f"Shapes {self} and {other} must have the same rank")

    def assert_has_rank(self, rank: int) -> None:
        if self.ndims not in (None, rank):
            raise ValueError(f"Shape {self} must have rank {rank}")

    def with_rank(self, rank: int) -> TensorShape:
        """Return this shape, known to have `rank`; ValueError where it has another."""
        try:
            return self.merge_with(TensorShape([None] * rank))
        except ValueError:
            raise ValueError(f"Shape {self} must have rank {rank}") from None

    def with_rank_at_least(self, rank: int) -> TensorShape:
        if self.ndims is not None and self.ndims < rank:
            raise ValueError(f"Shape {self} must have rank at least {rank}")
        return self

    def with_rank_at_most(self, rank: int) -> TensorShape:
        if self.ndims is not None and self.ndims > rank:
            raise ValueError(f"Shape {self} must have rank at most {rank}")
        return self

    def __len__(self) -> int:
        if self._dims is None:
            raise ValueError("Cannot take the length of Shape with unknown rank.")
        return len(self._dims)

    def __bool__(self) -> bool:
        return self._dims is not None

    __nonzero__ = __bool__

    def __iter__(self) -> Iterator[Dimension]:
        if self._dims is None:
            raise ValueError("Cannot iterate over a shape with unknown rank.")
        return iter([Dimension(d) for d in self._dims])

    def __getitem__(self, key: int | slice) -> Dimension | TensorShape:
        if self._dims is None:
            return TensorShape(None) if isinstance(key, slice) else Dimension(None)
        return TensorShape(self._dims[key]) if isinstance(key, slice) else Dimension(self._dims[key])

    def __eq__(self, other: object) -> bool:
        try:
            return self._dims == as_shape(other)._dims
        except (TypeError, ValueError):
            return NotImplemented

    def __ne__(self, other: object) -> bool:
        same = self.__eq__(other)
        return same if same is NotImplemented else not same

    def __hash__(self) -> int:
        return hash(self._dims)

    def __reduce__(self) -> tuple:
        return TensorShape, (None if self._dims is None else list(self._dims),)

    def __repr__(self) -> str:
        return f"TensorShape({None if self._dims is None else [Dimension(d) for d in self._dims]!r})"

    def __str__(self) -> str:
        if self._dims is None:
            return "<unknown>"
        if len(self._dims) == 1:
            return f"({Dimension(self._dims[0])},)"
        return f"({', '.join(str(Dimension(d)) for d in self._dims)})"


def as_shape(value: object) -> TensorShape:
    """Return `value` (a TensorShape, a sequence of sizes, a size, None) as a `TensorShape`."""
    return value if isinstance(value, TensorShape) else TensorShape(value)


def whole_dims(dims: Dims) -> tuple[int, ...] | None:
    """The sizes where all of them are known; else None."""
    return None if dims is None or None in dims else dims  # type: ignore[return-value]


def merge_dims(first: Dims, second: Dims) -> Dims:
    """Join what two shapes know; ValueError where they disagree."""
    if first is None or second is None:
        return second if first is None else first
    agree = len(first) == len(second) and all(
        a is None or b is None or a == b for a, b in zip(first, second, strict=True)
    )
    if not agree:
        raise ValueError(f"Shapes {TensorShape(first)} and {TensorShape(second)} are not compatible")
    return tuple(b if a is None else a for a, b in zip(first, second, strict=True))
