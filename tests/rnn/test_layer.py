"""The loop for our own cells: known values, and a row-by-row loop without any batching to compare with."""

import dataclasses

import pytest
import torch
from cells.cell_cases import VARIANTS, Variant, draw
from hypothesis import given, settings
from hypothesis import strategies as st

from dynrnn.cells import BASIC_RNN, GRU, LSTM, BasicRNNOptions, GRUOptions, LSTMOptions
from dynrnn.rnn import run_layer

# rounding of two orders of summation, over a few steps
TOLERANCES = {torch.float32: 2e-6, torch.float64: 1e-12, torch.bfloat16: 8e-2, torch.float16: 1e-2}


def run(variant, case, lengths=None, **options):
    lengths = None if lengths is None else torch.tensor(lengths, dtype=torch.int64)
    return run_layer(
        variant.spec, case.params, case.inputs, case.state, lengths=lengths, options=variant.options, **options
    )


def loop_over_rows(variant, case, lengths, reverse):
    """Each row alone, step by step, over its valid inputs only."""
    spec, options = variant
    rows, finals = [], []
    for row, length in enumerate(lengths):
        state = tuple(value[row : row + 1] for value in case.state)
        outputs = torch.zeros(case.inputs.shape[1], spec.output_size(options), dtype=case.inputs.dtype).unbind(0)
        outputs = list(outputs)
        for time in reversed(range(length)) if reverse else range(length):
            output, state = spec.step(case.params, case.inputs[row : row + 1, time], state, options)
            outputs[time] = output[0]
        rows.append(torch.stack(outputs) if outputs else case.inputs.new_zeros(0, spec.output_size(options)))
        finals.append(state)
    return torch.stack(rows), tuple(torch.cat(values) for values in zip(*finals, strict=True))


def gradients(case, outputs, state):
    loss = sum(
        (value.double() * torch.arange(1.0, 1 + value.numel()).reshape(value.shape)).sum()
        for value in (outputs, *state)
    )
    leaves = case.leaves()
    grads = torch.autograd.grad(loss, leaves, allow_unused=True)
    return [torch.zeros_like(leaf) if grad is None else grad for leaf, grad in zip(leaves, grads, strict=True)]


@pytest.mark.parametrize("name", VARIANTS)
@settings(deadline=None, max_examples=12)
@given(data=st.data())
def test_equals_a_loop_over_single_rows(name, data):
    time = data.draw(st.integers(1, 6), "time")
    lengths = data.draw(st.lists(st.integers(0, time), min_size=1, max_size=5), "lengths")
    dtype = data.draw(st.sampled_from(list(TOLERANCES)), "dtype")
    reverse, time_major = data.draw(st.booleans(), "reverse"), data.draw(st.booleans(), "time_major")
    iterations = data.draw(st.sampled_from([None, 1, 2]), "parallel_iterations")
    variant, tolerance = VARIANTS[name], TOLERANCES[dtype]
    case = draw(variant, len(lengths), time, dtype=dtype)
    expected, expected_state = loop_over_rows(variant, case, lengths, reverse)
    given_case = case._replace(inputs=case.inputs.transpose(0, 1)) if time_major else case
    outputs, state = run(
        variant, given_case, lengths, time_major=time_major, reverse=reverse, parallel_iterations=iterations
    )
    outputs = outputs.transpose(0, 1) if time_major else outputs
    assert outputs.dtype == dtype
    for found, wanted in zip((outputs, *state), (expected, *expected_state), strict=True):
        torch.testing.assert_close(found, wanted, rtol=0, atol=tolerance)
    if dtype in (torch.float32, torch.float64):
        wanted = gradients(case, expected, expected_state)
        for found, grad in zip(gradients(case, outputs, state), wanted, strict=True):
            scale = max(1.0, float(grad.abs().max())) * 10  # sums over rows and steps, weighted up to 100
            torch.testing.assert_close(found, grad, rtol=0, atol=tolerance * scale)


def halves(spec, options, size=2):
    """TensorFlow's starting biases and 0.5 in every kernel; inputs 0.0, 0.1, ... 1.1."""
    params = {
        param.name: torch.full(param.shape, 0.5 if param.initial is None else param.initial)
        for param in spec.params(size, options)
    }
    return params, (torch.arange(12.0) / 10).reshape(2, 3, 2)


@pytest.mark.parametrize(
    ("variant", "initial", "final", "second_row"),
    [
        (Variant(BASIC_RNN, BasicRNNOptions(2)), (0.7,), (0.938349,), [0.874053, 0.938349, 0]),
        (Variant(LSTM, LSTMOptions(2)), (0.3, 0.7), (1.614337, 0.747401), None),
        (Variant(GRU, GRUOptions(2)), (0.7,), (0.727676,), None),
    ],
    ids=["basic_rnn", "lstm", "gru"],
)
def test_an_empty_row_beside_a_running_one_has_the_values_of_tensorflow(variant, initial, final, second_row):
    params, inputs = halves(*variant)
    state = tuple(torch.full((2, 2), value) for value in initial)
    outputs, found = run_layer(
        variant.spec, params, inputs, state, lengths=torch.tensor([0, 2]), options=variant.options
    )
    assert not outputs[0].any()
    for value, before, after in zip(found, state, final, strict=True):
        assert torch.equal(value[0], before[0])
        torch.testing.assert_close(value[1], torch.full((2,), after), rtol=0, atol=1e-6)
    if second_row:
        torch.testing.assert_close(outputs[1, :, 0], torch.tensor(second_row), rtol=0, atol=1e-6)


