"""The error classes of a run, and the one way in which error texts print a tensor or suggest a name.

The classes and their numbers are those of TensorFlow 1's `tf.errors`, for programs that catch them. What is wrong with
an argument while a graph or a module is built is a plain ValueError or TypeError, which need nothing from here but
`describe`, `dtype_name` and `nearest`.
"""

import difflib
from collections.abc import Iterable
from typing import Any, ClassVar, NamedTuple

OK = 0
CANCELLED = 1
UNKNOWN = 2
INVALID_ARGUMENT = 3
DEADLINE_EXCEEDED = 4
NOT_FOUND = 5
ALREADY_EXISTS = 6
PERMISSION_DENIED = 7
RESOURCE_EXHAUSTED = 8
FAILED_PRECONDITION = 9
ABORTED = 10
OUT_OF_RANGE = 11
UNIMPLEMENTED = 12
INTERNAL = 13
UNAVAILABLE = 14
DATA_LOSS = 15
UNAUTHENTICATED = 16


class OpError(Exception):
    """An operation failed while it ran: the base of all classes here (`tf.errors.OpError`).

    `op` is the operation that failed and `node_def` its definition, both None where no single operation is to blame.
    `str()` is the message and, where there is an op that the message does not name yet, the op's name. A pickled error
    keeps its class, message and code; of the op it keeps name and type, of the definition nothing.

    Example:
        >>> str(OpError(None, None, "the queue is closed", CANCELLED))
        'the queue is closed'
    """

    def __init__(self, node_def: Any, op: Any, message: str, error_code: int):
        super().__init__(message)
        self._node_def = node_def
        self._op = op
        self._message = message
        self._error_code = error_code

    @property
    def node_def(self) -> Any:
        """The definition of the operation that failed, or None."""
        return self._node_def

    @property
    def op(self) -> Any:
        """The operation that failed, or None."""
        return self._op

    @property
    def message(self) -> str:
        """What went wrong."""
        return self._message

    @property
    def error_code(self) -> int:
        """The number of the error's class, one of the constants of this module."""
        return self._error_code

    def __str__(self) -> str:
        if self._op is None:
            return self._message
        mark = f"[[node {self._op.name}]]"
        return self._message if mark in self._message else f"{self._message} {mark}"

    def __reduce__(self):
        # A live operation belongs to a graph, which does not travel to another process.
        op = None if self._op is None else _PickledOp(self._op.name, getattr(self._op, "type", None))
        return _restore, (type(self), self.args, {**self.__dict__, "_op": op, "_node_def": None})


class _PickledOp(NamedTuple):
    name: str
    type: str | None


def _restore(cls: type[OpError], args: tuple, fields: dict[str, Any]) -> OpError:
    error = cls.__new__(cls, *args)
    error.__dict__.update(fields)
    return error


class _CodedError(OpError):
    """An OpError whose number follows from its class, so that it takes three arguments."""

    code: ClassVar[int]

    def __init_subclass__(cls, code: int | None = None):
        if code is not None:
            cls.code = code

    def __init__(self, node_def: Any, op: Any, message: str):
        super().__init__(node_def, op, message, self.code)


class CancelledError(_CodedError, code=CANCELLED):
    """The operation, or the step it belongs to, was cancelled."""


class UnknownError(_CodedError, code=UNKNOWN):
    """The operation failed for a reason that fits no other class."""


class InvalidArgumentError(_CodedError, code=INVALID_ARGUMENT):
    """An operation was given what it cannot work on: a wrong shape, a wrong index, a placeholder without a feed."""


class DeadlineExceededError(_CodedError, code=DEADLINE_EXCEEDED):
    """The time that was allowed ran out first."""


class NotFoundError(_CodedError, code=NOT_FOUND):
    """A file, a checkpoint's tensor or another named thing does not exist."""


class AlreadyExistsError(_CodedError, code=ALREADY_EXISTS):
    """What was to be created is there already."""


class PermissionDeniedError(_CodedError, code=PERMISSION_DENIED):
    """The caller may not do this: a file that cannot be read or written."""


class ResourceExhaustedError(_CodedError, code=RESOURCE_EXHAUSTED):
    """Memory, disk space or another resource ran out."""


class FailedPreconditionError(_CodedError, code=FAILED_PRECONDITION):
    """The system is not in the state that the operation needs: a variable is read before it was initialized."""


class AbortedError(_CodedError, code=ABORTED):
    """The operation was given up, as when two of them got in each other's way."""


class OutOfRangeError(_CodedError, code=OUT_OF_RANGE):
    """The end of the input was passed: a queue is closed and empty, an iterator has nothing more."""


class UnimplementedError(_CodedError, code=UNIMPLEMENTED):
    """The operation exists, but not for these types, shapes or options."""


class InternalError(_CodedError, code=INTERNAL):
    """Something that should always hold did not."""


class UnavailableError(_CodedError, code=UNAVAILABLE):
    """What the operation needs cannot be reached at the moment."""


class DataLossError(_CodedError, code=DATA_LOSS):
    """Stored data is damaged: a checkpoint whose checksum is wrong."""


class UnauthenticatedError(_CodedError, code=UNAUTHENTICATED):
    """The caller has not shown who it is."""


def describe(name: str, shape: Iterable[Any] | None, dtype: Any) -> str:
    """Print a tensor as all error texts do: its name, shape and dtype.

    A dimension of None prints as `?`, a shape of None (unknown rank) as `<unknown>`. `dtype` is a torch or numpy dtype,
    a graph's dtype, or its name.

    Example:
        >>> describe("inputs", [2, None], "float32")
        'inputs [2, ?] float32'
    """
    dims = "<unknown>" if shape is None else "[" + ", ".join("?" if dim is None else str(dim) for dim in shape) + "]"
    return f"{name} {dims} {dtype_name(dtype)}"


def dtype_name(dtype: Any) -> str:
    """Print a dtype as all error texts do: one of torch, of numpy or of a graph, or its name.

    Example:
        >>> import torch
        >>> dtype_name(torch.float32), dtype_name("float32")
        ('float32', 'float32')
    """
    word = getattr(dtype, "name", None) or getattr(dtype, "__name__", None) or str(dtype)
    return word.removeprefix("torch.")


def nearest(name: str, names: Iterable[str], n: int = 3) -> list[str]:
    """Find up to `n` of `names` that are spelled most like `name`, the nearest first; capitals do not matter.

    Example:
        >>> nearest("BasicLstmCell", ["GRUCell", "BasicLSTMCell", "softmax"], 1)
        ['BasicLSTMCell']
    """
    spellings: dict[str, list[str]] = {}
    for candidate in names:
        spellings.setdefault(candidate.lower(), []).append(candidate)
    close = difflib.get_close_matches(name.lower(), spellings, n)
    return [candidate for key in close for candidate in spellings[key]][:n]
