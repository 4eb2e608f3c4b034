"""What the torch-like modules refuse, and in which words."""

import re

import numpy as np
import pytest
import torch
from torch.nn.utils.rnn import PackedSequence

from dynrnn.nn.modules import GRU, LSTM, RNN

X = torch.arange(12.0).reshape(2, 3, 2) / 10


def lstm(**options):
    return LSTM(2, 4, batch_first=True, **options)


@pytest.mark.parametrize("dtype", [torch.int64, torch.bool, torch.uint8], ids=str)
def test_integer_inputs_are_told_to_be_embedded(dtype):
    word = str(dtype).removeprefix("torch.")
    with pytest.raises(TypeError, match=rf"LSTM: inputs are {word}; embed or cast them \(the weights are float32\)"):
        lstm()(torch.ones(2, 3, 2, dtype=dtype))


def test_another_dtype_than_the_weights_is_refused_with_both_ways_out():
    with pytest.raises(
        TypeError, match=r"GRU: inputs are float64, but the weights are float32; .* module\.to\(torch\.float64\)"
    ):
        GRU(2, 4)(X.double())


def test_complex_inputs_are_refused():
    with pytest.raises(TypeError, match="RNN: inputs are complex64"):
        RNN(2, 4)(X.to(torch.complex64))


@pytest.mark.parametrize("value", [None, 3, "text", np.zeros((2, 3, 2))], ids=type)
def test_what_is_no_tensor_is_refused(value):
    with pytest.raises(TypeError, match=f"LSTM: input must be a tensor, .* got {type(value).__name__}"):
        lstm()(value)


@pytest.mark.parametrize("shape", [(2,), (1, 2, 3, 2), ()])
def test_a_rank_that_is_no_sequences_is_refused(shape):
    with pytest.raises(ValueError, match=r"LSTM: input must have shape \[time, 2\] or a batch of such, got \["):
        lstm()(torch.zeros(shape))


def test_a_wrong_width_is_refused_with_both_numbers():
    with pytest.raises(ValueError, match=r"input must have input_size = 2 as its last dimension, got \[2, 3, 5\]"):
        lstm()(torch.zeros(2, 3, 5))


def test_a_packed_sequence_is_checked_too():
    with pytest.raises(ValueError, match=r"PackedSequence\.data must have input_size = 2"):
        lstm()(PackedSequence(torch.zeros(3, 5), torch.tensor([2, 1])))


def test_another_device_is_refused():
    with pytest.raises(ValueError, match="input is on meta, but the weights are on cpu"):
        lstm()(X.to("meta"))


def test_lengths_of_the_time_axis_point_to_batch_first():
    with pytest.raises(
        ValueError, match=r"\[batch\] = \[3\], got \[2\], .* batch_first=False: make it with batch_first=True"
    ):
        LSTM(2, 4)(X, lengths=[3, 1])
    with pytest.raises(
        ValueError, match=r"\[batch\] = \[2\], got \[3\], .*make it with batch_first=False, or pass input\.tr"
    ):
        lstm()(X, lengths=torch.tensor([2, 1, 2]))


@pytest.mark.parametrize(
    ("lengths", "error", "message"),
    [
        ([9, 1], ValueError, r"LSTM: lengths\[0\]=9 exceeds max_time=3"),
        ([1, -2], ValueError, r"LSTM: lengths\[1\]=-2 is negative"),
        ([2.7, 1.0], TypeError, r"LSTM: lengths\[0\]=2\.7 is not a whole number; lengths must hold integers"),
        ([True, False], TypeError, r"LSTM: lengths must hold integers, got bool \[2\]; did you pass a mask\?"),
        (
            [[1, 1, 0], [1, 0, 0]],
            ValueError,
            r"lengths must have shape \[2\] \(batch\), got \[2, 3\].* use mask\.sum\(1\)",
        ),
        ([[3], [1]], ValueError, r"lengths must have shape \[2\] \(batch\), got \[2, 1\]"),
        (3, ValueError, r"lengths must have shape \[2\] \(batch\), got \[\]"),
        ([3, 1, 2, 2], ValueError, r"lengths must have shape \[2\] \(batch\), got \[4\]"),
        ("31", TypeError, "lengths must be a list, an array or a tensor of integers"),
    ],
    ids=str,
)
def test_lengths_that_are_surely_a_mistake_are_refused(lengths, error, message):
    with pytest.raises(error, match=message):
        lstm()(X, lengths=lengths)


@pytest.mark.parametrize("value", ["a", None, [1.0], 1j], ids=repr)
def test_padding_value_is_a_number(value):
    for input in (X, [X[0]]):
        with pytest.raises(TypeError, match=re.escape(f"LSTM: padding_value must be a number, got {value!r}")):
            lstm()(input, padding_value=value)
    for value in (1, np.float32(1), True):
        assert bool((lstm()(X, lengths=[1, 1], padding_value=value)[0][:, 1:] == 1).all())


def test_one_sequence_takes_one_length():
    with pytest.raises(ValueError, match=r"lengths must have shape \[1\] \(batch\), got \[3\]"):
        lstm()(X[0], lengths=[1, 2, 3])


def test_lengths_come_by_name_only():
    with pytest.raises(TypeError, match="positional"):
        lstm()(X, None, [3, 1])
