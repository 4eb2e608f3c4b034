import sys

import pytest

from dynrnn.runner.python2 import BUILTINS, FIXERS, PACKAGE_FIXERS, compile_python2


def execute(source, **names):
    """Run a Python 2 module; returns its names and the lines on which it called `mark()`."""
    lines = []

    def mark(value=None):
        lines.append(sys._getframe(1).f_lineno)
        return value

    names = {"__builtins__": BUILTINS, "__name__": "module", "mark": mark, **names}
    exec(compile_python2(source, "module.py"), names)
    return names, lines


# For each fixer a module that needs it, in constructs of several lines, with its `result`; `mark()` records lines.
SAMPLES = {
    "apply": ("def f(a,\n      b=2): return a, b\nresult = apply(f,\n  (1,),\n  {'b': 3})\nmark()", (1, 3)),
    "basestring": ("result = isinstance(\n  'a', basestring)\nmark()", True),
    "dict": ("d = {'a': 1}\nresult = [(k, v) for k, v in\n  d.iteritems()] + \\\n  d.keys()\nmark()", [("a", 1), "a"]),
    "except": (
        "try:\n  raise KeyError(1)\nexcept (TypeError,\n        KeyError), (a,\n):\n  result = a\n  mark()\nmark()",
        1,
    ),
    "exec": ("d = {}\nexec '''\nx = 1\n''' in \\\n  d\nmark()\nresult = d['x']", 1),
    "execfile": ("mark(); result = 1\nif not result:\n  execfile('f.py')\nmark()", 1),
    "funcattrs": ("def f():\n  pass\nresult = f.\\\n  func_name\nmark()", "f"),
    "getcwdu": ("import os\nresult = os.getcwdu(\n) == os.getcwd()\nmark()", True),
    "has_key": ("result = ({'a': 1}\n  .has_key('a'))\nmark()", True),
    "imports": ("import cPickle as pickle, \\\n  Queue\nresult = Queue.__name__\nmark()", "queue"),
    "imports2": ("import anydbm, \\\n  whichdb\nmark(); result = 1", 1),
    "input": ("mark()\nif not mark(1):\n  input(\n  'x')\nresult = 1\nmark()", 1),
    "long": ("result = long(\n  3) == 3L\nmark()", True),
    "metaclass": (
        "class Meta(type):\n  pass\nmark()\nclass A(object):\n  'doc'\n  __metaclass__ = Meta\n  mark()\n"
        "  x = (1,\n    mark(2))\nmark()\nresult = type(A).__name__",
        "Meta",
    ),
    "methodattrs": ("class A:\n  def f(self): pass\na = A()\nresult = a.f\\\n  .im_self is a\nmark()", True),
    "ne": ("result = 1 <> \\\n  2\nmark()", True),
    "next": ("class A(object):\n  def next(self):\n    return 5\nresult = A().\\\n  next()\nmark()", 5),
    "nonzero": ("class A(object):\n  def __nonzero__(self):\n    return False\nresult = bool(\n  A())\nmark()", False),
    "numliterals": ("result = [0777,\n  0xFFL]\nmark()", [511, 255]),
    "operator": ("import operator\nresult = operator.isCallable(\n  len)\nmark()", True),
    "paren": ("result = [x for x in 1,\n  2]\nmark()", [1, 2]),
    "print": (
        "import sys\nclass Out:\n  text = ''\n  def write(self, text): self.text += text\nout = Out()\n"
        "print >>out, 'a', \\\n  'b',\nprint >>out\nprint >>out, ('c',\n  1)\nmark()\nresult = out.text",
        "a b \n('c', 1)\n",
    ),
    "raise": ("try:\n  raise ValueError, (\n    'text')\nexcept ValueError, e:\n  result = str(e)\nmark()", "text"),
    "renames": ("import sys\nresult = sys.\\\n  maxint > 1\nmark()", True),
    "repr": ("result = (`'a'` +\n  `1`)\nmark()", "'a'1"),
    "standarderror": ("result = issubclass(\n  ValueError, StandardError)\nmark()", True),
    "sys_exc": (
        "import sys\ntry:\n  [][\n    0]\nexcept IndexError:\n  kind = sys.\\\n    exc_type\n"
        "  result = kind.__name__\nmark()",
        "IndexError",
    ),
    "throw": (
        "def g():\n  try:\n    yield 1\n  except ValueError, e:\n    yield str(e)\nit = g()\nit.next()\n"
        "result = it.throw(ValueError,\n  'text')\nmark()",
        "text",
    ),
    "tuple_params": (
        "def f(a, (b,\n      c), (d, e)=(4, 5)):\n  mark()\n  return a, b, c, d, e\nresult = f(1,\n  (2, 3))\nmark()\n"
        "result += (lambda (x, y):\n  x + y)((1, 2)),\nmark()",
        (1, 2, 3, 4, 5, 3),
    ),
    "unicode": ("result = unicode('a') + ur'\\b' + \\\n  unichr(99)\nmark()", "a\\bc"),
    "urllib": ("import urllib, \\\n  urllib2\nmark()\nresult = urllib.quote(\n  'a b')\nmark()", "a%20b"),
    "xreadlines": (
        "import os\nf = open(os.devnull)\nresult = list(f.\\\n  xreadlines())\nf.close()\nmark()",
        [],
    ),
}


