"""`frozen`: the same numbers from packed weights, and nothing that goes stale unseen."""

import copy

import pytest
import torch
from torch.nn.utils import parametrizations

import dynrnn as dr
from dynrnn.kernels import missing
from dynrnn.nn.held import held_by

INPUTS = torch.randn(3, 7, 4)
LENGTHS = [7, 0, 3]
MODULES = {
    "lstm": lambda: dr.LSTM(4, 5, num_layers=2, bidirectional=True, batch_first=True),
    "projected": lambda: dr.LSTM(4, 5, proj_size=3, batch_first=True),
    "gru": lambda: dr.GRU(4, 5, bias=False, batch_first=True),
    "rnn": lambda: dr.RNN(4, 5, num_layers=2, dropout=0.5, batch_first=True),
}
CELLS = {
    "lstm cell": lambda: dr.LSTMCell(5, 4, use_peepholes=True, num_proj=3),
    "gru cell": lambda: dr.GRUCell(5, 4),
    "reset-after cell": lambda: dr.GRUCell(5, 4, reset_after=True),
    "basic cell": lambda: dr.BasicRNNCell(5, 4),
    "layer norm cell": lambda: dr.LayerNormLSTMCell(5, 4),
    "stack": lambda: dr.MultiRNNCell([dr.ResidualWrapper(dr.GRUCell(4, 4)), dr.LSTMCell(5, 4)]),
    "zoneout": lambda: dr.ZoneoutWrapper(dr.GRUCell(5, 4)).eval(),
}
EACH = pytest.mark.parametrize("name", [*MODULES, *CELLS])


def make(name):
    torch.manual_seed(0)
    return (MODULES | CELLS)[name]()


def run(module, inputs=INPUTS, **options):
    torch.manual_seed(1)  # for dropout
    if isinstance(module, torch.nn.RNNBase):
        return torch.utils._pytree.tree_leaves(module(inputs, lengths=LENGTHS, **options))
    return torch.utils._pytree.tree_leaves(dr.dynamic_rnn(module, inputs, sequence_length=LENGTHS, **options))


@EACH
@pytest.mark.parametrize("context", [torch.no_grad, torch.inference_mode])
def test_the_bits_are_those_without_it(name, context):
    module = make(name)
    with context():
        expected = run(module)
        with dr.frozen(module) as same:
            assert same is module
            for _ in range(2):
                assert all(torch.equal(*pair) for pair in zip(run(module), expected, strict=True))
        assert all(torch.equal(*pair) for pair in zip(run(module), expected, strict=True))


@pytest.mark.skipif(missing() is not None, reason="without kernels nothing is packed")
def test_the_packed_weights_are_what_is_used():
    module = make("gru cell")
    with torch.no_grad(), dr.frozen(module):
        expected = run(module)
        held_by(module).packed[0].buffer.zero_()
        assert not torch.equal(run(module)[0], expected[0])


@EACH
def test_a_call_that_records_gradients_is_refused(name):
    module = make(name)
    if name == "zoneout":
        pytest.skip("it is called step by step, with the weights as they are")
    with dr.frozen(module):
        with pytest.raises(RuntimeError, match=r"frozen: \w+ is frozen for inference.*torch\.no_grad\(\)"):
            run(module)
        with torch.no_grad():
            run(module)
    run(module)[0].sum().backward()


def test_what_has_no_gradients_may_be_called_in_grad_mode():
    module = make("lstm").requires_grad_(False)
    with dr.frozen(module):
        run(module)
        with pytest.raises(RuntimeError, match="gradients are being recorded"):
            run(module, INPUTS.clone().requires_grad_())


SEEN = {
    "in place": lambda module, weight: weight.add_(1),
    "load_state_dict": lambda module, weight: module.load_state_dict(copy.deepcopy(module.state_dict())),
    "other memory": lambda module, weight: setattr(weight, "data", weight.data + 1),
    "new parameter": lambda module, weight: setattr(module, name_of(module), torch.nn.Parameter(weight + 1)),
}
UNSEEN = {
    "data in place": lambda module, weight: weight.data.add_(1),
    "numpy": lambda module, weight: weight.detach().numpy().__iadd__(1),
}


