"""Writes `docs/supported.md`: the names of the TensorFlow 1 API, their arguments and the first clause of their docs.

python docs/make_supported.py
"""

from __future__ import annotations

import inspect
from collections import defaultdict
from pathlib import Path

from signatures import arguments, sentence

import dynrnn.tf1  # noqa: F401  (it fills NAMES)
from dynrnn.graph.dtype import DType
from dynrnn.tf1.export import NAMES

PAGE = Path(__file__).with_name("supported.md")
ENDS = ".:;"  # a clause is enough for each of a thousand names
HEAD = """# Supported TensorFlow 1 names

Every public name of the TensorFlow 1 API by namespace, with its arguments; other names of the same object refer to the
first. `dynrnn check program.py` reports which of the names that a program uses are here, and which are not.
`python docs/make_supported.py` writes this page.
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
    return f"`{name}{arguments(value)}`: {sentence(value, ENDS)}"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
