"""What the options of a cell may be: each is refused where it is given, in the name of whom it was given to.

Later on the implementations would take what is none of these in ways of their own.
"""

from __future__ import annotations

from numbers import Real
from typing import Any


def check_size(owner: str, name: str, value: Any) -> None:
    """Refuse a width, or another count, that is not an integer of at least 1; `owner` is the class that is being made.

    Raises TypeError for what is no int, ValueError for one that is too small.
    """
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{owner}: {name} must be an int, got {value!r}")
    if value < 1:
        raise ValueError(f"{owner}: {name} must be at least 1, got {value}")


def check_number(owner: str, name: str, value: Any, *, least: float | None = None) -> None:
    """Refuse what is no real number, NaN, and with `least` what is below it. Infinity is a number.

    Raises TypeError for what is no number, such as a string, a bool or a tensor, ValueError for the others.

    Example:
        >>> check_number("LSTMCell", "cell_clip", float("nan"), least=0)
        Traceback (most recent call last):
        ValueError: LSTMCell: cell_clip must be at least 0, got nan
    """
    if isinstance(value, bool) or not isinstance(value, (int, float, Real)):
        raise TypeError(f"{owner}: {name} must be a number, got {value!r}")
    if value != value or (least is not None and value < least):
        bound = "a number" if least is None else f"at least {least:g}"
        raise ValueError(f"{owner}: {name} must be {bound}, got {value}")


def check_rate(owner: str, name: str, value: Any) -> float:
    """Refuse a share that is not within 0..1; return it as a float.

    Raises TypeError for what is no number, ValueError for one outside.

    Example:
        >>> check_rate("DropoutWrapper", "output_dropout", 0.5)
        0.5
    """
    check_number(owner, name, value)
    if not 0 <= value <= 1:
        raise ValueError(f"{owner}: {name} must be within 0..1, got {value}: it is the share that is dropped")
    return float(value)


def check_activation(owner: str, value: Any) -> None:
    """Refuse an activation that cannot be called on a tensor, with TypeError."""
    if isinstance(value, type):
        raise TypeError(f"{owner}: activation must be a function of a tensor, got the class {value.__name__}")
    if not callable(value):
        raise TypeError(f"{owner}: activation must be a function of a tensor, got {value!r}")
