"""What a page of names says of each: its arguments, and the first sentence of its documentation."""

from __future__ import annotations

import enum
import inspect
import re
from typing import Any

import torch


def arguments(value: Any) -> str:
    """The arguments of a function or a class with their defaults, in parentheses; "" where there are none to show.

    >>> arguments(sentence)
    "(value, ends='.')"
    """
    if inspect.isclass(value) and issubclass(value, enum.Enum):
        return ""  # Python's versions differ in what they show
    try:
        signature = inspect.signature(value)
    except (TypeError, ValueError):  # a class of Python's own
        return ""
    plain = [
        parameter.replace(annotation=parameter.empty, default=_shown(parameter.default))
        for parameter in signature.parameters.values()
    ]
    return re.sub(r" at 0x\w+", "", str(signature.replace(parameters=plain, return_annotation=signature.empty)))


def sentence(value: Any, ends: str = ".") -> str:
    """The first sentence of the documentation, up to one of the marks `ends` and without it.

    >>> sentence(arguments, ends=",")
    'The arguments of a function or a class with their defaults'
    """
    paragraph = " ".join((inspect.getdoc(value) or "").partition("\n\n")[0].split())
    found = re.match(rf"(.*?[{ends}])( |$)", paragraph)
    return (found[1] if found else paragraph).rstrip(ends)


class _Text:
    """What shows as the text that it was given."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __repr__(self) -> str:
        return self._text


def _shown(default: Any) -> Any:
    name = getattr(default, "__name__", "")
    return _Text(f"torch.{name}") if inspect.isbuiltin(default) and getattr(torch, name, None) is default else default
