"""The short way into the compiled module gives the same bits as the long one, and is taken by plain tensors alone."""

import pytest
import torch
from kernels.kernel_cases import Run, case_of, every_variant, flat, fused, gradients, laid_out, needs_module, variants
from torch import nn

from dynrnn.cells import LSTMOptions
from dynrnn.kernels import call, short
from dynrnn.kernels.check import Setting
from dynrnn.kernels.layouts import layout_of

pytestmark = [needs_module, pytest.mark.skipif(not short._is_open, reason="torch shows its tensors from 2.10 on")]
LENGTHS = torch.tensor([4, 0, 2])
OPTIONS = LSTMOptions(2)
SETTING = Setting(layout_of("lstm", OPTIONS))


@pytest.fixture
def long_ways(monkeypatch):
    """Counts how often the long way was taken."""
    seen, reads = [], call._Reads

    def watched(*operands):
        seen.append(operands)
        return reads(*operands)

    monkeypatch.setattr(call, "_Reads", watched)
    return seen


def lstm(**changed):
    """What `short.look` is given for a layer of 2 units over `[3, 4, 5]`, with anything replaced."""
    given = {
        "inputs": torch.zeros(3, 4, 5),
        "state": (torch.zeros(3, 2), torch.zeros(3, 2)),
        "lengths": LENGTHS,
        "weights": (torch.zeros(7, 8), torch.zeros(8)),
        **changed,
    }
    return short.look(SETTING, *given.values())


@every_variant
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("run", [Run(), Run(LENGTHS), Run(LENGTHS, time_major=True, reverse=True)], ids=range(3))
def test_both_ways_give_the_same_bits(name, dtype, run, long_ways, monkeypatch):
    variant, results = variants(7)[name], []
    case = laid_out(case_of(variant, 3, 4, dtype=dtype), run.time_major)
    for is_open in (True, False):
        monkeypatch.setattr(short, "_is_open", is_open)
        found = flat(fused(variant, case, run), run)
        results.append([*found, *gradients(found, case.leaves())])
        with torch.no_grad():
            results[-1] += flat(fused(variant, case, run), run)
        assert len(long_ways) == (0 if is_open else 3)
    assert all(torch.equal(one, other) for one, other in zip(*results, strict=True))


@every_variant
def test_the_gradient_of_a_sum_takes_the_short_way_too(name, long_ways):
    variant = variants(7)[name]
    case = case_of(variant, 3, 4)
    outputs = fused(variant, case, Run(LENGTHS))[0]
    torch.autograd.grad(outputs.sum(), case.leaves(), allow_unused=True)
    assert not long_ways


def test_plain_tensors_are_looked_at():
    assert lstm() is not None
    assert lstm(state=None, lengths=None) is not None
    assert lstm(lengths=[4, 0, 2]) is not None and lstm(lengths=(4, 0, 2)) is not None
    assert lstm(state=[torch.zeros(1, 3, 2), None]) is not None
    assert lstm(inputs=torch.zeros(4, 3, 9)[..., 2:7].transpose(0, 1)) is not None
    assert lstm(weights=[nn.Parameter(torch.zeros(7, 8)), torch.zeros(16)[8:]]) is not None


def shrunk(value, left):
    value.untyped_storage().resize_(left)
    return value


def escaped():
    kept = []
    torch.vmap(lambda value: (kept.append(value), value)[1])(torch.zeros(2, 8))
    return kept[0]


class Named(torch.Tensor):
    """A class of its own, which may compute in any way."""


def bias(value):
    return {"weights": (torch.zeros(7, 8), value)}


