"""The laws of the loop, each a test, for every cell: what holds for all inputs, bit for bit where it is promised."""

import pytest
import torch
from cells.cell_cases import VARIANTS, draw
from torch.utils.flop_counter import FlopCounterMode

from dynrnn.rnn import run_layer

TOLERANCES = {torch.float32: 1e-6, torch.float64: 1e-12}
LENGTHS = [3, 0, 5, 1]
TIME = 6
REVERSE = pytest.mark.parametrize("reverse", [False, True], ids=["forward", "backward"])
DTYPE = pytest.mark.parametrize("dtype", list(TOLERANCES), ids=str)

pytestmark = pytest.mark.parametrize("name", VARIANTS)


def run(name, case, lengths=None, **options):
    spec, cell_options = VARIANTS[name]
    lengths = None if lengths is None else torch.tensor(lengths, dtype=torch.int64)
    return run_layer(spec, case.params, case.inputs, case.state, lengths=lengths, options=cell_options, **options)


def gradients(case, outputs, state):
    loss = outputs.square().sum() + sum(value.square().sum() for value in state)
    return torch.autograd.grad(loss, case.leaves())


def assert_same_bits(found, expected):
    assert all(torch.equal(one, other) for one, other in zip(found, expected, strict=True))


def assert_close(found, expected, tolerance):
    for one, other in zip(found, expected, strict=True):
        torch.testing.assert_close(one, other, rtol=0, atol=tolerance)


@REVERSE
def test_law_1_outputs_end_in_zeros_and_the_final_state_is_the_last_valid_one(name, reverse):
    case = draw(VARIANTS[name], 4, TIME)
    outputs, state = run(name, case, LENGTHS, reverse=reverse)
    for row, length in enumerate(LENGTHS):
        assert not outputs[row, length:].any()
        if length:
            assert torch.equal(outputs[row, 0 if reverse else length - 1], state[-1][row])
        else:
            assert_same_bits([value[row] for value in state], [value[row] for value in case.state])


@REVERSE
def test_law_1_an_empty_row_passes_its_gradient_on_unchanged(name, reverse):
    case = draw(VARIANTS[name], 4, TIME)
    _, state = run(name, case, LENGTHS, reverse=reverse)
    grads = torch.autograd.grad(sum(value.sum() for value in state), case.state)
    assert all(torch.equal(grad[1], torch.ones_like(grad[1])) for grad in grads)


@REVERSE
@pytest.mark.parametrize("junk", [float("nan"), float("inf"), -float("inf"), 1e30])
def test_law_2_padding_is_never_read(name, reverse, junk):
    clean = draw(VARIANTS[name], 4, TIME)
    dirty = clean._replace(inputs=clean.inputs.detach().clone())
    for row, length in enumerate(LENGTHS):
        dirty.inputs[row, length:] = junk
    dirty.inputs.requires_grad_()
    expected, found = run(name, clean, LENGTHS, reverse=reverse), run(name, dirty, LENGTHS, reverse=reverse)
    assert_same_bits((found[0], *found[1]), (expected[0], *expected[1]))
    grads = gradients(dirty, *found)
    assert_same_bits(grads, gradients(clean, *expected))
    assert not any(grads[0][row, length:].any() for row, length in enumerate(LENGTHS))


def test_law_2_gradients_of_padded_outputs_are_dropped_even_if_they_are_nan(name):
    case = draw(VARIANTS[name], 4, TIME)
    outputs, _ = run(name, case, LENGTHS)
    weight = torch.ones_like(outputs)
    for row, length in enumerate(LENGTHS):
        weight[row, length:] = float("nan")
    assert_same_bits(
        torch.autograd.grad(outputs, case.leaves(), weight, retain_graph=True),
        torch.autograd.grad(outputs, case.leaves(), torch.ones_like(outputs)),
    )


@DTYPE
@REVERSE
def test_law_3_a_row_depends_on_no_neighbour_no_padding_and_no_order(name, reverse, dtype):
    case = draw(VARIANTS[name], 4, TIME, dtype=dtype)
    outputs, state = run(name, case, LENGTHS, reverse=reverse)
    order = [2, 0, 3, 1]
    shuffled = case._replace(inputs=case.inputs[order], state=tuple(value[order] for value in case.state))
    wider = case._replace(inputs=torch.cat((case.inputs, case.inputs), 1))
    found, found_state = run(name, shuffled, [LENGTHS[row] for row in order], reverse=reverse)
    assert_close((found, *found_state), (outputs[order], *(value[order] for value in state)), TOLERANCES[dtype])
    found, found_state = run(name, wider, LENGTHS, reverse=reverse)
    assert_close((found[:, :TIME], *found_state), (outputs, *state), TOLERANCES[dtype])
    assert not found[:, TIME:].any()
    for row, length in enumerate(LENGTHS):
        alone = case._replace(
            inputs=case.inputs[row : row + 1, :length], state=tuple(value[row : row + 1] for value in case.state)
        )
        found, found_state = run(name, alone, reverse=reverse)
        expected = outputs[row : row + 1, :length], *(value[row : row + 1] for value in state)
        assert_close((found, *found_state), expected, TOLERANCES[dtype])


