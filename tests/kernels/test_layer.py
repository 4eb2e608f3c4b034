"""The doors: which one a call goes through, and that all of them lead to the same layer."""

import copy
import pickle
import threading
import warnings

import pytest
import torch
from kernels.kernel_cases import Run, case_of, close, every_variant, flat, fused, gradients, needs_module, variants
from torch.autograd import forward_ad

from dynrnn import kernels
from dynrnn.kernels import call

# torch's own forward derivatives script some functions on first use, which warns since scripting is deprecated
pytestmark = [needs_module, pytest.mark.filterwarnings("ignore:.torch.jit.script. is deprecated:DeprecationWarning")]
LENGTHS = torch.tensor([3, 0, 2])


@pytest.fixture
def calls(monkeypatch):
    """What is run by the compiled module, with whether a buffer is kept."""
    seen, forward, backward = [], call.forward, call.backward

    def watched_forward(*operands, keep=False, **options):
        seen.append(("forward", keep))
        return forward(*operands, keep=keep, **options)

    def watched_backward(*operands, **options):
        found = backward(*operands, **options)
        seen.append(("backward", True))
        return found

    monkeypatch.setattr(call, "forward", watched_forward)
    monkeypatch.setattr(call, "backward", watched_backward)
    return seen


def test_nothing_is_saved_where_nothing_asks_for_gradients(calls):
    variant = variants(3)["lstm"]
    case = case_of(variant, 3, 3)
    plain = case.with_leaves([leaf.detach() for leaf in case.leaves()])
    assert not fused(variant, plain, Run(LENGTHS))[0].requires_grad
    for context in (torch.no_grad, torch.inference_mode):
        with context():
            assert not fused(variant, case, Run(LENGTHS))[0].requires_grad
    assert calls == [("forward", False)] * 3


@pytest.mark.parametrize("index", range(5))
def test_one_tensor_that_asks_for_gradients_is_enough(calls, index):
    variant = variants(3)["lstm"]
    leaves = [leaf.detach() for leaf in case_of(variant, 3, 3).leaves()]
    leaves[index].requires_grad_()
    outputs = fused(variant, case_of(variant, 3, 3).with_leaves(leaves), Run())[0]
    outputs.sum().backward()
    assert calls == [("forward", True), ("backward", True)]


def test_a_graph_that_is_kept_runs_forward_again_for_each_further_backward(calls):
    variant = variants(3)["gru"]
    case = case_of(variant, 3, 3)
    outputs = fused(variant, case, Run(LENGTHS))[0]
    runs = [torch.autograd.grad(outputs.sum(), case.leaves(), retain_graph=True) for _ in range(3)]
    assert all(torch.equal(one, other) for run in runs[1:] for one, other in zip(runs[0], run, strict=True))
    assert [name for name, _ in calls] == ["forward", "backward", "forward", "backward", "forward", "backward"]


def test_a_backward_over_nothing_calls_nothing(calls):
    variant = variants(3)["gru"]
    case = case_of(variant, 3, 3)
    outputs, (h,), _, _ = fused(variant, case, Run(LENGTHS))
    unused = torch.zeros(3, requires_grad=True)
    (outputs.detach() * unused[0]).sum().backward()
    assert [name for name, _ in calls] == ["forward"]
    h.sum().backward()
    assert [name for name, _ in calls] == ["forward", "backward"]


@every_variant
def test_dual_numbers_get_their_tangents(name):
    variant = variants(3)[name]
    case = case_of(variant, 3, 3)
    run = Run(LENGTHS)
    tangents = [torch.randn_like(leaf) for leaf in case.leaves()]
    with forward_ad.dual_level():
        pairs = zip(case.leaves(), tangents, strict=True)
        dual = case.with_leaves([forward_ad.make_dual(leaf.detach(), tangent) for leaf, tangent in pairs])
        found = [forward_ad.unpack_dual(value).tangent for value in flat(fused(variant, dual, run), run)]
    results = flat(fused(variant, case, run), run)
    for value, tangent in zip(results, found, strict=True):
        weights = torch.randn_like(value)
        grads = torch.autograd.grad(value, case.leaves(), weights, allow_unused=True, retain_graph=True)
        products = [(grad * one).sum() for grad, one in zip(grads, tangents, strict=True) if grad is not None]
        torch.testing.assert_close((weights * tangent).sum(), sum(products), rtol=1e-11, atol=1e-12)


