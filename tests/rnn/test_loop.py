"""The loop for a user's step: what the step is given, and what becomes of what it returns."""

import pytest
import torch
from cells.cell_cases import VARIANTS, draw
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.utils._python_dispatch import TorchDispatchMode

from dynrnn.cells import BASIC_RNN, BasicRNNOptions
from dynrnn.rnn import run_layer, run_steps

REVERSE = pytest.mark.parametrize("reverse", [False, True], ids=["forward", "backward"])


def lengths_of(values):
    return None if values is None else torch.tensor(values, dtype=torch.int64)


def step_of(name, case):
    """A user's step that happens to be one of our cells."""
    spec, options = VARIANTS[name]

    def step(inputs, state):
        output, state = spec.step(case.params, inputs[0], tuple(state), options)
        return [output], state

    return step, [((spec.output_size(options),), case.inputs.dtype)]


def gradients(case, outputs, state):
    return torch.autograd.grad(outputs.square().sum() + sum(value.square().sum() for value in state), case.leaves())


def add_up(inputs, state):
    """Sums the inputs, which are also its output."""
    return [inputs[0]], [state[0] + inputs[0]]


@settings(deadline=None, max_examples=40)
@given(data=st.data())
def test_equals_the_layer_loop_when_the_step_is_one_of_our_cells(data):
    name = data.draw(st.sampled_from(list(VARIANTS)), "cell")
    time = data.draw(st.integers(1, 6), "time")
    lengths = data.draw(st.lists(st.integers(0, time), min_size=1, max_size=5), "lengths")
    lengths = data.draw(st.sampled_from([None, lengths_of(lengths)]), "with lengths")
    reverse, time_major = data.draw(st.booleans(), "reverse"), data.draw(st.booleans(), "time_major")
    spec, options = VARIANTS[name]
    case = draw(VARIANTS[name], 4 if lengths is None else len(lengths), time)
    inputs = case.inputs.transpose(0, 1) if time_major else case.inputs
    keywords = {"lengths": lengths, "time_major": time_major, "reverse": reverse}
    expected, expected_state = run_layer(spec, case.params, inputs, case.state, options=options, **keywords)
    step, specs = step_of(name, case)
    (outputs,), state = run_steps(step, [inputs], case.state, output_specs=specs, **keywords)
    for found, wanted in zip((outputs, *state), (expected, *expected_state), strict=True):
        torch.testing.assert_close(found, wanted, rtol=0, atol=1e-12)
    if lengths is not None and not lengths.any():
        return  # no step ran, so that the outputs do not hang on the step's own parameters
    wanted = gradients(case, expected, expected_state)
    for found, grad in zip(gradients(case, outputs, state), wanted, strict=True):
        torch.testing.assert_close(found, grad, rtol=0, atol=1e-11)


def test_a_residual_around_a_cell_has_the_values_of_tensorflow():
    options = BasicRNNOptions(2)
    params = {"kernel": torch.full((4, 2), 0.5), "bias": torch.zeros(2)}

    def step(inputs, state):
        output, state = BASIC_RNN.step(params, inputs[0], tuple(state), options)
        return [inputs[0] + output], state

    inputs = (torch.arange(12.0) / 10).reshape(2, 3, 2)
    (outputs,), _ = run_steps(
        step, [inputs], [torch.zeros(2, 2)], lengths=torch.tensor([3, 1]), output_specs=[((2,), torch.float32)]
    )
    expected = [
        [[0.049958, 0.149958], [0.491274, 0.591274], [1.029914, 1.129915]],
        [[1.17167, 1.27167], [0, 0], [0, 0]],
    ]
    torch.testing.assert_close(outputs, torch.tensor(expected), rtol=0, atol=1e-6)


@REVERSE
@pytest.mark.parametrize("name", ["basic_rnn", "gru", "lstm", "lstm-everything"])
def test_final_state_is_the_last_valid_output_and_an_empty_row_keeps_its_initial_one(name, reverse):
    case = draw(VARIANTS[name], 3, 5, dtype=torch.float32)
    step, specs = step_of(name, case)
    lengths = torch.tensor([4, 0, 2])
    (outputs,), state = run_steps(step, [case.inputs], case.state, lengths=lengths, output_specs=specs, reverse=reverse)
    for row, length in enumerate(lengths.tolist()):
        assert not outputs[row, length:].any()
        if length:
            assert torch.equal(outputs[row, 0 if reverse else length - 1], state[-1][row])
    assert all(torch.equal(value[1], before[1]) for value, before in zip(state, case.state, strict=True))
    grads = torch.autograd.grad(sum(value.sum() for value in state), case.state)
    assert all(torch.equal(grad[1], torch.ones_like(grad[1])) for grad in grads)


