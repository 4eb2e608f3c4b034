"""Streams: pieces are the whole, rows begin anew, what is refused."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from nn.cell_kinds import NAMES, assert_close, inputs_of, leaves_of, loss_of, make

import dynrnn as dr
from dynrnn import _nest

LENGTHS = [6, 2, 0, 5]


def join(pieces):
    return _nest.map_structure(lambda *values: torch.cat(values, 1), *pieces)


@settings(deadline=None, max_examples=30)
@given(data=st.data())
def test_pieces_of_any_size_are_the_whole(data):
    name = data.draw(st.sampled_from([name for name in NAMES if name != "function"]), "cell")
    time = data.draw(st.integers(1, 7), "time")
    size = data.draw(st.integers(1, 8), "size")
    lengths = data.draw(st.lists(st.integers(0, time), min_size=1, max_size=4), "lengths")
    cell, inputs = make(name), inputs_of(len(lengths), time)
    outputs, state = dr.dynamic_rnn(cell, inputs, sequence_length=lengths)
    stream = dr.Stream(cell)
    parts = dr.chunk_lengths(lengths, size, max_time=time)
    pieces = [stream(piece, sequence_length=n) for piece, n in zip(inputs.split(size, 1), parts, strict=True)]
    assert_close(join(pieces), outputs)
    assert_close(stream.state, state)
    chunks = list(dr.truncated_bptt(cell, inputs, size, sequence_length=lengths))
    assert_close(join([chunk.outputs for chunk in chunks]), outputs)
    assert_close(chunks[-1].state, state)


def test_a_stream_that_keeps_its_graph_has_the_gradients_of_the_whole():
    cell, inputs = make("gru"), inputs_of(4, 6)
    wanted = torch.autograd.grad(loss_of(dr.dynamic_rnn(cell, inputs)[0]), leaves_of(cell, inputs, ()))
    stream = dr.Stream(cell, detach=False)
    outputs = join([stream(piece) for piece in inputs.split(4, 1)])
    assert_close(list(torch.autograd.grad(loss_of(outputs), leaves_of(cell, inputs, ()))), list(wanted), 1e-11)
    stream.detach()
    assert not stream.state.requires_grad


def test_rows_that_are_reset_begin_anew_and_others_go_on():
    cell, inputs = make("lstm"), inputs_of(3, 4)
    whole, fresh = dr.dynamic_rnn(cell, inputs)[0], dr.dynamic_rnn(cell, inputs[:, 2:])[0]
    for rows in ([1], torch.tensor([1]), [False, True, False], torch.tensor([False, True, False])):
        stream = dr.Stream(cell)
        stream(inputs[:, :2])
        stream.reset(rows)
        found = stream(inputs[:, 2:])
        assert_close(found[[0, 2]], whole[[0, 2], 2:])
        assert_close(found[1], fresh[1])


def test_another_batch_size_is_refused_until_all_rows_are_reset():
    stream = dr.Stream(make("gru"))
    assert (stream.state, stream.batch_size) == (None, None)
    stream.reset([0])  # nothing to reset yet
    stream(inputs_of(3, 2))
    before = stream.state
    with pytest.raises(ValueError, match=r"inputs have batch = 2, but the stream carries the state of 3 rows"):
        stream(inputs_of(2, 2))
    assert stream.state is before and stream.batch_size == 3
    with pytest.raises(ValueError, match=r"rows must have shape \[3\]"):
        stream.reset([True, False])
    with pytest.raises(IndexError):
        stream.reset([3])
    stream.reset()
    assert stream(inputs_of(2, 2)).shape == (2, 2, 4)


def test_a_row_of_length_0_stands_still():
    stream = dr.Stream(make("lstm"))
    stream(inputs_of(2, 3))
    before = stream.state
    stream(inputs_of(2, 3, seed=1), sequence_length=[0, 2])
    assert torch.equal(stream.state.c[0], before.c[0]) and not torch.equal(stream.state.c[1], before.c[1])


@pytest.mark.parametrize("batch_first", [True, False])
@pytest.mark.parametrize("kind", ["LSTM", "GRU", "RNN"])
def test_a_module_streams_too(kind, batch_first):
    module = getattr(dr, kind)(3, 4, num_layers=2, batch_first=batch_first, dtype=torch.float64)
    inputs = inputs_of(4, 6) if batch_first else inputs_of(4, 6).transpose(0, 1)
    axis = 1 if batch_first else 0
    outputs, state = module(inputs, lengths=LENGTHS)
    stream = dr.Stream(module)
    parts = dr.chunk_lengths(LENGTHS, 4, max_time=6)
    pieces = [stream(piece, sequence_length=n) for piece, n in zip(inputs.split(4, axis), parts, strict=True)]
    assert_close(torch.cat(pieces, axis), outputs)
    assert_close(stream.state, state)
    stream.reset([0, 2])
    flat = _nest.flatten(stream.state)
    assert not any(value[:, [0, 2]].any() for value in flat) and all(value[:, 1].any() for value in flat)


def test_a_stream_cannot_run_backwards():
    with pytest.raises(ValueError, match="bidirectional"):
        dr.Stream(torch.nn.LSTM(3, 4, bidirectional=True))
    with pytest.raises(ValueError, match="a module has batch_first"):
        dr.Stream(torch.nn.LSTM(3, 4), time_major=True)
