"""Runs a file as Python itself would, as `__main__`, with TensorFlow's import paths in place.

Here is how a program begins and how it ends. Which paths there are stands in `modules` and `finder`, how sources are
read in `source`.
"""

import atexit
import os
import signal
import sys
from collections.abc import Iterator, Sequence
from importlib.machinery import SourceFileLoader
from types import CodeType, ModuleType, TracebackType

from dynrnn.runner.finder import install_face
from dynrnn.runner.python2_hints import python2_hint
from dynrnn.runner.source import compile_source, install_python2_imports

USAGE_ERROR = 2


def run_program(path: str, argv: Sequence[str] = ()) -> int:
    """Run the file at `path` as the module `__main__` and return its exit status.

    The program finds `sys.argv` as `[path, *argv]`, its own folder first on `sys.path`, and TensorFlow 1 under
    `import tensorflow`. It may be Python 3 or Python 2. What it raises is printed as Python prints it, without the
    frames of this package, and the status is 1; an interrupt ends the process as Python ends it. A `SystemExit` passes
    through to the caller. A file that cannot be read, or that is neither Python 3 nor Python 2, is reported on stderr
    and the status is 2.

    The process is given over to the program: `sys.argv`, `sys.path`, `sys.modules["__main__"]` and the import system
    stay as the program needs them.

    Example:
        >>> run_program("no_such_program.py")  # which it says on stderr
        2
    """
    file = os.path.abspath(path)
    try:
        with open(file, "rb") as stream:
            data = stream.read()
        code, names = compile_source(data, file)
    except OSError as error:
        print(f"dynrnn run: cannot read the program {path!r}: {error.strerror}", file=sys.stderr)
        return USAGE_ERROR
    except SyntaxError as error:
        _show(error)
        return USAGE_ERROR
    folder = os.path.dirname(file)
    sys.argv = [path, *argv]
    if not sys.flags.safe_path:
        sys.path[0] = folder  # where the command line left its own folder, and `python PROGRAM` puts the program's
    install_face()
    install_python2_imports(folder, throughout=names is not None)
    return _run(code, _main_module(file, names), hints=names is None)


def _main_module(file: str, names: dict[str, object] | None) -> ModuleType:
    module = ModuleType("__main__")
    module.__file__ = file
    module.__loader__ = SourceFileLoader("__main__", file)
    vars(module).update(__cached__=None, __annotations__={})
    if names is not None:
        vars(module)["__builtins__"] = names
    sys.modules["__main__"] = module
    return module


def _run(code: CodeType, module: ModuleType, *, hints: bool) -> int:
    interrupts: list[KeyboardInterrupt] = []
    # Exit functions run last in, first out: this one runs after those that the program registers.
    atexit.register(_end_as_interrupted, interrupts)
    try:
        exec(code, vars(module))
    except SystemExit:
        raise
    except KeyboardInterrupt as error:
        _show(error)
        interrupts.append(error)
        return 128 + signal.SIGINT
    except BaseException as error:  # a program may raise anything, and like Python's own top level this shows it
        hint = python2_hint(error) if hints else None
        if hint is not None:
            error.add_note(hint)
        _show(error)
        return 1
    return 0


def _end_as_interrupted(interrupts: list[KeyboardInterrupt]) -> None:
    """Let SIGINT end the process, as Python does, so that a shell's loop or `make` sees it and stops, too."""
    if interrupts and os.name == "posix":
        sys.stdout.flush()
        sys.stderr.flush()
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)


def _show(error: BaseException) -> None:
    for link in _chain(error):
        link.__traceback__ = _without_runner(link.__traceback__)
    sys.excepthook(type(error), error, error.__traceback__)


def _chain(error: BaseException) -> Iterator[BaseException]:
    """The error, those it arose from and those it groups, each once."""
    seen: set[int] = set()
    pending: list[BaseException | None] = [error]
    while pending:
        link = pending.pop()
        if link is None or id(link) in seen:
            continue
        seen.add(id(link))
        yield link
        pending += [link.__cause__, link.__context__]
        if isinstance(link, BaseExceptionGroup):
            pending += link.exceptions


def _without_runner(entry: TracebackType | None) -> TracebackType | None:
    kept = []
    while entry is not None:
        if entry.tb_frame.f_globals.get("__package__") != __package__:
            kept.append(entry)
        entry = entry.tb_next
    for above, below in zip(kept, [*kept, None][1:], strict=True):
        if above.tb_next is not below:
            above.tb_next = below
    return kept[0] if kept else None