@REVERSE
@pytest.mark.parametrize("time_major", [False, True])
def test_padding_is_never_read_forward_or_backward(reverse, time_major):
    lengths = torch.tensor([3, 0, 1])
    clean = draw(VARIANTS["gru"], 3, 4)
    dirty = clean._replace(inputs=clean.inputs.detach().clone())
    for row, length in enumerate(lengths.tolist()):
        dirty.inputs[row, length:] = float("nan")
    dirty.inputs.requires_grad_()
    results = []
    for case in (clean, dirty):
        step, specs = step_of("gru", case)
        inputs = case.inputs.transpose(0, 1) if time_major else case.inputs
        (outputs,), state = run_steps(
            step, [inputs], case.state, lengths=lengths, output_specs=specs, time_major=time_major, reverse=reverse
        )
        results.append([outputs, *state, *gradients(case, outputs, state)])
    assert all(torch.equal(one, other) for one, other in zip(*results, strict=True))
    grad = results[1][2]
    assert not any(grad[row, length:].any() for row, length in enumerate(lengths.tolist()))


def test_past_its_end_a_row_is_given_its_last_valid_input_and_an_empty_row_that_of_the_longest():
    seen = []

    def step(inputs, state):
        seen.append(inputs[0].tolist())
        return [inputs[0]], state

    inputs = torch.tensor([[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12]])
    keywords = {"lengths": torch.tensor([3, 0, 1]), "output_specs": [((), torch.int64)]}
    (outputs,), _ = run_steps(step, [inputs], [], **keywords)
    assert seen == [[1, 1, 9], [2, 2, 9], [3, 3, 9]]
    assert outputs.tolist() == [[1, 2, 3, 0], [0, 0, 0, 0], [9, 0, 0, 0]]
    seen.clear()
    (outputs,), _ = run_steps(step, [inputs], [], reverse=True, **keywords)
    assert seen == [[3, 3, 9], [2, 2, 9], [1, 1, 9]]
    assert outputs.tolist() == [[1, 2, 3, 0], [0, 0, 0, 0], [9, 0, 0, 0]]


@REVERSE
@pytest.mark.parametrize("time_major", [False, True])
def test_states_and_outputs_of_all_dtypes_and_ranks(time_major, reverse):
    def step(inputs, state):
        vector, token = inputs
        grid, flag, counter, clock = state
        grid = grid + vector.unsqueeze(2)
        return [token, grid.flatten(1) > 0, grid], [grid, flag ^ (token > 2), counter + token, clock + 1]

    vectors = torch.randn(3, 4, 2, dtype=torch.float64)
    tokens = torch.randint(0, 5, (3, 4), dtype=torch.int32)
    state = [
        torch.zeros(3, 2, 3, dtype=torch.float64),
        torch.zeros(3, dtype=torch.bool),
        torch.zeros(3, dtype=torch.int32),
        torch.tensor(0),
    ]
    lengths = torch.tensor([4, 0, 2])
    inputs = [value.transpose(0, 1) if time_major else value for value in (vectors, tokens)]
    (echoed, signs, grids), (grid, flag, counter, clock) = run_steps(
        step,
        inputs,
        state,
        lengths=lengths,
        output_specs=[((), torch.int32), ((6,), torch.bool), ((2, None), torch.float64)],
        time_major=time_major,
        reverse=reverse,
    )
    mask = torch.arange(4) < lengths.unsqueeze(1)
    valid = torch.where(mask, tokens, 0)
    assert torch.equal(echoed.t() if time_major else echoed, valid)
    assert (signs.dtype, signs.shape) == (torch.bool, (4, 3, 6) if time_major else (3, 4, 6))
    assert grids.shape == ((4, 3, 2, 3) if time_major else (3, 4, 2, 3))
    assert torch.equal(counter, valid.sum(1, dtype=torch.int32))
    assert torch.equal(flag, ((valid > 2).sum(1) % 2).bool())
    expected = torch.where(mask.unsqueeze(2), vectors, 0).sum(1).unsqueeze(2).expand(3, 2, 3)
    torch.testing.assert_close(grid, expected, rtol=0, atol=1e-14)
    assert clock.item() == 4  # of rank 0: belongs to no row, counts all steps


