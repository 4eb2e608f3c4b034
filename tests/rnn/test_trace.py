"""What a layer's pass keeps besides its results: states and gates; rows that begin anew; steps computed again."""

import pytest
import torch
from cells.cell_cases import VARIANTS, draw
from torch.utils.flop_counter import FlopCounterMode

from dynrnn.rnn import run_layer, trace_layer

LENGTHS = [3, 0, 5, 1]
TIME = 6
REVERSE = pytest.mark.parametrize("reverse", [False, True], ids=["forward", "backward"])
WITH_LENGTHS = pytest.mark.parametrize("lengths", [None, LENGTHS, [4] * 4, [0] * 4], ids=str)

pytestmark = pytest.mark.parametrize("name", VARIANTS)


def trace(name, case, lengths=None, **options):
    spec, cell_options = VARIANTS[name]
    lengths = None if lengths is None else torch.tensor(lengths, dtype=torch.int64)
    return trace_layer(spec, case.params, case.inputs, case.state, lengths=lengths, options=cell_options, **options)


def assert_same_bits(found, expected):
    assert all(torch.equal(one, other) for one, other in zip(found, expected, strict=True))


def assert_close(found, expected, tolerance=1e-12):
    for one, other in zip(found, expected, strict=True):
        torch.testing.assert_close(one, other, rtol=0, atol=tolerance)


def row_of(case, row, steps):
    return case._replace(
        inputs=case.inputs[row : row + 1, steps], state=tuple(value[row : row + 1] for value in case.state)
    )


@REVERSE
@WITH_LENGTHS
@pytest.mark.parametrize("every", [None, 2])
def test_keeping_things_changes_no_bit_of_the_results(name, reverse, lengths, every):
    case = draw(VARIANTS[name], 4, TIME, dtype=torch.float32)
    plain = trace(name, case, lengths, reverse=reverse, checkpoint_every=every)
    kept = trace(name, case, lengths, reverse=reverse, checkpoint_every=every, keep_states=True, keep_gates=True)
    assert_same_bits((kept.outputs, *kept.state), (plain.outputs, *plain.state))
    assert plain.states == () and plain.gates == ()


@REVERSE
@WITH_LENGTHS
def test_the_last_state_is_the_final_state_bit_for_bit(name, reverse, lengths):
    case = draw(VARIANTS[name], 4, TIME)
    found = trace(name, case, lengths, reverse=reverse, keep_states=True)
    assert_same_bits([value[:, 0 if reverse else -1] for value in found.states], found.state)


def test_states_are_those_of_runs_that_end_earlier(name):
    case = draw(VARIANTS[name], 4, TIME)
    found = trace(name, case, LENGTHS, keep_states=True)
    for t in range(TIME):
        shorter = trace(name, case, [min(length, t + 1) for length in LENGTHS])
        assert_close([value[:, t] for value in found.states], shorter.state)


def test_backward_states_keep_the_initial_state_in_the_padding(name):
    case = draw(VARIANTS[name], 4, TIME)
    found = trace(name, case, LENGTHS, reverse=True, keep_states=True)
    for row, length in enumerate(LENGTHS):
        for value, initial in zip(found.states, case.state, strict=True):
            assert torch.equal(value[row, length:], initial[row].expand(TIME - length, -1))


@REVERSE
@WITH_LENGTHS
def test_gates_are_zero_past_the_end_and_make_the_states(name, reverse, lengths):
    case = draw(VARIANTS[name], 4, TIME)
    spec, options = VARIANTS[name]
    found = trace(name, case, lengths, reverse=reverse, keep_states=True, keep_gates=True)
    assert len(found.gates) == len(spec.gate_names(options))
    ends = [TIME] * 4 if lengths is None else lengths
    for gate in found.gates:
        assert gate.shape == (4, TIME, options.num_units)
        assert not any(gate[row, end:].any() for row, end in enumerate(ends))
    if spec.name == "gru":
        before = torch.cat((case.state[0].unsqueeze(1), found.states[0][:, :-1]), 1)
        if reverse:
            before = torch.cat((found.states[0][:, 1:], case.state[0].unsqueeze(1)), 1)
        _, u, c = found.gates
        for row, end in enumerate(ends):
            assert_close([(u * before + (1 - u) * c)[row, :end]], [found.outputs[row, :end]])
    if name == "lstm":
        *_, o = found.gates
        for row, end in enumerate(ends):
            assert_close([(o * torch.tanh(found.states[0]))[row, :end]], [found.outputs[row, :end]])


