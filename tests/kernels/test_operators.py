"""The door for compiled and exported code: one graph for all lengths, right for every size, forward and backward."""

import io

import pytest
import torch
from kernels.kernel_cases import (
    Run,
    case_of,
    close,
    flat,
    fused,
    gradients,
    laid_out,
    needs_module,
    reference_of,
    variants,
)
from torch.func import grad, jvp, vmap

from dynrnn import kernels
from dynrnn.kernels import operators
from dynrnn.kernels.check import Setting
from dynrnn.kernels.layouts import layout_of
from dynrnn.rnn.pieces import cut_rows

# Dynamo warns about torch's own deprecations while it is imported
pytestmark = [needs_module, pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")]
NAMES = ["lstm", "lstm-everything", "gru", "gru-reset_after", "basic_rnn-relu"]
every_name = pytest.mark.parametrize("name", NAMES)
LENGTHS = [torch.tensor([4, 0, 2]), torch.tensor([1, 1, 4]), torch.tensor([0, 0, 0])]


def arguments(name, lengths, *, keep, requires_grad=True):
    """What the operator is called with, for a cell that keeps all it can."""
    spec, options = variants(3)[name]
    case = case_of(variants(3)[name], 3, 4)
    setting = Setting(layout_of(spec.name, options), reverse=True, keep_states=True, keep_gates=True)
    leaves = [leaf.detach().requires_grad_(requires_grad) for leaf in case.leaves()]
    case = case.with_leaves(leaves)
    weights = [case.params[key] for key in setting.layout.names]
    values = operators._values(setting)
    return case.inputs, list(case.state), weights, None, None, lengths, keep, *values


@every_name
def test_the_forward_operator_passes_torchs_checks(name):
    torch.library.opcheck(torch.ops.dynrnn.layer.default, arguments(name, LENGTHS[0], keep=False))
    # what is kept is compared as well, and of it only what the steps need is ever written
    some = ("test_schema", "test_autograd_registration", "test_faketensor")
    kept = arguments(name, torch.tensor([4, 4, 4]), keep=True)
    torch.library.opcheck(
        torch.ops.dynrnn.layer.default,
        kept,
        test_utils=some if "basic" in name else (*some, "test_aot_dispatch_dynamic"),
    )


@every_name
@pytest.mark.parametrize("keep", [True, False])
def test_the_backward_operator_passes_torchs_checks(name, keep):
    given = arguments(name, LENGTHS[0], keep=keep, requires_grad=False)
    results = torch.ops.dynrnn.layer(*given)
    count = len(results) - keep
    wanted = [True] * (1 + len(given[1]) + len(given[2]))
    rest = (results[0], results[-1] if keep else None, [torch.ones_like(results[0])], [0], count, wanted, *given[7:])
    torch.library.opcheck(torch.ops.dynrnn.layer_backward.default, (*given[:6], *rest))


@every_name
def test_backward_uses_up_nothing_that_a_graph_holds(name):
    given = arguments(name, LENGTHS[0], keep=True)
    results = torch.ops.dynrnn.layer(*given)[:-1]
    leaves = [given[0], *given[1], *given[2]]
    first, second = (gradients(results, leaves) for _ in range(2))
    assert all(torch.equal(one, other) for one, other in zip(first, second, strict=True))
    without = gradients(torch.ops.dynrnn.layer(*given[:6], False, *given[7:]), leaves)
    close(without, first)


@every_name
@pytest.mark.parametrize("backend", ["eager", "aot_eager", "inductor"])
def test_one_compiled_graph_serves_all_lengths_forward_and_backward(name, backend):
    torch._dynamo.reset()
    graphs, inner = [], torch._dynamo.lookup_backend(backend)

    def counting(graph, example_inputs):
        graphs.append(graph)
        return inner(graph, example_inputs)

    run = Run(time_major=True, reverse=True, keep_gates=True)
    variant, case = variants(3)[name], laid_out(case_of(variants(3)[name], 3, 4), True)

    def layer(lengths, *leaves):
        outputs, final, _, gates = fused(variant, case.with_leaves(leaves), run._replace(lengths=lengths))
        return outputs.sin(), *final, *gates

    compiled, leaves = (
        torch.compile(layer, fullgraph=True, backend=counting),
        [leaf.detach().requires_grad_() for leaf in case.leaves()],
    )
    for lengths in LENGTHS:
        found, expected = compiled(lengths, *leaves), layer(lengths, *leaves)
        close(found, expected)
        sums = [sum(value.sin().sum() for value in one) for one in (found, expected)]
        close(*(torch.autograd.grad(one, leaves) for one in sums))
    assert len(graphs) == 1
    with torch.no_grad():
        close(compiled(LENGTHS[0], *leaves), layer(LENGTHS[0], *leaves))
    assert len(graphs) == 2


class Layer(torch.nn.Module):
    """A layer as a module of inputs and lengths."""

    def __init__(self, name):
        super().__init__()
        self.variant, self.run = variants(3)[name], Run(reverse=True)
        params = case_of(self.variant, 1, 1).params
        self.names, self.values = list(params), torch.nn.ParameterList(params.values())

    def forward(self, inputs, lengths):
        spec, options = self.variant
        params = dict(zip(self.names, self.values, strict=True))
        reference = reference_of(self.variant, self.run)
        run = {**self.run._asdict(), "lengths": lengths}
        return kernels.run_layer(spec, params, inputs, None, options=options, reference=reference, **run)[:2]


SIZES = [(2, 9, [9, 0]), (3, 5, [0, 0, 0]), (1, 1, [1]), (0, 4, []), (3, 0, [0, 0, 0]), (0, 0, [])]


def draw(batch, time, lengths):
    return torch.randn(batch, time, 2, dtype=torch.float64), torch.tensor(lengths, dtype=torch.int64)


@every_name
@pytest.mark.parametrize("strict", [True, False])
def test_an_exported_program_is_right_for_other_sizes_and_lengths(name, strict):
    layer = Layer(name)
    batch, time = torch.export.Dim("batch", min=0), torch.export.Dim("time", min=0)
    shapes = ({0: batch, 1: time}, {0: batch})
    program = torch.export.export(layer, draw(3, 5, [5, 2, 3]), dynamic_shapes=shapes, strict=strict)
    file = io.BytesIO()
    torch.export.save(program, file)
    file.seek(0)
    for exported in (program.module(), torch.export.load(file).module(), program.run_decompositions().module()):
        for size in SIZES:
            given = draw(*size)
            outputs, final = exported(*given)
            expected, state = layer(*given)
            close((outputs, *final), (expected, *state))
    given, lengths = draw(2, 9, [9, 0])
    given.requires_grad_()
    grads = [torch.autograd.grad(one(given, lengths)[0].sin().sum(), given) for one in (program.module(), layer)]
    close(*grads)


@pytest.mark.parametrize("name", ["lstm", "gru"])
def test_compiled_code_is_right_for_every_size(name):
    torch._dynamo.reset()
    layer = Layer(name)
    compiled = torch.compile(layer, fullgraph=True, backend="aot_eager", dynamic=True)
    for size in [(3, 5, [5, 1, 0]), (4, 7, [7, 1, 2, 3]), *SIZES]:
        inputs, lengths = draw(*size)
        leaves = [inputs.requires_grad_(), *layer.parameters()]
        results = [(outputs, *final) for outputs, final in (compiled(inputs, lengths), layer(inputs, lengths))]
        close(*results)
        # compiled code may not keep its graph
        sums = [sum(value.sin().sum() for value in one) for one in results]
        close(*(torch.autograd.grad(one, leaves) for one in sums))


@pytest.mark.parametrize("kind", ["mapped", "gradient", "tangent", "per-sample gradients"])
def test_transforms_inside_compiled_code_go_through_the_reference(kind):
    torch._dynamo.reset()
    layer, lengths = Layer("lstm").requires_grad_(False), torch.tensor([5, 1, 0])
    inputs = torch.randn(3, 5, 2, dtype=torch.float64)

    def row(inputs, length):
        return layer(inputs[None], length[None])[0][0].sin()

    function = {
        "mapped": lambda x: vmap(row)(x, lengths),
        "gradient": lambda x: grad(lambda y: layer(y, lengths)[0].sin().sum())(x),
        "tangent": lambda x: jvp(lambda y: layer(y, lengths)[0], (x,), (x * 0.5,))[1],
        "per-sample gradients": lambda x: vmap(grad(lambda y, n: row(y, n).sum()))(x, lengths),
    }[kind]
    close([torch.compile(function, backend="aot_eager", fullgraph=True)(inputs)], [function(inputs)])


def test_pieces_go_through_the_operator_too():
    lengths = torch.tensor([4, 0, 2])
    resets = torch.tensor([[0, 1, 0, 1], [0, 0, 0, 0], [1, 1, 0, 0]], dtype=torch.bool)
    pieces = cut_rows(resets, lengths)
    variant, case = variants(3)["lstm"], case_of(variants(3)["lstm"], 3, 4)
    case = case._replace(state=None)

    def layer(inputs, row, start, length):
        cut = type(pieces)(row=row, start=start, length=length, carried=pieces.carried, last=pieces.last)
        return tuple(flat(fused(variant, case._replace(inputs=inputs), Run(pieces=cut)), Run(pieces=cut)))

    torch._dynamo.reset()
    given = (case.inputs, pieces.row, pieces.start, pieces.length)
    compiled = torch.compile(layer, backend="aot_eager", fullgraph=True)
    close(gradients(compiled(*given), [case.inputs]), gradients(layer(*given), [case.inputs]))


@pytest.mark.parametrize("mode", ["real", "symbolic"])
def test_a_traced_graph_holds_the_operator(mode):
    from torch.fx.experimental.proxy_tensor import make_fx  # it loads half of torch

    layer, (inputs, lengths) = Layer("gru").requires_grad_(False), draw(3, 5, [5, 1, 0])
    traced = make_fx(lambda x, n: layer(x, n)[0], tracing_mode=mode, _allow_non_fake_inputs=True)(inputs, lengths)
    assert any(node.target is torch.ops.dynrnn.layer.default for node in traced.graph.nodes)
    close([traced(2 * inputs, lengths)], [layer(2 * inputs, lengths)[0]])


def test_lengths_that_do_not_fit_are_refused_when_the_graph_runs():
    torch._dynamo.reset()
    layer, (inputs, lengths) = Layer("gru"), draw(3, 5, [5, 1, 0])
    compiled = torch.compile(layer, backend="aot_eager", fullgraph=True)
    compiled(inputs, lengths)
    with pytest.raises(ValueError, match=r"run_layer: lengths must be within 0..5, got lengths\[1\] = 6"):
        compiled(inputs, torch.tensor([5, 6, 0]))
