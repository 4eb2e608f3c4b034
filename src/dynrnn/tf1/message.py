"""Messages: objects with named, typed fields that behave as protocol buffers do in Python.

The messages themselves (`tf.ConfigProto` ...) are in `config`. There are no bytes here.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any, ClassVar

from .. import errors

Fields = dict[str, Any]  # a message's fields: types by name


class Enum(dict[str, int]):
    """The values of an enum by name."""

    def Value(self, name: str) -> int:
        """The number of a name; ValueError where there is none."""
        if name not in self:
            raise ValueError(f"the enum has no value {name!r}: it has {', '.join(self)}")
        return self[name]

    def Name(self, number: int) -> str:
        """The name of a number; ValueError where there is none."""
        for name, value in self.items():
            if value == number:
                return name
        raise ValueError(f"the enum has no name for the number {number}")


class Repeated(list[Any]):
    """A field of many values; each is converted to the field's type."""

    def __init__(self, convert: Callable[[Any], Any], values: Iterable[Any] = ()):
        super().__init__(map(convert, values))
        self._convert = convert

    def __reduce__(self) -> tuple[Any, ...]:
        return Repeated, (self._convert, list(self))

    def append(self, value: Any) -> None:
        super().append(self._convert(value))

    def extend(self, values: Iterable[Any]) -> None:
        super().extend(map(self._convert, values))

    def add(self, **fields: Any) -> Any:
        """Append a new message and return it."""
        self.append(fields)
        return self[-1]


class Table(dict[Any, Any]):
    """A field of values by key; each is converted to the field's types."""

    def __init__(self, key: Callable[[Any], Any], convert: Callable[[Any], Any], values: Mapping[Any, Any]):
        super().__init__({key(name): convert(value) for name, value in values.items()})
        self._key, self._convert = key, convert

    def __reduce__(self) -> tuple[Any, ...]:
        return Table, (self._key, self._convert, dict(self))

    def __setitem__(self, key: Any, value: Any) -> None:
        super().__setitem__(self._key(key), self._convert(value))


class Message:
    """The base of all messages; a class says its fields in `FIELDS`, by name.

    A field's type is bool, int, float or str, an Enum, a message class, `[type]` for many values or `{str: type}` for a
    table. A field that was not set has its type's zero; a message in a field is there from the start and is not
    assigned, but set field by field.

    Raises:
        ValueError (constructor) or AttributeError: there is no such field. TypeError: a value of another type.
    """

    FIELDS: ClassVar[Fields] = {}

    def __init_subclass__(cls) -> None:
        for kind in cls.FIELDS.values():
            if isinstance(kind, Enum):
                for name, number in kind.items():
                    setattr(cls, name, number)

    def __init__(self, **fields: Any):
        for name, value in fields.items():
            if name not in self.FIELDS:
                raise ValueError(self._missing(name))
            if value is not None:
                vars(self)[name] = _converter(self._full(name), self.FIELDS[name])(value)

    @classmethod
    def _full(cls, name: str) -> str:
        return f"{cls.__name__}.{name}"

    @classmethod
    def _missing(cls, name: str) -> str:
        near = errors.nearest(name, cls.FIELDS)
        hint = f"; the closest are {', '.join(near)}" if near else ""
        return f'Protocol message {cls.__name__} has no "{name}" field{hint}'

    def __getattr__(self, name: str) -> Any:
        if name not in self.FIELDS:
            raise AttributeError(self._missing(name) if not name.startswith("__") else name)
        kind = self.FIELDS[name]
        value = _zero(self._full(name), kind)
        if not _is_plain(kind):
            vars(self)[name] = value
        return value

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in self.FIELDS:
            raise AttributeError(self._missing(name))
        kind = self.FIELDS[name]
        if not _is_plain(kind):
            how = "set its fields" if _is_message(kind) else "change it in place"
            raise AttributeError(
                f'Assignment not allowed to message, map, or repeated field "{name}" in protocol message object: {how}'
            )
        vars(self)[name] = _converter(self._full(name), kind)(value)

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self.ListFields() == other.ListFields()

    __hash__: ClassVar[None]  # type: ignore[assignment]

    def ListFields(self) -> list[tuple[str, Any]]:
        """The fields that are set, as pairs of name and value."""
        return [
            (name, vars(self)[name]) for name in self.FIELDS if name in vars(self) and not _is_empty(vars(self)[name])
        ]

    def HasField(self, field_name: str) -> bool:
        """Whether a message field has been given something."""
        if field_name not in self.FIELDS:
            raise ValueError(self._missing(field_name))
        if not _is_message(self.FIELDS[field_name]):
            raise ValueError(f"Field {self._full(field_name)} does not have presence.")
        return any(name == field_name for name, _ in self.ListFields())

    def ClearField(self, field_name: str) -> None:
        """Make a field what it is in a new message."""
        if field_name not in self.FIELDS:
            raise ValueError(self._missing(field_name))
        vars(self).pop(field_name, None)

    def Clear(self) -> None:
        """Make all fields what they are in a new message."""
        vars(self).clear()

    def CopyFrom(self, other_msg: Message) -> None:
        """Take over all fields of another message of this class."""
        self._check(other_msg)
        self.Clear()
        self.MergeFrom(copy.deepcopy(other_msg))

    def MergeFrom(self, other_msg: Message) -> None:
        """Take over the fields that are set in another message of this class; lists are appended, messages merged."""
        self._check(other_msg)
        for name, value in copy.deepcopy(other_msg).ListFields():
            if isinstance(value, Message):
                getattr(self, name).MergeFrom(value)
            elif isinstance(value, Repeated):
                getattr(self, name).extend(value)
            elif isinstance(value, Table):
                getattr(self, name).update(value)
            else:
                vars(self)[name] = value

    def _check(self, other: Any) -> None:
        if type(other) is not type(self):
            raise TypeError(f"expected a {type(self).__name__}, got {type(other).__name__}: {other!r}")

    def __repr__(self) -> str:
        return "".join(f"{line}\n" for line in self._lines())

    def _lines(self) -> Iterator[str]:
        """The lines of protocol buffers' text format."""
        for name, value in self.ListFields():
            kind = self.FIELDS[name]
            if isinstance(value, Table):
                for key, item in value.items():
                    yield from _block(name, [_line("key", str, key), _line("value", kind[str], item)])
                continue
            for item in value if isinstance(value, Repeated) else [value]:
                if isinstance(item, Message):
                    yield from _block(name, item._lines())
                else:
                    yield _line(name, kind[0] if isinstance(kind, list) else kind, item)


