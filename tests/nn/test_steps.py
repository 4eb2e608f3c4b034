"""Cells of a user's, step by step: what a pass leaves behind, and what it gives where no step runs."""

import gc
import weakref

import pytest
import torch
from nn.cell_kinds import SIZE, make, state_of
from torch import nn

import dynrnn as dr
from dynrnn import _nest

EMPTY = [(3, 4, [0, 0, 0]), (3, 0, None), (0, 4, [])]


class Root(nn.Module):
    """A cell that has no gradient at zero, and a count and a parameter of another dtype."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(SIZE, dtype=torch.float64))
        self.small = nn.Parameter(torch.ones(1, dtype=torch.float16))

    def forward(self, inputs, state):
        total, count = state
        new = torch.sqrt(inputs * self.weight) + total * self.small
        return (new, count), (new, count + 1)


@pytest.mark.parametrize("every", [None, 2])
@pytest.mark.parametrize(("batch", "time", "lengths"), EMPTY)
@pytest.mark.parametrize("name", ["nested", "product", "lstm", "zoneout", "multi-mixed"])
def test_every_parameter_gets_zeros(name, batch, time, lengths, every):
    cell, inputs = make(name), torch.full((batch, time, SIZE), torch.nan, dtype=torch.float64)
    results = dr.dynamic_rnn(cell, inputs, sequence_length=lengths, return_states=True, checkpoint_every=every)
    for result in results:  # each by itself reaches all of them
        loss = sum(value.sum() for value in _nest.flatten(result))
        for grad in torch.autograd.grad(loss, list(cell.parameters()), retain_graph=True):
            assert not grad.any()


def test_a_cell_without_gradient_at_zero_gets_zeros_too():
    cell = Root()
    state = (torch.full((2, SIZE), -0.0, dtype=torch.float64, requires_grad=True), torch.tensor(7))
    (outputs, counts), (total, count) = dr.dynamic_rnn(
        cell, torch.ones(2, 3, SIZE).double(), sequence_length=[0, 0], initial_state=state
    )
    assert counts.dtype == torch.int64 and count == 7 and total.signbit().all()  # bit for bit
    (outputs.sum() + total.sum()).backward()
    assert torch.equal(state[0].grad, torch.ones(2, SIZE).double())
    assert torch.equal(cell.weight.grad, torch.zeros(SIZE).double()) and torch.equal(
        cell.small.grad, torch.zeros(1).half()
    )


@pytest.mark.parametrize("keywords", [{}, {"sequence_length": [0, 0]}, {"return_states": True}, {"checkpoint_every": 2},
                                      {"resets": torch.ones(2, 4, dtype=torch.bool)}], ids=str)  # fmt: skip
@pytest.mark.parametrize("name", ["nested", "product"])
def test_a_pass_is_given_back_without_waiting_for_the_garbage_collector(name, keywords):
    cell, inputs = make(name), torch.ones(2, 4, SIZE, dtype=torch.float64, requires_grad=True)
    watched = weakref.ref(inputs)
    gc.disable()
    try:
        dr.dynamic_rnn(cell, inputs, **keywords)
        del inputs
        assert watched() is None
    finally:
        gc.enable()


def test_nothing_hangs_on_anything_without_gradients():
    cell = make("nested")
    with torch.no_grad():
        outputs, state = dr.dynamic_rnn(cell, torch.ones(2, 0, SIZE).double(), initial_state=state_of(cell, 2))
    assert not any(value.grad_fn for value in _nest.flatten((outputs, state)))


def test_random_numbers_are_not_used_up_by_asking():
    def cell(inputs, state):
        return inputs, state + torch.rand_like(state)

    torch.manual_seed(0)
    dr.dynamic_rnn(cell, torch.ones(2, 0, SIZE), initial_state=torch.zeros(2, SIZE))
    found = torch.rand(1)
    torch.manual_seed(0)
    assert torch.equal(found, torch.rand(1))
