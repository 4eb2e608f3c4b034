"""Derivatives at ties and poles are TensorFlow's. The numbers are what TensorFlow gives."""

from collections.abc import Callable

import numpy as np
import pytest
import torch

from dynrnn.errors import InvalidArgumentError
from dynrnn.tf1.ops.math import derivatives

NAN, INF = np.nan, np.inf


def gradients(function: Callable[..., torch.Tensor], *values: list[float]) -> list[list[float]]:
    xs = [torch.tensor(value, dtype=torch.float64, requires_grad=True) for value in values]
    return [grad.tolist() for grad in torch.autograd.grad(function(*xs).sum(), xs)]


@pytest.mark.parametrize(
    ("function", "first", "second"),
    [
        (derivatives.maximum, [1.0, 0.0, 0.0, 0.0, 1.0], [0.0, 1.0, 1.0, 1.0, 0.0]),
        (derivatives.minimum, [1.0, 1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 1.0, 1.0, 1.0]),
    ],
)
def test_equal_arguments_give_the_first_all_of_the_gradient(function, first, second):
    assert gradients(function, [1.0, 1.0, NAN, 1.0, 2.0], [1.0, 2.0, 1.0, NAN, 1.0]) == [first, second]


def test_nan_passes_through_the_larger_and_the_smaller():
    x, y = torch.tensor([NAN, 1.0], requires_grad=True), torch.tensor([1.0, NAN])
    assert derivatives.maximum(x, y).isnan().all()
    assert derivatives.minimum(x, y).isnan().all()


def test_power_has_the_formulas_derivatives_at_zero_and_below():
    x = [0.0, 0.0, 0.0, 0.0, -1.0, -1.0, 2.0]
    y = [0.0, 1.0, 2.0, -1.0, 2.0, 0.5, 3.0]
    first, second = gradients(derivatives.power, x, y)
    np.testing.assert_array_equal(first, [NAN, 1.0, 0.0, -INF, -2.0, NAN, 12.0])
    np.testing.assert_allclose(second, [0.0, 0.0, 0.0, NAN, 0.0, NAN, 8 * np.log(2)], rtol=1e-15)


def test_power_of_a_scalar_exponent_can_be_differentiated_three_times():
    x = torch.tensor([2.0, -3.0], dtype=torch.float64, requires_grad=True)
    value = derivatives.power(x, torch.tensor(3.0, dtype=torch.float64))
    for expected in ([12.0, 27.0], [12.0, -18.0], [6.0, 6.0]):
        (value,) = torch.autograd.grad(value.sum(), x, create_graph=True)
        assert value.tolist() == expected


def test_integers_have_no_negative_powers():
    with pytest.raises(InvalidArgumentError, match="Integers to negative integer powers are not allowed"):
        derivatives.power(torch.tensor([2, 3]), torch.tensor([-1, 2]))


def test_absolute_keeps_nan_in_its_derivative():
    np.testing.assert_array_equal(gradients(derivatives.absolute, [-1.0, 0.0, 2.0, NAN])[0], [-1.0, 0.0, 1.0, NAN])


def test_sign_of_nan_is_nan():
    np.testing.assert_array_equal(derivatives.sign(torch.tensor([-2.0, 0.0, NAN])), [-1.0, 0.0, NAN])


@pytest.mark.parametrize(
    ("function", "x", "y", "value", "first", "second"),
    [
        (derivatives.divide_no_nan, [1.0, 0.0, 2.0], [0.0, 0.0, 4.0], [0, 0, 0.5], [0, 0, 0.25], [0, 0, -0.125]),
        (derivatives.zero_over, [0.0, 0.0, 2.0], [0.0, 3.0, 4.0], [0, 0, 0.5], [0, 0, 0.25], [0, 0, -0.125]),
        (derivatives.times_logarithm, [0.0, 0.0, 2.0], [0.0, 3.0, 1.0], [0, 0, 0], [0, 0, 0], [0, 0, 2]),
    ],
)
def test_guarded_divisions_are_zero_with_zero_derivatives(function, x, y, value, first, second):
    assert function(torch.tensor(x), torch.tensor(y)).tolist() == value
    assert gradients(function, x, y) == [first, second]


def test_a_stand_in_gives_its_derivative_and_nothing_else():
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    result = derivatives.with_derivative_of(torch.tensor([10.0, 20.0]), x * x)
    assert result.tolist() == [10.0, 20.0]
    assert torch.autograd.grad(result.sum(), x)[0].tolist() == [2.0, 4.0]
