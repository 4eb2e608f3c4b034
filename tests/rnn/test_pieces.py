"""Cutting rows into pieces: every valid step belongs to exactly one, and only cuts begin one."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from dynrnn.rnn.pieces import cut_rows


@settings(deadline=None)
@given(data=st.data())
def test_pieces_cover_each_row_in_order_and_begin_at_cuts(data):
    batch, time = data.draw(st.integers(0, 4)), data.draw(st.integers(0, 5))
    lengths = data.draw(st.lists(st.integers(0, time), min_size=batch, max_size=batch))
    resets = data.draw(st.lists(st.lists(st.booleans(), min_size=time, max_size=time), min_size=batch, max_size=batch))
    reverse = data.draw(st.booleans())
    marks = torch.tensor(resets, dtype=torch.bool).reshape(batch, time)
    pieces = cut_rows(marks, torch.tensor(lengths, dtype=torch.int64), reverse=reverse)
    found = list(zip(*(value.tolist() for value in (pieces.row, pieces.start, pieces.length)), strict=True))
    wanted = []
    for row, length in enumerate(lengths):
        starts = sorted({0, *(t for t in range(length) if resets[row][t])})
        wanted += [(row, start, end - start) for start, end in zip(starts, [*starts[1:], length], strict=True)]
    assert found == wanted
    for index, (row, start, length) in enumerate(found):
        is_last = index + 1 == len(found) or found[index + 1][0] != row
        begins_the_walk = is_last if reverse else start == 0
        cut = bool(not reverse and length and resets[row][start])
        assert pieces.carried[index] == (begins_the_walk and not cut)
        ends_the_walk = start == 0 if reverse else is_last
        assert (pieces.last[row] == index) == ends_the_walk


@pytest.mark.parametrize("reverse", [False, True])
def test_an_empty_row_is_one_piece_that_carries_its_state(reverse):
    pieces = cut_rows(torch.tensor([[True, True]]), torch.tensor([0]), reverse=reverse)
    assert pieces.length.tolist() == [0] and pieces.carried.tolist() == [True] and pieces.last.tolist() == [0]
