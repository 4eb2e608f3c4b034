"""The page of supported names is the golden file of the public TF1 API: what is added, lost or changed shows there."""

import difflib
import importlib.util
import pathlib
import re

SCRIPT = pathlib.Path(__file__).parents[1] / "docs" / "make_supported.py"


def load_script():
    spec = importlib.util.spec_from_file_location("make_supported", SCRIPT)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_of_supported_names_is_current():
    script = load_script()
    written = script.PAGE.read_text(encoding="utf-8").splitlines()
    changes = [line for line in difflib.unified_diff(written, script.page().splitlines(), lineterm="", n=0)][2:]
    shown = "\n".join(changes[:40])
    assert not changes, f"if this change is meant, run `python docs/make_supported.py`:\n{shown}"


def test_every_function_says_what_it_is():
    lines = load_script().page().splitlines()
    silent = [line for line in lines if re.fullmatch(r"- `.*`: ?", line)]
    assert not silent
