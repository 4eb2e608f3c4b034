"""Reports which TensorFlow names a program uses and which of them are supported, without running it.

How the names are found in the sources is in `names`; here are the files that belong to a program, the question whether
a name is there, and the report.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any, NamedTuple

from dynrnn.errors import nearest
from dynrnn.runner.modules import find_module
from dynrnn.runner.names import ROOT, Names, read_names
from dynrnn.runner.source import parse_source
from dynrnn.tf1.export import NAMES
from dynrnn.tf1.legacy.names import CHANGED, TODAY

ALL_THERE, MISSING, UNREADABLE = 0, 1, 2
_MOST_PLACES = 4
_MOST_ALTERNATIVES = 3
_OLD = {f"{ROOT}.{old}": f"{ROOT}.{today}" for old, today in (TODAY | CHANGED).items()}


@dataclass
class Report:
    """What a program's files use, each name with its places `(file, line)`.

    supported: names that the face has. missing: names that it has not; guarded: those that the program tries and can do
    without. unreadable: files, each with the reason.
    """

    files: list[str] = field(default_factory=list)
    supported: dict[str, list[tuple[str, int]]] = field(default_factory=dict)
    missing: dict[str, list[tuple[str, int]]] = field(default_factory=dict)
    guarded: dict[str, list[tuple[str, int]]] = field(default_factory=dict)
    unreadable: dict[str, str] = field(default_factory=dict)

    @property
    def status(self) -> int:
        """The exit status: 2 where a file could not be read, 1 where a name is missing, else 0."""
        return UNREADABLE if self.unreadable else MISSING if self.missing else ALL_THERE


def check_program(program: str, modules: Sequence[str] = ()) -> int:
    """Print what `check` finds, to stdout, and files that cannot be read, to stderr; return the exit status."""
    report = check(program, modules)
    for file, reason in report.unreadable.items():
        print(f"dynrnn check: cannot read {file!r}: {reason}", file=sys.stderr)
    if report.files:
        print("\n".join(lines(report)))
    return report.status


def check(program: str, modules: Sequence[str] = ()) -> Report:
    """Read a program, the modules beside it that it imports, and `modules`, and look its TensorFlow names up."""
    report, pending, folder = Report(), [program, *modules], os.path.dirname(program)
    seen: set[str] = set()
    while pending:
        file = pending.pop(0)
        if os.path.abspath(file) in seen:
            continue
        seen.add(os.path.abspath(file))
        names = _read(file, report)
        if names is not None:
            _look_up(file, names, report)
            pending += [found for row in names.imports for found in _neighbours(folder, file, *row)]
    return report


def _read(file: str, report: Report) -> Names | None:
    try:
        with open(file, "rb") as stream:
            tree = parse_source(stream.read(), file)
    except OSError as error:
        report.unreadable[file] = error.strerror or str(error)
        return None
    except SyntaxError as error:
        report.unreadable[file] = f"neither Python 3 nor Python 2: {error.msg} (line {error.lineno})"
        return None
    report.files.append(file)
    return read_names(tree, _public)


def _public(module: str) -> list[str]:
    found = find_module(module)
    return [name for name in dir(found) if not name.startswith("_")]


def _neighbours(folder: str, file: str, level: int, module: str, names: tuple[str, ...]) -> Iterator[str]:
    """The program's own files that an import statement of `file` loads; `folder` is that of the program."""
    here = os.path.dirname(file)
    bases = [os.path.join(here, *[os.pardir] * (level - 1))] if level else dict.fromkeys([folder, here])
    parts = module.split(".") if module else []
    for base in bases:
        for count in range(1, len(parts) + 1):
            yield from _files(os.path.join(base, *parts[:count]))
        for name in names:
            yield from _files(os.path.join(base, *parts, name))


def _files(path: str) -> Iterator[str]:
    for file in (f"{path}.py", os.path.join(path, "__init__.py")):
        if os.path.isfile(file):
            yield os.path.normpath(file)


def _look_up(file: str, names: Names, report: Report) -> None:
    for use in names.uses:
        found = next((found for path in use.names if (found := find(path)) is not None), None)
        if found is None:
            kind = report.guarded if use.guarded else report.missing
            kind.setdefault(use.names[0], []).append((file, use.line))
        elif not isinstance(found.value, ModuleType):
            report.supported.setdefault(found.name, []).append((file, use.line))