def test_lstm_final_state_has_the_values_of_tensorflow():
    options = LSTMOptions(2)
    params, inputs = halves(LSTM, options)
    state = torch.zeros(2, 2), torch.zeros(2, 2)
    _, (c, h) = run_layer(LSTM, params, inputs, state, lengths=torch.tensor([3, 1]), options=options)
    torch.testing.assert_close(c[:, 0], torch.tensor([0.449311, 0.375593]), rtol=0, atol=1e-6)
    torch.testing.assert_close(h[:, 0], torch.tensor([0.266464, 0.235784]), rtol=0, atol=1e-6)


@pytest.mark.parametrize(
    ("lengths", "reverse", "expected", "final"),
    [
        ([3, 1], False, [[0.049958, 0.268252, 0.525658], [0.57167, 0, 0]], [0.525658, 0.57167]),
        ([3, 1], True, [[0.259366, 0.430858, 0.421899], [0.57167, 0, 0]], [0.259366, 0.57167]),
        ([0, 2], True, [[0, 0, 0], [0.759712, 0.691069, 0]], [0, 0.759712]),
    ],
)
def test_both_directions_have_the_values_of_tensorflow(lengths, reverse, expected, final):
    options = BasicRNNOptions(1)
    params, inputs = halves(BASIC_RNN, options)
    outputs, (h,) = run_layer(
        BASIC_RNN, params, inputs, (torch.zeros(2, 1),), lengths=torch.tensor(lengths), options=options, reverse=reverse
    )
    torch.testing.assert_close(outputs[..., 0], torch.tensor(expected), rtol=0, atol=1e-6)
    torch.testing.assert_close(h[:, 0], torch.tensor(final), rtol=0, atol=1e-6)


@pytest.mark.parametrize("lengths", [None, [3, 3], [2, 1]])
@pytest.mark.parametrize("iterations", [1, 2])
def test_parallel_iterations_bounds_the_steps_whose_products_are_held(iterations, lengths):
    variant = VARIANTS["lstm"]
    rows = []

    def product(weights, inputs):
        rows.append(inputs.shape[0])
        return variant.spec.product(weights, inputs)

    watched = variant._replace(spec=dataclasses.replace(variant.spec, product=product))
    run(watched, draw(variant, 2, 3), lengths, parallel_iterations=iterations)
    assert max(rows) <= 2 * iterations
    assert sum(rows) == sum(lengths or [3, 3])


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        (
            {"inputs": torch.zeros(2, 3)},
            ValueError,
            r"inputs must have shape \[batch, time, input_size\], got",
        ),
        ({"inputs": torch.zeros(2, 3, 2, dtype=torch.int64)}, TypeError, r"got inputs \[2, 3, 2\] int64"),
        (
            {"inputs": torch.zeros(2, 3, 5).double()},
            ValueError,
            r"params\['kernel'\] must have shape \[8, 12\], got \[5",
        ),
        ({"inputs": torch.zeros(4, 3, 2).double()}, ValueError, r"state\.c must have shape \[4, 3\], got \[2, 3\]"),
        ({"inputs": torch.zeros(2, 3, 2)}, TypeError, r"params\['kernel'\] must be torch\.float32"),
        ({"params": {}}, ValueError, r"params of lstm must be \['kernel', 'bias'\], got \[\]"),
        ({"state": (torch.zeros(2, 3),)}, ValueError, r"state of lstm must be \(c, h\), got 1 tensors"),
        (
            {"state": (torch.zeros(2, 3), torch.zeros(1, 3))},
            ValueError,
            r"h must have shape \[2, 3\], got \[1, 3\]",
        ),
        ({"lengths": torch.tensor([3, 4])}, ValueError, r"lengths must be within 0\.\.3, got lengths\[1\] = 4"),
        ({"parallel_iterations": 0}, ValueError, "parallel_iterations must be at least 1, got 0"),
    ],
)
def test_refuses_what_does_not_fit_and_names_the_argument(changes, error, message):
    variant = VARIANTS["lstm"]
    case = draw(variant, 2, 3)
    state = tuple(value.double() for value in changes.pop("state", case.state))
    arguments = {"params": case.params, "inputs": case.inputs, "state": state, "lengths": None} | changes
    with pytest.raises(error, match="run_layer: .*" + message):
        run_layer(variant.spec, options=variant.options, **arguments)
