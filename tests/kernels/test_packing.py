"""Weights that were packed before a call: the same bits as those packed in it, and never used where they do not fit."""

import pytest
import torch
from cells.cell_cases import VARIANTS, draw

from dynrnn import kernels
from dynrnn.kernels import pack_layer, pack_torch_layer, run_layer, run_torch_layer
from dynrnn.rnn.torch_weights import cell_of, weight_shapes

pytestmark = pytest.mark.skipif(kernels.missing() is not None, reason="there are no kernels")

CELLS = [name for name, variant in VARIANTS.items() if not kernels.why_not(*variant, inputs=torch.zeros(1, 1, 1))]
DTYPE = pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
ISAS = pytest.mark.parametrize("isa", range(len(kernels.isas())), ids=kernels.isas())


def leaves(results):
    return torch.utils._pytree.tree_leaves(tuple(results))


@DTYPE
@ISAS
@pytest.mark.parametrize("name", CELLS)
@pytest.mark.parametrize(("batch", "time"), [(1, 1), (3, 2), (7, 20)])
@torch.no_grad()
def test_the_bits_are_those_of_a_call_that_packs(name, batch, time, isa, dtype):
    spec, options = VARIANTS[name]
    case = draw(VARIANTS[name], batch, time, dtype=dtype, size=5)
    packed = pack_layer(spec, case.params, 5, options, isa=isa)
    lengths = torch.arange(batch) % (time + 1)
    for how in ({}, {"reverse": True}, {"time_major": True}):
        inputs = case.inputs.transpose(0, 1) if how.get("time_major") else case.inputs
        results = [
            run_layer(
                spec,
                case.params,
                inputs,
                case.state,
                lengths=lengths,
                options=options,
                reference=None,
                isa=isa,
                keep_states=True,
                keep_gates=True,
                packed=one,
                **how,
            )
            for one in (packed, None)
        ]
        # the smallest calls read weights as they lie, in another order of sums
        tolerance = 2e-6 if dtype == torch.float32 else 1e-14
        for found, expected in zip(*map(leaves, results), strict=True):
            torch.testing.assert_close(found, expected, rtol=0, atol=tolerance)


@DTYPE
@ISAS
@pytest.mark.parametrize("mode", ["LSTM", "GRU", "RNN_TANH", "RNN_RELU"])
@torch.no_grad()
def test_torchs_weights_can_be_packed_too(mode, isa, dtype):
    cell = cell_of(mode, 17, 3 if mode == "LSTM" else 0)
    weights = {name: torch.randn(shape, dtype=dtype) for name, shape in weight_shapes(cell, 5, biased=True).items()}
    packed = pack_torch_layer(mode, weights, isa=isa)
    inputs = torch.randn(20, 6, 5, dtype=dtype)
    found, expected = (
        leaves(run_torch_layer(mode, weights, inputs, None, lengths=None, reference=None, isa=isa, packed=one))
        for one in (packed, None)
    )
    assert all(torch.equal(*pair) for pair in zip(found, expected, strict=True))


@torch.no_grad()
def test_what_was_packed_for_other_calls_is_not_used():
    spec, options = VARIANTS["lstm"]
    case, wide = draw(VARIANTS["lstm"], 4, 9), draw(VARIANTS["lstm"], 4, 9, size=3)
    others = [
        pack_layer(spec, wide.params, 3, options),
        pack_layer(spec, {name: value.float() for name, value in case.params.items()}, 2, options),
        pack_layer(spec, case.params, 2, options, isa=len(kernels.isas()) - 1),
        pack_layer(*VARIANTS["gru"][:1], draw(VARIANTS["gru"], 1, 1).params, 2, VARIANTS["gru"].options),
    ]
    for packed in others:
        packed.buffer.fill_(float("nan"))
        outputs, *_ = run_layer(
            spec, case.params, case.inputs, None, lengths=None, options=options, reference=None, packed=packed
        )
        assert not outputs.isnan().any()


def test_weights_that_do_not_fit_are_refused():
    spec, options = VARIANTS["lstm"]
    case = draw(VARIANTS["lstm"], 1, 1)
    with pytest.raises(ValueError, match=r"params\['kernel'\] must have shape \[7, 12\], got \[5, 12\]"):
        pack_layer(spec, case.params, 4, options)
