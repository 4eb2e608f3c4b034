"""The choice between kernels and reference: who is asked, what is refused, and that both give the same."""

import dataclasses

import pytest
import torch
from cells.cell_cases import VARIANTS, draw

from dynrnn import kernels
from dynrnn.cells import GRU, LSTM, GRUOptions, LSTMOptions
from dynrnn.kernels import availability
from dynrnn.rnn import run_layer, run_torch_layer, trace_layer
from dynrnn.rnn.dispatch import choose, describe
from dynrnn.rnn.torch_weights import cell_of, weight_shapes

TOLERANCES = {torch.float32: 2e-6, torch.float64: 1e-12}
LENGTHS = [3, 0, 5, 1]
TIME = 5
FUSED = [name for name in VARIANTS if name not in ("gru-softsign", "layer_norm_lstm", "layer_norm_lstm-biased")]
INPUTS = torch.zeros(2, 5, 4)

needs_kernels = pytest.mark.skipif(kernels.missing() is not None, reason="there are no kernels to compare with")
each_cell = pytest.mark.parametrize("name", FUSED)


def both_ways(name, lengths, dtype=torch.float64, **options):
    """Everything that a trace leaves, and all gradients, by the kernels and by the reference."""
    spec, cell_options = VARIANTS[name]
    lengths = None if lengths is None else torch.tensor(lengths)
    found = []
    for implementation in ("fused", "reference"):
        case = draw(VARIANTS[name], 4, TIME, dtype=dtype)
        if options.get("time_major"):
            case = case._replace(inputs=case.inputs.detach().transpose(0, 1).contiguous().requires_grad_())
        trace = trace_layer(
            spec, case.params, case.inputs, case.state, lengths=lengths, options=cell_options,
            implementation=implementation, **options,
        )  # fmt: skip
        results = [trace.outputs, *trace.state, *trace.states, *trace.gates]
        loss = sum(value.square().sum() * (index + 1) for index, value in enumerate(results))
        found.append([*results, *torch.autograd.grad(loss, case.leaves())])
    return found


def assert_close(found, expected, tolerance):
    for one, other in zip(found, expected, strict=True):
        scale = max(1.0, other.abs().max().item()) if other.numel() else 1.0
        torch.testing.assert_close(one, other, rtol=0, atol=tolerance * scale)


@needs_kernels
@each_cell
@pytest.mark.parametrize("dtype", TOLERANCES, ids=str)
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("time_major", [False, True])
@pytest.mark.parametrize("lengths", [None, LENGTHS, [0] * 4], ids=str)
def test_both_leave_the_same_results_states_gates_and_gradients(name, dtype, reverse, time_major, lengths):
    options = {"reverse": reverse, "time_major": time_major, "keep_states": True, "keep_gates": True}
    found, expected = both_ways(name, lengths, dtype, **options)
    count = len(draw(VARIANTS[name], 0, 0).leaves())
    assert_close(found[:-count], expected[:-count], TOLERANCES[dtype])
    assert_close(found[-count:], expected[-count:], 5 * TOLERANCES[dtype])  # both round in every sum over steps


@needs_kernels
@each_cell
@pytest.mark.parametrize("every", [None, 2])
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("time_major", [False, True])
@pytest.mark.parametrize("anew", ["zeros", "given"])
def test_both_begin_rows_anew_and_compute_again_alike(name, every, reverse, time_major, anew):
    resets = torch.zeros(4, TIME, dtype=torch.bool)
    resets[0, [0, 2]] = resets[2, [1, 2, 4]] = resets[3, 3] = True
    state = None
    if anew == "given":
        generator = torch.Generator().manual_seed(3)
        sizes = VARIANTS[name].spec.state_sizes(VARIANTS[name].options)
        state = tuple(torch.randn(4, size, generator=generator, dtype=torch.float64) for size in sizes)
    options = {"resets": resets, "reset_state": state, "checkpoint_every": every, "keep_states": True}
    assert_close(*both_ways(name, LENGTHS, reverse=reverse, time_major=time_major, **options), 1e-12)