class Found(NamedTuple):
    """Something of the face: its path and itself."""

    name: str
    value: Any


def find(path: str) -> Found | None:
    """Find what a path names in the face; None where the face has nothing for it.

    What comes after an object is the object's own: `tensorflow.float32.name` is there as `tensorflow.float32`.

    Example:
        >>> find("tensorflow.float32.name").name, find("tensorflow.nn.dynamic_rn")
        ('tensorflow.float32', None)
    """
    parts = path.split(".")
    found: Any = find_module(parts[0])
    for i, part in enumerate(parts[1:], 1):
        if not isinstance(found, (ModuleType, type)):
            return Found(".".join(parts[:i]), found)
        if hasattr(found, part):
            found = getattr(found, part)
        else:
            found = find_module(".".join(parts[: i + 1])) if isinstance(found, ModuleType) else None
            if found is None:
                return None
    return Found(path, found)


def alternatives(path: str) -> list[str]:
    """Return up to three names that a missing one may stand for: the same word elsewhere, then words spelled alike.

    Example:
        >>> alternatives("tensorflow.nn.rnn_cell.LSTMCel")[0]
        'tensorflow.nn.rnn_cell.LSTMCell'
    """
    space, _, word = path.rpartition(".")
    public = [name for name in NAMES if not any(part.startswith("_") for part in name.split("."))]
    elsewhere = [f"{ROOT}.{name}" for name in public if name.rpartition(".")[2] == word]
    holder = find(space)
    if holder is not None and holder.name == space:
        beside = nearest(word, [name for name in dir(holder.value) if not name.startswith("_")])
        return [*elsewhere, *(f"{space}.{name}" for name in beside)][:_MOST_ALTERNATIVES]
    return elsewhere[:_MOST_ALTERNATIVES]


def lines(report: Report) -> Iterator[str]:
    """The report as lines of text: what is supported, what is spelled the old way, what is missing, a summary."""
    old = {name: places for name, places in report.supported.items() if name in _OLD}
    plain = {name: places for name, places in report.supported.items() if name not in _OLD}
    yield from _table("supported", plain, lambda name: "")
    yield from _table("supported under an old spelling", old, lambda name: f"now {_shown(_OLD[name])}")
    yield from _table("missing, but the program tries it and can do without", report.guarded, _hint)
    yield from _table("missing", report.missing, _hint)
    count, files = len(report.supported) + len(report.missing), len(report.files)
    yield (
        f"{_counted(count, 'TensorFlow name')} in {_counted(files, 'file')}: {len(report.supported)} supported, "
        f"{len(report.missing)} missing"
    )


def _table(title: str, rows: dict[str, list[tuple[str, int]]], remark: Any) -> Iterator[str]:
    if not rows:
        return
    yield f"{title}:"
    cells = [(_shown(name), _places(places), remark(name)) for name, places in sorted(rows.items())]
    widths = [max(len(row[i]) for row in cells) for i in (0, 1)]
    for name, places, text in cells:
        yield f"  {name:{widths[0]}}  {places:{widths[1]}}  {text}".rstrip()
    yield ""


def _hint(name: str) -> str:
    found = alternatives(name)
    return f"closest: {', '.join(map(_shown, found))}" if found else ""


def _shown(path: str) -> str:
    return path.replace(ROOT, "tf", 1)


def _places(places: Iterable[tuple[str, int]]) -> str:
    """`train.py:3, 7 model.py:12`, with dots for what is too much."""
    by_file: dict[str, list[int]] = {}
    for file, line in places:
        by_file.setdefault(file, []).append(line)
    texts = []
    for file, found in by_file.items():
        some = sorted(set(found))
        more = ", ..." if len(some) > _MOST_PLACES else ""
        texts.append(f"{file}:{', '.join(map(str, some[:_MOST_PLACES]))}{more}")
    return " ".join(texts[:_MOST_PLACES]) + (" ..." if len(texts) > _MOST_PLACES else "")


def _counted(number: int, what: str) -> str:
    return f"{number} {what}" + ("" if number == 1 else "s")
