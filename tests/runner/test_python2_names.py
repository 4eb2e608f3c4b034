"""Names of Python 2: builtin functions that return lists, and what its modules had."""

import string

import pytest

from dynrnn.runner.python2 import BUILTINS, compile_python2
from dynrnn.runner.python2_names import MODULES

EXPRESSIONS = {
    "map(str, [1, 2])": ["1", "2"],
    "map(None, [1, 2])": [1, 2],
    "map(None, [1, 2], [3])": [(1, 3), (2, None)],
    "map(lambda a, b: (a, b), 'ab', 'c')": [("a", "c"), ("b", None)],
    "[f([1], [2]) for f in [zip]]": [[(1, 2)]],
    "reduce(lambda x, f: f(str, x), [map], [1])": ["1"],
    "filter(None, [0, 1]) + filter(None, iter([2]))": [1, 2],
    "filter(str.isdigit, 'a1b2')": "12",
    "filter(None, (0, 1))": (1,),
    "range(2) + range(1, 3) + range(4, 0, -2)": [0, 1, 1, 2, 4, 2],
    "type(xrange(3)), xrange(3)[1]": (range, 1),
}
PROGRAMS = {
    "import string; result = string.letters[:3], string.lowercase[-1], string.uppercase[0]": ("abc", "z", "A"),
    "import string; result = string.join(['a', 'b']), string.join('ab', '-'), string.split(' a b')": (
        "a b",
        "a-b",
        ["a", "b"],
    ),
    "import string; result = 'aab'.translate(string.maketrans('a', 'c')), string.atoi('3')": ("ccb", 3),
    "from string import letters, digits\nresult = letters[0], digits[0]": ("a", "0"),
    "import itertools as it\nresult = list(it.izip([1], it.count()))": [(1, 0)],
    "from itertools import imap, ifilter, izip_longest\nresult = imap(str, [1]).next(), list(ifilter(None, [0, 1]))": (
        "1",
        [1],
    ),
    "def f():\n  from itertools import izip\n  return list(izip('a', 'b'))\nresult = f()": [("a", "b")],
    "import types\nresult = isinstance('a', types.StringTypes), types.ListType": (True, list),
    "import time\nresult = time.clock() >= 0": True,
    "import os.path, string\nresult = os.path.basename('a/b'), string.upper('x')": ("b", "X"),
}


def run(source):
    names = {"__builtins__": BUILTINS, "__name__": "module"}
    exec(compile_python2(f"print\n{source}", "module.py"), names)
    return names["result"]


@pytest.mark.parametrize(("expression", "expected"), EXPRESSIONS.items(), ids=EXPRESSIONS)
def test_builtin_functions_are_those_of_python_2(expression, expected):
    assert run(f"result = {expression}") == expected


@pytest.mark.parametrize(("source", "expected"), PROGRAMS.items(), ids=PROGRAMS)
def test_modules_have_their_old_names(source, expected):
    assert run(source) == expected


def test_names_that_a_module_has_are_kept(monkeypatch):
    monkeypatch.setattr(string, "letters", "its own", raising=False)
    assert run("import string\nresult = string.letters") == "its own"


def test_modules_are_left_alone_until_a_python_2_program_imports_them():
    assert not any(hasattr(string, name) for name in MODULES["string"])
    run("import time\nresult = 1")
    assert not any(hasattr(string, name) for name in MODULES["string"])


def test_a_module_that_is_missing_is_an_import_error():
    with pytest.raises(ModuleNotFoundError, match="no_such_module"):
        run("import no_such_module")