@pytest.mark.parametrize("layout", ["batch-major", "time-major"])
@REVERSE
def test_states_and_gates_follow_the_layout(name, layout, reverse):
    case = draw(VARIANTS[name], 4, TIME)
    turned = case._replace(inputs=case.inputs.transpose(0, 1))
    keep = {"reverse": reverse, "keep_states": True, "keep_gates": True}
    wanted = trace(name, case, LENGTHS, **keep)
    found = trace(name, turned, LENGTHS, time_major=True, **keep)
    if layout == "time-major":
        flipped = [value.transpose(0, 1) for value in (found.outputs, *found.states, *found.gates)]
        assert_same_bits(flipped, (wanted.outputs, *wanted.states, *wanted.gates))
    assert_same_bits(found.state, wanted.state)


RESETS = {(0, 1), (0, 4), (1, 0), (2, 0), (2, 2), (2, 3), (3, 0)}


def marks():
    resets = torch.zeros(4, TIME, dtype=torch.bool)
    for row, t in RESETS:
        resets[row, t] = True
    return resets


def by_pieces(name, case, reverse, fresh):
    """Cut every row by hand and run each piece alone."""
    spec = VARIANTS[name].spec
    outputs, finals, states = [], [], []
    for row, length in enumerate(LENGTHS):
        cuts = sorted({0, *(t for r, t in RESETS if r == row and t < length)})
        pieces = list(zip(cuts, [*cuts[1:], length], strict=True))
        state = tuple(value[row : row + 1] for value in case.state)
        found = torch.zeros(1, 0, spec.output_size(VARIANTS[name].options), dtype=torch.float64)
        kept = None
        for index, (start, end) in enumerate(pieces[::-1] if reverse else pieces):
            begins_anew = index > 0 or (not reverse and (row, 0) in RESETS and length > 0)
            if begins_anew:
                state = tuple(value[row : row + 1] for value in fresh)
            piece = row_of(case, row, slice(start, end))._replace(state=state)
            one = trace(name, piece, reverse=reverse, keep_states=True)
            state = one.state
            found = torch.cat((one.outputs, found) if reverse else (found, one.outputs), 1)
            parts = (
                one.states
                if kept is None
                else [
                    torch.cat((new, old) if reverse else (old, new), 1)
                    for old, new in zip(kept, one.states, strict=True)
                ]
            )
            kept = parts
        outputs.append(torch.cat((found, found.new_zeros(1, TIME - length, found.shape[2])), 1))
        finals.append(state)
        states.append(kept)
    return torch.cat(outputs), [torch.cat(value) for value in zip(*finals, strict=True)], states


@REVERSE
@pytest.mark.parametrize("given", [False, True], ids=["zeros", "given"])
def test_resets_equal_cutting_the_rows_there(name, reverse, given):
    case = draw(VARIANTS[name], 4, TIME)
    other = draw(VARIANTS[name], 4, TIME, seed=9).state if given else tuple(torch.zeros_like(v) for v in case.state)
    found = trace(
        name, case, LENGTHS, reverse=reverse, resets=marks(), reset_state=other if given else None, keep_states=True
    )
    outputs, finals, states = by_pieces(name, case, reverse, other)
    assert_close((found.outputs, *found.state), (outputs, *finals))
    for row, length in enumerate(LENGTHS):
        assert_close([value[row : row + 1, :length] for value in found.states], states[row])
    loss = [
        one.square().sum() + sum(value.square().sum() for value in many)
        for one, many in ((found.outputs, found.state), (outputs, finals))
    ]
    leaves = case.leaves()
    assert_close(torch.autograd.grad(loss[0], leaves), torch.autograd.grad(loss[1], leaves), 1e-11)


