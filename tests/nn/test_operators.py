"""Layers by torch's operators against the reference: the packed way on CUDA only, its plumbing on the CPU too."""

import weakref

import pytest
import torch
from nn.module_cases import INPUT, KINDS, close, draw_hx, gradients, make, states

from dynrnn.kernels import missing
from dynrnn.kernels.availability import DTYPES
from dynrnn.nn.layers import run_layers
from dynrnn.nn.operators import applies, run_layers_by_torch
from dynrnn.rnn.torch_weights import cell_of

LENGTHS = [None, torch.tensor([2, 5, 0, 3]), torch.tensor([5, 5, 5, 5]), torch.tensor([0, 0, 1, 0])]

every_kind = pytest.mark.parametrize("name", KINDS)
on_cuda = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device, and torch sees none")
# torch says once that its CPU kernels for projections are the slow ones
no_onednn = pytest.mark.filterwarnings("ignore:LSTM with projections is not supported with oneDNN:UserWarning")


def layers(name, bias=True, bidirectional=True, num_layers=2):
    module, _ = make(name, bias=bias, bidirectional=bidirectional, num_layers=num_layers)
    cell = cell_of(module.mode, module.hidden_size, module.proj_size)
    inputs = torch.randn(5, 4, INPUT, dtype=torch.float64, requires_grad=True)
    return cell, (module._weights(), 1 + bidirectional), inputs, states(draw_hx(module, 4)), list(module.parameters())


@no_onednn
@every_kind
@pytest.mark.parametrize("lengths", LENGTHS, ids=str)
@pytest.mark.parametrize(("bias", "bidirectional"), [(True, True), (False, True), (True, False)])
def test_torchs_operator_gives_the_values_and_gradients_of_the_reference(name, lengths, bias, bidirectional):
    cell, weights, inputs, hx, params = layers(name, bias, bidirectional)
    results = []
    for run in (run_layers_by_torch, run_layers):
        outputs, final = run(cell, *weights, inputs, hx, lengths)
        results.append([outputs, *final, *gradients((outputs, *final), [inputs, *hx, *params])])
    close(results[0], results[1], 1e-11)


@no_onednn
@every_kind
@pytest.mark.parametrize("lengths", LENGTHS[:2], ids=str)
def test_its_second_derivative_is_that_of_the_reference(name, lengths):
    cell, weights, inputs, hx, params = layers(name)
    found = []
    for run in (run_layers_by_torch, run_layers):
        outputs, final = run(cell, *weights, inputs, hx, lengths)
        loss = outputs.square().sum() + sum(value.sin().sum() for value in final)
        first = torch.autograd.grad(loss, [inputs, *hx], create_graph=True)
        found.append(gradients(first, [inputs, *hx, *params]))
    close(found[0], found[1], 1e-11)


@no_onednn
def test_an_input_computed_from_a_weight_has_the_right_second_derivative():
    cell, weights, _, hx, _ = layers("rnn")
    weight = weights[0][0]["weight_ih"]
    found = []
    for run in (run_layers_by_torch, run_layers):
        inputs = weight.sum(0).sin().expand(5, 4, INPUT)
        outputs, _ = run(cell, *weights, inputs, hx, None)
        (first,) = torch.autograd.grad(outputs.square().sum(), weight, create_graph=True)
        found.append(torch.autograd.grad(first.square().sum(), weight)[0])
    close(found[0], found[1], 1e-11)


def test_backward_may_run_twice_where_the_graph_is_kept():
    cell, weights, inputs, hx, _ = layers("gru")
    outputs, _ = run_layers_by_torch(cell, *weights, inputs, hx, LENGTHS[1])
    runs = [torch.autograd.grad(outputs.sum(), inputs, retain_graph=True)[0] for _ in range(2)]
    assert torch.equal(*runs)


@pytest.mark.parametrize("create_graph", [False, True])
def test_backward_runs_once_where_the_graph_is_not_kept_and_leaves_nothing_behind(create_graph):
    cell, weights, inputs, hx, _ = layers("gru")
    outputs, _ = run_layers_by_torch(cell, *weights, inputs, hx, LENGTHS[1])
    if create_graph:
        torch.autograd.grad(outputs.sum(), inputs, create_graph=True)
    inner = weakref.ref(outputs.grad_fn.unused[0][1][0])
    outputs.sum().backward()
    assert inner() is None
    with pytest.raises(RuntimeError, match="backward through the graph a second time"):
        outputs.sum().backward()


@pytest.mark.parametrize("name", ["lstm", "gru", "rnn"])
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float64], ids=str)  # by torch's operator, by the kernels
def test_a_second_backward_of_a_module_raises_as_torchs_does(name, dtype):
    ours, theirs = make(name, dtype=dtype)
    for module in (ours, theirs):
        output, _ = module(torch.randn(5, 3, INPUT, dtype=dtype))
        output.sum().backward(retain_graph=True)
        output.sum().backward()
        with pytest.raises(RuntimeError, match="backward through the graph a second time"):
            output.sum().backward()


def test_saved_tensors_may_be_moved_and_computed_again():
    ours, _ = make("lstm", num_layers=2)
    inputs = torch.randn(5, 3, INPUT, dtype=torch.float64, requires_grad=True)
    expected = torch.autograd.grad(ours(inputs)[0].sum(), inputs)
    with torch.autograd.graph.save_on_cpu():
        output, _ = ours(inputs)
    close(torch.autograd.grad(output.sum(), inputs), expected)
    again = torch.utils.checkpoint.checkpoint(lambda x: ours(x)[0], inputs, use_reentrant=False)
    close(torch.autograd.grad(again.sum(), inputs), expected)


