"""torch's own machinery over the torch-like modules: transforms, copies, saving, precision, seeds, parametrizations."""

import copy
import io
import pickle

import pytest
import torch
from nn.module_cases import INPUT, KINDS, close, gradients, make, states
from torch import nn
from torch.func import functional_call, grad, jacfwd, jacrev, jvp, vjp, vmap
from torch.nn.utils import parametrizations, parametrize

from dynrnn.nn.modules import GRU, LSTM

LENGTHS = torch.tensor([5, 0, 2])

# torch's own forward derivatives script some functions on first use, which warns since scripting is deprecated
forward_derivatives = pytest.mark.filterwarnings("ignore:.torch.jit.script. is deprecated:DeprecationWarning")
every_kind = pytest.mark.parametrize("name", KINDS)


def inputs_of(batch=3, time=5, dtype=torch.float64):
    return torch.randn(batch, time, INPUT, dtype=dtype)


def deep(name, **options):
    return make(name, num_layers=2, bidirectional=True, batch_first=True, **options)[0]


@every_kind
def test_vmap_over_single_sequences_with_their_lengths_is_the_batch(name):
    module, inputs = deep(name), inputs_of()
    expected, final = module(inputs, lengths=LENGTHS)
    output, state = vmap(lambda row, length: module(row, lengths=length))(inputs, LENGTHS)
    close(output, expected)
    close([value.transpose(0, 1) for value in states(state)], list(states(final)))


@every_kind
def test_vmap_over_batches_with_their_lengths_is_a_loop(name):
    module, inputs = deep(name), torch.stack([inputs_of() for _ in range(2)])
    lengths = torch.tensor([[5, 0, 2], [1, 1, 4]])
    output, _ = vmap(lambda batch, n: module(batch, lengths=n, padding_value=2.0), out_dims=(0, 1))(inputs, lengths)
    for index in range(2):
        close(output[index], module(inputs[index], lengths=lengths[index], padding_value=2.0)[0])


@every_kind
def test_vmap_over_parameters_is_an_ensemble(name):
    modules = [deep(name) for _ in range(3)]
    inputs = inputs_of()
    params = torch.func.stack_module_state(modules)[0]
    output = vmap(lambda p: functional_call(modules[0], p, (inputs,), {"lengths": LENGTHS})[0])(params)
    for index, module in enumerate(modules):
        close(output[index], module(inputs, lengths=LENGTHS)[0])


@every_kind
@pytest.mark.parametrize("lengths", ["closed over", "mapped"])
def test_per_sample_gradients_are_those_of_each_row_alone(name, lengths):
    module, inputs = deep(name), inputs_of()
    params = {key: value.detach() for key, value in module.named_parameters()}

    def loss(params, row, length):
        output, final = functional_call(module, params, (row,), {"lengths": length})
        return output.square().sum() + sum(value.sin().sum() for value in states(final))

    if lengths == "mapped":
        found = vmap(grad(loss), (None, 0, 0))(params, inputs, LENGTHS)
        expected = [grad(loss)(params, inputs[row], LENGTHS[row]) for row in range(3)]
    else:
        found = vmap(grad(loss), (None, 0, None))(params, inputs, 4)
        expected = [grad(loss)(params, inputs[row], 4) for row in range(3)]
    for key in params:
        close(found[key], torch.stack([one[key] for one in expected]))


@forward_derivatives
@every_kind
def test_forward_and_reverse_derivatives_agree(name):
    module, inputs = deep(name), inputs_of()

    def run(inputs):
        output, final = module(inputs, lengths=LENGTHS)
        return output, *states(final)

    tangent = torch.randn_like(inputs)
    outputs, forward = jvp(run, (inputs,), (tangent,))
    _, pull = vjp(run, inputs)
    weights = tuple(torch.randn_like(value) for value in outputs)
    one = sum((value * weight).sum() for value, weight in zip(forward, weights, strict=True))
    close(one, (pull(weights)[0] * tangent).sum(), 1e-10)
    close(jacfwd(run)(inputs), jacrev(run)(inputs), 1e-11)
    close(jvp(run, (inputs,), (tangent,))[0], run(inputs))


