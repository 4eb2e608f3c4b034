"""torch.vmap over the kernels, folded into the batch or entry by entry: the values of a loop of the reference."""

import pytest
import torch
from kernels.derivative_cases import RUNS, SECOND, functions, loss
from kernels.kernel_cases import Run, case_of, close, every_variant, fused, needs_module, variants
from torch.func import grad, hessian, jacfwd, jacrev, vmap

pytestmark = [needs_module, pytest.mark.filterwarnings("ignore:.torch.jit.script. is deprecated:DeprecationWarning")]
MANY = 4


def mapped(leaves, dims):
    """Several entries of the leaves with a mapped axis, each at its place."""
    return [
        leaf if dim is None else torch.stack([leaf + 0.1 * index for index in range(MANY)], dim)
        for leaf, dim in zip(leaves, dims, strict=True)
    ]


def loop(function, leaves, dims):
    """The function of each entry, stacked."""
    found = [
        function(*(leaf if dim is None else leaf.select(dim, index) for leaf, dim in zip(leaves, dims, strict=True)))
        for index in range(MANY)
    ]
    return tuple(torch.stack(column) for column in zip(*found, strict=True))


def which(leaves, states, kind):
    """The mapped axis of inputs, states and weights."""
    weights = len(leaves) - 1 - states
    return {
        "inputs": [0] + [None] * (states + weights),
        "inputs and states": [1] + [0] * states + [None] * weights,
        "states": [None] + [1] * states + [None] * weights,
        "weights": [None] * (1 + states) + [0] * weights,
        "everything": [2] + [1] * (states + weights - 1) + [0],
        "one weight": [None] * (states + weights) + [0],
    }[kind]


def states_of(name):
    return 2 if name.startswith("lstm") else 1


KINDS = ["inputs", "inputs and states", "states", "weights", "everything", "one weight"]
every_kind = pytest.mark.parametrize("kind", KINDS)


@every_variant
@every_kind
@pytest.mark.parametrize("run", RUNS.values(), ids=RUNS)
def test_mapping_gives_the_values_of_a_loop(name, kind, run):
    function, expected, leaves = functions(name, run)
    dims = which(leaves, states_of(name), kind)
    leaves = mapped(leaves, dims)
    close(vmap(function, tuple(dims))(*leaves), loop(expected, leaves, dims))


@every_variant
@every_kind
def test_gradients_of_mapped_functions_and_mapped_gradients_are_those_of_a_loop(name, kind):
    function, expected, leaves = functions(name, RUNS["states and gates"])
    dims = which(leaves, states_of(name), kind)
    leaves = mapped(leaves, dims)
    every = tuple(range(len(leaves)))
    whole = grad(lambda *given: sum(value.sin().sum() for value in vmap(function, tuple(dims))(*given)), every)
    other = grad(lambda *given: sum(value.sin().sum() for value in loop(expected, given, dims)), every)
    close(whole(*leaves), other(*leaves))
    close(vmap(grad(loss(function), every), tuple(dims))(*leaves), loop(grad(loss(expected), every), leaves, dims))


@pytest.mark.parametrize("name", ["lstm-everything", "gru-reset_after"])
@pytest.mark.parametrize("run", RUNS.values(), ids=RUNS)
def test_mapped_jacobians_and_hessians_of_inputs_are_those_of_a_loop(name, run):
    function, expected, leaves = functions(name, run, 2)
    dims = which(leaves, states_of(name), "inputs")
    leaves = mapped(leaves, dims)
    wanted = loop(jacrev(expected), leaves, dims)
    close(vmap(jacrev(function), tuple(dims))(*leaves), wanted)
    close(vmap(jacfwd(function), tuple(dims))(*leaves), wanted)
    second = vmap(hessian(loss(function)), tuple(dims))(*leaves)
    close([second], loop(lambda *given: (hessian(loss(expected))(*given),), leaves, dims), SECOND)


@pytest.mark.parametrize("name", ["lstm", "gru", "basic_rnn-relu"])
def test_lengths_may_be_mapped_over(name):
    lengths = torch.tensor([[3, 0, 2], [1, 1, 1], [0, 0, 0], [3, 3, 3]])
    function, leaves = lengthy(name)
    dims = [0] + [None] * (len(leaves) - 1)
    leaves = mapped(leaves, dims)
    every = tuple(range(1, 1 + len(leaves)))
    for one in (function, grad(lambda n, *given: loss(lambda *rest: function(n, *rest))(*given), every)):
        found = vmap(one, (0, *dims))(lengths, *leaves)
        close(found, loop(one, [lengths, *leaves], [0, *dims]))
    twice = hessian(lambda n, *given: loss(lambda *rest: function(n, *rest))(*given), 1)
    found = vmap(twice, (0, *dims))(lengths, *leaves)
    close([found], loop(lambda *given: (twice(*given),), [lengths, *leaves], [0, *dims]), SECOND)


def lengthy(name):
    """The kernels as a function of lengths and leaves."""
    variant = variants(3)[name]
    case = case_of(variant, 3, 3)

    def function(lengths, *leaves):
        outputs, final, _, _ = fused(variant, case.with_leaves(leaves), Run(lengths))
        return outputs, *final

    return function, [leaf.detach() for leaf in case.leaves()]


def test_lengths_that_do_not_fit_are_refused_where_they_are_read():
    function, leaves = lengthy("gru")
    with pytest.raises(ValueError, match=r"lengths must be within 0..3, got lengths\[4\] = 7"):
        vmap(function, (0, *(None,) * len(leaves)))(torch.tensor([[1, 2, 3], [3, 7, 3]]), *leaves)


def test_mapping_in_mapping_gives_the_values_of_two_loops():
    function, expected, leaves = functions("lstm", RUNS["ragged"])
    rest = (None,) * (len(leaves) - 1)
    many = torch.stack([torch.stack([leaves[0] * row + column for column in range(3)]) for row in range(2)])
    found = vmap(vmap(function, (0, *rest)), (0, *rest))(many, *leaves[1:])
    wanted = [[expected(one, *leaves[1:]) for one in row] for row in many]
    close(found, [torch.stack([torch.stack([one[index] for one in row]) for row in wanted]) for index in range(3)])


@every_kind
def test_mapping_over_nothing_gives_nothing(kind):
    function, _, leaves = functions("lstm", RUNS["ragged"])
    dims = which(leaves, 2, kind)
    none = [
        leaf if dim is None else leaf.narrow(dim, 0, 0) for leaf, dim in zip(mapped(leaves, dims), dims, strict=True)
    ]
    assert [value.shape[0] for value in vmap(function, tuple(dims))(*none)] == [0, 0, 0]
