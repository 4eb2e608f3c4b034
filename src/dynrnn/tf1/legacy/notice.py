"""The warning about an old spelling: once for each, at the program's own line, with today's spelling."""

from __future__ import annotations

import sys
import warnings

_PACKAGE = __name__.partition(".")[0]
_told: set[str] = set()


class LegacySpellingWarning(FutureWarning):
    """A program uses a name or an order of arguments that TensorFlow 1.0 dropped; it works, and today's is named."""


def tell(old: str, today: str) -> None:
    """Warn that `old` is written `today`, if this process has not heard of it yet."""
    if old in _told:
        return
    warnings.warn(f"{old} is TensorFlow 0.x's spelling of {today}", LegacySpellingWarning, stacklevel=_level())
    _told.add(old)


def _level() -> int:
    """How many frames the program's own one is away from `tell`."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and _is_own(frame.f_globals.get("__name__", "")):
        level, frame = level + 1, frame.f_back
    return level


def _is_own(module: str) -> bool:
    return module == _PACKAGE or module.startswith(_PACKAGE + ".")