@forward_derivatives
@every_kind
def test_derivatives_within_vmap_over_lengths_agree(name):
    module, inputs = deep(name), inputs_of()

    def run(row, length):
        return module(row, lengths=length)[0]

    close(vmap(jacfwd(run))(inputs, LENGTHS), vmap(jacrev(run))(inputs, LENGTHS), 1e-11)


@forward_derivatives
def test_a_hessian_is_symmetric_and_the_finite_difference_of_the_gradient():
    module = make("lstm")[0]
    inputs = inputs_of(1, 3)[0]

    def loss(inputs):
        return module(inputs, lengths=2)[0].square().sum()

    hessian = torch.func.hessian(loss)(inputs).reshape(inputs.numel(), -1)
    close(hessian, hessian.t(), 1e-12)
    step = 1e-6 * torch.randn_like(inputs)
    difference = (grad(loss)(inputs + step) - grad(loss)(inputs - step)).flatten() / 2
    close(hessian @ step.flatten(), difference, 1e-12)


@every_kind
def test_double_backward_reaches_every_weight(name):
    module = deep(name)
    inputs = inputs_of().requires_grad_()
    output, _ = module(inputs, lengths=LENGTHS)
    (first,) = torch.autograd.grad(output.square().sum(), inputs, create_graph=True)
    second = torch.autograd.grad(first.square().sum(), [value for value in module.parameters() if value.ndim == 2])
    assert all((value != 0).any() for value in second)


UPDATES = {
    "optimizer": lambda module: torch.optim.SGD(module.parameters(), lr=0.5).step(),
    "load_state_dict": lambda module: module.load_state_dict({k: 2 * v for k, v in module.state_dict().items()}),
    "data": lambda module: [setattr(value, "data", value.data * 2) for value in module.parameters()],
    "data in place": lambda module: [value.data.mul_(2) for value in module.parameters()],
    "numpy": lambda module: module.weight_hh_l0.detach().numpy().__imul__(2),
    "no_grad": lambda module: torch.no_grad()(lambda: [value.mul_(2) for value in module.parameters()])(),
    "new parameter": lambda module: setattr(module, "weight_ih_l0", nn.Parameter(module.weight_ih_l0.detach() * 2)),
    "sharing": lambda module: setattr(module, "weight_ih_l0", module.weight_ih_l1),
}


@pytest.mark.parametrize("update", UPDATES)
@pytest.mark.parametrize("name", ["lstm", "gru", "rnn"])
def test_weights_are_fresh_after_every_kind_of_update(name, update):
    kind = KINDS[name]
    torch.manual_seed(0)
    ours, theirs = (cls(4, 4, 2, batch_first=True, dtype=torch.float64) for cls in (kind.ours, kind.theirs))
    theirs.load_state_dict(ours.state_dict())
    inputs = torch.randn(2, 3, 4, dtype=torch.float64)
    before = ours(inputs)[0]
    for module in (ours, theirs):
        module(inputs)[0].sum().backward()
        UPDATES[update](module)
    assert not torch.allclose(ours(inputs)[0], before)
    close(ours(inputs)[0], theirs(inputs)[0])


def test_shared_weights_collect_both_gradients():
    module = LSTM(4, 4, 2, dtype=torch.float64)
    alone = gradients(
        (module(torch.ones(3, 1, 4, dtype=torch.float64))[0],), [module.weight_hh_l0, module.weight_hh_l1]
    )
    module.weight_hh_l1 = module.weight_hh_l0
    assert len(list(module.parameters())) == 7
    (both,) = gradients((module(torch.ones(3, 1, 4, dtype=torch.float64))[0],), [module.weight_hh_l0])
    assert not torch.allclose(both, alone[0])


class Doubled(nn.Module):
    def forward(self, value):
        return 2 * value


@every_kind
def test_parametrized_weights_are_computed_in_every_call(name):
    ours, theirs = make(name)
    inputs = inputs_of()
    for module in (ours, theirs):
        parametrize.register_parametrization(module, "weight_hh_l0", Doubled())
    close(ours(inputs)[0], theirs(inputs)[0])
    for module in (ours, theirs):
        with torch.no_grad():
            module.parametrizations.weight_hh_l0.original.mul_(0.5)
    close(ours(inputs)[0], theirs(inputs)[0])
    ours(inputs)[0].sum().backward()
    assert ours.parametrizations.weight_hh_l0.original.grad.abs().sum() > 0
    copied = copy.deepcopy(ours.float().double())
    assert torch.equal(copied(inputs)[0], ours(inputs)[0])


