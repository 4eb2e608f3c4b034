"""The short way gives the same bits as the long one, with gradients, and leaves all errors to it."""

import pytest
import torch

import dynrnn
from dynrnn.kernels import missing
from dynrnn.kernels import short as kernels_short
from dynrnn.nn import dynamic, recurrent, short

pytestmark = pytest.mark.skipif(
    missing() is not None or not kernels_short._is_open, reason="the short way needs the compiled module and torch 2.10"
)
MODULES = {
    "LSTM": lambda **options: dynrnn.LSTM(5, 4, **options),
    "LSTM, projected": lambda **options: dynrnn.LSTM(5, 4, proj_size=3, **options),
    "LSTM without bias": lambda **options: dynrnn.LSTM(5, 4, bias=False, **options),
    "GRU": lambda **options: dynrnn.GRU(5, 4, **options),
    "RNN": lambda **options: dynrnn.RNN(5, 4, **options),
    "LSTM, two layers": lambda **options: dynrnn.LSTM(5, 4, num_layers=2, dropout=0.5, **options).eval(),
    "LSTM, both directions": lambda **options: dynrnn.LSTM(5, 4, 2, bidirectional=True, proj_size=3, **options),
    "GRU, both directions": lambda **options: dynrnn.GRU(5, 4, bidirectional=True, **options),
    "RNN, relu": lambda **options: dynrnn.RNN(5, 4, nonlinearity="relu", **options),
}
CELLS = {
    "LSTMCell": lambda: dynrnn.LSTMCell(4, 5, use_peepholes=True),
    "GRUCell": lambda: dynrnn.GRUCell(4, 5),
    "GRUCell, reset after": lambda: dynrnn.GRUCell(4, 5, reset_after=True),
    "BasicRNNCell": lambda: dynrnn.BasicRNNCell(4, 5),
}
LENGTHS = [[3, 0, 6], (3, 0, 6), torch.tensor([3, 0, 6]), None]


@pytest.fixture
def ways(monkeypatch):
    """Notes for each call whether it took the short way; "off" closes it."""
    seen, state = [], {"open": True}

    def watched(function):
        def run(*operands, **options):
            found = function(*operands, **options) if state["open"] else None
            seen.append(found is not None)
            return found

        return run

    monkeypatch.setattr(recurrent, "run_short_module", watched(short.run_short_module))
    monkeypatch.setattr(dynamic, "run_short_cell", watched(short.run_short_cell))
    return seen, state


def leaves(results):
    outputs, state = results
    return [outputs, *(state if isinstance(state, tuple) else (state,))]


def bits(call, inputs):
    """Results, and gradients of all that asks for them."""
    with torch.no_grad():
        found = leaves(call())
    assert not any(value.requires_grad for value in found)
    recorded = leaves(call())
    assert all(torch.equal(one, other) for one, other in zip(recorded, found, strict=True))
    loss = sum((value * torch.arange(1.0, 1 + value.numel()).reshape(value.shape).cos()).sum() for value in recorded)
    return [*found, *torch.autograd.grad(loss, inputs)]


def same_both_ways(call, inputs, ways):
    seen, state = ways
    short_way = bits(call, inputs)
    assert seen == [True, True]
    state["open"] = False
    long_way = bits(call, inputs)
    assert [value.shape for value in short_way] == [value.shape for value in long_way]
    assert all(torch.equal(one, other) for one, other in zip(short_way, long_way, strict=True))


@pytest.mark.parametrize("lengths", LENGTHS, ids=["list", "tuple", "tensor", "none"])
@pytest.mark.parametrize("batch_first", [True, False])
@pytest.mark.parametrize("with_state", [True, False])
@pytest.mark.parametrize("name", MODULES)
def test_modules_give_the_same_bits(name, with_state, batch_first, lengths, ways):
    module = MODULES[name](batch_first=batch_first)
    inputs = torch.randn((3, 6, 5) if batch_first else (6, 3, 5), requires_grad=True)
    widths = {"LSTM": (module.proj_size or 4, 4)}.get(module.mode, (4,))
    rows = module.num_layers * (1 + module.bidirectional)
    hx = [torch.randn(rows, 3, width, requires_grad=True) for width in widths] if with_state else []
    given = tuple(hx) if len(hx) == 2 else hx[0] if hx else None
    same_both_ways(lambda: module(inputs, given, lengths=lengths), [inputs, *hx, *module.parameters()], ways)


