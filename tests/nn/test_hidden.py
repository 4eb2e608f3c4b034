"""The initial states that the torch-like modules take and refuse, and in which words."""

import pytest
import torch

from dynrnn.nn.modules import GRU, LSTM
from dynrnn.nn.state import LSTMState

X = torch.zeros(2, 3, 4)  # batch 2, time 3


def zeros(*shape, dtype=torch.float32):
    return torch.zeros(shape, dtype=dtype)


@pytest.mark.parametrize("pair", [tuple, list])
def test_a_pair_of_states_may_be_a_tuple_or_a_list(pair):
    _, (h, c) = LSTM(4, 3, batch_first=True)(X, pair([zeros(1, 2, 3), zeros(1, 2, 3)]))
    assert h.shape == c.shape == (1, 2, 3)


@pytest.mark.parametrize(
    ("hx", "message"),
    [
        (zeros(1, 2, 3), r"hx must be a pair of tensors \(h, c\), got one tensor \[1, 2, 3\]"),
        ((zeros(1, 2, 3),), r"hx must be a pair of tensors \(h, c\), got a tuple of 1 \(Tensor\)"),
        ((zeros(1, 2, 3), None), r"hx must be a pair of tensors \(h, c\), got a tuple of 2 \(Tensor, NoneType\)"),
        (3, r"hx must be a pair of tensors \(h, c\), got a int"),
        (LSTMState(zeros(2, 3), zeros(2, 3)), r"hx is an LSTMState, the \(c, h\) of a cell; .* torch's \(h, c\)"),
        ((zeros(1, 2, 3, dtype=torch.float64), zeros(1, 2, 3)), r"hx\.h is float64, but inputs are float32; cast one"),
    ],
    ids=["tensor", "one", "none", "int", "LSTMState", "dtype"],
)
def test_another_structure_or_dtype_is_a_type_error(hx, message):
    with pytest.raises(TypeError, match="LSTM: " + message):
        LSTM(4, 3, batch_first=True)(X, hx)


def test_only_an_lstm_has_a_pair():
    with pytest.raises(
        TypeError, match=r"GRU: hx must be one tensor h, got a tuple of 2 .*; only an LSTM has an \(h, c\)"
    ):
        GRU(4, 3)(X, (zeros(1, 3, 3), zeros(1, 3, 3)))


def test_a_batch_first_state_is_told_that_its_transpose_fits():
    with pytest.raises(
        ValueError,
        match=r"GRU: hx has shape \[2, 1, 3\], expected \[layers \* directions, batch, width\] = \[1, 2, 3\]; transp",
    ):
        GRU(4, 3, batch_first=True)(X, zeros(2, 1, 3))


def test_a_state_in_the_other_order_is_told_so():
    with pytest.raises(
        ValueError, match=r"hx\.h has shape \[1, 2, 3\], .*= \[1, 2, 2\]; the order is \(h, c\): these fit as"
    ):
        LSTM(4, 3, batch_first=True, proj_size=2)(X, (zeros(1, 2, 3), zeros(1, 2, 2)))


def test_a_state_without_its_axis_of_layers_is_told_to_unsqueeze():
    with pytest.raises(ValueError, match=r"hx has shape \[2, 3\], expected .*= \[1, 2, 3\]; unsqueeze\(0\) would fit"):
        GRU(4, 3, batch_first=True)(X, zeros(2, 3))


def test_one_sequence_has_states_without_batch():
    with pytest.raises(
        ValueError, match=r"expected \[layers \* directions, width\] = \[2, 3\]; squeeze\(1\) would fit"
    ):
        GRU(4, 3, 2)(X[0], zeros(2, 1, 3))


def test_c_is_named_when_it_is_wrong():
    with pytest.raises(ValueError, match=r"LSTM: hx\.c has shape \[1, 2, 7\], expected .*\[1, 2, 3\]$"):
        LSTM(4, 3, batch_first=True)(X, (zeros(1, 2, 3), zeros(1, 2, 7)))


def test_another_device_is_refused():
    with pytest.raises(ValueError, match="GRU: hx is on meta, but inputs are on cpu"):
        GRU(4, 3, batch_first=True)(X, zeros(1, 2, 3).to("meta"))