@needs_kernels
@each_cell
def test_computing_again_keeps_little_by_the_kernels_too(name):
    spec, options = VARIANTS[name]
    case = draw(VARIANTS[name], 2, 200)

    def kept(every):
        count = 0

        def note(value):
            nonlocal count
            count += value.untyped_storage().nbytes()
            return value

        with torch.autograd.graph.saved_tensors_hooks(note, lambda value: value):
            trace_layer(
                spec, case.params, case.inputs, case.state, lengths=None, options=options, checkpoint_every=every,
                implementation="fused",
            )  # fmt: skip
        return count

    weights = sum(value.untyped_storage().nbytes() for value in case.params.values())
    states = sum(value.untyped_storage().nbytes() for value in case.state)
    inputs = case.inputs.untyped_storage().nbytes()
    assert kept(100) <= 2 * (inputs + 2 * weights + 4 * states)


@needs_kernels
@each_cell
def test_a_state_that_is_left_out_is_zeros(name):
    spec, options = VARIANTS[name]
    case = draw(VARIANTS[name], 4, TIME)
    zeros = tuple(torch.zeros_like(value) for value in case.state)
    for implementation in ("fused", "reference"):
        for extra in ({}, {"reverse": True}, {"resets": torch.ones(4, TIME, dtype=torch.bool)}):
            how = {"lengths": torch.tensor(LENGTHS), "options": options, "implementation": implementation}
            one, other = (
                trace_layer(spec, case.params, case.inputs, state, keep_states=True, **how, **extra)
                for state in (None, zeros)
            )
            found = [[trace.outputs, *trace.state, *trace.states] for trace in (one, other)]
            assert all(torch.equal(*pair) for pair in zip(*found, strict=True))


@needs_kernels
@pytest.mark.parametrize("name", ["lstm-peephole", "gru", "basic_rnn"])
def test_states_can_be_had_inside_vmap_over_lengths(name):
    spec, options = VARIANTS[name]
    case = draw(VARIANTS[name], 4, TIME)
    params = {key: value.detach() for key, value in case.params.items()}

    def one_row(row, length, *state):
        trace = trace_layer(
            spec, params, row[None], tuple(value[None] for value in state), lengths=length[None], options=options,
            keep_states=True,
        )  # fmt: skip
        return trace.outputs[0], *(value[0] for value in trace.states)

    lengths = torch.tensor(LENGTHS)
    found = torch.vmap(one_row)(case.inputs.detach(), lengths, *(value.detach() for value in case.state))
    trace = trace_layer(spec, params, case.inputs, case.state, lengths=lengths, options=options, keep_states=True)
    assert_close(found, [trace.outputs, *trace.states], 1e-12)


@needs_kernels
@pytest.mark.parametrize("mode", ["LSTM", "GRU", "RNN_TANH", "RNN_RELU"])
@pytest.mark.parametrize("biased", [True, False])
@pytest.mark.parametrize("reverse", [False, True])
def test_both_run_torchs_weights_alike(mode, biased, reverse):
    cell = cell_of(mode, 3, 2 if mode == "LSTM" else 0)
    generator = torch.Generator().manual_seed(0)
    shapes = weight_shapes(cell, 4, biased=biased)
    weights = {
        name: torch.randn(shape, generator=generator, dtype=torch.float64).requires_grad_()
        for name, shape in shapes.items()
    }
    inputs = torch.randn(TIME, 4, 4, generator=generator, dtype=torch.float64).requires_grad_()
    sizes = cell.spec.state_sizes(cell.options)
    state = tuple(torch.randn(4, size, generator=generator, dtype=torch.float64).requires_grad_() for size in sizes)
    found = []
    for implementation in ("fused", "reference"):
        choice = choose(cell.spec, cell.options, inputs, implementation=implementation)
        how = {"lengths": torch.tensor(LENGTHS), "reverse": reverse, "choice": choice}
        outputs, final = run_torch_layer(cell, weights, inputs, state, **how)
        loss = outputs.square().sum() + sum(value.sin().sum() for value in final)
        found.append([outputs, *final, *torch.autograd.grad(loss, [inputs, *state, *weights.values()])])
    assert_close(*found, 1e-12)


