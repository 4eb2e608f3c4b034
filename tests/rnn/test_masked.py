"""Hidden lengths: under `torch.vmap` over lengths, both loops give what they give for each row's own lengths."""

import pytest
import torch
from cells.cell_cases import VARIANTS, draw

from dynrnn.cells import BASIC_RNN, BasicRNNOptions
from dynrnn.rnn import run_layer, run_steps, trace_layer
from dynrnn.rnn.masked import run_layer_masked

LENGTHS = torch.tensor([[3, 0, 5], [0, 0, 0], [5, 5, 5], [1, 4, 2]])  # four batches of three rows


def batches(name):
    variant = VARIANTS[name]
    cases = [draw(variant, batch=3, time=5, seed=seed) for seed in range(4)]
    inputs = torch.stack([case.inputs.detach() for case in cases])
    state = tuple(torch.stack([case.state[index].detach() for case in cases]) for index in range(len(cases[0].state)))
    return variant, cases[0].params, inputs, state


@pytest.mark.parametrize("name", VARIANTS)
@pytest.mark.parametrize("time_major", [False, True])
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("parallel_iterations", [None, 2])
def test_cells_are_run_as_with_lengths_that_can_be_seen(name, time_major, reverse, parallel_iterations):
    variant, params, inputs, state = batches(name)
    if time_major:
        inputs = inputs.transpose(1, 2)

    def run(inputs, state, lengths):
        return run_layer(
            variant.spec,
            params,
            inputs,
            state,
            lengths=lengths,
            options=variant.options,
            time_major=time_major,
            reverse=reverse,
            parallel_iterations=parallel_iterations,
        )

    mapped = torch.vmap(run)(inputs, state, LENGTHS)
    for index, lengths in enumerate(LENGTHS):
        outputs, final = run(inputs[index], tuple(value[index] for value in state), lengths)
        torch.testing.assert_close(mapped[0][index], outputs, rtol=0, atol=1e-12)
        torch.testing.assert_close(tuple(value[index] for value in mapped[1]), final, rtol=0, atol=1e-12)
        past = ~(torch.arange(5) < lengths.unsqueeze(1))
        assert (mapped[0][index][past.t() if time_major else past] == 0).all()
        for before, after in zip(state, mapped[1], strict=True):
            assert torch.equal(before[index][lengths == 0], after[index][lengths == 0])


@pytest.mark.parametrize("name", VARIANTS)
@pytest.mark.parametrize("reverse", [False, True])
def test_gradients_are_those_of_the_loop_and_padding_is_never_read(name, reverse):
    variant, params, inputs, state = batches(name)

    def loss(params, inputs, state, lengths):
        layer = {"lengths": lengths, "options": variant.options, "reverse": reverse}
        outputs, final = run_layer(variant.spec, params, inputs, state, **layer)
        return outputs.square().sum() + sum(value.sin().sum() for value in final)

    padding = ~(torch.arange(5) < LENGTHS.unsqueeze(2))
    spoiled = inputs.masked_fill(padding.unsqueeze(3), float("nan"))
    gradient = torch.func.grad(loss, (0, 1, 2))
    mapped = torch.vmap(gradient, (None, 0, 0, 0))(params, spoiled, state, LENGTHS)
    for index, lengths in enumerate(LENGTHS):
        expected = gradient(params, inputs[index], tuple(value[index] for value in state), lengths)
        found = (
            {key: value[index] for key, value in mapped[0].items()},
            mapped[1][index],
            tuple(v[index] for v in mapped[2]),
        )
        torch.testing.assert_close(found, expected, rtol=0, atol=1e-11)
    assert (mapped[1][padding] == 0).all()


@pytest.mark.parametrize("name", VARIANTS)
def test_no_steps_leave_zeros_and_the_state(name):
    variant, params, inputs, state = batches(name)

    def run(inputs, state, lengths):
        return run_layer(variant.spec, params, inputs, state, lengths=lengths, options=variant.options)

    outputs, final = torch.vmap(run)(inputs[:, :, :0], state, torch.zeros_like(LENGTHS))
    assert outputs.shape == (4, 3, 0, variant.spec.output_size(variant.options))
    assert all(torch.equal(before, after) for before, after in zip(state, final, strict=True))


@pytest.mark.parametrize("name", VARIANTS)
@pytest.mark.parametrize("reverse", [False, True])
def test_the_masked_path_alone_equals_the_loop(name, reverse):
    variant = VARIANTS[name]
    case = draw(variant, batch=3, time=5)
    lengths = torch.tensor([2, 0, 5])
    layer = {"lengths": lengths, "options": variant.options, "reverse": reverse}
    mine = run_layer_masked(variant.spec, case.params, case.inputs, case.state, **layer)[:2]
    loop = run_layer(variant.spec, case.params, case.inputs, case.state, **layer)
    torch.testing.assert_close(mine, loop, rtol=0, atol=1e-12)
    weights = [torch.randn_like(value) for value in (loop[0], *loop[1])]
    grads = [torch.autograd.grad((r[0], *r[1]), case.leaves(), weights, allow_unused=True) for r in (mine, loop)]
    torch.testing.assert_close(grads[0], grads[1], rtol=0, atol=1e-12)


