"""What the options of cells may be, and in whose name the others are refused."""

import dataclasses
import fractions
import math

import numpy as np
import pytest
import torch

from dynrnn.cells import BasicRNNOptions, GRUOptions, LayerNormLSTMOptions, LSTMOptions
from dynrnn.cells.options import check_number, check_rate, check_size

EVERY = [BasicRNNOptions, GRUOptions, LSTMOptions, LayerNormLSTMOptions]


@pytest.mark.parametrize("value", [True, 1.0, "3", None])
def test_check_size_refuses_what_is_no_integer(value):
    with pytest.raises(TypeError, match="Options: num_units must be an int, got "):
        check_size("Options", "num_units", value)


@pytest.mark.parametrize("value", [2, -0.5, math.inf, np.float32(0.5), np.int64(3), fractions.Fraction(1, 2)])
def test_any_real_number_is_a_number(value):
    check_number("Options", "forget_bias", value)


@pytest.mark.parametrize("value", [True, "1", None, 1j, np.ones(1), np.array(1.0), torch.tensor(1.0)], ids=repr)
def test_what_is_no_number_is_refused(value):
    with pytest.raises(TypeError, match="Options: forget_bias must be a number, got "):
        check_number("Options", "forget_bias", value)
    with pytest.raises(TypeError, match="Options: rate must be a number, got "):
        check_rate("Options", "rate", value)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: LSTMOptions(4, cell_clip=math.nan), "LSTMOptions: cell_clip must be at least 0, got nan"),
        (lambda: LSTMOptions(4, cell_clip=-1), "LSTMOptions: cell_clip must be at least 0, got -1"),
        (lambda: LSTMOptions(4, num_proj=2, proj_clip=-0.1), "LSTMOptions: proj_clip must be at least 0, got -0.1"),
        (lambda: LSTMOptions(4, forget_bias=math.nan), "LSTMOptions: forget_bias must be a number, got nan"),
        (lambda: LayerNormLSTMOptions(4, epsilon=-1.0), "LayerNormLSTMOptions: epsilon must be at least 0, got -1.0"),
        (lambda: LayerNormLSTMOptions(4, norm_gain=math.nan), "norm_gain must be a number, got nan"),
        (lambda: LayerNormLSTMOptions(4, dropout=1.5), "dropout must be within 0..1, got 1.5"),
    ],
)
def test_numbers_without_a_meaning_are_refused(make, message):
    with pytest.raises(ValueError) as caught:
        make()
    assert message in str(caught.value)


@pytest.mark.parametrize("kind", EVERY)
@pytest.mark.parametrize(("activation", "got"), [(None, "None"), ("tanh", "'tanh'"), (torch.nn.Tanh, "the class Tanh")])
def test_an_activation_is_a_function(kind, activation, got):
    message = f"{kind.__name__}: activation must be a function of a tensor, got {got}"
    with pytest.raises(TypeError) as caught:
        kind(4, activation=activation)
    assert str(caught.value) == message


@pytest.mark.parametrize("kind", EVERY)
def test_the_owner_is_named_and_is_no_option(kind):
    with pytest.raises(ValueError, match="MyCell: num_units must be at least 1, got 0"):
        kind(0, owner="MyCell")
    options = kind(4, owner="MyCell")
    assert options == kind(4) and hash(options) == hash(kind(4)) and "owner" not in vars(options)
    assert dataclasses.replace(options, num_units=5) == kind(5)
