"""The laws of the loop through the native face, for cells of every kind, against rows that are walked alone."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from nn.cell_kinds import (
    NAMES,
    SIZE,
    assert_close,
    assert_same_bits,
    by_rows,
    inputs_of,
    leaves_of,
    loss_of,
    make,
    state_of,
)

from dynrnn import _nest, bidirectional_dynamic_rnn, dynamic_rnn

LENGTHS = [3, 0, 5, 1]
TIME = 6
OURS = [name for name in NAMES if name != "nested" and name not in ("function", "multi-mixed")]
REVERSE = pytest.mark.parametrize("reverse", [False, True], ids=["forward", "backward"])
EVERY = pytest.mark.parametrize("name", NAMES)


@settings(deadline=None, max_examples=60)
@given(data=st.data())
def test_results_and_gradients_are_those_of_rows_walked_alone(data):
    name = data.draw(st.sampled_from(NAMES), "cell")
    time = data.draw(st.integers(0, 5), "time")
    lengths = data.draw(st.lists(st.integers(0, time), min_size=1, max_size=4), "lengths")
    full = data.draw(st.booleans(), "all rows full")
    reverse, time_major = data.draw(st.booleans(), "reverse"), data.draw(st.booleans(), "time_major")
    every = data.draw(st.sampled_from([None, 1, 2, 9]), "checkpoint_every")
    lengths = [time] * len(lengths) if full else lengths
    cell, inputs, state = make(name), inputs_of(len(lengths), time), state_of(make(name), len(lengths))
    outputs, final, _ = by_rows(cell, inputs, state, lengths, reverse=reverse)
    given_lengths = None if full else lengths
    found, found_state = dynamic_rnn(
        cell,
        inputs.transpose(0, 1) if time_major else inputs,
        sequence_length=given_lengths,
        initial_state=state,
        time_major=time_major,
        reverse=reverse,
        checkpoint_every=every,
    )
    if time_major:
        found = _nest.map_structure(lambda value: value.transpose(0, 1), found)
    assert_close(found, outputs)
    assert_close(found_state, final)
    if not any(lengths):
        return  # the loss of the slow truth then hangs on no parameter
    leaves = leaves_of(cell, inputs, state)
    wanted = torch.autograd.grad(loss_of(outputs, final), leaves, allow_unused=True, materialize_grads=True)
    grads = torch.autograd.grad(loss_of(found, found_state), leaves, allow_unused=True, materialize_grads=True)
    assert_close(list(grads), list(wanted), 1e-11)


@EVERY
@REVERSE
@pytest.mark.parametrize("junk", [float("nan"), float("inf"), 1e30])
def test_padding_is_never_read(name, reverse, junk):
    cell, clean, state = make(name), inputs_of(4, TIME), state_of(make(name), 4)
    dirty = clean.detach().clone()
    for row, length in enumerate(LENGTHS):
        dirty[row, length:] = junk
    dirty.requires_grad_()
    runs = [
        dynamic_rnn(cell, inputs, sequence_length=LENGTHS, initial_state=state, reverse=reverse)
        for inputs in (clean, dirty)
    ]
    assert_same_bits(runs[1], runs[0])
    grads = [
        torch.autograd.grad(loss_of(*one), leaves_of(cell, inputs, state), allow_unused=True, materialize_grads=True)
        for one, inputs in zip(runs, (clean, dirty), strict=True)
    ]
    assert_same_bits(list(grads[1]), list(grads[0]))
    assert not any(grads[1][0][row, length:].any() for row, length in enumerate(LENGTHS))


@EVERY
@REVERSE
def test_outputs_past_the_end_are_zero_and_an_empty_row_keeps_its_state(name, reverse):
    cell, state = make(name), state_of(make(name), 4)
    outputs, final = dynamic_rnn(
        cell, inputs_of(4, TIME), sequence_length=LENGTHS, initial_state=state, reverse=reverse
    )
    for value in _nest.flatten(outputs):
        assert not any(value[row, length:].any() for row, length in enumerate(LENGTHS))
    assert_same_bits([v[1] for v in _nest.flatten(final)], [v[1] for v in _nest.flatten(state)])
    grads = torch.autograd.grad(sum(v.sum() for v in _nest.flatten(final)), _nest.flatten(state))
    assert all(torch.equal(grad[1], torch.ones_like(grad[1])) for grad in grads)


@EVERY
def test_order_neighbours_and_width_of_padding_change_nothing(name):
    cell, inputs, state = make(name), inputs_of(4, TIME), state_of(make(name), 4)
    wanted = dynamic_rnn(cell, inputs, sequence_length=LENGTHS, initial_state=state)
    order = [2, 0, 3, 1]
    found = dynamic_rnn(
        cell,
        torch.cat((inputs[order], torch.full((4, 9, SIZE), 7.0).double()), 1),
        sequence_length=[LENGTHS[row] for row in order],
        initial_state=_nest.map_structure(lambda value: value[order], state),
    )
    assert_close(
        _nest.map_structure(lambda v: v[:, :TIME], found[0]), _nest.map_structure(lambda v: v[order], wanted[0])
    )
    assert_close(found[1], _nest.map_structure(lambda v: v[order], wanted[1]))


@EVERY
@pytest.mark.parametrize(("batch", "time", "lengths"), [(2, 0, None), (0, 3, []), (0, 0, None), (3, 2, [0, 0, 0])])
@pytest.mark.parametrize("every", [None, 2])
def test_empty_inputs_are_ordinary(name, batch, time, lengths, every):
    cell, inputs, state = make(name), inputs_of(batch, time), state_of(make(name), batch)
    outputs, final, states = dynamic_rnn(
        cell, inputs, sequence_length=lengths, initial_state=state, checkpoint_every=every, return_states=True
    )
    assert all(value.shape[:2] == (batch, time) and not value.any() for value in _nest.flatten(outputs))
    assert all(value.shape[:2] == (batch, time) for value in _nest.flatten(states))
    assert_same_bits(final, state)
    loss_of(outputs, final).backward()


@EVERY
@REVERSE
@pytest.mark.parametrize("lengths", [None, LENGTHS])
@pytest.mark.parametrize("every", [None, 2])
def test_states_at_every_step_are_those_of_rows_walked_alone(name, reverse, lengths, every):
    cell, inputs, state = make(name), inputs_of(4, TIME), state_of(make(name), 4)
    outputs, final, states = dynamic_rnn(
        cell, inputs, sequence_length=lengths, initial_state=state, reverse=reverse, return_states=True,
        checkpoint_every=every,
    )  # fmt: skip
    assert_same_bits(_nest.map_structure(lambda v: v[:, 0 if reverse else -1], states), final)
    ends = lengths or [TIME] * 4
    _, _, kept = by_rows(cell, inputs, state, ends, reverse=reverse)
    for row, length in enumerate(ends):
        for t in range(TIME):
            found = _nest.map_structure(lambda v, row=row, t=t: v[row : row + 1, t], states)
            if t < length:
                assert_close(found, kept[row][t])
            else:
                carried = kept[row][length - 1] if length and not reverse else None
                start = _nest.map_structure(lambda v, row=row: v[row : row + 1], state)
                assert_close(found, start if carried is None else carried)
    del outputs


@EVERY
@REVERSE
@pytest.mark.parametrize("every", [None, 2])
def test_resets_equal_cutting_the_row(name, reverse, every):
    cell, inputs, state = make(name), inputs_of(2, TIME), state_of(make(name), 2)
    fresh = state_of(make(name), 2, seed=5)
    resets = torch.zeros(2, TIME, dtype=torch.bool)
    resets[0, 2] = resets[0, 4] = resets[1, 5] = True  # the last one stands past its row's end
    found, final = dynamic_rnn(
        cell, inputs, sequence_length=[5, 4], initial_state=state, resets=resets, reset_state=fresh, reverse=reverse,
        checkpoint_every=every,
    )  # fmt: skip
    row = lambda nest, index: _nest.map_structure(lambda v: v[index : index + 1], nest)  # noqa: E731
    pieces = [(0, 2), (2, 4), (4, 5)]
    parts, current = {}, row(state, 0)
    for index, (start, end) in enumerate(pieces[::-1] if reverse else pieces):
        begin = current if index == 0 else row(fresh, 0)
        parts[start], current = dynamic_rnn(cell, inputs[:1, start:end], initial_state=begin, reverse=reverse)
    whole = _nest.map_structure(lambda *values: torch.cat(values, 1), *(parts[start] for start, _ in pieces))
    assert_close(_nest.map_structure(lambda v: v[:1, :5], found), whole)
    assert_close(row(final, 0), current)
    plain = dynamic_rnn(cell, inputs[1:], sequence_length=[4], initial_state=row(state, 1), reverse=reverse)
    assert_close(row(found, 1), plain[0])
    assert_close(row(final, 1), plain[1])
    if not reverse:
        grads = torch.autograd.grad(
            loss_of(_nest.map_structure(lambda v: v[0, 4:], found)), [inputs, *_nest.flatten(state)],
            allow_unused=True, materialize_grads=True,
        )  # fmt: skip
        assert not grads[0][0, :4].any() and not any(grad[0].any() for grad in grads[1:])


@pytest.mark.parametrize("name", OURS)
def test_first_and_second_derivatives_are_right(name):
    cell, state = make(name), state_of(make(name), 3)

    def loop(inputs, *flat):
        found = dynamic_rnn(
            cell, inputs, sequence_length=[2, 0, 1], initial_state=_nest.pack_sequence_as(state, list(flat))
        )
        return tuple(_nest.flatten(found))

    leaves = [inputs_of(3, 2), *_nest.flatten(state)]
    assert torch.autograd.gradcheck(loop, leaves, fast_mode=True)
    assert torch.autograd.gradgradcheck(loop, leaves, fast_mode=True)


@pytest.mark.parametrize("name", ["lstm", "gru", "multi", "nested"])
@pytest.mark.parametrize("lengths", [None, [3, 0, 5, 1]])
def test_bidirectional_is_two_passes(name, lengths):
    cells = make(name), make("gru")
    inputs = inputs_of(4, TIME)
    states = [state_of(cell, 4) for cell in cells]
    found = bidirectional_dynamic_rnn(
        *cells, inputs, sequence_length=lengths, initial_state_fw=states[0], initial_state_bw=states[1]
    )
    ends = lengths or [TIME] * 4
    for index, cell in enumerate(cells):
        outputs, final, _ = by_rows(cell, inputs, states[index], ends, reverse=index == 1)
        assert_close(found[0][index], outputs)
        assert_close(found[1][index], final)
    assert torch.equal(found[1][1][:1], found[0][1][:1, 0])


@pytest.mark.parametrize("name", OURS)
def test_repeats_have_the_same_bits(name):
    cell, inputs, state = make(name), inputs_of(4, TIME), state_of(make(name), 4)
    runs = [dynamic_rnn(cell, inputs, sequence_length=LENGTHS, initial_state=state) for _ in range(2)]
    assert_same_bits(runs[0], runs[1])
    grads = [torch.autograd.grad(loss_of(*one), leaves_of(cell, inputs, state), allow_unused=True) for one in runs]
    assert_same_bits([g for g in grads[0] if g is not None], [g for g in grads[1] if g is not None])