def test_weight_norm_works_as_on_torchs_module():
    ours, theirs = make("gru")
    inputs = inputs_of()
    for module in (ours, theirs):
        parametrizations.weight_norm(module, "weight_ih_l0")
        with torch.no_grad():
            module.parametrizations.weight_ih_l0.original0.mul_(1.5)
    close(ours(inputs)[0], theirs(inputs)[0])


def test_the_old_weight_norm_works_too():
    ours, theirs = make("lstm")
    inputs = inputs_of()
    for module in (ours, theirs):
        with pytest.warns(FutureWarning, match="weight_norm"):
            nn.utils.weight_norm(module, "weight_hh_l0")
        with torch.no_grad():
            module.weight_hh_l0_g.mul_(1.5)
    close(ours(inputs)[0], theirs(inputs)[0])


@every_kind
def test_copies_are_equal_and_independent(name):
    module, inputs = deep(name), inputs_of()
    saved = io.BytesIO()
    torch.save(module, saved)
    saved.seek(0)
    copies = [copy.deepcopy(module), pickle.loads(pickle.dumps(module)), torch.load(saved, weights_only=False)]
    expected = module(inputs, lengths=LENGTHS)[0]
    for one in copies:
        assert type(one) is type(module) and torch.equal(one(inputs, lengths=LENGTHS)[0], expected)
        with torch.no_grad():
            one.weight_ih_l0.zero_()
    assert torch.equal(module(inputs, lengths=LENGTHS)[0], expected)


def test_saved_weights_load_with_weights_only():
    saved = io.BytesIO()
    module = GRU(4, 3)
    torch.save(module.state_dict(), saved)
    saved.seek(0)
    other = nn.GRU(4, 3)
    other.load_state_dict(torch.load(saved, weights_only=True))
    assert torch.equal(other.weight_hh_l0, module.weight_hh_l0)


def test_state_dict_hooks_are_called():
    module, seen = LSTM(4, 3), []
    module.register_state_dict_post_hook(lambda *args: seen.append("post"))
    module.register_state_dict_pre_hook(lambda *args: seen.append("pre"))
    module.register_load_state_dict_post_hook(lambda *args: seen.append("load"))
    module.load_state_dict(module.state_dict())
    assert seen == ["pre", "post", "load"]


def test_forward_hooks_see_lengths_and_results():
    module, seen = LSTM(4, 3, batch_first=True), []
    module.register_forward_pre_hook(lambda m, args, kwargs: seen.append(kwargs), with_kwargs=True)
    module.register_forward_hook(lambda m, args, result: seen.append(result))
    result = module(torch.randn(2, 3, 4), lengths=[3, 1])
    assert seen[0] == {"lengths": [3, 1]} and seen[1] is result


def test_missing_and_unexpected_keys_are_named_as_by_torch():
    with pytest.raises(RuntimeError, match=r'Missing key\(s\) in state_dict: "weight_ih_l1"'):
        LSTM(4, 3, 2).load_state_dict(nn.LSTM(4, 3).state_dict())


@every_kind
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16, torch.float64], ids=str)
def test_every_floating_dtype_works_end_to_end(name, dtype):
    module = deep(name).to(dtype)
    inputs = inputs_of(dtype=dtype).requires_grad_()
    output, final = module(inputs, lengths=LENGTHS)
    grads = torch.autograd.grad(output.sum(), [inputs, *module.parameters()], allow_unused=True)
    assert {value.dtype for value in (output, *states(final), *grads) if value is not None} == {dtype}


