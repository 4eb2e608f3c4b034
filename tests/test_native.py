"""The page of the PyTorch API is current, complete and true; what the pages of names are made from."""

import difflib
import doctest

import make_native
import pytest
import signatures
import torch

import dynrnn
from dynrnn.kernels import missing


def test_the_page_of_the_api_is_current():
    written = make_native.PAGE.read_text(encoding="utf-8").splitlines()
    changes = [line for line in difflib.unified_diff(written, make_native.page().splitlines(), lineterm="", n=0)][2:]
    shown = "\n".join(changes[:40])
    assert not changes, f"if this change is meant, run `python docs/make_native.py`:\n{shown}"


def test_every_public_name_is_on_the_page_once():
    names = [name for group in make_native.GROUPS.values() for name in group]
    assert sorted([*names, "__version__"]) == sorted(dynrnn.__all__)


def test_examples_of_the_scripts_hold():
    for module in (make_native, signatures):
        found = doctest.testmod(module)
        assert found.attempted and not found.failed


@pytest.mark.skipif(missing() is not None, reason="without the compiled module all runs through the reference loop")
@pytest.mark.parametrize("case", [case for case in make_native.CASES if case not in make_native.SHOWN])
def test_a_case_runs_as_the_page_says(case):
    cell = make_native.made(case)
    told = dynrnn.explain_dispatch(cell, torch.ones(2, 3, 4 if isinstance(cell, torch.nn.RNNBase) else 8))
    words = {"one call of the cell for each step": "step by step"}
    assert words.get(make_native.way(case), make_native.way(case)) in told