@pytest.mark.parametrize("implementation", ["auto", pytest.param("fused", marks=needs_kernels), "reference"])
def test_arguments_are_refused_in_the_same_words_by_all(implementation):
    case = draw(VARIANTS["lstm"], 4, TIME)
    how = {"options": LSTMOptions(3), "implementation": implementation}
    with pytest.raises(ValueError, match=r"run_layer: lengths must be within 0\.\.5, got lengths\[1\] = 9"):
        run_layer(LSTM, case.params, case.inputs, case.state, lengths=torch.tensor([1, 9, 0, 0]), **how)
    with pytest.raises(ValueError, match=r"run_layer: params of lstm must be \['kernel', 'bias'\], got \['kernel'\]"):
        run_layer(LSTM, {"kernel": case.params["kernel"]}, case.inputs, case.state, lengths=None, **how)


@pytest.mark.parametrize("implementation", ["auto", "reference"])
def test_torchs_weights_are_refused_in_the_same_words_by_both(implementation):
    cell = cell_of("GRU", 3, 0)
    weights = {name: torch.zeros(shape) for name, shape in weight_shapes(cell, 4, biased=True).items()}
    for name, wrong, error, message in (
        ("weight_ih", torch.zeros(9, 5), ValueError, r"weights\['weight_ih'\] must have shape \[9, 4\], got \[9, 5\]"),
        ("bias_hh", torch.zeros(9).double(), TypeError, r"weights\['bias_hh'\] must be torch\.float32, as inputs are"),
    ):
        with pytest.raises(error, match="run_layer: " + message):
            inputs = torch.zeros(2, 1, 4)
            choice = choose(cell.spec, cell.options, inputs, implementation=implementation)
            run_torch_layer(cell, {**weights, name: wrong}, inputs, None, lengths=None, choice=choice)


def test_a_word_that_is_none_of_the_three_is_refused():
    with pytest.raises(ValueError, match=r"implementation must be one of auto, fused, reference, got 'fast'"):
        choose(GRU, GRUOptions(3), INPUTS, implementation="fast")


def test_reference_is_taken_when_it_is_asked_for():
    choice = choose(GRU, GRUOptions(3), INPUTS, implementation="reference")
    assert not choice.fused and choice.asked
    assert describe(choice, GRU, INPUTS) == 'through the reference loop, because implementation="reference" asks for it'


@needs_kernels
def test_the_kernels_are_taken_wherever_they_apply():
    choice = choose(GRU, GRUOptions(3), INPUTS)
    assert choice.fused and not choice.asked and choice.obstacle is None
    isa = kernels.isas()[0]
    wanted = f"through the fused kernels ({isa}), because there is one for gru in float32 on the CPU"
    assert describe(choice, GRU, INPUTS) == wanted


@needs_kernels
@pytest.mark.parametrize(
    ("spec", "options", "inputs", "reason"),
    [
        (LSTM, LSTMOptions(3, activation=torch.nn.functional.softsign), INPUTS, "no kernel of lstm has the activation"),
        (LSTM, LSTMOptions(3), INPUTS.half(), "inputs are float16, and the kernels compute in float32 and float64"),
        (LSTM, LSTMOptions(3), INPUTS.to("meta"), "inputs are on meta, and the kernels run on the CPU"),
        (*VARIANTS["layer_norm_lstm"], INPUTS, "there is no kernel for layer_norm_lstm"),
        (dataclasses.replace(LSTM), LSTMOptions(3), INPUTS, "this lstm is not the one in the table of cells"),
    ],
)
def test_where_they_do_not_apply_auto_falls_back_and_fused_raises_the_reason(spec, options, inputs, reason):
    choice = choose(spec, options, inputs)
    assert not choice.fused and reason in choice.obstacle
    with pytest.raises(ValueError, match=f'implementation="fused" is not available: .*{reason}'):
        choose(spec, options, inputs, implementation="fused")


def test_without_the_compiled_module_fused_raises_why(monkeypatch):
    monkeypatch.setattr(availability, "_MISSING", "the compiled module is not here")
    choice = choose(LSTM, LSTMOptions(3), INPUTS)
    assert not choice.fused and choice.obstacle == "the compiled module is not here"
    with pytest.raises(RuntimeError, match=r'implementation="fused" is not available: the compiled module is not here'):
        choose(LSTM, LSTMOptions(3), INPUTS, implementation="fused")
    case = draw(VARIANTS["lstm"], 2, 3)
    outputs, _ = run_layer(LSTM, case.params, case.inputs, None, lengths=None, options=LSTMOptions(3))
    assert outputs.shape == (2, 3, 3)
