"""Reads a program's sources: Python 3 first and, only where that is a SyntaxError, Python 2.

Here is the choice, for the program itself and for the modules beside it. Beside a program in Python 2, whatever can be
Python 2 is: nothing in a module as short as `def half(n): return n / 2` tells. The translation is in `python2`.
"""

import ast
import os
import sys
import warnings
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from importlib.util import decode_source
from types import CodeType, ModuleType
from typing import NamedTuple


class Compiled(NamedTuple):
    """A module's code and, for Python 2, the builtins that it runs with (None: Python's own)."""

    code: CodeType
    builtins: dict[str, object] | None


def compile_source(data: bytes, path: str) -> Compiled:
    """Compile a module's bytes, decoded as PEP 263 says (UTF-8 where nothing is declared).

    Lines keep their numbers in either language. Raises Python 3's SyntaxError, with a note, where the file is neither
    Python 3 nor Python 2.

    Example:
        >>> compile_source(b"print 7 / 2", "program.py").builtins is None
        False
    """
    try:
        return Compiled(compile(data, path, "exec", dont_inherit=True), None)
    except SyntaxError as error:
        try:
            return _compile_python2(data, path)
        except SyntaxError:
            error.add_note("The file is not Python 2 either.")
            raise error from None


def parse_source(data: bytes, path: str) -> ast.Module:
    """Parse a module's bytes as `compile_source` compiles them; nodes have the lines of the file.

    Raises Python 3's SyntaxError, with a note, where the file is neither Python 3 nor Python 2.

    Example:
        >>> type(parse_source(b"print 7", "program.py")).__name__
        'Module'
    """
    try:
        return ast.parse(data, path)
    except SyntaxError as error:
        # fissix takes a tenth of a second: only for what is not Python 3.
        from dynrnn.runner.python2 import parse_python2

        try:
            return parse_python2(_decoded(data), path)
        except SyntaxError:
            error.add_note("The file is not Python 2 either.")
            raise error from None


def _decoded(data: bytes) -> str:
    try:
        return decode_source(data)
    except UnicodeDecodeError as error:
        raise SyntaxError(str(error)) from error


def _compile_python2(data: bytes, path: str, *, in_package: bool = False) -> Compiled:
    # fissix takes a tenth of a second: only for what is not Python 3.
    from dynrnn.runner.python2 import BUILTINS, compile_python2

    return Compiled(compile_python2(_decoded(data), path, in_package=in_package), BUILTINS)


class _Python2Loader(SourceFileLoader):
    """Loads a translated module; no bytecode is cached, for that would hide the translation from the next run."""

    def __init__(self, fullname: str, path: str, compiled: Compiled):
        super().__init__(fullname, path)
        self._compiled = compiled

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        module = ModuleType(spec.name)
        vars(module)["__builtins__"] = self._compiled.builtins
        return module

    def get_code(self, fullname: str) -> CodeType:
        return self._compiled.code


class _Python2Finder(MetaPathFinder):
    """Finds the modules in the program's folder that are Python 2, and leaves all others to Python.

    In a program that is Python 2 itself (`throughout`) that is each one which Python 2 can read: it ran there.
    """

    def __init__(self, folder: str, throughout: bool):
        self._folder = folder
        self._throughout = throughout

    def find_spec(self, fullname: str, path: Sequence[str] | None, target: object = None) -> ModuleSpec | None:
        parents = fullname.split(".")[:-1]
        where = os.path.join(self._folder, *parents)
        if path is not None and where not in path:
            return None
        spec = PathFinder.find_spec(fullname, [where])
        if spec is None or spec.origin is None or not isinstance(spec.loader, SourceFileLoader):
            return None
        data = spec.loader.get_data(spec.origin)
        if not self._throughout and _is_python3(data, spec.origin):
            return None
        in_package = bool(parents) or spec.submodule_search_locations is not None
        try:
            compiled = _compile_python2(data, spec.origin, in_package=in_package)
        except SyntaxError:
            return None  # Python's own import then says what is wrong
        spec.loader = _Python2Loader(fullname, spec.origin, compiled)
        spec.cached = None
        return spec


def _is_python3(data: bytes, path: str) -> bool:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the import that follows gives them
        try:
            compile(data, path, "exec", dont_inherit=True)
        except SyntaxError:
            return False
    return True


def install_python2_imports(folder: str, *, throughout: bool = False) -> None:
    """Let modules in `folder`, and in packages there, be imported also where they are Python 2.

    throughout: the program is Python 2, so a module that could be either (`n / 2` alone) is Python 2, too.
    """
    # Before the finder of files and behind those of built-in modules, where Python looks at the program's folder.
    index = sys.meta_path.index(PathFinder) if PathFinder in sys.meta_path else len(sys.meta_path)
    sys.meta_path.insert(index, _Python2Finder(folder, throughout))
