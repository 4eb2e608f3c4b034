"""What the loop for a user's step refuses, and how it says so."""

import pytest
import torch

from dynrnn.rnn import run_steps


def echo(inputs, state):
    return [inputs[0]], state


@pytest.mark.parametrize(
    ("returned", "error", "message"),
    [
        (([], [torch.zeros(2, 3)]), ValueError, "must return 1 outputs, got 0"),
        (([torch.zeros(2, 4)], []), ValueError, "must return 1 state, got 0"),
        (
            ([torch.zeros(2, 5)], [torch.zeros(2, 3)]),
            ValueError,
            r"\[2, 4\] float32, got outputs\[0\] \[2, 5\]",
        ),
        (([torch.zeros(4)], [torch.zeros(2, 3)]), ValueError, r"\[2, 4\] float32, got outputs\[0\] \[4\]"),
        (
            ([torch.zeros(2, 4)], [torch.zeros(1, 3)]),
            ValueError,
            r"\[2, 3\] float32, got state\[0\] \[1, 3\]",
        ),
        (
            ([torch.zeros(2, 4)], [torch.zeros(2, 3).double()]),
            TypeError,
            r"\[2, 3\] float32, got state.* float64",
        ),
        (([1.0], [torch.zeros(2, 3)]), TypeError, r"must return outputs\[0\] as a tensor, got float"),
    ],
)
def test_refuses_a_step_that_returns_other_than_it_promised(returned, error, message):
    with pytest.raises(error, match="run_steps: step .*" + message):
        run_steps(
            lambda inputs, state: returned,
            [torch.zeros(2, 3)],
            [torch.zeros(2, 3)],
            lengths=None,
            output_specs=[((4,), torch.float32)],
        )


def test_refuses_a_step_whose_later_outputs_differ_from_its_first():
    def step(inputs, state):
        size = 2 if inputs[0][0] == 0 else 3
        return [torch.zeros(2, size)], state

    with pytest.raises(ValueError, match=r"outputs\[0\] \[2, 2\] float32, got outputs\[0\] \[2, 3\] float32"):
        run_steps(step, [torch.arange(6).reshape(2, 3)], [], lengths=None, output_specs=[((None,), torch.float32)])


@pytest.mark.parametrize(
    ("inputs", "state", "lengths", "message"),
    [
        ([], [], None, "inputs must hold at least one tensor"),
        ([torch.zeros(3)], [], None, r"inputs must all have the same \[batch, time, ...\], got inputs\[0\] \[3\]"),
        ([torch.zeros(2, 3), torch.zeros(2, 4)], [], None, r"inputs\[0\] \[2, 3\] and inputs\[1\] \[2, 4\]"),
        ([torch.zeros(2, 3)], [torch.zeros(1, 3)], [3, 1], r"state\[0\] must have batch = 2 rows, .* got \[1, 3\]"),
        ([torch.zeros(2, 3)], [torch.zeros(2, 3)], [3, 4], r"lengths must be within 0\.\.3, got lengths\[1\] = 4"),
    ],
)
def test_refuses_arguments_that_do_not_fit(inputs, state, lengths, message):
    with pytest.raises(ValueError, match="run_steps: .*" + message):
        run_steps(
            echo,
            inputs,
            state,
            lengths=None if lengths is None else torch.tensor(lengths),
            output_specs=[((), torch.float32)],
        )