def test_no_gradient_crosses_a_reset(name):
    case = draw(VARIANTS[name], 1, 4)
    resets = torch.tensor([[False, False, True, False]])
    found = trace(name, case, resets=resets)
    grads = torch.autograd.grad(found.outputs[:, 2:].square().sum(), [case.inputs, *case.state])
    assert not grads[0][:, :2].any() and grads[0][:, 2:].any()
    assert not any(grad.any() for grad in grads[1:])


def test_resets_past_a_rows_end_and_none_at_all_change_nothing(name):
    case = draw(VARIANTS[name], 4, TIME)
    wanted = trace(name, case, LENGTHS)
    for resets in (torch.zeros(4, TIME, dtype=torch.bool), torch.arange(TIME) >= torch.tensor(LENGTHS).unsqueeze(1)):
        found = trace(name, case, LENGTHS, resets=resets)
        assert_same_bits((found.outputs, *found.state), (wanted.outputs, *wanted.state))


@pytest.mark.parametrize(("batch", "time"), [(0, 3), (2, 0), (0, 0)])
@REVERSE
def test_empty_batches_may_be_kept_reset_and_computed_again(name, batch, time, reverse):
    case = draw(VARIANTS[name], batch, time)
    found = trace(
        name,
        case,
        resets=torch.zeros(batch, time, dtype=torch.bool),
        reverse=reverse,
        checkpoint_every=2,
        keep_states=True,
        keep_gates=True,
    )
    assert all(value.shape[:2] == (batch, time) for value in (found.outputs, *found.states, *found.gates))
    assert_same_bits(found.state, case.state)


@REVERSE
@pytest.mark.parametrize("lengths", [None, LENGTHS, [0] * 4], ids=str)
@pytest.mark.parametrize("every", [1, 4])
def test_computing_again_changes_no_bit_of_the_results_and_no_gradient(name, reverse, lengths, every):
    case = draw(VARIANTS[name], 4, TIME)

    def run(**options):
        found = trace(name, case, lengths, reverse=reverse, keep_states=True, **options)
        leaves = case.leaves()
        loss = found.outputs.square().sum() + sum(value.square().sum() for value in (*found.state, *found.states))
        return found, torch.autograd.grad(loss, leaves)

    (wanted, grads), (found, again) = run(), run(checkpoint_every=every)
    assert_close((found.outputs, *found.state, *found.states), (wanted.outputs, *wanted.state, *wanted.states))
    assert_close(again, grads, 1e-10)


def test_computing_again_works_with_resets_and_derivatives_of_derivatives(name):
    case = draw(VARIANTS[name], 2, 3)
    resets = torch.tensor([[False, True, False], [False, False, False]])

    def layer(*leaves):
        found = trace(name, case.with_leaves(leaves), [3, 2], resets=resets, checkpoint_every=2)
        return (found.outputs, *found.state)

    assert torch.autograd.gradcheck(layer, case.leaves(), fast_mode=True)
    assert torch.autograd.gradgradcheck(layer, case.leaves(), fast_mode=True)


def test_without_gradients_nothing_is_computed_again(name):
    case = draw(VARIANTS[name], 4, TIME)
    with torch.no_grad(), FlopCounterMode(display=False) as counter:
        trace(name, case, LENGTHS, checkpoint_every=2)
        once = counter.get_total_flops()
        run_layer(
            VARIANTS[name].spec,
            case.params,
            case.inputs,
            case.state,
            lengths=torch.tensor(LENGTHS),
            options=VARIANTS[name].options,
        )
    assert counter.get_total_flops() == 2 * once