@pytest.mark.parametrize("lengths", LENGTHS, ids=["list", "tuple", "tensor", "none"])
@pytest.mark.parametrize("way", [{}, {"time_major": True, "reverse": True}], ids=["batch first", "reverse"])
@pytest.mark.parametrize("with_state", [True, False])
@pytest.mark.parametrize("name", CELLS)
def test_cells_give_the_same_bits(name, with_state, way, lengths, ways):
    cell = CELLS[name]()
    inputs = torch.randn((6, 3, 5) if way else (3, 6, 5), requires_grad=True)
    state = [torch.randn(3, 4, requires_grad=True) for _ in range(1 + (name == "LSTMCell"))] if with_state else []
    given = dynrnn.LSTMState(*state) if len(state) == 2 else state[0] if state else None
    same_both_ways(
        lambda: dynrnn.dynamic_rnn(cell, inputs, sequence_length=lengths, initial_state=given, **way),
        [inputs, *state, *cell.parameters()],
        ways,
    )


def test_a_state_comes_back_as_it_does_the_long_way(ways):
    seen, state = ways
    cell, module, inputs = dynrnn.LSTMCell(4, 5), dynrnn.LSTM(5, 4), torch.zeros(6, 3, 5)
    for is_open in (True, False):
        state["open"] = is_open
        assert type(dynrnn.dynamic_rnn(cell, inputs)[1]) is dynrnn.LSTMState
        assert type(module(inputs)[1]) is tuple and module(inputs)[1][0].shape == (1, 3, 4)
    assert seen == [True] * 3 + [False] * 3


@pytest.mark.parametrize(
    ("given", "options"),
    [
        ({"hx": (torch.zeros(3, 4), torch.zeros(3, 4))}, {}),
        ({"hx": torch.zeros(1, 3, 4)}, {}),
        ({"hx": (torch.zeros(2, 3, 4), torch.zeros(2, 3, 4))}, {}),
        ({"hx": (torch.zeros(1, 3, 4), torch.zeros(1, 3, 4))}, {"num_layers": 2}),
        ({"hx": dynrnn.LSTMState(torch.zeros(1, 3, 4), torch.zeros(1, 3, 4))}, {}),
        ({"hx": (torch.zeros(1, 3, 4), torch.zeros(1, 3, 4).double())}, {}),
        ({"lengths": [7, 0, 1]}, {}),
        ({"lengths": torch.tensor([True, False, True])}, {}),
        ({"lengths": [1.5, 0, 1]}, {}),
        ({"input": torch.zeros(6, 3, 4)}, {}),
        ({"input": torch.zeros(6, 3, 5).double()}, {}),
        ({"implementation": "fast"}, {}),
        ({}, {"dtype": torch.float64}),
    ],
)
def test_errors_are_those_of_the_long_way(given, options, ways):
    _, state = ways
    module, messages = dynrnn.LSTM(5, 4, **options), []
    for is_open in (True, False):
        state["open"] = is_open
        with pytest.raises((TypeError, ValueError)) as caught:
            module(given.get("input", torch.zeros(6, 3, 5)), **{k: v for k, v in given.items() if k != "input"})
        messages.append(str(caught.value))
    assert messages[0] == messages[1] and "run_layer" not in messages[0]


@pytest.mark.parametrize("make", [dynrnn.GRU, dynrnn.RNN])
@pytest.mark.parametrize("kind", [tuple, list])
def test_a_state_of_one_tensor_is_not_wrapped(make, kind, ways):
    _, state = ways
    for is_open in (True, False):
        state["open"] = is_open
        with pytest.raises(TypeError, match=f"hx must be one tensor h, got a {kind.__name__} of 1"):
            make(5, 4)(torch.zeros(6, 3, 5), kind([torch.zeros(1, 3, 4)]))


@pytest.mark.parametrize(
    "given",
    [
        {"sequence_length": [7, 0, 1]},
        {"initial_state": (torch.zeros(3, 4), torch.zeros(3, 5))},
        {"initial_state": torch.zeros(3, 4)},
        {"inputs": torch.zeros(3, 6)},
        {"inputs": torch.zeros(3, 6, 4)},
        {"implementation": "fast"},
    ],
)
def test_errors_of_dynamic_rnn_are_those_of_the_long_way(given, ways):
    _, state = ways
    cell, messages = dynrnn.LSTMCell(4, 5), []
    for is_open in (True, False):
        state["open"] = is_open
        with pytest.raises((TypeError, ValueError)) as caught:
            dynrnn.dynamic_rnn(cell, **{"inputs": torch.zeros(3, 6, 5), **given})
        messages.append(str(caught.value))
    assert messages[0] == messages[1] and "run_layer" not in messages[0]


