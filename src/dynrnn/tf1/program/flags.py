"""`tf.flags`: a program's command-line flags.

Flags are absl-py's, as they are in TensorFlow 1.5 and later, and live in absl's own `FLAGS`: a program may define some
with either library. Here is what TensorFlow puts around them: `FLAGS` parses `sys.argv` when it is first read, and the
spellings of TensorFlow 1.4 and earlier (`FLAGS._parse_flags()`, `FLAGS.__flags`, `DEFINE_string(flag_name=...)`).
absl's logging and app modules are not loaded: they define flags of their own, among them `log_dir`, which many
programs define.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from absl import flags

from ... import errors
from ..export import export

flags.disclaim_key_flags()  # flags belong to the module that calls the functions here, not to this one

_FROM_ABSL = (
    "ArgumentParser", "ArgumentSerializer", "BaseListParser", "BooleanFlag", "BooleanParser", "CantOpenFlagFileError",
    "CsvListSerializer", "DuplicateFlagError", "EnumFlag", "EnumParser", "Error", "Flag", "FlagHolder",
    "FlagNameConflictsWithMethodError", "FlagValues", "FloatParser", "IllegalFlagValueError", "IntegerParser",
    "ListParser", "ListSerializer", "MultiFlag", "UnparsedFlagAccessError", "UnrecognizedFlagError", "ValidationError",
    "WhitespaceSeparatedListParser", "doc_to_help", "flag_dict_to_args", "get_help_width", "text_wrap",
)  # fmt: skip

# Functions that take the flags they work on as `flag_values`.
_ON_FLAGS = (
    "DEFINE", "DEFINE_alias", "DEFINE_bool", "DEFINE_boolean", "DEFINE_enum", "DEFINE_enum_class", "DEFINE_flag",
    "DEFINE_float", "DEFINE_integer", "DEFINE_list", "DEFINE_multi", "DEFINE_multi_enum", "DEFINE_multi_enum_class",
    "DEFINE_multi_float", "DEFINE_multi_integer", "DEFINE_multi_string", "DEFINE_spaceseplist", "DEFINE_string",
    "adopt_module_key_flags", "declare_key_flag", "mark_bool_flags_as_mutual_exclusive", "mark_flag_as_required",
    "mark_flags_as_mutual_exclusive", "mark_flags_as_required", "multi_flags_validator",
    "register_multi_flags_validator", "register_validator", "validator",
)  # fmt: skip

# How TensorFlow 1.4 called the arguments of DEFINE_string and the like.
_OLD_ARGUMENTS = {"flag_name": "name", "default_value": "default", "docstring": "help"}


class FlagValues:
    """The flags of the program: `FLAGS.name` is the value of the flag that was defined as `name`.

    The command line is parsed when a value is first read, or by `tf.app.run`, or by calling `FLAGS(argv)`; values may
    be assigned. `FLAGS["name"]` is the flag itself, `FLAGS.flag_values_dict()` all values by name; the other methods
    are those of absl's FlagValues.

    Raises:
        AttributeError: there is no such flag (reading). tf.flags.UnrecognizedFlagError: there is no such flag
            (assigning, or on the command line). tf.flags.IllegalFlagValueError: a text that the flag cannot hold.

    Example:
        >>> import dynrnn.tf1 as tf
        >>> own = tf.flags.FlagValues()
        >>> _ = tf.flags.DEFINE_float("learning_rate", 0.1, "step size", flag_values=own)
        >>> own(["program.py", "--learning_rate=0.5", "left over"])
        ['program.py', 'left over']
        >>> own.learning_rate
        0.5
    """

    _values: flags.FlagValues
    _plain: bool  # whether `FLAGS.__flags` holds values, as in TensorFlow 1.4, instead of flags

    def __init__(self, values: flags.FlagValues | None = None):
        # Not by assigning, which is for flags.
        vars(self).update(_values=flags.FlagValues() if values is None else values, _plain=False)

    def __call__(self, argv: Sequence[str], known_only: bool = False) -> list[str]:
        """Parse `argv`, whose first item is the program's name, and return it without the flags.

        known_only: leave flags that are not defined in what is returned, instead of raising UnrecognizedFlagError.
        """
        with _help_flag(self._values):
            return self._values(argv, known_only)

    def _parse_flags(self, args: Sequence[str] | None = None) -> list[str]:
        """Parse the command line (or `args`, without the program's name) as TensorFlow 1.4 did, and return the rest.

        Flags that are not defined are left in the rest. From now on `FLAGS.__flags` holds plain values, as it did then.
        """
        vars(self)["_plain"] = True
        return self([sys.argv[0], *(sys.argv[1:] if args is None else args)], known_only=True)[1:]

    def __getattr__(self, name: str) -> Any:
        if name == "__flags":
            flags_by_name = {key: self._values[key] for key in self._values}
            return {key: flag.value for key, flag in flags_by_name.items()} if self._plain else flags_by_name
        if name.startswith("__") or name in ("_values", "_plain"):  # what copying asks an empty object for
            raise AttributeError(name)
        if name not in self._values:
            return self._method(name)
        if not self._values.is_parsed():
            self(sys.argv)
        return getattr(self._values, name)

    def _method(self, name: str) -> Any:
        if hasattr(type(self._values), name):
            return getattr(self._values, name)
        near = errors.nearest(name, self._values)
        raise AttributeError(
            f"no flag is defined as {name!r}" + (f"; the closest are {', '.join(near)}" if near else "")
        )

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in self._values:
            raise flags.UnrecognizedFlagError(name, suggestions=errors.nearest(name, self._values))
        setattr(self._values, name, value)

    def __delattr__(self, name: str) -> None:
        delattr(self._values, name)

    def __getitem__(self, name: str) -> flags.Flag:
        return self._values[name]

    def __setitem__(self, name: str, flag: flags.Flag) -> None:
        self._values[name] = flag

    def __contains__(self, name: str) -> bool:
        return name in self._values

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __dir__(self) -> list[str]:
        return dir(self._values)


class _HelpFlag(flags.BooleanFlag):
    """Prints the program's documentation and its flags, and exits: at once, whatever else the command line lacks."""

    def __init__(self, values: flags.FlagValues, short_name: str | None):
        super().__init__("help", False, "show this text and exit", short_name=short_name)
        self._all = values

    def parse(self, arg: Any) -> None:
        super().parse(arg)
        if self.value:
            text = sys.modules["__main__"].__doc__
            print(*filter(None, [text and flags.doc_to_help(text), "flags:"]), sep="\n")
            print(self._all.get_help(include_special_flags=False))
            sys.exit(0)


@contextmanager
def _help_flag(values: flags.FlagValues) -> Iterator[None]:
    """Define --help while the command line is parsed; afterwards programs may list their flags without it."""
    if "help" in values:  # the program's own
        yield
        return
    short = None if "h" in values else "h"
    flags.DEFINE_flag(_HelpFlag(values, short), values, module_name="also")
    try:
        yield
    finally:
        for name in filter(None, ["help", short]):
            delattr(values, name)


FLAGS = FlagValues(flags.FLAGS)


def _on_flags(function: Callable[..., Any]) -> Callable[..., Any]:
    """Let one of absl's functions take a FlagValues of ours, and the old names of arguments."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        kwargs = {_OLD_ARGUMENTS.get(name, name): value for name, value in kwargs.items()}
        return function(*[_unwrapped(arg) for arg in args], **{key: _unwrapped(arg) for key, arg in kwargs.items()})

    return call


def _unwrapped(argument: Any) -> Any:
    return argument._values if isinstance(argument, FlagValues) else argument


for _name in _FROM_ABSL:
    export(f"flags.{_name}", f"app.flags.{_name}")(FlagValues if _name == "FlagValues" else getattr(flags, _name))
for _name in _ON_FLAGS:
    export(f"flags.{_name}", f"app.flags.{_name}")(_on_flags(getattr(flags, _name)))
export("flags.FLAGS", "app.flags.FLAGS")(FLAGS)
