"""The page of supported names is the golden file of the public TF1 API: what is added, lost or changed shows there."""

import difflib
import re

import make_supported


def test_the_page_of_supported_names_is_current():
    written = make_supported.PAGE.read_text(encoding="utf-8").splitlines()
    changes = [line for line in difflib.unified_diff(written, make_supported.page().splitlines(), lineterm="", n=0)][2:]
    shown = "\n".join(changes[:40])
    assert not changes, f"if this change is meant, run `python docs/make_supported.py`:\n{shown}"


def test_every_function_says_what_it_is():
    silent = [line for line in make_supported.page().splitlines() if re.fullmatch(r"- `.*`: ?", line)]
    assert not silent
