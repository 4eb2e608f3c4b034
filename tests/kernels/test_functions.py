"""Derivatives of every order, and torch.func's transforms, over the kernels: against the reference loop."""

import pytest
import torch
from kernels.derivative_cases import RUNS, SECOND, functions, loss
from kernels.kernel_cases import Run, close, every_variant, needs_module
from torch.func import grad, hessian, jacfwd, jacrev, jvp, vjp, vmap

# torch's own forward derivatives script some functions on first use, which warns since scripting is deprecated
pytestmark = [needs_module, pytest.mark.filterwarnings("ignore:.torch.jit.script. is deprecated:DeprecationWarning")]
every_run = pytest.mark.parametrize("run", RUNS.values(), ids=RUNS)
SMOOTH = ["lstm-peepholes", "lstm-projection", "gru", "gru-reset_after", "basic_rnn"]  # no edge that a step crosses


@pytest.mark.parametrize("name", SMOOTH)
@every_run
def test_first_and_second_derivatives_are_right(name, run):
    function, _, leaves = functions(name, run)
    leaves = [leaf.requires_grad_() for leaf in leaves]
    assert torch.autograd.gradcheck(function, leaves, fast_mode=True)
    assert torch.autograd.gradgradcheck(function, leaves, fast_mode=True)


@every_variant
@every_run
def test_second_and_third_derivatives_are_those_of_the_reference(name, run):
    function, expected, leaves = functions(name, run)
    leaves = [leaf.requires_grad_() for leaf in leaves]
    found = []
    for one in (function, expected):
        first = torch.autograd.grad(loss(one)(*leaves), leaves, create_graph=True)
        second = torch.autograd.grad(sum(value.square().sum() for value in first), leaves, create_graph=True)
        third = torch.autograd.grad(sum(value.square().sum() for value in second), leaves, allow_unused=True)
        found.append([*first, *second, *third])
    close(*found, SECOND)


def test_an_input_computed_from_a_weight_has_the_right_second_derivative():
    function, expected, leaves = functions("lstm", Run())
    weight = leaves[3].requires_grad_()
    found = []
    for one in (function, expected):
        inputs = weight.sum(0)[:2].sin().expand(3, 3, 2)
        (first,) = torch.autograd.grad(loss(one)(inputs, *leaves[1:]), weight, create_graph=True)
        found += torch.autograd.grad(first.square().sum(), weight)
    close(found[:1], found[1:], SECOND)


def test_a_second_derivative_of_one_gradient_alone_is_right():
    function, expected, leaves = functions("gru", RUNS["ragged"])
    inputs = leaves[0].requires_grad_()
    found = []
    for one in (function, expected):
        outputs = one(inputs, *leaves[1:])[0]
        given = torch.ones_like(outputs, requires_grad=True)
        (first,) = torch.autograd.grad(outputs, inputs, given, create_graph=True)
        found.append(torch.autograd.grad(first.cos().sum(), [inputs, given]))
    close(*found, SECOND)


@every_variant
@every_run
def test_forward_and_reverse_derivatives_are_those_of_the_reference(name, run):
    function, expected, leaves = functions(name, run)
    tangents = tuple(torch.randn_like(leaf) for leaf in leaves)
    for one, other in zip(jvp(function, tuple(leaves), tangents), jvp(expected, tuple(leaves), tangents), strict=True):
        close(one, other)
    (found, pull), (wanted, other) = vjp(function, *leaves), vjp(expected, *leaves)
    close(found, wanted)
    cotangents = tuple(torch.randn_like(value) for value in found)
    close(pull(cotangents), other(cotangents))
    close(pull(cotangents), other(cotangents))


@pytest.mark.parametrize("name", ["lstm-everything", "gru", "basic_rnn"])
@every_run
def test_jacobians_and_hessians_are_those_of_the_reference(name, run):
    function, expected, leaves = functions(name, run, 2)
    for argument in (0, 1, len(leaves) - 1):
        close(jacrev(function, argument)(*leaves), jacrev(expected, argument)(*leaves))
    close(jacfwd(function)(*leaves), jacrev(expected)(*leaves))
    close([hessian(loss(function))(*leaves)], [hessian(loss(expected))(*leaves)], SECOND)
    twice = [jacrev(jacrev(loss(one)), len(leaves) - 2)(*leaves) for one in (function, expected)]
    close(twice[:1], twice[1:], SECOND)


def test_gradients_may_be_mapped_over_as_autograd_does():
    function, expected, leaves = functions("lstm", RUNS["ragged"])
    leaves = [leaf.requires_grad_() for leaf in leaves]
    found = []
    for one in (function, expected):
        outputs = one(*leaves)[0]
        each = torch.eye(outputs.numel(), dtype=torch.float64).reshape(-1, *outputs.shape)
        found.append(torch.autograd.grad(outputs, leaves, each, is_grads_batched=True))
    close(*found)
    jacobians = [
        torch.autograd.functional.jacobian(lambda x, one=one: one(x, *leaves[1:])[0], leaves[0], vectorize=True)
        for one in (function, expected)
    ]
    close(jacobians[:1], jacobians[1:])


def test_gradients_may_be_expanded_or_strided_or_missing():
    function, expected, leaves = functions("lstm", RUNS["states and gates"])
    leaves = [leaf.requires_grad_() for leaf in leaves]
    for give in (
        lambda value: torch.ones((), dtype=value.dtype).expand_as(value),
        lambda value: torch.randn(*value.shape, 2, dtype=value.dtype, generator=torch.Generator().manual_seed(1))[
            ..., 0
        ],
        lambda value: torch.ones(value.shape[1:], dtype=value.dtype).expand_as(value),
    ):
        found = []
        for one in (function, expected):
            results = one(*leaves)
            found.append(torch.autograd.grad(results, leaves, [give(value) for value in results]))
        close(*found)
    for index in range(len(function(*leaves))):
        found = [
            torch.autograd.grad(one(*leaves)[index].sum(), leaves, allow_unused=True) for one in (function, expected)
        ]
        zeros = [
            [torch.zeros_like(leaf) if one is None else one for one, leaf in zip(run, leaves, strict=True)]
            for run in found
        ]
        close(*zeros)


def test_a_function_in_a_function_is_differentiated_at_its_own_level():
    function, expected, leaves = functions("gru", RUNS["ragged"])
    found = [
        grad(lambda x, one=one: (grad(lambda y: loss(one)(y * x, *leaves[1:]))(x) * x).sum())(leaves[0])
        for one in (function, expected)
    ]
    close(found[:1], found[1:], SECOND)


def test_functionals_gradient_of_a_mapped_function_is_that_of_a_loop():
    function, expected, leaves = functions("gru", RUNS["ragged"])
    many = torch.stack([leaves[0], 2 * leaves[0]])
    mapped = grad(lambda xs: vmap(loss(function), (0, *(None,) * (len(leaves) - 1)))(xs, *leaves[1:]).sum())(many)
    close([mapped], [torch.stack([grad(loss(expected))(one, *leaves[1:]) for one in many])])