def name_of(module):
    return next(name for name, _ in module.named_parameters())


@pytest.mark.parametrize("name", ["lstm", "lstm cell"])
@pytest.mark.parametrize("change", SEEN)
def test_a_change_is_told_by_the_next_call(name, change):
    module = make(name)
    weight = next(module.parameters())
    message = r"frozen: \w+ of LSTM\w* was changed while LSTM\w* is frozen, and this call would not see it"
    with torch.no_grad(), pytest.raises(RuntimeError, match=message), dr.frozen(module):
        run(module)
        SEEN[change](module, weight)
        run(module)
    run(module)


@pytest.mark.parametrize("name", ["lstm", "lstm cell", "layer norm cell"])
@pytest.mark.parametrize("change", UNSEEN)
def test_a_change_that_no_call_sees_is_told_at_the_end(name, change):
    module = make(name)
    weight = next(module.parameters())
    message = r"was changed while .* calls since then may not have seen it"
    with torch.no_grad(), pytest.raises(RuntimeError, match=message), dr.frozen(module):
        run(module)
        UNSEEN[change](module, weight)
        run(module)
    with torch.no_grad():
        fresh = copy.deepcopy(module)
        assert torch.equal(run(module)[0], run(fresh)[0])


def test_a_nan_in_a_weight_is_no_change():
    module = make("gru")
    with torch.no_grad():
        next(module.parameters())[0, 0] = float("nan")
        with dr.frozen(module):
            run(module)


def test_an_error_inside_is_not_hidden_and_ends_the_hold():
    module = make("lstm")
    with torch.no_grad(), pytest.raises(KeyError), dr.frozen(module):
        next(module.parameters()).data.add_(1)
        raise KeyError
    assert held_by(module) is None
    run(module)


def test_blocks_may_be_nested_and_hold_all_that_is_inside_a_model():
    model = torch.nn.ModuleDict({"a": make("lstm"), "b": make("stack"), "c": torch.nn.Linear(2, 2)})
    with torch.no_grad(), dr.frozen(model):
        with dr.frozen(model["a"]):
            assert held_by(model["a"]).depth == 2
        assert held_by(model["a"]) and held_by(model["b"].cells[1]) and not held_by(model["c"])
        run(model["a"]), run(model["b"])
    assert not held_by(model["a"])


def test_a_copy_is_not_frozen_and_a_stream_is():
    cell = make("gru cell")
    with torch.no_grad(), dr.frozen(cell):
        assert held_by(copy.deepcopy(cell)) is None
        stream = dr.Stream(cell)
        pieces = [stream(INPUTS[:, :3]), stream(INPUTS[:, 3:])]
        whole, _ = dr.dynamic_rnn(cell, INPUTS)
    torch.testing.assert_close(torch.cat(pieces, 1), whole, rtol=0, atol=1e-6)


def test_autocast_and_functional_calls_read_no_packed_weights():
    module = make("lstm")
    with torch.no_grad():
        with torch.autocast("cpu", torch.bfloat16):
            expected = run(module)
            with dr.frozen(module):
                assert all(torch.equal(*pair) for pair in zip(run(module), expected, strict=True))
        doubled = {name: 2 * value for name, value in module.named_parameters()}
        with dr.frozen(module), pytest.raises(RuntimeError, match="was changed while LSTM is frozen"):
            torch.func.functional_call(module, doubled, (INPUTS,))


@pytest.mark.parametrize(
    ("module", "error", "message"),
    [
        (torch.nn.Linear(2, 2), ValueError, "there is no cell and no recurrent module of dynrnn inside Linear"),
        (dr.LSTMCell(3), ValueError, "kernel of LSTMCell waits for the input size"),
        (3, TypeError, "module must be a torch.nn.Module, got int"),
        (parametrizations.weight_norm(dr.GRU(2, 3), "weight_hh_l0"), ValueError, "weight_hh_l0 of .* is no parameter"),
    ],
)
def test_what_cannot_be_frozen_is_refused(module, error, message):
    with pytest.raises(error, match="frozen: " + message), dr.frozen(module):
        pass