@every_kind
@pytest.mark.parametrize("batched_state", [False, True])
def test_autocast_computes_in_its_dtype_and_gives_gradients_in_the_weights(name, batched_state):
    module = deep(name, dtype=torch.float32)
    inputs = inputs_of(dtype=torch.float32).requires_grad_()
    expected, final = module(inputs, lengths=LENGTHS)
    hx = None
    if batched_state:
        hx = tuple(torch.zeros_like(value) for value in states(final))
        hx = hx if len(hx) == 2 else hx[0]
    with torch.autocast("cpu", torch.bfloat16):
        output, state = module(inputs, hx, lengths=LENGTHS)
        low, _ = module(inputs.bfloat16(), hx, lengths=LENGTHS)
    assert {value.dtype for value in (output, *states(state), low)} == {torch.bfloat16}
    close(output.float(), expected, 5e-2)
    grads = torch.autograd.grad(output.float().sum(), [inputs, *module.parameters()])
    assert {value.dtype for value in grads} == {torch.float32}


def test_autocast_leaves_float64_alone():
    module, inputs = deep("lstm"), inputs_of()
    with torch.autocast("cpu", torch.bfloat16):
        output, _ = module(inputs, lengths=LENGTHS)
    assert torch.equal(output, module(inputs, lengths=LENGTHS)[0])


@every_kind
def test_repeats_are_the_same_bits(name):
    module = make(name, num_layers=2, dropout=0.3, bidirectional=True, batch_first=True, dtype=torch.float32)[0]
    inputs, runs = inputs_of(dtype=torch.float32).requires_grad_(), []
    for _ in range(2):
        torch.manual_seed(7)
        output, final = module(inputs, lengths=LENGTHS)
        runs.append((output, *states(final), *gradients((output,), [inputs, *module.parameters()])))
    assert all(torch.equal(one, other) for one, other in zip(*runs, strict=True))


def test_dropout_masks_do_not_depend_on_the_number_of_threads():
    module, inputs, runs = LSTM(8, 64, 2, dropout=0.5), torch.randn(20, 16, 8), []
    threads = torch.get_num_threads()
    for count in (1, 2):
        torch.set_num_threads(count)
        torch.manual_seed(7)
        runs.append(module(inputs, lengths=[20] * 16)[0])
    torch.set_num_threads(threads)
    close(runs[0], runs[1], 1e-6)


def test_inference_mode_and_no_grad_leave_no_graph():
    module = deep("gru")
    for context in (torch.inference_mode, torch.no_grad):
        with context():
            assert not module(inputs_of(), lengths=LENGTHS)[0].requires_grad


def test_inputs_may_be_views_with_any_strides():
    module = deep("lstm")
    inputs = inputs_of()
    strided = torch.randn(5, 6, 2 * INPUT, dtype=torch.float64).transpose(0, 1)[::2, :, ::2]
    strided.copy_(inputs)
    assert not strided.is_contiguous()
    close(module(strided, lengths=LENGTHS)[0], module(inputs, lengths=LENGTHS)[0])


def test_gradients_may_be_expanded_or_strided():
    module, inputs = deep("gru"), inputs_of().requires_grad_()
    output, _ = module(inputs, lengths=LENGTHS)
    (expanded,) = torch.autograd.grad(
        output, inputs, torch.ones((), dtype=torch.float64).expand_as(output), retain_graph=True
    )
    (plain,) = torch.autograd.grad(output, inputs, torch.ones_like(output))
    assert torch.equal(expanded, plain)


def test_a_module_inside_a_checkpoint_gives_the_same_gradients():
    module, inputs = deep("lstm"), inputs_of().requires_grad_()
    plain = torch.autograd.grad(module(inputs, lengths=LENGTHS)[0].sum(), inputs)
    again = torch.utils.checkpoint.checkpoint(lambda x: module(x, lengths=LENGTHS)[0], inputs, use_reentrant=False)
    close(torch.autograd.grad(again.sum(), inputs), plain)


def test_replicas_of_data_parallel_run():
    module, inputs = deep("lstm"), inputs_of()
    replica = module._replicate_for_data_parallel()
    for key, value in module.named_parameters():
        setattr(replica, key, value.clone())
    assert torch.equal(replica(inputs[:2], lengths=LENGTHS[:2])[0], module(inputs[:2], lengths=LENGTHS[:2])[0])


def test_a_module_made_on_meta_is_materialized_later():
    module = LSTM(4, 3, device="meta")
    module.to_empty(device="cpu").load_state_dict(nn.LSTM(4, 3).state_dict())
    assert module(torch.randn(2, 1, 4), lengths=[1])[0].shape == (2, 1, 3)
