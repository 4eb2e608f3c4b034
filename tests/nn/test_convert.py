"""`convert`: what is swapped, what stays as it was, what is refused."""

import copy
import pickle

import pytest
import torch
from torch import nn
from torch.nn.utils import parametrize

from dynrnn.nn.convert import convert
from dynrnn.nn.modules import GRU, LSTM, RNN


class Named(nn.LSTM):
    """A subclass that only adds a method."""

    def count(self):
        return sum(value.numel() for value in self.parameters())


class Louder(nn.LSTM):
    def forward(self, input, hx=None):
        output, state = super().forward(input, hx)
        return 2 * output, state


class Triple(nn.Module):
    def forward(self, value):
        return 3 * value


def model():
    return nn.ModuleDict(
        {"lstm": nn.LSTM(4, 3), "deep": nn.Sequential(nn.GRU(4, 3), nn.RNN(4, 3)), "out": nn.Linear(3, 1)}
    )


def test_every_recurrent_module_is_swapped_and_named():
    found = model()
    report = convert(found)
    assert report == (("lstm", "deep.0", "deep.1"), {})
    assert [type(found["lstm"]), type(found["deep"][0]), type(found["deep"][1])] == [LSTM, GRU, RNN]
    assert str(report) == "swapped 3 modules\n  lstm\n  deep.0\n  deep.1"


def test_the_model_itself_may_be_one():
    lstm = nn.LSTM(4, 3)
    report = convert(lstm)
    assert type(lstm) is LSTM and report.swapped == ("",) and "the model itself" in str(report)


def test_a_second_time_there_is_nothing_to_do():
    found = model()
    convert(found)
    assert convert(found) == ((), {})


def test_results_stay_and_lengths_are_understood():
    lstm = nn.LSTM(4, 3, 2, batch_first=True, bidirectional=True, dtype=torch.float64)
    inputs = torch.randn(3, 5, 4, dtype=torch.float64)
    before, _ = lstm(inputs)
    convert(lstm)
    torch.testing.assert_close(lstm(inputs)[0], before, rtol=0, atol=1e-12)
    short, _ = lstm(inputs, lengths=[2, 5, 0])
    torch.testing.assert_close(short[:1, :2], lstm(inputs[:1, :2])[0], rtol=0, atol=1e-12)


def test_parameters_buffers_hooks_and_mode_stay_the_same_objects():
    lstm = nn.LSTM(4, 3).eval()
    lstm.register_buffer("extra", torch.ones(1))
    lstm.weight_hh_l0.requires_grad_(False)
    calls = []
    lstm.register_forward_hook(lambda *args: calls.append(1))
    before = [id(value) for value in (*lstm.parameters(), *lstm.buffers())]
    found = nn.Sequential(lstm)
    convert(found)
    assert found[0] is lstm and not lstm.training and not lstm.weight_hh_l0.requires_grad
    assert [id(value) for value in (*lstm.parameters(), *lstm.buffers())] == before
    lstm(torch.randn(2, 1, 4), lengths=[1])
    assert calls == [1]


def test_an_optimizer_made_before_goes_on():
    lstm = nn.LSTM(4, 3)
    optimizer = torch.optim.SGD(lstm.parameters(), lr=1.0)
    convert(lstm)
    inputs = torch.randn(2, 1, 4)
    before = lstm(inputs)[0]
    before.sum().backward()
    optimizer.step()
    assert not torch.equal(lstm(inputs)[0], before)


def test_a_module_in_two_places_stays_one():
    shared = nn.GRU(4, 4)
    found = nn.Sequential(shared, shared)
    assert convert(found).swapped == ("0",)
    assert found[0] is found[1] is shared


def test_a_parametrized_module_keeps_its_parametrization():
    lstm = nn.LSTM(4, 3)
    parametrize.register_parametrization(lstm, "weight_ih_l0", Triple())
    inputs = torch.randn(5, 2, 4)
    expected = lstm(inputs)[0]
    convert(lstm)
    assert isinstance(lstm, LSTM) and parametrize.is_parametrized(lstm)
    torch.testing.assert_close(copy.deepcopy(lstm)(inputs, lengths=[5, 5])[0], expected)
    with torch.no_grad():
        lstm.parametrizations.weight_ih_l0.original.mul_(2)
    assert not torch.allclose(lstm(inputs)[0], expected)
    parametrize.remove_parametrizations(lstm, "weight_ih_l0")
    assert type(lstm) is LSTM


def test_a_subclass_without_a_forward_keeps_its_methods_pickles_and_copies():
    ones = [Named(4, 3), Named(4, 3)]
    count = ones[0].count()
    convert(nn.Sequential(*ones))
    assert isinstance(ones[0], LSTM) and type(ones[0]) is type(ones[1]) and type(ones[0]).__name__ == "Named"
    inputs = torch.randn(5, 2, 4)
    for again in (copy.deepcopy(ones[0]), pickle.loads(pickle.dumps(ones[0]))):
        assert type(again) is type(ones[0]) and again.count() == count
        assert torch.equal(again(inputs, lengths=[3, 1])[0], ones[0](inputs, lengths=[3, 1])[0])


def test_a_subclass_with_a_forward_of_its_own_is_refused_and_nothing_changes():
    found = nn.Sequential(nn.LSTM(4, 4), Louder(4, 4))
    with pytest.raises(TypeError, match=r"cannot swap 1: Louder has a forward of its own; derive it from dynrnn\.LSTM"):
        convert(found)
    assert type(found[0]) is nn.LSTM


def test_without_strict_it_is_left_and_reported():
    found = nn.Sequential(nn.LSTM(4, 4), Louder(4, 4))
    report = convert(found, strict=False)
    assert report.swapped == ("0",) and list(report.left) == ["1"] and type(found[1]) is Louder
    assert "left 1: Louder has a forward of its own" in str(report)


def test_a_forward_put_on_the_instance_is_refused():
    lstm = nn.LSTM(4, 4)
    lstm.forward = lambda *args: args
    with pytest.raises(TypeError, match="the forward of this LSTM was replaced on the instance"):
        convert(lstm)


@pytest.mark.filterwarnings("ignore:.torch.jit.script. is deprecated:DeprecationWarning")
def test_a_scripted_module_is_refused():
    with pytest.raises(TypeError, match=r"0: it is compiled by torch\.jit; convert the model before"):
        convert(torch.jit.script(nn.Sequential(nn.LSTM(4, 4))))


def test_a_subclass_of_ours_is_ours_already():
    class Mine(LSTM):
        def forward(self, input, hx=None, **options):
            return super().forward(input, hx, **options)

    assert convert(nn.Sequential(Mine(4, 3))) == ((), {})


def test_what_is_no_module_is_refused():
    with pytest.raises(TypeError, match=r"convert: model must be an nn\.Module, got dict"):
        convert({})  # pyright: ignore[reportArgumentType]