def test_an_initial_state_may_have_any_strides():
    ours, theirs = make("lstm", num_layers=2)
    inputs = torch.randn(5, 3, INPUT, dtype=torch.float64)
    hx = tuple(torch.randn(3, 2, 4, dtype=torch.float64).transpose(0, 1) for _ in range(2))
    close(ours(inputs, hx), theirs(inputs, hx))


def test_without_gradients_no_graph_is_made():
    cell, weights, inputs, hx, _ = layers("lstm")
    with torch.no_grad():
        outputs, final = run_layers_by_torch(cell, *weights, inputs, hx, LENGTHS[1])
    assert not any(value.requires_grad for value in (outputs, *final))


@pytest.mark.parametrize("name", ["lstm", "gru", "rnn", "rnn-relu"])  # a projection goes through the reference
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16], ids=str)
def test_without_lengths_the_bits_are_torchs_where_no_kernel_applies(name, dtype):
    if dtype in DTYPES and missing() is None:
        pytest.skip("the kernels apply here")
    ours, theirs = make(name, num_layers=2, bidirectional=True, dtype=dtype)
    inputs, hx = torch.randn(5, 3, INPUT, dtype=dtype, requires_grad=True), draw_hx(theirs, 3, dtype)
    results = []
    for module in (ours, theirs):
        output, final = module(inputs, hx)
        results.append([output, *states(final), *gradients((output, *states(final)), [inputs, *module.parameters()])])
    assert all(torch.equal(one, other) for one, other in zip(*results, strict=True))


def test_on_the_cpu_it_applies_to_full_rows_without_projection_outside_of_transforms():
    inputs, plain, projected = torch.zeros(3, 2, 4), cell_of("LSTM", 4, 0), cell_of("LSTM", 4, 2)
    assert applies(plain, inputs, None)
    assert applies(plain, inputs, torch.tensor([3, 3]))
    assert applies(plain, inputs.transpose(0, 1), torch.tensor([3, 3]), time_major=False)
    assert not applies(plain, inputs, torch.tensor([3, 2]))
    assert not applies(projected, inputs, None)
    assert not applies(plain, inputs[:0], None)
    seen = []
    torch.vmap(lambda value: seen.append(applies(plain, value, None)) or value)(torch.zeros(1, 3, 2, 4))
    torch.func.grad(lambda value: seen.append(applies(plain, value, None)) or value.sum())(inputs)
    with torch.autograd.forward_ad.dual_level():
        seen.append(applies(plain, inputs, None))
    assert seen == [False, False, False]


@on_cuda
def test_it_applies_on_cuda_where_a_step_runs_outside_of_transforms():
    inputs, cell = torch.zeros(3, 2, 4, device="cuda"), cell_of("LSTM", 4, 2)
    assert applies(cell, inputs, None) and applies(cell, inputs, torch.tensor([1, 0]))
    assert not applies(cell, inputs, torch.tensor([0, 0])) and not applies(cell, inputs[:0], None)
    seen = []
    torch.vmap(lambda value: seen.append(applies(cell, value, None)) or value)(inputs.unsqueeze(0))
    assert seen == [False]


@on_cuda
@every_kind
@pytest.mark.parametrize("lengths", [None, [2, 5, 0, 3], [0, 0, 0, 0]], ids=str)
def test_modules_on_cuda_equal_modules_on_the_cpu(name, lengths):
    ours, theirs = make(name, num_layers=2, bidirectional=True, batch_first=True)
    inputs = torch.randn(4, 5, INPUT, dtype=torch.float64, requires_grad=True)
    hx, results = draw_hx(theirs, 4), []
    for device in ("cpu", "cuda"):
        ours.to(device)
        moved = tuple(value.to(device) for value in states(hx))
        output, final = ours(inputs.to(device), moved if isinstance(hx, tuple) else moved[0], lengths=lengths)
        found = [value.cpu() for value in (output, *states(final))]
        results.append([*found, *gradients(found, [inputs, *states(hx)])])
    close(results[0], results[1], 1e-10)


@on_cuda
@pytest.mark.parametrize("where", ["cpu", "cuda"])
def test_lengths_may_live_on_either_device(where):
    ours = make("lstm", batch_first=True)[0].cuda()
    inputs = torch.randn(2, 3, INPUT, dtype=torch.float64, device="cuda")
    lengths = torch.tensor([3, 1], device=where)
    close(ours(inputs, lengths=lengths)[0], ours(inputs, lengths=[3, 1])[0])


@on_cuda
@every_kind
def test_double_backward_and_vmap_work_on_cuda(name):
    ours = make(name, batch_first=True)[0].cuda()
    inputs = torch.randn(2, 3, INPUT, dtype=torch.float64, device="cuda", requires_grad=True)
    lengths = torch.tensor([3, 1], device="cuda")
    output, _ = ours(inputs, lengths=lengths)
    (first,) = torch.autograd.grad(output.square().sum(), inputs, create_graph=True)
    first.square().sum().backward()
    assert inputs.grad is not None and inputs.grad.isfinite().all()
    close(torch.vmap(lambda row, n: ours(row, lengths=n)[0])(inputs, lengths), output, 1e-10)


@on_cuda
def test_autocast_on_cuda_computes_in_float16():
    ours = make("lstm", dtype=torch.float32)[0].cuda()
    with torch.autocast("cuda", torch.float16):
        output, _ = ours(torch.randn(3, 2, INPUT, device="cuda"), lengths=[3, 1])
    assert output.dtype == torch.float16
