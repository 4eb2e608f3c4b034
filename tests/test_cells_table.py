"""Walks the table of cells: what every row must keep to, whatever its equations are."""

import json
from pathlib import Path

import pytest
import torch
from cells.cell_cases import VARIANTS, draw

from dynrnn.cells import CELLS

GOLDEN = Path(__file__).parent / "cells" / "params.json"
DTYPES = [torch.float16, torch.bfloat16, torch.float32, torch.float64]
TOLERANCES = {torch.float16: 1e-2, torch.bfloat16: 8e-2, torch.float32: 5e-6}  # a few roundings of values near 1

pytestmark = pytest.mark.parametrize("name", VARIANTS)


def step_of(name):
    """The variant's step as a function of inputs, state and parameters alone, and such tensors."""
    spec, options = VARIANTS[name]
    case = draw(VARIANTS[name], batch=3, time=1)

    def step(*leaves):
        inner = case.with_leaves(leaves)
        output, state = spec.step(inner.params, inner.inputs[:, 0], inner.state, options)
        return (output, *state)

    return step, case.leaves()


def test_every_row_of_the_table_has_a_variant(name):
    assert CELLS.keys() == {spec.name for spec, _ in VARIANTS.values()}
    assert CELLS[VARIANTS[name].spec.name] is VARIANTS[name].spec


def test_parameters_keep_their_golden_names_shapes_order_and_initial_values(name):
    spec, options = VARIANTS[name]
    found = [[param.name, list(param.shape), param.initial] for param in spec.params(2, options)]
    golden = json.loads(GOLDEN.read_text())
    assert golden.get(name) == found, f"put this into {GOLDEN.name} if it is TensorFlow's: {json.dumps({name: found})}"


def test_sizes_are_those_of_what_a_step_returns(name):
    spec, options = VARIANTS[name]
    step, leaves = step_of(name)
    output, *state = step(*leaves)
    assert output.shape == (3, spec.output_size(options))
    assert [value.shape for value in state] == [(3, size) for size in spec.state_sizes(options)]
    assert len(spec.state_names(options)) == len(state)


def test_product_takes_any_leading_dimensions(name):
    spec, options = VARIANTS[name]
    case = draw(VARIANTS[name], batch=4, time=5)
    weights = spec.prepare(case.params, options)
    whole = spec.product(weights, case.inputs)
    flat = spec.product(weights, case.inputs.reshape(20, 2))
    assert whole.shape == (4, 5, flat.shape[1])
    torch.testing.assert_close(whole.reshape(flat.shape), flat, rtol=0, atol=1e-14)


def test_first_derivatives_are_right(name):
    step, leaves = step_of(name)
    assert torch.autograd.gradcheck(step, leaves)


def test_second_derivatives_are_right(name):
    step, leaves = step_of(name)
    assert torch.autograd.gradgradcheck(step, leaves)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_every_floating_dtype_works_and_stays(name, dtype):
    spec, options = VARIANTS[name]
    low, high = (draw(VARIANTS[name], batch=3, time=1, dtype=kind) for kind in (dtype, torch.float64))
    output, state = spec.step(low.params, low.inputs[:, 0], low.state, options)
    expected, _ = spec.step(high.params, high.inputs[:, 0], high.state, options)
    assert {value.dtype for value in (output, *state)} == {dtype}
    grads = torch.autograd.grad(output.sum(), low.leaves(), allow_unused=True)
    assert {grad.dtype for grad in grads if grad is not None} == {dtype}
    torch.testing.assert_close(output.double(), expected, rtol=0, atol=TOLERANCES.get(dtype, 1e-14))


def test_a_step_writes_into_nothing_it_is_given(name):
    step, leaves = step_of(name)
    versions = [leaf._version for leaf in leaves]
    before = [leaf.detach().clone() for leaf in leaves]
    step(*leaves)
    assert [leaf._version for leaf in leaves] == versions
    assert all(torch.equal(old, new) for old, new in zip(before, leaves, strict=True))
