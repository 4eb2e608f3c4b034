"""Streams: pieces are the whole, rows begin anew, what is refused."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from nn.cell_kinds import NAMES, assert_close, inputs_of, leaves_of, loss_of, make
from torch.nn.utils.rnn import pack_sequence, unpack_sequence

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


@pytest.mark.parametrize("batch_first", [True, False])
@pytest.mark.parametrize("kind", ["LSTM", "GRU"])
@pytest.mark.parametrize("compiled", [False, True])
def test_a_module_streams_one_sequence_without_batch(kind, batch_first, compiled):
    module = getattr(dr, kind)(3, 4, num_layers=2, batch_first=batch_first, dtype=torch.float64)
    inputs = inputs_of(1, 7)[0].detach()
    outputs, state = module(inputs)
    stream = dr.Stream(torch.compile(module, backend="eager") if compiled else module)
    pieces = [stream(piece) for piece in inputs.split((3, 1, 3))]
    assert_close(torch.cat(pieces), outputs)
    assert_close(stream.state, state)
    assert stream.batch_size == 1
    with pytest.raises(ValueError, match="inputs have batch = 1, but the stream carries the state of one sequence"):
        stream(inputs[:, None] if not batch_first else inputs[None])
    stream.reset([0])
    assert not any(value.any() for value in _nest.flatten(stream.state))
    assert_close(stream(inputs), outputs)
    stream.reset()
    assert_close(stream(inputs[None].expand(2, -1, -1) if batch_first else inputs[:, None].expand(-1, 2, -1)).sum(),
                 2 * outputs.sum(), 1e-10)  # fmt: skip
    with pytest.raises(ValueError, match="inputs are one sequence without batch, but the stream carries the state"):
        stream(inputs)


@pytest.mark.parametrize("batch_first", [True, False])
def test_a_module_streams_rows_of_unequal_lengths_in_any_form(batch_first):
    module = dr.LSTM(3, 4, batch_first=batch_first, dtype=torch.float64)
    rows = [row.detach() for row in inputs_of(3, 8)]
    cuts = [[(0, 3), (3, 3), (3, 8)], [(0, 1), (1, 4), (4, 5)], [(0, 2), (2, 7), (7, 8)]]  # of each row, by piece
    wanted, (h, c) = module([row[: cut[-1][1]] for row, cut in zip(rows, cuts, strict=True)])

    def as_list(piece):
        return piece, lambda found: found

    def as_packed(piece):
        packed = pack_sequence(piece, enforce_sorted=False)
        return packed, lambda found: unpack_sequence(found)

    def as_jagged(piece):
        return torch.nested.nested_tensor(piece, layout=torch.jagged), lambda found: list(found.unbind())

    for form in (as_list, as_packed, as_jagged):
        stream, found = dr.Stream(module), []
        for piece in range(3):
            values = [row[slice(*cut[piece])] for row, cut in zip(rows, cuts, strict=True)]
            if form is as_packed:  # torch packs no empty rows
                values = [value if len(value) else rows[0][:1] for value in values]
            inputs, taken_apart = form(values)
            found.append(taken_apart(stream(inputs)))
        assert stream.batch_size == 3
        if form is not as_packed:
            joined = [torch.cat(row) for row in zip(*found, strict=True)]
            assert_close(joined, list(wanted))
            assert_close(stream.state, (h, c))
        else:
            assert_close(stream.state[0][:, 1:], h[:, 1:])
        stream.reset([1])
        assert not stream.state[0][:, 1].any() and stream.state[0][:, 0].any()
        with pytest.raises(ValueError, match="inputs have batch = 2, but the stream carries the state of 3 rows"):
            stream(rows[:2])


def test_the_state_of_a_module_stays_as_it_was_where_its_call_is_refused():
    stream = dr.Stream(dr.LSTM(3, 4, dtype=torch.float64))
    stream(inputs_of(2, 3))
    before = stream.state
    for inputs, error in ((None, TypeError), (inputs_of(2, 3)[0, 0], ValueError), ([None, None], TypeError)):
        with pytest.raises(error, match="LSTM: input"):
            dr.Stream(stream.cell)(inputs)
    with pytest.raises(ValueError, match=r"LSTM: lengths\[0\]=9 exceeds max_time=2"):
        stream(inputs_of(2, 3), sequence_length=[9, 1, 1])
    assert stream.state is before and stream.batch_size == 3


def test_a_module_of_torch_streams_what_it_takes_and_is_told_what_it_does_not():
    module = torch.nn.GRU(3, 4, batch_first=True, dtype=torch.float64)
    inputs, stream = inputs_of(2, 5), dr.Stream(module)
    assert_close(torch.cat([stream(piece) for piece in inputs.split(2, 1)], 1), module(inputs)[0])
    with pytest.raises(TypeError, match=r"Stream: sequence_length must be None for a torch\.nn\.GRU, which takes no"):
        stream(inputs, sequence_length=[1, 2])
    with pytest.raises(TypeError, match=r"got a list; use dynrnn\.GRU, or dynrnn\.convert\(module\)"):
        stream(list(inputs))
    dr.convert(module)
    assert dr.Stream(module)(inputs, sequence_length=[5, 0]).shape == (2, 5, 4)


@pytest.mark.parametrize("cell", [3, None, dr.GRUCell, torch.nn.GRUCell(3, 4)], ids=["int", "none", "class", "torch"])
def test_what_is_no_cell_is_refused_at_once(cell):
    with pytest.raises(TypeError, match="Stream: cell"):
        dr.Stream(cell)


@pytest.mark.parametrize("make_stream", [lambda: dr.Stream(make("gru")), lambda: dr.Stream(dr.GRU(3, 4).double())])
@pytest.mark.parametrize(
    ("rows", "error", "message"),
    [
        (torch.tensor([0.9]), TypeError, "rows must be indices or bools, got float32"),
        ([0.0], TypeError, "rows must be indices or bools, got float32"),
        ("0", TypeError, "rows must be a list, an array or a tensor of indices or bools, got '0'"),
        ([True], ValueError, r"rows must have shape \[2\] \(batch\), got \[1\]"),
        ([0, 2], IndexError, r"rows must be within 0\.\.1, got 2"),
        ([-3], IndexError, r"rows must be within 0\.\.1, got -3"),
    ],
)
def test_rows_to_reset_are_indices_or_bools(make_stream, rows, error, message):
    stream = make_stream()
    stream(torch.ones(2, 2, 3).double())
    before = _nest.map_structure(torch.clone, stream.state)
    with pytest.raises(error, match=f"Stream: {message}"):
        stream.reset(rows)
    assert_close(stream.state, before)
    for none in ([], torch.zeros(0), [False, False]):
        stream.reset(none)
        assert_close(stream.state, before)


def test_a_reset_under_autocast_leaves_the_state_its_dtype():
    stream = dr.Stream(dr.GRUCell(4, 3))
    with torch.autocast("cpu", torch.bfloat16):
        stream(torch.ones(2, 2, 3))
        stream.reset([0])
        assert stream.state.dtype == torch.bfloat16


def test_a_stream_cannot_run_backwards():
    with pytest.raises(ValueError, match="LSTM is bidirectional, and its backward direction would need future inputs"):
        dr.Stream(torch.nn.LSTM(3, 4, bidirectional=True))
    with pytest.raises(ValueError, match="a module has batch_first"):
        dr.Stream(torch.nn.LSTM(3, 4), time_major=True)
