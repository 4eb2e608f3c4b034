"""Reads every import in src/dynrnn and compares it with the table of rooms."""

import ast
import pathlib
import sys

import pytest

SOURCE = pathlib.Path(__file__).parents[1] / "src"
FILES = sorted((SOURCE / "dynrnn").rglob("*.py"))

# Which rooms and which packages a room may import; `errors` and `_nest` and the standard library are open to all.
ROOMS = {
    "errors": set(),
    "_nest": {"numpy"},
    "cells": {"torch"},
    "kernels": {"cells", "torch"},
    "rnn": {"cells", "kernels", "torch"},
    "nn": {"rnn", "cells", "torch", "matplotlib"},
    "graph": {"torch", "numpy", "ml_dtypes"},
    "checkpoint": {"numpy", "google_crc32c", "google", "cramjam"},
    "tf1": {"graph", "rnn", "cells", "checkpoint", "torch", "numpy", "absl", "tensorboard", "PIL", "google"},
    "weights": {"cells", "nn", "checkpoint", "torch", "numpy"},
    "export": {"nn", "cells", "torch", "onnx", "onnxruntime"},
    "runner": {"tf1", "fissix"},
}
ALL = set(ROOMS) | {"torch", "numpy"}
ENDS = {
    "__init__": {"cells", "rnn", "nn", "weights"},
    "__main__": {"cli"},
    "cli": ALL | {"__init__", "typer", "rich"},
}
OPEN = {"errors", "_nest"}


def room_of(file):
    inside = file.relative_to(SOURCE / "dynrnn").with_suffix("").parts
    return inside[0]


def modules_of(node, file):
    """The dotted modules that an import statement names; for `from package import name` also package.name."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    module = node.module or ""
    if node.level:
        package = file.relative_to(SOURCE).parent.parts
        module = ".".join([*package[: len(package) - node.level + 1], *filter(None, [module])])
    if module == "dynrnn":
        return [f"dynrnn.{alias.name}" for alias in node.names]
    return [module]


def rooms_imported(file):
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            for module in modules_of(node, file):
                top, _, rest = module.partition(".")
                if top == "dynrnn":
                    yield node.lineno, rest.partition(".")[0] or "__init__"
                elif top not in sys.stdlib_module_names:
                    yield node.lineno, top


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(SOURCE)))
def test_room_imports_only_what_it_may(file):
    room = room_of(file)
    allowed = {**ROOMS, **ENDS}[room] | OPEN | {room}
    wrong = [
        f"line {line}: {room} imports {imported}" for line, imported in rooms_imported(file) if imported not in allowed
    ]
    assert not wrong


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(SOURCE)))
def test_import_inside_a_function_says_why(file):
    if room_of(file) == "cli":
        return  # each command imports what it needs when it is called
    lines = file.read_text().splitlines()
    functions = [node for node in ast.walk(ast.parse(file.read_text())) if isinstance(node, ast.FunctionDef)]
    imports = [
        node for function in functions for node in ast.walk(function) if isinstance(node, (ast.Import, ast.ImportFrom))
    ]
    silent = [node.lineno for node in imports if "#" not in lines[node.lineno - 1] + lines[node.lineno - 2]]
    assert not silent


def test_faces_do_not_know_each_other():
    assert "nn" not in ROOMS["tf1"] | ROOMS["graph"] and not ROOMS["nn"] & {"tf1", "graph"}


def test_reader_sees_every_kind_of_import():
    inner = SOURCE / "dynrnn" / "tf1" / "ops" / "math.py"
    cases = {
        "import dynrnn.tf1.graph": ["dynrnn.tf1.graph"],
        "from dynrnn import cells, _nest": ["dynrnn.cells", "dynrnn._nest"],
        "from ... import errors": ["dynrnn.errors"],
        "from ...graph.op import Op": ["dynrnn.graph.op"],
        "from .convert import x": ["dynrnn.tf1.ops.convert"],
        "import torch.nn as nn, os": ["torch.nn", "os"],
    }
    assert {text: modules_of(ast.parse(text).body[0], inner) for text in cases} == cases
