"""Every cell that has kernels against the reference loop, on every instruction set: values and all gradients."""

import pytest
import torch
from kernels.kernel_cases import (
    Run,
    agree,
    case_for,
    every_variant,
    flat,
    fused,
    gradients,
    needs_module,
    only_valid,
    variants,
)

from dynrnn import kernels
from dynrnn.kernels import call, fields
from dynrnn.kernels.layouts import layout_of
from dynrnn.rnn.pieces import cut_rows

pytestmark = needs_module
DTYPES = [torch.float32, torch.float64]
RAGGED = torch.tensor([5, 0, 2, 4])
RESETS = torch.tensor([[0, 0, 1, 0, 1], [1, 0, 0, 0, 0], [1, 1, 1, 0, 0], [0, 1, 1, 0, 1]], dtype=torch.bool)
RUNS = {
    "full": Run(keep_gates=True),
    "ragged": Run(RAGGED, keep_states=True),
    "ragged, reverse, time-major": Run(RAGGED, time_major=True, reverse=True, keep_states=True, keep_gates=True),
    "empty": Run(torch.zeros(4, dtype=torch.int64), keep_states=True, keep_gates=True),
    "pieces": Run(pieces=cut_rows(RESETS, RAGGED), keep_states=True, keep_gates=True),
    "pieces, reverse, time-major": Run(pieces=cut_rows(RESETS, RAGGED, reverse=True), time_major=True, reverse=True),
}


def test_fields_are_those_of_the_compiled_module():
    module = call._kernels
    assert (fields.CALL, fields.WEIGHTS, fields.NUMBERS, fields.GRADS) == (
        module.CALL,
        module.WEIGHTS,
        module.NUMBERS,
        module.GRADS,
    )


@every_variant
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("units", [1, 7, 16, 33, 64])
def test_every_width_agrees_with_the_reference_on_every_instruction_set(name, units, dtype):
    for isa in range(len(kernels.isas())):
        for run in (RUNS["full"], RUNS["ragged, reverse, time-major"]):
            agree(name, run, case_for(name, run, units, dtype), units, isa=isa)


@every_variant
@pytest.mark.parametrize("batch", [1, 13])
def test_layers_wider_than_caches_agree_with_the_reference(name, batch):
    run = Run(torch.arange(batch) % 4)
    agree(name, run, case_for(name, run, 530, torch.float64, batch=batch, time=3), 530)


@every_variant
@pytest.mark.parametrize("run", RUNS.values(), ids=RUNS)
def test_every_way_of_running_agrees_with_the_reference(name, run):
    agree(name, run, case_for(name, run))


@every_variant
@pytest.mark.parametrize("threads", [1, 2])
def test_thread_counts_give_the_same_numbers(name, threads):
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        run = Run(torch.tensor([6, 1, 6, 3, 0, 2, 6, 5]))
        agree(name, run, case_for(name, run, 64, torch.float32, batch=8, time=6, size=5), 64)
    finally:
        torch.set_num_threads(before)


# From one row, whose steps are shared panel by panel, to many, of which each thread walks its own; work for a team.
SHARED = {"one row": [40], "two rows": [40, 23], "few rows": [40, 1, 33, 0, 17], "many rows": [*range(1, 41)]}


@every_variant
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("lengths", SHARED.values(), ids=SHARED)
def test_any_number_of_threads_gives_the_same_bits(name, lengths, dtype):
    run, before = Run(torch.tensor(lengths)), torch.get_num_threads()
    case = case_for(name, run, 130, dtype, batch=len(lengths), time=40, size=33)
    results = []
    try:
        for threads in (1, 2, 3):
            torch.set_num_threads(threads)
            for isa in range(len(kernels.isas())):
                found = flat(fused(variants(130)[name], case, run, isa=isa), run)
                results.append((isa, [*found, *gradients(found, case.leaves())]))
    finally:
        torch.set_num_threads(before)
    for isa, found in results:
        expected = results[isa][1]
        assert all(torch.equal(one, other) for one, other in zip(found, expected, strict=True))
    if dtype is torch.float64:  # roundings of 40 steps add up
        agree(name, run, case, 130)