NOT_PLAIN = {
    "a dtype": bias(torch.zeros(8).double()),
    "half precision": {"inputs": torch.zeros(3, 4, 5).half()},
    "integers": bias(torch.zeros(8, dtype=torch.int32)),
    "a shape": bias(torch.zeros(9)),
    "two axes": bias(torch.zeros(2, 4)),
    "a width of inputs": {"inputs": torch.zeros(3, 4, 6)},
    "axes of inputs": {"inputs": torch.zeros(4, 5)},
    "gaps in a row": {"inputs": torch.zeros(3, 4, 10)[..., ::2]},
    "gaps in a weight": bias(torch.zeros(16)[::2]),
    "a transposed weight": {"weights": (torch.zeros(8, 7).t(), torch.zeros(8))},
    "an expanded weight": bias(torch.zeros(1).expand(8)),
    "a weight that is missing": bias(None),
    "too few weights": {"weights": (torch.zeros(7, 8),)},
    "one tensor of the state": {"state": (torch.zeros(3, 2),)},
    "rows of the state": {"state": (torch.zeros(3, 2), torch.zeros(4, 2))},
    "a second axis before the state's": {"state": (torch.zeros(3, 2), torch.zeros(2, 3, 2))},
    "a length beyond": {"lengths": torch.tensor([5, 0, 2])},
    "a length below": {"lengths": torch.tensor([4, -1, 2])},
    "too few lengths": {"lengths": torch.tensor([4, 0])},
    "short lengths": {"lengths": torch.tensor([4, 0, 2], dtype=torch.int32)},
    "lengths that are floats": {"lengths": torch.tensor([4.0, 0.0, 2.0]).double()},
    "a list with a length beyond": {"lengths": [4, 5, 2]},
    "a list with a bool": {"lengths": [4, True, 2]},
    "a list with a huge number": {"lengths": [4, 2**64, 2]},
    "a list that is too long": {"lengths": [4, 0, 2, 1]},
    "another device": bias(torch.zeros(8, device="meta")),
    "a sign that is only noted": bias(torch._neg_view(torch.zeros(8))),
    "zeros that are only noted": bias(torch._efficientzerotensor((8,))),
    "sparse elements": bias(torch.zeros(8).to_sparse()),
    "a functional tensor": bias(torch._to_functional_tensor(torch.zeros(8))),
    "a tensor of a transform that is over": bias(escaped()),
    "a class of its own": bias(torch.zeros(8).as_subclass(Named)),
    "no tensor at all": bias([0.0] * 8),
    "memory that was given back": bias(shrunk(torch.zeros(8), 0)),
    "memory that was given back in part": bias(shrunk(torch.zeros(8), 28)),
    "inputs beyond their memory": {"inputs": shrunk(torch.zeros(3, 4, 5), 236)},
}


@pytest.mark.parametrize("changed", NOT_PLAIN.values(), ids=NOT_PLAIN)
def test_what_is_not_plain_is_left_alone(changed):
    assert lstm(**changed) is None


def test_a_length_that_changes_after_the_look_changes_nothing():
    lengths = LENGTHS.clone()
    inputs, weights = torch.randn(3, 4, 5), [torch.randn(7, 8), torch.randn(8)]
    found = short.look(SETTING, inputs, None, lengths, weights)
    lengths.fill_(10**9)
    (outputs, *_), _ = short.forward(found, SETTING, inputs, keep=False)
    assert outputs[0].all() and not outputs[1].any() and not outputs[2, 2:].any()


@pytest.mark.parametrize("wrong", ["outputs", "saved", "dout", "dhn", "dx", "dweight"])
def test_backward_does_nothing_where_something_does_not_fit(wrong):
    inputs, weights = torch.randn(3, 4, 5), [torch.randn(7, 8), torch.randn(8)]
    found = short.look(SETTING, inputs, None, LENGTHS, weights)
    (outputs, _, h), saved = short.forward(found, SETTING, inputs, keep=True)
    given = {"outputs": outputs, "saved": saved, "dout": torch.ones_like(outputs), "dhn": torch.ones_like(h)}
    given |= {"dx": torch.full_like(inputs, 7.0), "dweight": torch.full((7, 8), 7.0)}
    given[wrong] = given[wrong][:-1]
    grads, made = (given["dout"], None, given["dhn"]), [given["dx"], None, None, given["dweight"], None]
    before = saved.clone()
    assert not found.backward(given["outputs"], given["saved"], grads, made)
    assert torch.equal(saved, before) and (given["dx"] == 7).all() and (given["dweight"] == 7).all()


def test_a_layer_checks_the_places_that_it_is_told():
    layout = layout_of("lstm", OPTIONS)
    places = short.places_of(layout, 5, 4)
    with pytest.raises(IndexError, match="a place is not among the fields"):
        short._kernels.Layer([0] * len(call.CALL), places.shapes, places.constants, [(0, 9, 0)], places.numbers)


def test_the_long_way_serves_a_torch_that_does_not_show_its_tensors(monkeypatch):
    monkeypatch.setattr(short, "_is_open", False)
    assert lstm() is None
