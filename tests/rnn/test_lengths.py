"""Lengths: clamping, masks, reversal and the index tables of both loops."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from dynrnn.rnn.lengths import (
    check_lengths,
    clamp_lengths,
    length_mask,
    length_range,
    pack,
    reverse_sequence,
    step_source,
    step_target,
)

ragged = st.integers(0, 6).flatmap(
    lambda time: st.tuples(st.lists(st.integers(0, time), min_size=1, max_size=6), st.just(time))
)


@pytest.mark.parametrize("dtype", [torch.int8, torch.int16, torch.int32, torch.int64, torch.uint8], ids=str)
def test_clamping_takes_every_integer_type(dtype):
    clamped = clamp_lengths(torch.tensor([0, 3, 9], dtype=dtype), 4)
    assert clamped.dtype == torch.int64
    assert clamped.tolist() == [0, 3, 4]


def test_mask_is_true_on_valid_steps_only():
    mask = length_mask(torch.tensor([3, 0, 1]), 3)
    assert mask.tolist() == [[True, True, True], [False] * 3, [True, False, False]]


def test_range_of_no_lengths_is_the_whole_time_axis_unless_there_is_no_row():
    assert length_range(None, 2, 5) == (5, 5)
    assert length_range(None, 0, 5) == (0, 0)
    assert length_range(torch.tensor([4, 1]), 2, 5) == (1, 4)


@pytest.mark.parametrize("dtype", [torch.float32, torch.int32, torch.bool], ids=str)
@pytest.mark.parametrize("axes", [(0, 1), (1, 0), (2, 1)])
def test_reversal_turns_the_valid_part_of_each_row(axes, dtype):
    batch_axis, time_axis = axes
    values = (torch.arange(60) % 7).reshape(3, 4, 5).to(dtype)
    rows = values.movedim((batch_axis, time_axis), (0, 1))
    lengths = torch.tensor([4, 0, 2, 1, 3][: rows.shape[0]]).clamp(max=rows.shape[1])
    turned = [torch.cat((row[:n].flip(0), row[n:])) for row, n in zip(rows, lengths.tolist(), strict=True)]
    found = reverse_sequence(values, lengths, time_axis=time_axis, batch_axis=batch_axis)
    assert torch.equal(found.movedim((batch_axis, time_axis), (0, 1)), torch.stack(turned))


def test_reversal_passes_gradients_back_to_where_values_came_from():
    inputs = torch.randn(2, 3, dtype=torch.float64, requires_grad=True)
    lengths = torch.tensor([3, 2])
    (grad,) = torch.autograd.grad((reverse_sequence(inputs, lengths) * torch.arange(6.0).reshape(2, 3)).sum(), inputs)
    assert grad.tolist() == [[2, 1, 0], [4, 3, 5]]
    assert torch.autograd.gradgradcheck(lambda x: reverse_sequence(x, lengths) ** 2, inputs)


@settings(deadline=None, max_examples=60)
@given(ragged, st.booleans(), st.booleans())
def test_packing_takes_each_valid_step_once_in_order_and_brings_it_back(case, time_major, reverse):
    lengths, time = torch.tensor(case[0]), case[1]
    batch = len(lengths)
    packing = pack(lengths, time, time_major=time_major, reverse=reverse, device="cpu")
    assert sum(packing.batch_sizes) == int(lengths.sum())
    assert packing.batch_sizes == sorted(packing.batch_sizes, reverse=True)
    assert torch.equal(packing.order[packing.inverse], torch.arange(batch))

    padded = torch.arange(1, 1 + batch * time).reshape((time, batch) if time_major else (batch, time))
    rows = padded.t() if time_major else padded
    running = rows[packing.order].clone()
    expected = []
    for step, size in enumerate(packing.batch_sizes):
        for row in range(size):
            length = int(lengths[packing.order[row]])
            expected.append(int(running[row, length - 1 - step if reverse else step]))
    packed = padded.flatten()[packing.source]
    assert packed.tolist() == expected
    returned = torch.cat((packed, torch.zeros(1, dtype=torch.int64)))[packing.target].reshape(padded.shape)
    mask = length_mask(lengths, time)
    assert torch.equal(returned, padded * (mask.t() if time_major else mask))


@settings(deadline=None, max_examples=60)
@given(ragged, st.booleans(), st.booleans())
def test_step_target_undoes_step_source_and_padding_repeats_the_last_valid_input(case, time_major, reverse):
    lengths, time = torch.tensor(case[0]), case[1]
    longest = int(lengths.max())
    if longest == 0:
        return
    padded = torch.arange(1, 1 + len(lengths) * time).reshape((time, -1) if time_major else (-1, time))
    rows = padded.t() if time_major else padded
    walked = padded.flatten()[step_source(lengths, 0, time, time_major=time_major, reverse=reverse)]
    for row, length in enumerate(lengths.tolist()):
        source = row if length else int(lengths.argmax())
        valid = rows[source, : length or longest]
        valid = valid.flip(0) if reverse else valid
        assert walked[:, row].tolist() == [int(valid[min(step, len(valid) - 1)]) for step in range(longest)]
    stacked = torch.cat((walked.flatten(), torch.zeros(1, dtype=torch.int64)))
    target = step_target(lengths, time, time_major=time_major, reverse=reverse)
    mask = length_mask(lengths, time)
    assert torch.equal(stacked[target].reshape(padded.shape), padded * (mask.t() if time_major else mask))


def test_check_names_the_row_and_the_value_out_of_range():
    with pytest.raises(ValueError, match=r"loop: lengths must be within 0\.\.3, got lengths\[1\] = 4"):
        check_lengths("loop", torch.tensor([3, 4, 9]), 3, 3)
    with pytest.raises(ValueError, match=r"loop: lengths must be within 0\.\.3, got lengths\[2\] = -1"):
        check_lengths("loop", torch.tensor([3, 3, -1]), 3, 3)


def test_check_refuses_other_shapes_and_types():
    with pytest.raises(ValueError, match=r"lengths must have shape \[batch\] = \[2\], got \[2, 1\]"):
        check_lengths("loop", torch.tensor([[3], [1]]), 2, 3)
    with pytest.raises(TypeError, match=r"lengths must be an int64 tensor on the CPU, got torch\.int32 on cpu"):
        check_lengths("loop", torch.tensor([3, 1], dtype=torch.int32), 2, 3)
    with pytest.raises(TypeError, match="lengths must be an int64 tensor on the CPU, got list"):
        check_lengths("loop", [3, 1], 2, 3)  # pyright: ignore[reportArgumentType]
