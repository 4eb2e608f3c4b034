import pytest

from dynrnn.runner.source import compile_source


def test_python3_comes_first():
    assert compile_source(b"print(7 / 2)", "program.py").builtins is None
    assert compile_source(b"print 7 / 2", "program.py").builtins is not None


def test_error_is_python3s_with_a_note():
    with pytest.raises(SyntaxError, match="invalid syntax") as caught:
        compile_source(b"x = = 2", "program.py")
    assert caught.value.__notes__ == ["The file is not Python 2 either."]


def test_undecodable_source_is_a_syntax_error():
    with pytest.raises(SyntaxError):
        compile_source("print '中文'".encode("gbk"), "program.py")


def test_modules_beside_the_program_may_be_python2(write, run):
    write("beside.py", "import sys\ndef half(n):\n    print 'half of', n\n    return n / 2\n")
    write("package/__init__.py", "print 'package', __name__\nimport inner\n")
    write("package/inner.py", "from neighbour import name\nprint name, xrange(2)[1]\n")
    write("package/neighbour.py", "name = `__name__`\nexec 'x = 1'\n")
    path = write(
        "program.py", "import beside, package\nprint(beside.half(7), 7 / 2, beside.__file__, package.inner.name)\n"
    )
    ended = run(path)
    assert ended.stderr == ""
    assert ended.stdout.splitlines() == [
        "package package",
        "'package.neighbour' 1",
        "half of 7",
        f"3 3.5 {path.parent / 'beside.py'} 'package.neighbour'",
    ]


def test_modules_of_a_python2_program_are_python2_even_where_they_could_be_either(write, run):
    write("either.py", "def half(n):\n    return n / 2\n")
    write("package/__init__.py", "import inner\n")
    write("package/inner.py", "share = 7 / 2\n")
    write("modern.py", "half = 7 / 2\nmatch half:\n    case _: pass\n")  # not Python 2: so Python's own
    path = write(
        "program.py", "import either, package, modern\nprint either.half(7), package.inner.share, modern.half\n"
    )
    ended = run(path)
    assert (ended.stderr, ended.stdout) == ("", "3 3 3.5\n")


def test_translated_modules_leave_no_bytecode(write, run, monkeypatch):
    monkeypatch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
    write("beside.py", "print 'beside'\n")
    path = write("program.py", "import beside, plain\n")
    write("plain.py", "print('plain')\n")
    for _ in range(2):
        assert run(path).stdout == "beside\nplain\n"
    assert [file.name.split(".")[0] for file in path.parent.rglob("*.pyc")] == ["plain"]


def test_python2_module_fails_at_its_own_line(write, run):
    beside = write("beside.py", "print 'beside'\n\ndef fail((a, b)):\n    raise ValueError, a\n")
    path = write("program.py", "import beside\nbeside.fail((1, 2))\n")
    assert run(path).stderr.splitlines()[-3:] == [
        f'  File "{beside}", line 4, in fail',
        "    raise ValueError, a",
        "ValueError: 1",
    ]


def test_modules_elsewhere_are_left_to_python(write, run):
    write("library/old.py", "print 'old'\n")
    path = write("programs/program.py", "import sys; sys.path.append('../library'); import old")
    assert "SyntaxError" in run(path).stderr


def test_names_of_python2_stay_in_python2(write, run):
    write("beside.py", "print 'beside'\nassert cmp(1, 2) == -1\n")
    path = write("program.py", "import beside\ntry:\n    cmp\nexcept NameError:\n    print('no cmp')\n")
    assert run(path).stdout == "beside\nno cmp\n"
