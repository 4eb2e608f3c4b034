"""`tf.app.run`: a program's main function, called with what the flags left of the command line."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from absl import flags

from ..export import export
from .flags import FLAGS


@export("app.run")
def run(main: Callable[[list[str]], Any] | None = None, argv: Sequence[str] | None = None) -> NoReturn:
    """Parse the flags, call `main` and exit with what it returns.

    main: called with the program's name and the arguments that are no flags or are not defined as flags (default: the
    function `main` of the program's file).
    argv: the command line, the program's name first (default: `sys.argv`).

    `--help` prints the program's flags and exits with status 0. A flag with a value that it cannot hold, or a required
    flag that is missing, is reported on stderr and the status is 1.

    Example:
        >>> import dynrnn.tf1 as tf
        >>> tf.app.run(main=print, argv=["program.py", "left over"])  # doctest: +IGNORE_EXCEPTION_DETAIL
        Traceback (most recent call last):
        SystemExit
    """
    function = sys.modules["__main__"].main if main is None else main
    try:
        rest = FLAGS(sys.argv if argv is None else argv, known_only=True)
    except flags.Error as error:
        print(f"FATAL Flags parsing error:\n  {error}\nPass --help to see the flags.", file=sys.stderr)
        sys.exit(1)
    sys.exit(function(rest))
