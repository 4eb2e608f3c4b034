"""Op rows: what one type of node is, as data. The rows themselves stand in the tables of the faces."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from .dtype import DTYPES, DType

if TYPE_CHECKING:
    from .node import Tensor

FLOATS = frozenset(name for name, dtype in DTYPES.items() if dtype.kind == "f")
INTEGERS = frozenset(name for name, dtype in DTYPES.items() if dtype.kind in "iu")
INDICES = frozenset(("int32", "int64"))
REALS = FLOATS | INTEGERS
COMPLEX = frozenset(name for name, dtype in DTYPES.items() if dtype.kind == "c")
NUMBERS = REALS | COMPLEX
INEXACT = FLOATS | COMPLEX
ANY = frozenset(DTYPES)

ShapeRule = Callable[[Sequence["Tensor"], Mapping[str, Any]], Any]


@dataclass(frozen=True)
class Argument:
    """One input or output of a signature: a name, a type variable or a fixed dtype, and whether it is a list."""

    name: str
    type: str
    many: bool = False

    @property
    def fixed(self) -> DType | None:
        """The dtype, where the signature fixes it."""
        return DTYPES.get(self.type)


@dataclass(frozen=True)
class Op:
    """A type of node.

    signature: `"a:T b:T -> T"`; an upper-case word is a type variable, a dtype's name is fixed, `@dtype` is an
        attribute's value, a star (`*values:T`, `-> *T`) makes a list. None: the node's maker gives the dtypes.
    compute: takes the input values (lists spread out) and the attributes by keyword, returns the value or a tuple of
        values.
    shape: the rule for static shapes: (inputs, attributes) -> dims, or a list of dims for several outputs.
    types: the dtypes that each type variable may take (default: any).
    differentiable: whether gradients flow through it from float output to float input.
    bind: for nodes that need the session's state or the node itself: (node, runtime) -> function of the input values.
    stateful: never folded or evaluated while building (random draws, variables).
    bodies: the nodes hold traced bodies (attribute `bodies`); `bind` is told by `recorded` whether gradients are taken
        of the node.
    foreign: its function is the program's own, so that what it raises passes through a run as it is.
    depends: for rows with bodies: (node, position of an output, whether gradients are meant) -> the positions of the
        inputs that the output is computed from, or that its gradients come to; `bind` is told by `wanted` which outputs
        a run needs, and is given None for inputs that none of them depends on. None: every output needs all inputs.
    """

    type: str
    signature: str | None
    compute: Callable[..., Any] | None
    shape: ShapeRule | None
    types: Mapping[str, frozenset[str]] = field(default_factory=dict)
    differentiable: bool = True
    bind: Callable[..., Callable[..., Any]] | None = None
    stateful: bool = False
    bodies: bool = False
    foreign: bool = False
    depends: Callable[[Any, int, bool], Collection[int]] | None = None
    inputs: tuple[Argument, ...] = field(init=False, default=())
    outputs: tuple[Argument, ...] = field(init=False, default=())

    def __post_init__(self) -> None:
        if self.signature is None:
            return
        before, _, after = self.signature.partition("->")
        object.__setattr__(self, "inputs", tuple(_argument(word) for word in before.split()))
        object.__setattr__(self, "outputs", tuple(_argument(":" + word) for word in after.split()))

    @property
    def returns_tuple(self) -> bool:
        """Whether `compute` returns a tuple of values instead of one value."""
        return self.signature is None or len(self.outputs) != 1 or self.outputs[0].many

    def __repr__(self) -> str:
        return f"Op({self.type!r}, {self.signature!r})"


def _argument(word: str) -> Argument:
    name, _, kind = word.partition(":")
    many = name.startswith("*") or kind.startswith("*")
    return Argument(name.lstrip("*"), kind.lstrip("*"), many)