def test_the_masked_path_has_right_first_and_second_derivatives():
    variant = VARIANTS["lstm-everything"]
    case = draw(variant, batch=2, time=3)

    def run(*leaves):
        inner = case.with_leaves(leaves)
        layer = {"lengths": torch.tensor([3, 1]), "options": variant.options}
        outputs, final, _, _ = run_layer_masked(variant.spec, inner.params, inner.inputs, inner.state, **layer)
        return outputs, *final

    assert torch.autograd.gradcheck(run, case.leaves(), fast_mode=True)
    assert torch.autograd.gradgradcheck(run, case.leaves(), fast_mode=True)


def user_step(inputs, state):
    """Two outputs, a state of two leaves, and none of it a cell of ours; the logarithm turns padding into NaN."""
    h = torch.tanh(inputs[0].sum(1, keepdim=True).log() + 0.5 * state[0])
    return [h, inputs[1] + state[1]], [h, state[1] + 1]


@pytest.mark.parametrize("time_major", [False, True])
@pytest.mark.parametrize("reverse", [False, True])
def test_a_users_step_is_run_as_with_lengths_that_can_be_seen(time_major, reverse):
    inputs, counters = torch.rand(4, 3, 5, 2, dtype=torch.float64) + 0.1, torch.arange(60).reshape(4, 3, 5)
    state, counts = torch.randn(4, 3, 2, dtype=torch.float64), torch.zeros(4, 3, dtype=torch.int64)
    padding = ~(torch.arange(5) < LENGTHS.unsqueeze(2))
    spoiled = inputs.masked_fill(padding.unsqueeze(3), float("nan"))
    if time_major:
        inputs, spoiled, counters = (value.transpose(1, 2) for value in (inputs, spoiled, counters))
    specs = [((2,), torch.float64), ((), torch.int64)]

    def run(inputs, counters, state, counts, lengths):
        given = {"lengths": lengths, "output_specs": specs, "time_major": time_major, "reverse": reverse}
        return run_steps(user_step, [inputs, counters], [state, counts], **given)

    def loss(inputs, *rest):
        outputs, final = run(inputs, *rest)
        return outputs[0].square().sum() + final[0].sin().sum()

    mapped = torch.vmap(run)(spoiled, counters, state, counts, LENGTHS)
    gradient = torch.vmap(torch.func.grad(loss))(spoiled, counters, state, counts, LENGTHS)
    for index, lengths in enumerate(LENGTHS):
        one = inputs[index], counters[index], state[index], counts[index], lengths
        expected = run(*one)
        torch.testing.assert_close([[v[index] for v in part] for part in mapped], list(expected), rtol=0, atol=1e-12)
        torch.testing.assert_close(gradient[index], torch.func.grad(loss)(*one), rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", VARIANTS)
@pytest.mark.parametrize("time", [5, 0])
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("time_major", [False, True])
def test_states_and_gates_are_kept_as_with_lengths_that_can_be_seen(name, time, reverse, time_major):
    variant, params, inputs, state = batches(name)
    inputs, lengths = inputs[:, :, :time], LENGTHS.clamp(max=time)
    if time_major:
        inputs = inputs.transpose(1, 2)

    def run(inputs, state, lengths):
        layer = {"lengths": lengths, "options": variant.options, "time_major": time_major, "reverse": reverse}
        trace = trace_layer(variant.spec, params, inputs, state, keep_states=True, keep_gates=True,
                            implementation="reference", **layer)  # fmt: skip
        return list(trace.states), list(trace.gates)

    def loss(*arguments):
        return sum(value.square().sum() for kept in run(*arguments) for value in kept)

    mapped, gradient = torch.vmap(run)(inputs, state, lengths), torch.func.grad(loss, (0, 1))
    gradients = torch.vmap(gradient)(inputs, state, lengths)
    for index in range(4):
        one = inputs[index], tuple(value[index] for value in state), lengths[index]
        found = [[value[index] for value in kept] for kept in mapped]
        torch.testing.assert_close(found, list(run(*one)), rtol=0, atol=1e-12)
        found = gradients[0][index], tuple(value[index] for value in gradients[1])
        torch.testing.assert_close(found, gradient(*one), rtol=0, atol=1e-11)


@pytest.mark.parametrize("implementation", ["auto", "reference"])
@pytest.mark.parametrize("wanted", ["resets", "checkpoint_every"])
def test_what_needs_the_values_is_refused_in_words(implementation, wanted):
    params = {"kernel": torch.ones(2, 1, requires_grad=True), "bias": torch.zeros(1)}
    given = {"resets": torch.ones(2, 4, dtype=torch.bool), "checkpoint_every": 2}

    def run(inputs, lengths):
        layer = {"lengths": lengths, "options": BasicRNNOptions(1), "implementation": implementation}
        return trace_layer(BASIC_RNN, params, inputs, (torch.zeros(2, 1),), **layer, **{wanted: given[wanted]}).outputs

    message = rf"run_layer: {wanted} is not available where torch\.vmap or torch\.compile hides the lengths"
    with pytest.raises(ValueError, match=message):
        torch.vmap(run)(torch.zeros(3, 2, 4, 1), torch.ones(3, 2, dtype=torch.int64))


def test_the_shape_of_hidden_lengths_is_checked():
    params = {"kernel": torch.ones(2, 1), "bias": torch.zeros(1)}

    def run(inputs, lengths):
        return run_layer(BASIC_RNN, params, inputs, (torch.zeros(2, 1),), lengths=lengths, options=BasicRNNOptions(1))

    with pytest.raises(ValueError, match=r"lengths must have shape \[batch\] = \[2\], got \[5\]"):
        torch.vmap(run)(torch.zeros(3, 2, 4, 1), torch.ones(3, 5, dtype=torch.int64))
