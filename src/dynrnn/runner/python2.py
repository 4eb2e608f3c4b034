"""Translates a Python 2 module to code of Python 3 that keeps its line numbers.

fissix rewrites the syntax; what is a matter of names is in `BUILTINS`, with which the code is run, and in
`python2_names`. A fixer may add or
drop lines: the syntax tree of its result is moved back to the lines of the original, so that tracebacks show the
program's own.
Not translated: byte strings (`str` is text here), sorting with `cmp`, comparisons between unlike types. The space of
`print x,` is written at once, where Python 2 held it back until the next word.
"""

import ast
import builtins
import functools
import importlib
import sys
import warnings
from types import CodeType, ModuleType
from typing import Any

from fissix.pgen2 import token
from fissix.pgen2.parse import ParseError
from fissix.pgen2.tokenize import TokenError
from fissix.pytree import Base
from fissix.refactor import RefactoringTool

from dynrnn.runner.division import DIVIDE, DIVIDE_IN_PLACE, Python2Division, divide, divide_in_place
from dynrnn.runner.python2_names import (
    filter_to_list,
    import_with_old_names,
    map_to_list,
    range_to_list,
    zip_to_list,
)

# Fixers of syntax and of attributes, and those of names that do right in place. `map`, `range`, `reduce`, `raw_input`
# and the like are in BUILTINS instead, where they work also as values, and so are the names of `itertools` and `types`
# in `python2_names`: the fixers miss `import itertools as it`, and take StringType for bytes.
FIXERS = (
    "apply", "basestring", "dict", "except", "exec", "execfile", "funcattrs", "getcwdu", "has_key", "imports",
    "imports2", "input", "long", "metaclass", "methodattrs", "ne", "next", "nonzero", "numliterals", "operator",
    "paren", "print", "raise", "renames", "repr", "standarderror", "sys_exc", "throw", "tuple_params", "unicode",
    "urllib", "xreadlines",
)  # fmt: skip
PACKAGE_FIXERS = ("import",)  # imports of a package's own modules without a dot


def compile_python2(text: str, path: str, *, in_package: bool = False) -> CodeType:
    """Compile a Python 2 module; the code is to be run with `BUILTINS` as its `__builtins__`.

    Every node keeps the line it has in `text`. Columns are left out, for those of the translation would be wrong in the
    original. `in_package` says that the module may import its neighbours in the package by their bare names. Raises
    SyntaxError where the text is not Python 2.

    Example:
        >>> exec(compile_python2("print 7 / 2, `1`", "program.py"), {"__builtins__": BUILTINS})
        3 1
    """
    tree = parse_python2(text, path, in_package=in_package)
    true_division = _has_true_division(tree)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about what Python 2 allowed
        return compile(tree if true_division else Python2Division().visit(tree), path, "exec", dont_inherit=True)


def parse_python2(text: str, path: str, *, in_package: bool = False) -> ast.Module:
    """Translate a Python 2 module to a syntax tree of Python 3, in which nodes keep the lines that they have in `text`.

    Raises SyntaxError where the text is not Python 2.

    Example:
        >>> parse_python2("\\nprint 7", "program.py").body[0].lineno
        2
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about what Python 2 allowed
        try:
            translated = _tool(in_package).refactor_string(text + "\n", path)
            assert translated is not None
            _expand_tabs(translated)
            tree = ast.parse(str(translated), path)
        except (ParseError, TokenError) as error:
            raise SyntaxError(f"not Python 2: {error}") from error
    _restore_lines(tree, _origins(translated))
    return tree


@functools.cache
def _tool(in_package: bool) -> RefactoringTool:
    names = FIXERS + PACKAGE_FIXERS if in_package else FIXERS
    return RefactoringTool([f"fissix.fixes.fix_{name}" for name in names])


def _expand_tabs(translated: Base) -> None:
    """Python 2 takes a tab in an indentation for up to eight spaces; Python 3 refuses a mixture."""
    for leaf in translated.leaves():
        leaf.prefix = leaf.prefix.expandtabs()
        if leaf.type == token.INDENT:
            leaf.value = leaf.value.expandtabs()


def _origins(translated: Base) -> list[int]:
    """For each line of the translated text, counted from 1, the line of the original that it came from."""
    first: dict[int, int] = {}
    line = 1
    for leaf in translated.leaves():
        line += leaf.prefix.count("\n")
        if leaf.value and leaf.lineno:  # what a fixer made has no line
            first.setdefault(line, leaf.lineno)
        line += str(leaf.value).count("\n")  # a fixer may leave a number
    origins = [1]
    for number in range(1, line + 1):
        origins.append(first.get(number, origins[-1]))
    return origins


def _restore_lines(tree: ast.AST, origins: list[int]) -> None:
    for node in ast.walk(tree):
        if isinstance(node, (ast.stmt, ast.expr, ast.excepthandler, ast.arg, ast.keyword, ast.alias)):
            end = node.end_lineno or node.lineno
            node.lineno = origins[node.lineno]
            node.end_lineno = max(node.lineno, origins[end])
            node.col_offset = node.end_col_offset = -1  # unknown


def _has_true_division(tree: ast.Module) -> bool:
    futures = (node for node in tree.body if isinstance(node, ast.ImportFrom) and node.module == "__future__")
    return any(alias.name == "division" for node in futures for alias in node.names)


def _compare(left: Any, right: Any) -> int:
    return (left > right) - (left < right)


def _reload(module: ModuleType) -> ModuleType:
    if module is not sys:
        return importlib.reload(module)
    # `reload(sys); sys.setdefaultencoding("utf-8")` was the usual way to get what Python 3 always does.
    setattr(sys, "setdefaultencoding", lambda encoding: None)  # noqa: B010  (pyright knows that sys has none)
    return module


BUILTINS: dict[str, Any] = {
    **vars(builtins),
    DIVIDE: divide,
    DIVIDE_IN_PLACE: divide_in_place,
    "__import__": import_with_old_names,
    "cmp": _compare,
    "file": open,
    "filter": filter_to_list,
    "intern": sys.intern,
    "map": map_to_list,
    "range": range_to_list,
    "raw_input": input,
    "reduce": functools.reduce,
    "reload": _reload,
    "xrange": range,
    "zip": zip_to_list,
}
