import re

import pytest

ENDINGS = {
    "returns": "print('done')",
    "raises in a function": """
        def outer():
            return inner() + 1

        def inner():
            raise ValueError("the value")

        print("before", flush=True)
        outer()
        """,
    "raises while handling": """
        try:
            {}["key"]
        except KeyError as error:
            try:
                1 / 0
            except ZeroDivisionError:
                raise TypeError("third") from error
        """,
    "raises a group": "raise ExceptionGroup('two', [ValueError(1), KeyError(2)])",
    "raises in a module beside it": "import beside\nbeside.fail()",
    "fails to import": "import no_such_module_anywhere",
    "fails to import a module with a syntax error": "import broken",
    "fails while a module is imported": "import failing",
    "recurses without end": "def f(): f()\nf()",
    "exits with nothing": "import sys; sys.exit()",
    "exits with a number": "import sys; sys.exit(7)",
    "exits with a text": "import sys; sys.exit('told why')",
    "is interrupted": "import atexit; atexit.register(print, 'at exit'); raise KeyboardInterrupt",
    "has its own hook": "import sys; sys.excepthook = lambda *error: print('hook', error[0].__name__); 1 / 0",
    "raises at exit": "import atexit; atexit.register(lambda: 1 / 0)",
    "raises something odd": "class Odd(BaseException): pass\nraise Odd('odd')",
}


def steady(text):
    """The text without addresses and without the depth at which a recursion ended."""
    return re.sub(r"0x\w+|\d+ more times", "...", text)


@pytest.mark.parametrize("ending", ENDINGS)
def test_program_ends_as_under_python(ending, write, run, run_python):
    path = write("program.py", ENDINGS[ending])
    write("beside.py", "def fail():\n    raise OSError('beside')\n")
    write("broken.py", "x = (1,\ny z\n")
    write("failing.py", "import beside\nbeside.fail()\n")
    ours, pythons = run(path), run_python(path)
    assert steady(ours.stderr) == steady(pythons.stderr)
    assert ours.stdout == pythons.stdout
    assert ours.returncode == pythons.returncode


def test_program_is_the_main_module(write, run, run_python):
    path = write(
        "program.py",
        """
        import os, pickle, sys

        class Thing:
            pass

        print(sys.modules["__main__"].Thing is Thing, type(pickle.loads(pickle.dumps(Thing()))) is Thing)
        print(__name__, __file__, __package__, __spec__, __doc__, sys.argv, sys.path[0])
        print(sorted(globals()))
        """,
    )
    ours = run(path, "argument")
    assert ours.stdout.startswith("True True\n")
    assert ours.stdout == run_python(path, "argument").stdout


def test_everything_after_the_program_is_its_own(write, run):
    path = write("program.py", "import sys; print(sys.argv[1:])")
    args = ["--help", "--epochs=3", "-x", "word", "--", "--version", ""]
    assert run(path, *args).stdout == f"{args}\n"


def test_program_may_parse_flags(write, run):
    path = write("program.py", "import argparse; argparse.ArgumentParser(description='its own help').parse_args()")
    assert "its own help" in run(path, "--help").stdout


def test_parts_of_the_package_do_not_leak_into_the_program(write, run):
    path = write("program.py", "from __future__ import print_function\ndef f(x: no_such_name): pass")
    assert "NameError" in run(path).stderr  # annotations are evaluated: no future of ours is inherited


@pytest.mark.parametrize("name", ["absent.py", "folder"])
def test_unreadable_program_is_one_sentence(name, write, run):
    folder = write("folder/program.py", "").parent.parent
    ended = run(folder / name)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr.startswith("dynrnn run: cannot read the program ")
    assert str(folder / name) in ended.stderr and ended.stderr.count("\n") == 1


def test_neither_python_shows_the_syntax_error(write, run, run_python):
    path = write("program.py", "print('one')\nx = = 2\n")
    ended = run(path)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr == run_python(path).stderr + "The file is not Python 2 either.\n"


def test_python2_program_fails_at_its_own_line(write, run):
    path = write("program.py", "import sys\nprint 'one',\\\n  'two'\n\nassert (1 ==\n        2), 'no'\n")
    ended = run(path)
    assert (ended.returncode, ended.stdout) == (1, "one two\n")
    assert ended.stderr.splitlines() == [
        "Traceback (most recent call last):",
        f'  File "{path}", line 5, in <module>',
        "    assert (1 ==",
        "AssertionError: no",
    ]


def test_python2_division_by_zero_shows_only_the_program(write, run):
    path = write("program.py", "print 'about to'\nx = 1\nx /= 0\n")
    assert run(path).stderr.splitlines() == [
        "Traceback (most recent call last):",
        f'  File "{path}", line 3, in <module>',
        "    x /= 0",
        "ZeroDivisionError: integer division or modulo by zero",
    ]


def test_python3_program_that_uses_names_of_python2_is_told_what_they_are_now(write, run, run_python):
    path = write("program.py", "def f():\n    return xrange(3)\n\nf()\n")
    ended = run(path)
    assert ended.returncode == 1
    assert ended.stderr == run_python(path).stderr + (
        "'xrange' is Python 2's; this file is valid Python 3 and is run as Python 3, which has: range\n"
    )


@pytest.mark.parametrize("language", ["print(text)", "print text"])
@pytest.mark.parametrize(
    ("head", "encoding"),
    [
        ("", "utf-8"),
        ("", "utf-8-sig"),
        ("# -*- coding: gbk -*-\n", "gbk"),
        ("#!/usr/bin/python\n# vim: set fileencoding=big5 :\n", "big5"),
    ],
)
def test_source_is_decoded_as_it_declares(head, encoding, language, write, run, monkeypatch):
    monkeypatch.setenv("PYTHONIOENCODING", "utf-8")
    path = write("program.py", f"{head}text = u'中文'\n{language}\n".encode(encoding))
    assert run(path).stdout == "中文\n"


def test_program_without_tensorflow_does_not_load_torch(write, run):
    path = write("program.py", "import sys; print('torch' in sys.modules)")
    assert run(path).stdout == "False\n"