@pytest.mark.parametrize(("lengths", "steps"), [(None, 5), ([5, 5], 5), ([3, 3], 3), ([4, 2], 4), ([0, 3], 3)])
@REVERSE
def test_the_step_runs_up_to_the_longest_row_and_only_ended_rows_are_masked(lengths, steps, reverse):
    masked, masked_before_step = 0, []

    class CountMasks(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            nonlocal masked
            masked += func.overloadpacket is torch.ops.aten.where
            return func(*args, **(kwargs or {}))

    def step(inputs, state):
        masked_before_step.append(masked)
        return add_up(inputs, state)

    inputs, state, specs = torch.arange(10.0).reshape(2, 5), torch.zeros(2), [((), torch.float32)]
    with CountMasks():
        (outputs,), (state,) = run_steps(
            step, [inputs], [state], lengths=lengths_of(lengths), output_specs=specs, reverse=reverse
        )
    shortest = min(lengths or [5])
    counts = [count - masked_before_step[0] for count in masked_before_step]
    assert counts == [max(0, step - shortest) for step in range(steps)]
    mask = torch.arange(5) < torch.tensor(lengths or [5, 5]).unsqueeze(1)
    assert torch.equal(outputs, inputs * mask)
    assert torch.equal(state, (inputs * mask).sum(1))


def test_a_state_that_needs_no_rows_is_allowed_without_lengths():
    memory = torch.ones(7, 2)
    _, (state,) = run_steps(
        lambda inputs, state: ([inputs[0]], [state[0] * 2]),
        [torch.zeros(3, 4)],
        [memory],
        lengths=None,
        output_specs=[((), torch.float32)],
    )
    assert torch.equal(state, memory * 16)


@pytest.mark.parametrize(
    ("batch", "time", "lengths"), [(2, 0, None), (2, 0, [0, 0]), (0, 3, None), (0, 3, []), (3, 2, [0, 0, 0])]
)
def test_where_no_step_runs_outputs_are_zeros_of_the_promised_shape_and_hang_on_inputs_and_state(batch, time, lengths):
    def step(inputs, state):
        raise AssertionError("must not be called")

    inputs = torch.full((batch, time, 2), float("nan"), requires_grad=True)
    state = torch.ones(batch, 3, requires_grad=True)
    (outputs, flags), (final,) = run_steps(
        step,
        [inputs],
        [state],
        lengths=lengths_of(lengths),
        output_specs=[((4, None), torch.float64), ((), torch.bool)],
    )
    assert (outputs.shape, outputs.dtype) == ((batch, time, 4, 0), torch.float64)
    assert (flags.shape, flags.dtype, bool(flags.any())) == ((batch, time), torch.bool, False)
    assert torch.equal(final, state)
    grads = torch.autograd.grad(outputs.sum() + final.sum(), [inputs, state])
    assert torch.equal(grads[0], torch.zeros_like(inputs))
    assert torch.equal(grads[1], torch.ones_like(state))


def test_pieces_with_a_carried_state_are_the_whole_bit_for_bit():
    case = draw(VARIANTS["gru"], 3, 6, dtype=torch.float32)
    step, specs = step_of("gru", case)
    lengths = torch.tensor([6, 1, 4])
    (expected,), expected_state = run_steps(step, [case.inputs], case.state, lengths=lengths, output_specs=specs)
    pieces, state = [], case.state
    for start in (0, 2, 4):
        (piece,), state = run_steps(
            step,
            [case.inputs[:, start : start + 2]],
            state,
            lengths=(lengths - start).clamp(0, 2),
            output_specs=specs,
        )
        pieces.append(piece)
    assert torch.equal(torch.cat(pieces, 1), expected)
    assert torch.equal(state[0], expected_state[0])


def test_first_and_second_derivatives_are_right():
    case = draw(VARIANTS["gru"], 3, 3)

    def loop(*leaves):
        inner = case.with_leaves(leaves)
        step, specs = step_of("gru", inner)
        outputs, state = run_steps(
            step, [inner.inputs], inner.state, lengths=torch.tensor([3, 0, 1]), output_specs=specs
        )
        return (*outputs, *state)

    assert torch.autograd.gradcheck(loop, case.leaves())
    assert torch.autograd.gradgradcheck(loop, case.leaves(), fast_mode=True)


def test_a_step_may_write_into_the_lists_it_is_given():
    def step(inputs, state):
        state[0] = state[0] + inputs.pop()
        return [state[0]], state

    inputs, state = [torch.ones(2, 3)], [torch.zeros(2)]
    outputs, final = run_steps(step, inputs, state, lengths=torch.tensor([3, 1]), output_specs=[((), torch.float32)])
    assert outputs[0].tolist() == [[1, 2, 3], [1, 0, 0]]
    assert final[0].tolist() == [3, 1]
    assert len(inputs) == 1 and not state[0].any()