def test_a_gradient_of_dual_numbers_has_its_tangent():
    variant, run = variants(3)["lstm"], Run(LENGTHS)
    case = case_of(variant, 3, 3)
    outputs = fused(variant, case, run)[0]
    one, two = torch.randn_like(outputs), torch.randn_like(outputs)
    with forward_ad.dual_level():
        grads = torch.autograd.grad(outputs, case.leaves(), forward_ad.make_dual(one, two), retain_graph=True)
        primals, tangents = zip(*(forward_ad.unpack_dual(grad) for grad in grads), strict=True)
    close(primals, torch.autograd.grad(outputs, case.leaves(), one, retain_graph=True))
    close(tangents, torch.autograd.grad(outputs, case.leaves(), two))


@pytest.mark.parametrize("hooks", ["save_on_cpu", "checkpoint"])
@every_variant
def test_saved_tensors_may_be_moved_and_computed_again(name, hooks):
    variant, run = variants(3)[name], Run(LENGTHS, keep_states=True)
    case = case_of(variant, 3, 3)
    expected = gradients(flat(fused(variant, case, run), run), case.leaves())
    if hooks == "checkpoint":
        leaves, again = case.leaves(), torch.utils.checkpoint.checkpoint
        results = again(
            lambda *given: flat(fused(variant, case.with_leaves(given), run), run), *leaves, use_reentrant=False
        )
    else:
        with torch.autograd.graph.save_on_cpu():
            results = flat(fused(variant, case, run), run)
    for _ in range(2):
        found = gradients(results, case.leaves())
        assert all(torch.equal(one, other) for one, other in zip(found, expected, strict=True))


def test_a_checkpoint_keeps_no_buffer():
    variant = variants(16)["lstm"]
    case = case_of(variant, 4, 50)
    sizes = []

    def pack(value):
        sizes.append(value.numel())
        return value

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda value: value):
        fused(variant, case, Run())
    assert max(sizes) >= 4 * 50 * 5 * 16  # what hooks are given includes it, so that they may do without it


def test_autograd_may_run_in_many_threads():
    variant, case = variants(7)["lstm"], case_of(variants(7)["lstm"], 4, 6)
    expected = gradients(list(fused(variant, case, Run())[:1]), case.leaves())
    results = [fused(variant, case, Run())[0] for _ in range(8)]
    found = [None] * 8

    def work(index):
        found[index] = gradients([results[index]], case.leaves())

    threads = [threading.Thread(target=work, args=(index,)) for index in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(torch.equal(one, other) for run in found for one, other in zip(run, expected, strict=True))


def test_results_are_copied_and_pickled_as_any_tensors():
    variant = variants(3)["lstm"]
    case = case_of(variant, 3, 3)
    with torch.no_grad():
        outputs = fused(variant, case, Run(LENGTHS))[0]
    assert torch.equal(pickle.loads(pickle.dumps(outputs)), copy.deepcopy(outputs))


def test_torch_layers_take_the_same_doors(calls):
    module = torch.nn.GRU(3, 4)
    weights = {key.removesuffix("_l0"): value for key, value in module.named_parameters()}
    inputs = torch.randn(5, 2, 3)
    outputs = kernels.run_torch_layer("GRU", weights, inputs, None, lengths=None, reference=None)[0]
    outputs.sum().backward()
    with torch.no_grad():
        kernels.run_torch_layer("GRU", weights, inputs, None, lengths=None, reference=None)
    assert calls == [("forward", True), ("backward", True), ("forward", False)]


def test_functionalized_and_traced_code_goes_through_the_reference(calls):
    variant, case = variants(3)["lstm"], case_of(variants(3)["lstm"], 3, 3)
    case = case.with_leaves([leaf.detach() for leaf in case.leaves()])

    def layer(inputs):
        return fused(variant, case._replace(inputs=inputs), Run())[0]

    other = 2 * case.inputs
    expected = layer(other)
    calls.clear()
    close([torch.func.functionalize(layer)(other)], [expected])
    with warnings.catch_warnings():  # torch warns about a tracer that it keeps for old programs
        warnings.simplefilter("ignore")
        traced = torch.jit.trace(layer, (case.inputs,), check_trace=False)
    close([traced(other)], [expected])
    assert not calls
