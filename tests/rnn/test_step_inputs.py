"""What a step is given: rows step by step, and products that are computed from valid rows alone."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from dynrnn.rnn import run_steps
from dynrnn.rnn.step_inputs import Span, step_inputs, step_products


def span_of(lengths, batch, max_time, *, time_major=False, reverse=False):
    if lengths is None:
        return Span(None, batch, max_time, max_time, max_time, time_major, reverse)
    return Span(torch.tensor(lengths), batch, max_time, min(lengths), max(lengths), time_major, reverse)


def expected_steps(inputs, lengths, *, reverse):
    """For `[batch, time, ...]`: each step's rows, one after the other; the truth as slowly as can be."""
    longest = max(range(len(lengths)), key=lambda row: lengths[row])
    steps = []
    for step in range(max(lengths)):
        rows = []
        for row, length in enumerate(lengths):
            source, length = (row, length) if length else (longest, lengths[longest])
            time = min(step, length - 1)
            rows.append(inputs[source, length - 1 - time if reverse else time])
        steps.append(torch.stack(rows))
    return steps


@st.composite
def walks(draw):
    time = draw(st.integers(1, 6))
    lengths = draw(st.lists(st.integers(0, time), min_size=1, max_size=5).filter(any))
    return time, lengths, draw(st.booleans()), draw(st.booleans()), draw(st.sampled_from([None, 1, 2, 3, 9]))


@settings(deadline=None, max_examples=100)
@given(walk=walks())
def test_products_are_those_of_the_rows_that_each_step_is_given(walk):
    time, lengths, reverse, time_major, at_once = walk
    batch = len(lengths)
    numbers = torch.arange(1.0, 1 + batch * time * 2).reshape(batch, time, 2)
    valid = torch.arange(time) < torch.tensor(lengths).unsqueeze(1)
    inputs = torch.where(valid.unsqueeze(2), numbers, torch.nan).requires_grad_()
    span, given_inputs, calls = span_of(lengths, batch, time, time_major=time_major, reverse=reverse), inputs, []
    if time_major:
        given_inputs = inputs.transpose(0, 1)
    wanted = expected_steps(inputs, lengths, reverse=reverse)
    for (found,), rows in zip(step_inputs([given_inputs], span), wanted, strict=True):
        assert torch.equal(found, rows) and found.is_contiguous()

    def product(rows):
        assert not rows[0].isnan().any()
        calls.append(len(rows[0]))
        return [rows[0].square(), rows[0].sum(1)]

    found = list(step_products(product, [given_inputs], span, at_once=at_once))
    assert len(found) == len(wanted)
    for (squares, sums), rows in zip(found, wanted, strict=True):
        assert torch.equal(squares, rows.square()) and torch.equal(sums, rows.sum(1))
    longest, size = max(lengths), min(at_once or time, max(lengths))
    again = sum(0 < length <= start for start in range(size, longest, size) for length in lengths)
    assert sum(calls) == sum(lengths) + again  # those that ended before a stretch are computed once more for it
    assert len(calls) == -(-longest // size)
    loss = sum(squares[row].sum() for step, (squares, _) in enumerate(found) for row in range(batch)
               if step < lengths[row])  # fmt: skip
    (grad,) = torch.autograd.grad(loss, inputs)
    assert torch.equal(grad, torch.where(valid.unsqueeze(2), 2 * numbers, 0.0))


@pytest.mark.parametrize("time_major", [False, True])
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("lengths", [None, [2, 2, 2]])
def test_rows_that_run_equally_long_need_no_places(lengths, time_major, reverse):
    inputs = torch.arange(24.0).reshape(3, 4, 2)
    span = span_of(lengths, 3, 4, time_major=time_major, reverse=reverse)
    rows = inputs.transpose(0, 1) if time_major else inputs
    steps = expected_steps(inputs, lengths or [4] * 3, reverse=reverse)
    for at_once in (None, 1, 3):
        found = list(step_products(lambda rows: [rows[0] + 1], [rows], span, at_once=at_once))
        assert all(torch.equal(one, other + 1) for (one,), other in zip(found, steps, strict=True))


@pytest.mark.parametrize(("batch", "shape"), [(3, ()), (1, (2,)), (3, (2,)), (1, (2, 3)), (3, (2, 3))])
def test_strides_do_not_depend_on_the_time_axis(batch, shape):
    strides = set()
    for time, lengths in ((1, None), (4, None), (7, None), (5, [1] * batch), (5, [5] + [2] * (batch - 1))):
        inputs = torch.zeros(batch, time, *shape)
        for layout in (False, True):
            rows = inputs.transpose(0, 1) if layout else inputs
            span = span_of(lengths, batch, time, time_major=layout)
            strides |= {value.stride() for (value,) in step_inputs([rows], span)}
            strides |= {value.stride() for (value,) in step_products(lambda rows: rows, [rows], span, at_once=2)}
    assert strides == {torch.zeros(batch, *shape).stride()}


def test_run_steps_hands_products_to_the_step():
    inputs, lengths = torch.arange(1.0, 7).reshape(2, 3), torch.tensor([3, 1])
    seen = []

    def step(products, state):
        seen.append(products[0].tolist())
        return [products[0]], [state[0] + products[0]]

    for parallel_iterations in (None, 2):
        (outputs,), (state,) = run_steps(
            step, [inputs], [torch.zeros(2)], lengths=lengths, output_specs=None,
            product=lambda rows: [rows[0] * 10], parallel_iterations=parallel_iterations,
        )  # fmt: skip
        assert outputs.tolist() == [[10, 20, 30], [40, 0, 0]] and state.tolist() == [60, 40]
    assert seen == [[10, 40], [20, 40], [30, 40]] * 2


@pytest.mark.parametrize(
    ("product", "error", "message"),
    [
        (lambda rows: [rows[0][:1]], ValueError, r"return product\[0\] with a row for each of the 4 .*, got \[1\]"),
        (lambda rows: [rows[0].sum()], ValueError, r"return product\[0\] with .*, got \[\]"),
        (lambda rows: [rows[0], 1.0], TypeError, r"return product\[1\] as a tensor, got float"),
    ],
)
def test_refuses_a_product_that_is_none_of_its_rows(product, error, message):
    with pytest.raises(error, match="run_steps: product must " + message):
        run_steps(
            lambda inputs, state: (inputs, state), [torch.ones(2, 3)], [], lengths=torch.tensor([3, 1]),
            output_specs=None, product=product,
        )  # fmt: skip
