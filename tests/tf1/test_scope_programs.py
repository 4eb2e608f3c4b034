"""Names and sharing in random programs of nested scopes, against what TensorFlow made of the same programs."""

import json
from pathlib import Path

import pytest
from tf1 import scope_programs

import dynrnn.tf1 as tf

FILE = Path(__file__).resolve().parent.parent / "golden" / "scope_programs.json"
CASES = json.loads(FILE.read_text())["cases"]


@pytest.mark.parametrize("start", range(0, len(CASES), 25))
def test_scope_programs_give_tensorflows_names(start):
    for case in CASES[start : start + 25]:
        assert scope_programs.run(tf, case["program"]) == case["lines"], case["program"]
