"""LSTM, GRU and RNN against torch's own modules, in every configuration."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from nn.module_cases import INPUT, KINDS, SHAPES, close, draw_hx, gradients, loop_over_rows, make, states
from torch import nn

from dynrnn.nn.modules import GRU, LSTM, RNN

# rounding of another order of summation, over a few steps
TOLERANCES = {torch.float32: 5e-6, torch.float64: 1e-12, torch.bfloat16: 1e-1, torch.float16: 2e-2}

every_kind = pytest.mark.parametrize("name", KINDS)
every_shape = pytest.mark.parametrize(("layers", "bidirectional", "bias", "batch_first"), SHAPES)


@every_kind
@every_shape
def test_without_lengths_it_is_torchs_module(name, layers, bidirectional, bias, batch_first):
    options = {"num_layers": layers, "bidirectional": bidirectional, "bias": bias, "batch_first": batch_first}
    ours, theirs = make(name, **options)
    inputs = torch.randn(5, 3, INPUT, dtype=torch.float64, requires_grad=True)
    hx = draw_hx(theirs, 5 if batch_first else 3)
    for state in (None, hx):
        output, final = ours(inputs, state)
        expected, expected_final = theirs(inputs, state)
        close((output, *states(final)), (expected, *states(expected_final)))
        leaves = [inputs, *states(hx)] if state is not None else [inputs]
        mine = gradients((output, *states(final)), [*leaves, *ours.parameters()])
        close(mine, gradients((expected, *states(expected_final)), [*leaves, *theirs.parameters()]), 1e-11)


@every_kind
@every_shape
@pytest.mark.parametrize("lengths", [[2, 5, 0, 3], [0, 0, 0, 0], [5, 5, 5, 5], [4, 3, 2, 1], [1, 1, 1, 1]])
def test_with_lengths_each_row_is_as_if_alone(name, layers, bidirectional, bias, batch_first, lengths):
    ours, theirs = make(name, num_layers=layers, bidirectional=bidirectional, bias=bias, batch_first=batch_first)
    inputs = torch.randn(4, 5, INPUT, dtype=torch.float64, requires_grad=True)
    hx = draw_hx(theirs, 4)
    output, final = ours(inputs if batch_first else inputs.transpose(0, 1), hx, lengths=lengths)
    output = output if batch_first else output.transpose(0, 1)
    expected, expected_final = loop_over_rows(theirs, inputs, hx, lengths)
    close((output, *states(final)), (expected, *expected_final))
    leaves = [inputs, *states(hx)]
    mine = gradients((output, *states(final)), [*leaves, *ours.parameters()])
    if any(lengths):
        close(mine, gradients((expected, *expected_final), [*leaves, *theirs.parameters()]), 1e-11)
    else:
        close(mine[0], torch.zeros_like(inputs))


@every_kind
@settings(deadline=None, max_examples=15)
@given(data=st.data())
def test_any_shape_lengths_and_dtype(name, data):
    time, batch = data.draw(st.integers(1, 6), "time"), data.draw(st.integers(1, 4), "batch")
    lengths = data.draw(st.lists(st.integers(0, time), min_size=batch, max_size=batch), "lengths")
    dtype = data.draw(st.sampled_from(list(TOLERANCES)), "dtype")
    options = {key: data.draw(st.booleans(), key) for key in ("bidirectional", "bias", "batch_first")}
    torch.manual_seed(data.draw(st.integers(0, 99), "seed"))
    ours, theirs = make(name, num_layers=data.draw(st.integers(1, 2), "layers"), **options)
    ours.to(dtype)
    inputs, hx = torch.randn(batch, time, INPUT, dtype=torch.float64), draw_hx(theirs, batch)
    low = [value.to(dtype) for value in states(hx)]
    given_inputs = inputs.to(dtype) if options["batch_first"] else inputs.to(dtype).transpose(0, 1)
    output, final = ours(given_inputs, tuple(low) if isinstance(hx, tuple) else low[0], lengths=lengths)
    output = output if options["batch_first"] else output.transpose(0, 1)
    expected, expected_final = loop_over_rows(theirs, inputs, hx, lengths)
    assert {value.dtype for value in (output, *states(final))} == {dtype}
    results = [value.double() for value in (output, *states(final))]
    close(results, [expected, *expected_final], TOLERANCES[dtype])


@every_kind
@pytest.mark.parametrize("bidirectional", [False, True])
def test_padding_is_never_read(name, bidirectional):
    ours, _ = make(name, num_layers=2, bidirectional=bidirectional, batch_first=True)
    inputs = torch.randn(3, 4, INPUT, dtype=torch.float64)
    inputs[0, 2:] = float("nan")
    inputs[1] = float("inf")
    inputs.requires_grad_()
    output, final = ours(inputs, lengths=[2, 0, 4])
    grads = gradients((output, *states(final)), [inputs, *ours.parameters()])
    assert all(value.isfinite().all() for value in (output, *states(final), *grads))
    assert (output[0, 2:] == 0).all() and (output[1] == 0).all()
    assert (grads[0][0, 2:] == 0).all() and (grads[0][1] == 0).all()


@every_kind
def test_an_empty_row_hands_its_state_through_bit_for_bit(name):
    ours, theirs = make(name, num_layers=2, bidirectional=True)
    hx = draw_hx(theirs, 2)
    _, final = ours(torch.randn(3, 2, INPUT, dtype=torch.float64), hx, lengths=[0, 2])
    for before, after in zip(states(hx), states(final), strict=True):
        assert torch.equal(before[:, 0], after[:, 0])
        (grad,) = torch.autograd.grad(after[:, 0].sum(), before, retain_graph=True)
        assert torch.equal(grad[:, 0], torch.ones_like(grad[:, 0]))


@every_kind
@pytest.mark.parametrize("lengths", [None, "zeros"])
@pytest.mark.parametrize(("batch", "time"), [(0, 3), (2, 0), (0, 0)])
def test_no_rows_and_no_steps_are_ordinary_inputs(name, batch, time, lengths):
    ours, theirs = make(name, num_layers=2, bidirectional=True, batch_first=True)
    inputs = torch.zeros(batch, time, INPUT, dtype=torch.float64, requires_grad=True)
    hx = draw_hx(theirs, batch)
    output, final = ours(inputs, hx, lengths=None if lengths is None else [0] * batch)
    assert output.shape == (batch, time, 2 * (theirs.proj_size or theirs.hidden_size))
    assert all(torch.equal(one, other) for one, other in zip(states(final), states(hx), strict=True))
    (output.sum() + sum(value.sum() for value in states(final))).backward()
    assert inputs.grad is None or inputs.grad.shape == inputs.shape


@every_kind
def test_one_sequence_without_batch(name):
    ours, theirs = make(name, num_layers=2, bidirectional=True, batch_first=True)
    inputs = torch.randn(5, INPUT, dtype=torch.float64)
    hx = draw_hx(theirs, 1)
    flat = tuple(value.squeeze(1) for value in states(hx))
    flat = flat if isinstance(hx, tuple) else flat[0]
    output, final = ours(inputs, flat)
    expected, expected_final = theirs(inputs, flat)
    close((output, *states(final)), (expected, *states(expected_final)))
    for length in (3, [3], torch.tensor(3)):
        output, final = ours(inputs, flat, lengths=length, padding_value=7.0)
        expected, expected_final = theirs(inputs[:3], flat)
        close((output[:3], *states(final)), (expected, *states(expected_final)))
        assert (output[3:] == 7).all()


def test_output_keeps_the_full_time_axis():
    output, _ = LSTM(4, 3, batch_first=True)(torch.randn(3, 5, 4), lengths=torch.tensor([3, 2, 1]))
    assert output.shape == (3, 5, 3) and (output[:, 3:] == 0).all()


@pytest.mark.parametrize("batch_first", [False, True])
def test_padding_value_stands_past_each_rows_end_and_nowhere_else(batch_first):
    gru = GRU(4, 3, 2, batch_first=batch_first)
    inputs = torch.randn(2, 2, 4)
    plain, state = gru(inputs, lengths=[2, 1])
    filled, same = gru(inputs, lengths=[2, 1], padding_value=-1.5)
    past = torch.zeros(2, 2, 3, dtype=torch.bool)
    past[1, 1] = True
    assert torch.equal(filled, torch.where(past, -1.5, plain)) and torch.equal(state, same)


@pytest.mark.parametrize(
    "lengths",
    [
        (3, 1),
        torch.tensor([3, 1], dtype=torch.int32),
        torch.tensor([3, 1], dtype=torch.uint8),
        torch.tensor([3.0, 1.0]),
    ],
    ids=repr,
)
def test_lengths_may_be_anything_that_holds_integers(lengths):
    rnn = RNN(4, 3, batch_first=True)
    inputs = torch.randn(2, 3, 4)
    assert torch.equal(rnn(inputs, lengths=lengths)[0], rnn(inputs, lengths=[3, 1])[0])


def test_lengths_may_be_an_array():
    rnn = RNN(4, 3, batch_first=True)
    inputs = torch.randn(2, 3, 4)
    lengths = torch.tensor([3, 1], dtype=torch.int16).numpy()
    assert torch.equal(rnn(inputs, lengths=lengths)[0], rnn(inputs, lengths=[3, 1])[0])


@every_kind
def test_shards_along_the_batch_are_the_whole(name):
    ours, theirs = make(name, num_layers=2, bidirectional=True, batch_first=True)
    inputs, lengths = torch.randn(5, 6, INPUT, dtype=torch.float64), torch.tensor([2, 6, 0, 3, 1])
    hx = draw_hx(theirs, 5)
    whole, final = ours(inputs, hx, lengths=lengths)
    outputs, finals = [], []
    for rows in (slice(0, 2), slice(2, 5)):
        part = tuple(value[:, rows] for value in states(hx))
        output, state = ours(inputs[rows], part if isinstance(hx, tuple) else part[0], lengths=lengths[rows])
        outputs.append(output)
        finals.append(states(state))
    close(torch.cat(outputs), whole)
    close(tuple(torch.cat(values, 1) for values in zip(*finals, strict=True)), states(final))


def test_pieces_with_the_state_carried_on_are_the_whole():
    lstm = LSTM(4, 3, 2, batch_first=True)
    inputs, lengths = torch.randn(3, 6, 4), torch.tensor([6, 2, 5])
    whole, final = lstm(inputs, lengths=lengths)
    first, state = lstm(inputs[:, :4], lengths=lengths.clamp(max=4))
    second, state = lstm(inputs[:, 4:], state, lengths=(lengths - 4).clamp(min=0))
    close(torch.cat((first, second), 1), whole, 1e-6)
    close(state, final, 1e-6)


@every_kind
@every_shape
def test_weights_have_torchs_names_shapes_and_first_values(name, layers, bidirectional, bias, batch_first):
    kind = KINDS[name]
    made = []
    for cls in (kind.ours, kind.theirs):
        torch.manual_seed(3)
        made.append(cls(5, 4, num_layers=layers, bidirectional=bidirectional, bias=bias, **kind.options))
    ours, theirs = made
    assert list(ours.state_dict()) == list(theirs.state_dict())
    assert all(torch.equal(one, other) for one, other in zip(ours.parameters(), theirs.parameters(), strict=True))
    theirs.load_state_dict(ours.state_dict(), strict=True)
    ours.load_state_dict(theirs.state_dict(), strict=True)
    assert repr(ours) == repr(theirs)


@every_kind
def test_our_modules_have_what_torchs_have(name):
    ours, theirs = make(name)
    assert isinstance(ours, nn.RNNBase) and len(ours.all_weights) == 1
    assert {key for key in vars(theirs) if not key.startswith("_")} == {key for key in vars(ours) if key[0] != "_"}


@pytest.mark.parametrize("name", ["lstm", "gru"])
def test_wrong_arguments_are_refused_as_by_torch(name):
    kind = KINDS[name]
    for wrong in ({"input_size": 0}, {"hidden_size": 2.0}, {"dropout": 2}, {"bias": 1}, {"num_layers": 0}):
        options = {"input_size": 3, "hidden_size": 4, **wrong}
        with pytest.raises((ValueError, TypeError)) as theirs:
            kind.theirs(**options)
        with pytest.raises(theirs.type) as ours:
            kind.ours(**options)
        assert str(ours.value) == str(theirs.value)


def test_an_unknown_nonlinearity_is_refused():
    with pytest.raises(ValueError, match=r"RNN: nonlinearity must be one of \['tanh', 'relu'\], got 'sin'"):
        RNN(3, 4, nonlinearity="sin")


def test_arguments_stand_in_torchs_order():
    assert RNN(4, 3, 2, "relu", False, True, 0.5, True).__dict__["mode"] == "RNN_RELU"
    lstm = LSTM(4, 3, 2, False, True, 0.5, True, 2)
    assert repr(lstm) == repr(nn.LSTM(4, 3, 2, False, True, 0.5, True, 2))
    gru = GRU(4, 3, 2, False, True, 0.5, True, "cpu", torch.float64)
    assert gru.weight_ih_l0.dtype == torch.float64


def test_dropout_between_layers_draws_what_torch_draws():
    ours, theirs = make("lstm", num_layers=3, dropout=0.4, bidirectional=True)
    inputs = torch.randn(5, 2, INPUT, dtype=torch.float64)
    torch.manual_seed(5)
    output, _ = ours(inputs)
    torch.manual_seed(5)
    expected, _ = theirs(inputs)
    close(output, expected)
    close(ours.eval()(inputs)[0], theirs.eval()(inputs)[0])


def test_dropout_repeats_under_a_seed_and_spares_the_last_layer_and_the_padding():
    gru = GRU(4, 30, 2, dropout=0.5, batch_first=True)
    inputs = torch.randn(2, 6, 4)
    runs = []
    for seed in (1, 1, 2):
        torch.manual_seed(seed)
        runs.append(gru(inputs, lengths=[6, 3])[0])
    assert torch.equal(runs[0], runs[1]) and not torch.equal(runs[0], runs[2])
    assert (runs[0][0] != 0).all() and (runs[0][1, 3:] == 0).all()


@every_kind
@pytest.mark.parametrize("bidirectional", [False, True])
def test_first_and_second_derivatives_are_right(name, bidirectional):
    ours, theirs = make(name, num_layers=2, bidirectional=bidirectional, batch_first=True)
    inputs = torch.randn(2, 3, INPUT, dtype=torch.float64, requires_grad=True)
    hx = draw_hx(theirs, 2)
    names = [key for key, _ in ours.named_parameters()]

    def run(inputs, *rest):
        state, weights = rest[: len(states(hx))], rest[len(states(hx)) :]
        state = tuple(state) if isinstance(hx, tuple) else state[0]
        call = torch.func.functional_call(
            ours, dict(zip(names, weights, strict=True)), (inputs, state), {"lengths": [3, 1]}
        )
        return (call[0], *states(call[1]))

    leaves = (inputs, *states(hx), *(value.detach().requires_grad_() for value in ours.parameters()))
    assert torch.autograd.gradcheck(run, leaves, fast_mode=True)
    assert torch.autograd.gradgradcheck(run, leaves, fast_mode=True)


@pytest.mark.parametrize("size", [1e30, -1e30, 0.0])
@pytest.mark.parametrize("name", ["lstm", "gru", "rnn"])
def test_extreme_inputs_saturate_and_stay_finite(name, size):
    ours, _ = make(name, dtype=torch.float32)
    inputs = torch.full((3, 2, INPUT), size, requires_grad=True)
    output, final = ours(inputs, lengths=[3, 1])
    grads = gradients((output, *states(final)), [inputs, *ours.parameters()][:1])
    assert all(value.isfinite().all() for value in (output, *states(final), *grads))