@every_variant
@pytest.mark.parametrize("size", [0, 5])
def test_more_threads_than_weights_can_be_shared_among_leave_no_gradient_out(name, size):
    run, before = Run(torch.arange(150) % 3), torch.get_num_threads()
    case = case_for(name, run, 64, batch=150, time=2, size=size)
    results = []
    try:
        for threads in (1, 16):
            torch.set_num_threads(threads)
            found = flat(fused(variants(64)[name], case, run), run)
            results.append([*found, *gradients(found, case.leaves())])
    finally:
        torch.set_num_threads(before)
    assert all(torch.equal(one, other) for one, other in zip(*results, strict=True))
    agree(name, run, case, 64)


@every_variant
@pytest.mark.parametrize(("batch", "time", "size"), [(0, 3, 2), (3, 0, 2), (0, 0, 2), (2, 3, 0), (1, 1, 1)])
def test_no_rows_no_steps_and_no_inputs_are_ordinary(name, batch, time, size):
    for lengths in (None, torch.full((batch,), time)):
        run = Run(lengths, keep_states=True, keep_gates=True)
        agree(name, run, case_for(name, run, batch=batch, time=time, size=size))


@every_variant
def test_nothing_reads_the_padding(name):
    run = RUNS["ragged"]._replace(keep_gates=True)
    case = case_for(name, run)
    clean = case._replace(inputs=only_valid(case.inputs.detach(), run).requires_grad_())
    dirty = case._replace(inputs=torch.where(clean.inputs == 0, torch.nan, clean.inputs).detach().requires_grad_())
    results = []
    for one in (clean, dirty):
        outputs, final, states, gates = fused(variants(7)[name], one, run)
        # gradients of the padding of what is given back are not read either
        weights = torch.where(only_valid(torch.ones_like(outputs), run) == 0, torch.nan if one is dirty else 0, 1.0)
        full = torch.ones(4, 5, 7, dtype=torch.float64)
        traced = torch.where(only_valid(full, run) == 0, torch.nan if one is dirty else 0, 1.0)
        kept = [value for value in (*states, *gates) if value is not outputs]
        found = [weights, *(torch.ones_like(value) for value in final), *(traced for _ in kept)]
        grads = torch.autograd.grad([outputs, *final, *kept], one.leaves(), found, allow_unused=True)
        results.append([outputs, *final, *gates, *(grad for grad in grads if grad is not None)])
    assert all(torch.equal(one, other) for one, other in zip(*results, strict=True))


@every_variant
def test_inputs_weights_and_states_may_lie_anyhow(name):
    run = RUNS["ragged"]
    case = case_for(name, run)

    def strided(value):
        wide = torch.full([2 * side + 1 for side in value.shape], torch.nan, dtype=value.dtype)
        made = wide[tuple(slice(1, None, 2) for _ in value.shape)]
        return made.copy_(value.detach()).requires_grad_()

    odd = case.with_leaves([strided(leaf) for leaf in case.leaves()])
    assert not any(leaf.is_contiguous() for leaf in odd.leaves())
    variant = variants(7)[name]
    found, expected = flat(fused(variant, odd, run), run), flat(fused(variant, case, run), run)
    assert all(torch.equal(one, other) for one, other in zip(found, expected, strict=True))
    pairs = zip(gradients(found, odd.leaves()), gradients(expected, case.leaves()), strict=True)
    assert all(torch.equal(one, other) for one, other in pairs)


@every_variant
def test_inputs_may_be_expanded_and_sliced(name):
    variant, run = variants(7)[name], Run()
    case = case_for(name, run)
    whole = torch.randn(4, 9, 3, dtype=torch.float64)
    for inputs in (whole[:, 2:7], whole.transpose(0, 1)[2:7].transpose(0, 1), whole[:1, :1].expand(4, 5, 3)):
        found = fused(variant, case._replace(inputs=inputs), run)
        expected = fused(variant, case._replace(inputs=inputs.clone(memory_format=torch.contiguous_format)), run)
        assert torch.equal(found[0], expected[0])