def test_law_4_work_follows_the_sum_of_lengths_forward_and_backward(name):
    def work(lengths):
        case = draw(VARIANTS[name], 4, TIME)
        with FlopCounterMode(display=False) as counter:
            outputs, state = run(name, case, lengths, implementation="reference")  # the counter sees torch's operators
            forward = counter.get_total_flops()
            gradients(case, outputs, state)
        return forward, counter.get_total_flops()

    one_row_one_step = work([1, 0, 0, 0])
    assert work(LENGTHS)[0] == sum(LENGTHS) * one_row_one_step[0]
    full, ragged = work([TIME] * 4), work(LENGTHS)
    assert ragged[1] / full[1] <= sum(LENGTHS) / (4 * TIME)


@REVERSE
@pytest.mark.parametrize(
    ("batch", "time", "lengths"),
    [(2, 0, None), (2, 0, [0, 0]), (0, 3, None), (0, 3, []), (0, 0, None), (3, 2, [0, 0, 0])],
)
def test_law_5_empty_inputs_are_ordinary_forward_and_backward(name, reverse, batch, time, lengths):
    spec, options = VARIANTS[name]
    case = draw(VARIANTS[name], batch, time)
    outputs, state = run(name, case, lengths, reverse=reverse)
    assert outputs.shape == (batch, time, spec.output_size(options))
    assert outputs.dtype == case.inputs.dtype
    assert not outputs.any()
    assert_same_bits(state, case.state)
    grads = torch.autograd.grad(outputs.sum() + sum(value.sum() for value in state), case.leaves())
    count = len(case.state)
    assert not any(grad.any() for grad in (grads[0], *grads[1 + count :]))
    assert all(torch.equal(grad, torch.ones_like(grad)) for grad in grads[1 : 1 + count])


@REVERSE
@pytest.mark.parametrize("lengths", [None, LENGTHS, [4] * 4])
def test_law_8_time_major_changes_the_layout_and_no_bit(name, reverse, lengths):
    case = draw(VARIANTS[name], 4, TIME, dtype=torch.float32)
    expected, expected_state = run(name, case, lengths, reverse=reverse)
    turned = case._replace(inputs=case.inputs.detach().transpose(0, 1).contiguous().requires_grad_())
    found, state = run(name, turned, lengths, reverse=reverse, time_major=True)
    assert_same_bits((found.transpose(0, 1), *state), (expected, *expected_state))
    grads = gradients(turned, found.transpose(0, 1), state)
    assert_close((grads[0].transpose(0, 1), *grads[1:]), gradients(case, expected, expected_state), 1e-4)


@DTYPE
@pytest.mark.parametrize("lengths", [None, LENGTHS])
def test_law_8_parallel_iterations_changes_no_result(name, lengths, dtype):
    case = draw(VARIANTS[name], 4, TIME, dtype=dtype)
    expected, expected_state = run(name, case, lengths)
    for iterations in (1, 4, 32):
        found, state = run(name, case, lengths, parallel_iterations=iterations)
        assert_close((found, *state), (expected, *expected_state), TOLERANCES[dtype])


@DTYPE
def test_law_9_pieces_with_a_carried_state_are_the_whole(name, dtype):
    case = draw(VARIANTS[name], 4, TIME, dtype=dtype)
    expected, expected_state = run(name, case, LENGTHS)
    pieces, state = [], case.state
    for start in range(0, TIME, 2):
        lengths = [min(max(length - start, 0), 2) for length in LENGTHS]
        piece = case._replace(inputs=case.inputs[:, start : start + 2], state=state)
        outputs, state = run(name, piece, lengths)
        pieces.append(outputs)
    assert_close((torch.cat(pieces, 1), *state), (expected, *expected_state), TOLERANCES[dtype])


@REVERSE
@pytest.mark.parametrize("lengths", [None, LENGTHS])
def test_law_10_repeats_have_the_same_bits(name, reverse, lengths):
    case = draw(VARIANTS[name], 4, TIME, dtype=torch.float32)
    runs = [run(name, case, lengths, reverse=reverse) for _ in range(2)]
    assert_same_bits((runs[0][0], *runs[0][1]), (runs[1][0], *runs[1][1]))
    assert_same_bits(gradients(case, *runs[0]), gradients(case, *runs[1]))


@REVERSE
def test_law_10_no_lengths_and_full_lengths_have_the_same_bits(name, reverse):
    case = draw(VARIANTS[name], 4, TIME, dtype=torch.float32)
    expected, expected_state = run(name, case, reverse=reverse)
    found, state = run(name, case, [TIME] * 4, reverse=reverse)
    assert_same_bits((found, *state), (expected, *expected_state))


@pytest.mark.parametrize("lengths", [None, [2, 0, 1]])
def test_law_11_first_and_second_derivatives_are_right(name, lengths):
    case = draw(VARIANTS[name], 3, 2)

    def layer(*leaves):
        outputs, state = run(name, case.with_leaves(leaves), lengths, reverse=lengths is not None)
        return (outputs, *state)

    assert torch.autograd.gradcheck(layer, case.leaves())
    assert torch.autograd.gradgradcheck(layer, case.leaves(), fast_mode=True)


@pytest.mark.parametrize("lengths", [None, LENGTHS, [0] * 4])
def test_nothing_that_is_given_is_written_to_or_handed_back(name, lengths):
    case = draw(VARIANTS[name], 4, TIME)
    leaves = case.leaves()
    versions = [leaf._version for leaf in leaves]
    outputs, state = run(name, case, lengths)
    assert [leaf._version for leaf in leaves] == versions
    memory = {leaf.untyped_storage().data_ptr() for leaf in leaves}
    assert memory.isdisjoint(value.untyped_storage().data_ptr() for value in (outputs, *state))
