"""Op rows: what a signature says."""

import pytest
import torch

from dynrnn.graph.dtype import float32, int32
from dynrnn.graph.op import ANY, COMPLEX, FLOATS, INDICES, INEXACT, INTEGERS, NUMBERS, REALS, Op


def test_a_signature_names_inputs_and_outputs():
    row = Op("Gather", "params:T indices:int32 -> T", None, None)
    assert [(a.name, a.type, a.many, a.fixed) for a in row.inputs] == [
        ("params", "T", False, None),
        ("indices", "int32", False, int32),
    ]
    assert [(a.type, a.many) for a in row.outputs] == [("T", False)]
    assert not row.returns_tuple


@pytest.mark.parametrize(
    ("signature", "returns_tuple"),
    [
        ("x:T -> T", False),
        ("-> float32", False),
        ("x:T -> T int32", True),
        ("x:T -> *T", True),
        ("x:T ->", True),
        (None, True),
    ],
)
def test_several_outputs_or_a_list_come_as_a_tuple(signature, returns_tuple):
    assert Op("Row", signature, None, None).returns_tuple is returns_tuple


def test_a_star_makes_a_list_and_an_at_sign_takes_an_attributes_value():
    row = Op("Row", "*values:T size:int32 -> *T @dtype float32", None, None)
    assert [a.many for a in row.inputs] == [True, False]
    assert [(a.type, a.many, a.fixed) for a in row.outputs] == [
        ("T", True, None),
        ("@dtype", False, None),
        ("float32", False, float32),
    ]


def test_a_row_is_differentiable_pure_and_ours_unless_it_says_otherwise():
    row = Op("Tanh", "x:T -> T", torch.tanh, None)
    assert row.differentiable and not (row.stateful or row.bodies or row.foreign)
    assert repr(row) == "Op('Tanh', 'x:T -> T')"


def test_sets_of_types_contain_each_other():
    assert FLOATS < REALS < NUMBERS < ANY and INTEGERS < REALS and INDICES < INTEGERS
    assert INEXACT == FLOATS | COMPLEX and not FLOATS & INTEGERS
    assert "bool" not in NUMBERS and "string" not in NUMBERS