def test_a_tensor_whose_sign_is_only_noted_is_read_with_it():
    run = Run()
    case = case_for("lstm", run)
    mirrored = torch.view_as_complex(torch.randn(4, 5, 3, 2, dtype=torch.float64)).conj().imag
    assert mirrored.is_neg()
    found = fused(variants(7)["lstm"], case._replace(inputs=mirrored), run)
    expected = fused(variants(7)["lstm"], case._replace(inputs=mirrored.resolve_neg().contiguous()), run)
    assert torch.equal(found[0], expected[0])


@every_variant
def test_a_state_of_none_is_one_of_zeros(name):
    variant, run = variants(7)[name], RUNS["ragged"]
    case = case_for(name, run)
    zeros = case._replace(state=tuple(torch.zeros_like(value) for value in case.state))
    found = flat(fused(variant, case._replace(state=None), run), run)
    expected = flat(fused(variant, zeros, run), run)
    assert all(torch.equal(one, other) for one, other in zip(found, expected, strict=True))
    leaves = [case.inputs, *case.params.values()]
    grads = zip(gradients(found, leaves), gradients(expected, leaves), strict=True)
    assert all(torch.equal(one, other) for one, other in grads)


@every_variant
def test_an_empty_row_keeps_its_state_bit_for_bit_and_passes_its_gradient_on(name):
    run = Run(RAGGED)
    case = case_for(name, run)
    _, final, _, _ = fused(variants(7)[name], case, run)
    given = [torch.randn_like(value) for value in final]
    grads = torch.autograd.grad(final, case.state, given)
    for value, before, grad, passed in zip(final, case.state, given, grads, strict=True):
        assert torch.equal(value[1], before[1]) and torch.equal(grad[1], passed[1])


@every_variant
def test_only_what_is_asked_for_is_differentiated(name):
    run = RUNS["ragged"]
    variant, case = variants(7)[name], case_for(name, run)
    every = gradients(flat(fused(variant, case, run), run), case.leaves())
    for index, leaf in enumerate(case.leaves()):
        alone = [value.detach() for value in case.leaves()]
        alone[index] = leaf
        (found,) = gradients(flat(fused(variant, case.with_leaves(alone), run), run), [leaf])
        assert torch.equal(found, every[index])


@every_variant
def test_what_is_saved_follows_the_lengths(name):
    run = Run()
    variant, case = variants(7)[name], case_for(name, run)
    layer = layout_of(variant.spec.name, variant.options)
    setting = call.Setting(layer)
    weights = [case.params[key] for key in layer.names]
    sizes = []
    for lengths in ([5, 5, 5, 5], [5, 0, 0, 0], [0, 0, 0, 0]):
        rows = call.Rows(None, None, torch.tensor(lengths))
        saved = call.forward(setting, rows, case.inputs, case.state, weights, keep=True)[1]
        sizes.append(saved.numel())
    assert sizes[0] == 4 * sizes[1] and sizes[2] == 0
    assert sizes[0] == 20 * call.step_size(setting, torch.float64)


UPDATES = {
    "optimizer": lambda weight: torch.optim.SGD([weight], lr=0.5).step(),
    "data": lambda weight: setattr(weight, "data", weight.data * 2),
    "data in place": lambda weight: weight.data.mul_(2),
    "numpy": lambda weight: weight.detach().numpy().__imul__(2),
}


@pytest.mark.parametrize("update", UPDATES)
@every_variant
def test_weights_are_read_anew_in_every_call(name, update):
    run = Run(RAGGED)
    variant, case = variants(7)[name], case_for(name, run)
    params = {key: torch.nn.Parameter(value.detach().clone()) for key, value in case.params.items()}
    case = case._replace(params=params)
    before = fused(variant, case, run)[0]
    before.square().sum().backward()
    for weight in params.values():
        UPDATES[update](weight)
    agree(name, run, case)
    assert not torch.equal(fused(variant, case, run)[0], before)


def test_repeats_are_the_same_bits_whatever_the_layout():
    run = Run(RAGGED)
    variant, case = variants(33)["lstm-everything"], case_for("lstm-everything", run, 33, torch.float32)
    first, second = (flat(fused(variant, case, run), run) for _ in range(2))
    assert all(torch.equal(one, other) for one, other in zip(first, second, strict=True))
    turned = fused(variant, case._replace(inputs=case.inputs.transpose(0, 1)), run._replace(time_major=True))
    assert torch.equal(turned[0].transpose(0, 1), first[0])
