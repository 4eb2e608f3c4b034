"""Says what Python 3 calls something that a program uses under Python 2's name.

A file that Python 3 can parse is run as Python 3, also where it was written for Python 2. It then fails at the first
name that is gone.
"""

import builtins
import re
from types import ModuleType

# What Python 3 has in place of builtin names and of a dictionary's methods.
_BUILTINS = {
    "basestring": "str",
    "cmp": "(a > b) - (a < b)",
    "execfile": "exec(open(path).read())",
    "file": "open",
    "long": "int",
    "raw_input": "input",
    "reduce": "functools.reduce",
    "reload": "importlib.reload",
    "unichr": "chr",
    "unicode": "str",
    "xrange": "range",
}
_METHODS = {
    "has_key": "key in mapping",
    "iteritems": "items",
    "iterkeys": "keys",
    "itervalues": "values",
}
_MODULES = {
    "itertools": {"ifilter": "filter", "imap": "map", "izip": "zip", "izip_longest": "itertools.zip_longest"},
    "os": {"getcwdu": "os.getcwd"},
    "string": {
        "join": "separator.join(words)",
        "letters": "string.ascii_letters",
        "lowercase": "string.ascii_lowercase",
        "maketrans": "str.maketrans",
        "uppercase": "string.ascii_uppercase",
    },
    "sys": {"maxint": "sys.maxsize"},
    "urllib": {
        "quote": "urllib.parse.quote",
        "unquote": "urllib.parse.unquote",
        "urlencode": "urllib.parse.urlencode",
        "urlopen": "urllib.request.urlopen",
        "urlretrieve": "urllib.request.urlretrieve",
    },
}


def python2_hint(error: BaseException) -> str | None:
    """Return what Python 3 calls the name that is missing, if it is one of Python 2's.

    Example:
        >>> python2_hint(NameError("name 'xrange' is not defined", name="xrange"))
        "'xrange' is Python 2's; this file is valid Python 3 and is run as Python 3, which has: range"
    """
    name = str(getattr(error, "name", None))
    modern = None
    if isinstance(error, NameError) and not hasattr(builtins, name):
        modern = _BUILTINS.get(name)
    elif isinstance(error, ModuleNotFoundError):
        from fissix.fixes.fix_imports import MAPPING  # slow, and only needed here

        modern = MAPPING.get(name)
    elif isinstance(error, ImportError):
        found = re.match(r"cannot import name '(\w+)'", str(error))
        module, name = name, found[1] if found else ""
        modern = _MODULES.get(module, {}).get(name)
    elif isinstance(error, AttributeError):
        modern = _attribute(error.obj, name)
    if modern is None:
        return None
    return f"{name!r} is Python 2's; this file is valid Python 3 and is run as Python 3, which has: {modern}"


def _attribute(owner: object, name: str) -> str | None:
    if isinstance(owner, dict):
        return _METHODS.get(name)
    return _MODULES.get(owner.__name__, {}).get(name) if isinstance(owner, ModuleType) else None