def test_what_watches_the_calls_keeps_them_on_the_long_way(ways):
    seen, _ = ways
    module, cell, inputs = dynrnn.LSTM(5, 4), dynrnn.LSTMCell(4, 5), torch.randn(6, 3, 5)
    with torch.autocast("cpu", torch.bfloat16):
        assert module(inputs)[0].dtype == torch.bfloat16
    torch.vmap(lambda one: module(one)[0])(inputs.expand(2, 6, 3, 5))
    cell.register_forward_hook(lambda *given: None)
    dynrnn.dynamic_rnn(cell, inputs)
    module(inputs, implementation="reference")
    dynrnn.LSTM(5, 4, 2, dropout=0.5)(inputs)
    assert not any(seen) and len(seen) == 4


def test_a_cell_that_waits_for_its_input_size_gets_it_on_the_long_way(ways):
    seen, _ = ways
    cell, inputs = dynrnn.GRUCell(4), torch.randn(3, 6, 5)
    dynrnn.dynamic_rnn(cell, inputs)
    dynrnn.dynamic_rnn(cell, inputs)
    assert seen == [False, True] and cell.input_size == 5


def test_a_computed_weight_is_read_on_the_long_way(ways):
    seen, _ = ways
    module, inputs = dynrnn.RNN(5, 4), torch.randn(6, 3, 5)
    torch.nn.utils.parametrize.register_parametrization(module, "weight_hh_l0", torch.nn.Tanh())
    outputs = module(inputs)[0]
    plain = torch.nn.RNN(5, 4)
    plain.load_state_dict({name: getattr(module, name).detach() for name in plain.state_dict()})
    torch.testing.assert_close(outputs, plain(inputs)[0], rtol=0, atol=1e-6)
    assert seen == [False]


def test_lengths_may_be_overwritten_before_backward(ways):
    module, lengths = dynrnn.GRU(5, 4), torch.tensor([2, 6, 1])
    inputs = torch.randn(6, 3, 5, requires_grad=True)
    (expected,) = torch.autograd.grad(module(inputs, lengths=lengths)[0].sum(), inputs)
    outputs = module(inputs, lengths=lengths)[0]
    lengths.fill_(0)
    assert torch.equal(torch.autograd.grad(outputs.sum(), inputs)[0], expected)
    assert ways[0] == [True, True]


def test_second_derivatives_are_those_of_the_long_way(ways):
    _, state = ways
    module, found = dynrnn.LSTM(5, 4).double(), []
    inputs = torch.randn(6, 3, 5, dtype=torch.float64, requires_grad=True)
    for is_open in (True, False):
        state["open"] = is_open
        (grad,) = torch.autograd.grad(module(inputs, lengths=[6, 0, 3])[0].square().sum(), inputs, create_graph=True)
        found.append(torch.autograd.grad(grad.square().sum(), module.parameters()))
    assert all(torch.equal(one, other) for one, other in zip(*found, strict=True))


@pytest.mark.parametrize("kind", ["module", "cell"])
def test_frozen_weights_are_used_as_they_were_packed(kind, ways):
    owner, inputs = dynrnn.LSTM(5, 4) if kind == "module" else dynrnn.LSTMCell(4, 5), torch.randn(6, 3, 5)
    call = (lambda: owner(inputs)) if kind == "module" else (lambda: dynrnn.dynamic_rnn(owner, inputs))
    with torch.no_grad(), pytest.raises(RuntimeError, match="was changed while"):
        expected = leaves(call())
        with dynrnn.frozen(owner):
            assert all(torch.equal(one, other) for one, other in zip(leaves(call()), expected, strict=True))
            assert ways[0] == [True, True]
            next(owner.parameters()).add_(1)
            call()


@pytest.mark.parametrize("create_graph", [False, True])
@pytest.mark.parametrize("batched", ["is_grads_batched", "vmap"])
def test_many_gradients_may_be_taken_at_once(batched, create_graph, ways):
    module, inputs = dynrnn.LSTM(5, 4).double(), torch.randn(6, 3, 5, dtype=torch.float64, requires_grad=True)
    begin = [torch.randn(1, 3, 4, dtype=torch.float64, requires_grad=True) for _ in range(2)]
    _, (h, c) = module(inputs, tuple(begin), lengths=[6, 0, 2])
    leaves, seeds = [inputs, *begin, *module.parameters()], torch.randn(4, 1, 3, 4, dtype=torch.float64)

    def take(seed, **options):
        return torch.autograd.grad((h, c), leaves, (seed, 2 * seed), retain_graph=True, **options)

    if batched == "vmap":
        found = torch.vmap(lambda seed: take(seed, create_graph=create_graph))(seeds)
    else:
        found = take(seeds, is_grads_batched=True, create_graph=create_graph)
    for index, seed in enumerate(seeds):
        for value, expected in zip(found, take(seed), strict=True):
            torch.testing.assert_close(value[index], expected, rtol=0, atol=1e-12)
    assert ways[0] == [True]
