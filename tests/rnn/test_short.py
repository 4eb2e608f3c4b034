"""The short way of a layer, and what is kept from call to call on either way: nothing that belongs to a caller."""

import gc
import weakref

import pytest
import torch
from cells.cell_cases import VARIANTS, draw
from torch import nn

from dynrnn.cells import GRU, LSTM, GRUOptions, LSTMOptions
from dynrnn.rnn import run_layer, run_short_layer


class Squash(nn.Module):
    """An activation with something of its own to keep alive."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(()))

    def forward(self, value):
        return torch.tanh(self.weight * value)


@pytest.mark.parametrize("run", ["short", "auto", "reference"])
@pytest.mark.parametrize(("spec", "make"), [(LSTM, LSTMOptions), (GRU, GRUOptions)], ids=["lstm", "gru"])
def test_an_activation_lives_no_longer_than_its_cell(spec, make, run):
    options = make(3, activation=Squash())
    known = weakref.ref(options.activation)
    params = {param.name: torch.zeros(param.shape) for param in spec.params(2, options)}
    if run == "short":
        assert run_short_layer(spec, list(params.values()), torch.zeros(1, 4, 2), None, None, options=options) is None
    else:
        run_layer(spec, params, torch.zeros(1, 4, 2), None, lengths=None, options=options, implementation=run)
    del options
    gc.collect()
    assert known() is None


@pytest.mark.parametrize("name", VARIANTS)
def test_the_short_way_gives_the_bits_of_the_long_one_or_nothing(name):
    spec, options = VARIANTS[name]
    case = draw(VARIANTS[name], 3, 5)
    for lengths in (None, [5, 0, 2]):
        found = run_short_layer(spec, list(case.params.values()), case.inputs, case.state, lengths, options=options)
        given = None if lengths is None else torch.tensor(lengths)
        outputs, state = run_layer(spec, case.params, case.inputs, case.state, lengths=given, options=options)
        if found is not None:
            assert all(torch.equal(*pair) for pair in zip(found, (outputs, *state), strict=True))
