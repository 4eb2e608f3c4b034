"""Writes `docs/supported.md`: every public name of the TF1 face, its arguments and the first sentence of its docs.

python docs/make_supported.py
"""

from __future__ import annotations

import enum
import inspect
import re
from collections import defaultdict
from pathlib import Path
from typing import Any

import dynrnn.tf1  # noqa: F401  (it fills NAMES)
from dynrnn.graph.dtype import DType
from dynrnn.tf1.export import NAMES

PAGE = Path(__file__).with_name("supported.md")
HEAD = """# What the TensorFlow 1 face has

Every public name by namespace, with its arguments. `python docs/make_supported.py` writes this page; `dynrnn check
program.py` compares a program with it. Names of one object stand with the first of them in full.
"""


def page() -> str:
    """The page's text."""
    spaces: dict[str, list[str]] = defaultdict(list)
    first = _first_names()
    for path in sorted(_public(), key=str.lower):
        space, _, name = path.rpartition(".")
        spaces[f"tf.{space}".rstrip(".")].append(f"- {_line(path, name, first)}")
    parts = [f"## {space}\n\n" + "\n".join(lines) for space, lines in sorted(spaces.items())]
    return HEAD + f"\n{len(_public())} names.\n\n" + "\n\n".join(parts) + "\n"


def _public() -> list[str]:
    return [path for path in NAMES if not path.rpartition(".")[2].startswith("_") or path == "__version__"]


def _first_names() -> dict[int, str]:
    """For each object the path under which it stands in full: the shortest one."""
    first: dict[int, str] = {}
    for path in sorted(_public(), key=lambda path: (path.count("."), len(path), path)):
        first.setdefault(id(NAMES[path]), path)
    return first


def _line(path: str, name: str, first: dict[int, str]) -> str:
    value = NAMES[path]
    own = inspect.isroutine(value) or inspect.isclass(value)
    if own and first[id(value)] != path:
        return f"`{name}`: `tf.{first[id(value)]}`"
    if isinstance(value, DType):
        return f"`{name}`: element type"
    if not own:
        return f"`{name}`" + (f": `{value!r}`" if value is None or isinstance(value, (bool, int, float, str)) else "")
    module = str(value.__module__)
    if not module.startswith("dynrnn"):
        return f"`{name}`: from `{module.lstrip('_')}`"
    return f"`{name}{_arguments(value)}`: {_sentence(value)}"


def _arguments(value: Any) -> str:
    if inspect.isclass(value) and issubclass(value, enum.Enum):
        return ""  # Python's versions differ in what they show
    try:
        signature = inspect.signature(value)
    except (TypeError, ValueError):  # a class of Python's own
        return ""
    plain = [parameter.replace(annotation=parameter.empty) for parameter in signature.parameters.values()]
    return re.sub(r" at 0x\w+", "", str(signature.replace(parameters=plain, return_annotation=signature.empty)))


def _sentence(value: Any) -> str:
    paragraph = " ".join((inspect.getdoc(value) or "").partition("\n\n")[0].split())
    found = re.match(r"(.*?[.:;])( |$)", paragraph)
    return (found[1] if found else paragraph).rstrip(".:;")


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