def test_every_fixer_has_a_sample():
    assert set(SAMPLES) == set(FIXERS)
    assert PACKAGE_FIXERS == ("import",)  # test_source imports a package's neighbours


@pytest.mark.parametrize("fixer", SAMPLES)
def test_lines_stay_where_they_were(fixer):
    source, expected = SAMPLES[fixer]
    source = f"'''A docstring\n\nof lines.'''\n# and a comment\nprint \\\n  'Python 2' if 0 else '',\n{source}\n"
    with pytest.raises(SyntaxError):
        compile(source, "module.py", "exec")
    names, lines = execute(source)
    assert names["result"] == expected
    marks = [number for number, line in enumerate(source.splitlines(), 1) if "mark(" in line]
    assert sorted(lines) == marks


def test_function_keeps_its_line():
    names, _ = execute("print\n\n\ndef f(a, (b, c)):\n\n  return b\n")
    assert names["f"].__code__.co_firstlineno == 4
    assert {line for *_, line in names["f"].__code__.co_lines()} <= {4, 6}


def test_columns_are_unknown():
    code = compile_python2("print 1, f(2)\n", "module.py")
    assert {(start, end) for _, _, start, end in code.co_positions()} <= {(None, None), (0, 0)}


def test_tabs_are_eight_spaces():
    source = "if 1:\n\tx = 1\n        y = 2\n\tif x:\n\t    z = '''\n\ttab'''\n            print z\n"
    assert execute(source)[0]["z"] == "\n\ttab"


def test_text_without_a_last_newline():
    assert execute("result = `1`")[0]["result"] == "1"


@pytest.mark.parametrize(
    "source", ["x = = 2", "def f(:\n  pass", "x = '''open", "if 1:\n    a\n  b", "return 1", "x = (1"]
)
def test_what_is_not_python2_is_refused(source):
    with pytest.raises(SyntaxError):
        compile_python2(source, "module.py")


def test_print_function_of_the_future():
    names, _ = execute("from __future__ import print_function\nresult = []\nprint(`1`, file=result or None)\n")
    assert names["result"] == []


def test_names_of_python2():
    names, _ = execute(
        "print\nimport sys\nfs = xrange, reduce, intern, raw_input, file\n"
        "result = [cmp(1, 2), cmp(2, 1), cmp(1, 1), reduce(lambda a, b: a + b, [1, 2])]\n"
        "reload(sys)\nsys.setdefaultencoding('utf-8')\nimport string\nresult.append(reload(string) is string)\n"
    )
    assert names["result"] == [-1, 1, 0, 3, True]
    del sys.setdefaultencoding
