"""Last outputs, taken by length."""

import pytest
import torch

import dynrnn as dr


@pytest.mark.parametrize("time_major", [False, True])
def test_last_outputs_are_taken_by_length(time_major):
    outputs = torch.arange(24.0).reshape(4, 3, 2)
    given_outputs = outputs.transpose(0, 1) if time_major else outputs
    found = dr.last_output(given_outputs, [3, 1, 0, 2], time_major=time_major)
    assert found.tolist() == [outputs[0, 2].tolist(), outputs[1, 0].tolist(), [0, 0], outputs[3, 1].tolist()]
    assert torch.equal(dr.last_output(given_outputs, time_major=time_major), outputs[:, -1])
    assert dr.last_output(torch.zeros(2, 0, 5), [0, 0]).shape == (2, 5)


def test_what_stands_past_the_end_reaches_no_last_output_and_no_gradient():
    outputs = torch.full((2, 3), float("nan"))
    outputs[0, 0] = 1.0
    outputs.requires_grad_()
    found = dr.last_output(outputs, [1, 0])
    found.sum().backward()
    assert found.tolist() == [1, 0] and outputs.grad.tolist() == [[1, 0, 0], [0, 0, 0]]
    with pytest.raises(ValueError, match=r"last_output: outputs must have shape \[batch, time, ...\], got \[3\]"):
        dr.last_output(torch.zeros(3), [1])


def test_outputs_must_be_one_tensor():
    outputs = torch.zeros(2, 3, 4)
    with pytest.raises(TypeError, match="last_output: outputs must be a tensor, got a tuple of 2"):
        dr.last_output((outputs, outputs), [1, 2])
    with pytest.raises(TypeError, match="last_output: time_major must be a bool, got 'no'"):
        dr.last_output(outputs, time_major="no")
    assert dr.last_output(outputs.numpy(), [1, 2]).shape == (2, 4)
