"""Functions that backward calls again: the same gradients, random numbers and autocast, and little that is kept."""

import pytest
import torch

from dynrnn.cells import BASIC_RNN, LSTM, BasicRNNOptions, LSTMOptions
from dynrnn.rnn import trace_layer
from dynrnn.rnn.recompute import captured_tensors, recomputed


def test_gradients_of_gradients_are_right():
    x, w = (torch.randn(3, dtype=torch.float64, requires_grad=True) for _ in range(2))

    def function(a, b):
        return a * b.sin(), (a**3 * b).sum()

    def call(a, b):
        inner = a * b  # an argument that was made from another one
        return recomputed(function, [inner, b])

    assert torch.autograd.gradcheck(call, [x, w])
    assert torch.autograd.gradgradcheck(call, [x, w])


def test_what_is_random_is_drawn_alike_and_once():
    x = torch.ones(1000, requires_grad=True)
    torch.manual_seed(5)
    (y,) = recomputed(lambda value: (torch.nn.functional.dropout(value, 0.5),), [x])
    after = torch.rand(3)
    (grad,) = torch.autograd.grad(y.sum(), x)
    assert torch.equal(grad, y.detach())
    torch.manual_seed(5)
    torch.nn.functional.dropout(torch.ones(1000), 0.5)
    assert torch.equal(torch.rand(3), after)


def test_autocast_is_that_of_the_first_call():
    x = torch.randn(4, 4, requires_grad=True)
    kinds = []

    def function(value):
        result = value @ value
        kinds.append(result.dtype)
        return (result,)

    with torch.autocast("cpu", torch.bfloat16):
        (y,) = recomputed(function, [x])
    y.float().sum().backward()
    assert kinds == [torch.bfloat16] * 2


def test_arguments_and_results_without_gradient_stay_without():
    x, count = torch.ones(2, requires_grad=True), torch.tensor(3)
    y, other = recomputed(lambda value, number: (value * number, number + 1), [x, count])
    assert other.item() == 4
    y.sum().backward()
    assert x.grad.tolist() == [3, 3]
    (unused,) = recomputed(lambda value: (value.detach() * 2,), [x])
    assert torch.autograd.grad(unused.sum(), x, allow_unused=True) == (None,)


@pytest.mark.parametrize("every", [None, 50])
def test_a_long_sequence_keeps_its_inputs_and_every_50th_state(every):
    kept = 0

    def count(value):
        nonlocal kept
        kept += value.numel()
        return value

    time, units, size = 2000, 8, 4
    params = {p.name: torch.randn(p.shape, requires_grad=True) for p in LSTM.params(size, LSTMOptions(units))}
    inputs, zeros = torch.randn(1, time, size), torch.zeros(1, units)
    with torch.autograd.graph.saved_tensors_hooks(count, lambda value: value):
        trace_layer(
            LSTM,
            params,
            inputs,
            (zeros, zeros),
            lengths=None,
            options=LSTMOptions(units),
            checkpoint_every=every,
            implementation="reference",
        )
    stretches = 40
    weights = sum(value.numel() for value in params.values())
    bound = 4 * time * (size + 2) + stretches * (2 * units + weights + size * 50) * 2
    assert (kept < bound) == (every is not None), (kept, bound)


def test_an_activation_with_weights_of_its_own_gets_its_gradient():
    activation = torch.nn.PReLU(dtype=torch.float64)
    options = BasicRNNOptions(3, activation=activation)
    params = {p.name: torch.randn(p.shape, dtype=torch.float64) for p in BASIC_RNN.params(2, options)}
    grads = []
    for every in (None, 2):
        trace = trace_layer(
            BASIC_RNN, params, torch.ones(2, 5, 2, dtype=torch.float64), (torch.zeros(2, 3, dtype=torch.float64),),
            lengths=torch.tensor([5, 3]), options=options, checkpoint_every=every,
        )  # fmt: skip
        grads.append(torch.autograd.grad(trace.outputs.square().sum(), activation.weight)[0])
    torch.testing.assert_close(grads[1], grads[0], rtol=0, atol=1e-12)


def test_captured_leaves_get_their_gradients_of_any_order():
    x, w = (torch.randn(3, dtype=torch.float64, requires_grad=True) for _ in range(2))

    def call(a, weight):
        weight = torch.nn.Parameter(weight.detach())  # a leaf that the function knows without being given it
        function = lambda value: (value.sin() * weight**2, (value * weight).sum())  # noqa: E731
        found = captured_tensors(function, [a])
        assert len(found) == 1 and found[0] is weight
        results = recomputed(function, [a], found)
        loss = results[0].square().sum() + results[1]
        plain = function(a)
        wanted = plain[0].square().sum() + plain[1]
        return [torch.autograd.grad(one, [a, weight], create_graph=True) for one in (loss, wanted)], weight

    (found, wanted), weight = call(x * 2, w)
    for one, other in zip(found, wanted, strict=True):
        torch.testing.assert_close(one, other, rtol=0, atol=1e-12)
    for one, other in zip(
        *(
            torch.autograd.grad(sum(g.square().sum() for g in grads), [x, weight], retain_graph=True)
            for grads in (found, wanted)
        ),
        strict=True,
    ):
        torch.testing.assert_close(one, other, rtol=0, atol=1e-12)


def test_tensors_made_before_the_call_get_their_gradients_too():
    weight = torch.randn(3, dtype=torch.float64, requires_grad=True)
    made = weight * 2
    x = torch.randn(3, dtype=torch.float64, requires_grad=True)
    function = lambda value: (value * made,)  # noqa: E731
    captured = captured_tensors(function, [x])
    assert captured is None
    (y,) = recomputed(function, [x], captured)
    grads = torch.autograd.grad(y.sum(), [x, weight])
    assert torch.equal(grads[0], made.detach()) and torch.equal(grads[1], 2 * x.detach())


def test_a_gradient_that_would_be_lost_is_an_error():
    weight = torch.ones(2, requires_grad=True)
    x = torch.ones(2, requires_grad=True)
    (y,) = recomputed(lambda value: (value * weight,), [x])
    with pytest.raises(RuntimeError, match=r"takes gradients for a tensor \[2\] that the first step did not use"):
        y.sum().backward()
