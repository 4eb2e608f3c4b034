"""Hints for programs that Python 3 can parse and that use names of Python 2."""

import pytest

from dynrnn.runner.python2_hints import python2_hint

USES = {
    "xrange(3)": "range",
    "unicode('a')": "str",
    "import cPickle": "pickle",
    "{}.has_key(1)": "key in mapping",
    "{}.iteritems()": "items",
    "import string; string.letters": "string.ascii_letters",
    "import sys; sys.maxint": "sys.maxsize",
    "from itertools import izip": "zip",
    "import urllib; urllib.urlopen": "urllib.request.urlopen",
}


def error_of(source):
    with pytest.raises(Exception) as caught:
        exec(source, {})
    return caught.value


@pytest.mark.parametrize(("source", "modern"), USES.items(), ids=USES)
def test_a_name_of_python_2_is_translated(source, modern):
    assert python2_hint(error_of(source)).endswith(f"which has: {modern}")


@pytest.mark.parametrize(
    "source",
    [
        "no_such_name",
        "import no_such_module",
        "[].iteritems()",
        "{}.nothing",
        "1 / 0",
        "import string; string.no",
        "from string import no",
        "from os import izip",
    ],
)
def test_other_failures_have_no_hint(source):
    assert python2_hint(error_of(source)) is None