def _block(name: str, lines: Iterable[str]) -> Iterator[str]:
    yield f"{name} {{"
    yield from (f"  {line}" for line in lines)
    yield "}"


def _line(name: str, kind: Any, value: Any) -> str:
    if isinstance(kind, Enum):
        shown = kind.Name(value) if value in kind.values() else str(value)
    else:
        shown = f'"{value}"' if kind is str else str(value).lower()
    return f"{name}: {shown}"


def _is_message(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, Message)


def _is_plain(kind: Any) -> bool:
    return not _is_message(kind) and (isinstance(kind, Enum) or not isinstance(kind, (list, dict)))


def _is_empty(value: Any) -> bool:
    return not value.ListFields() if isinstance(value, Message) else not value


def _zero(name: str, kind: Any) -> Any:
    if isinstance(kind, Enum):
        return 0
    if isinstance(kind, (list, dict)):
        return _converter(name, kind)(kind.__class__())
    return kind()


def _converter(name: str, kind: Any) -> Callable[[Any], Any]:
    """The function that makes a field's value of what a program gave; one that can be pickled."""
    if isinstance(kind, Enum):
        return partial(_enumerated, name, kind)
    if isinstance(kind, list):
        return partial(Repeated, _converter(name, kind[0]))
    if isinstance(kind, dict):
        ((key, item),) = kind.items()
        return partial(Table, _converter(name, key), _converter(name, item))
    return partial(_message if _is_message(kind) else _text if kind is str else _number, name, kind)


def _enumerated(name: str, kind: Enum, value: Any) -> int:
    return kind.Value(value) if isinstance(value, str) else _number(name, int, value)


def _message(name: str, kind: type[Message], value: Any) -> Message:
    if isinstance(value, kind):
        return copy.deepcopy(value)
    if isinstance(value, Mapping):
        return kind(**value)
    raise TypeError(f"{name} must be a {kind.__name__} or a dict of its fields, got {type(value).__name__}: {value!r}")


def _text(name: str, kind: type[str], value: Any) -> str:
    if isinstance(value, (str, bytes)):
        return value if isinstance(value, str) else value.decode()
    raise TypeError(f"{name} must be a str, got {type(value).__name__}: {value!r}")


def _number(name: str, kind: type, value: Any) -> Any:
    """A bool, int or float of what is one: `__index__` for bool and int, `__float__` for float."""
    wanted = "__float__" if kind is float else "__index__"
    if not hasattr(value, wanted) or kind is int and isinstance(value, bool):
        article = "an" if kind is int else "a"
        raise TypeError(f"{name} must be {article} {kind.__name__}, got {type(value).__name__}: {value!r}")
    return kind(value)
