"""What must not reach the compiled module is refused: nothing that is passed can lead it out of a buffer."""

from types import SimpleNamespace

import pytest
import torch
from kernels.kernel_cases import Run, case_of, fused, needs_module, variants
from torch.utils._python_dispatch import TorchDispatchMode

from dynrnn import kernels
from dynrnn.cells import LSTM, LSTMOptions
from dynrnn.kernels import call
from dynrnn.kernels.layouts import layout_of

pytestmark = needs_module
OPTIONS = LSTMOptions(2)


def run(params=None, inputs=None, state=(), lengths=None, **options):
    """A layer of 2 units over `[2, 3, 4]`, with anything replaced."""
    given = {"kernel": torch.zeros(6, 8), "bias": torch.zeros(8), **(params or {})}
    inputs = torch.zeros(2, 3, 4) if inputs is None else inputs
    state = (torch.zeros(2, 2), torch.zeros(2, 2)) if state == () else state
    return kernels.run_layer(LSTM, given, inputs, state, lengths=lengths, options=OPTIONS, reference=None, **options)


def pieces(row, start, length):
    return SimpleNamespace(**{name: torch.tensor(value) for name, value in locals().items()})


SHAPES = [
    ({"inputs": torch.zeros(2, 3)}, r"inputs must have shape \[batch, time, input_size\], got \[2, 3\]"),
    ({"inputs": torch.zeros(2, 3), "time_major": True}, r"inputs must have shape \[time, batch, input_size\]"),
    ({"inputs": torch.zeros(2, 3, 5)}, r"params\['kernel'\] must have shape \[7, 8\], got \[6, 8\]"),
    ({"params": {"bias": torch.zeros(7)}}, r"params\['bias'\] must have shape \[8\], got \[7\]"),
    ({"params": {"bias": torch.zeros(1).expand(9)}}, r"params\['bias'\] must have shape \[8\], got \[9\]"),
    ({"state": (torch.zeros(2, 2),)}, r"state of lstm must be \(c, h\), got 1 tensors"),
    ({"state": (torch.zeros(2, 2), torch.zeros(3, 2))}, r"state.h must have shape \[2, 2\], got \[3, 2\]"),
    ({"lengths": torch.tensor([1])}, r"lengths must have shape \[batch\] = \[2\], got \[1\]"),
    ({"lengths": torch.tensor([1, 4])}, r"lengths must be within 0..3, got lengths\[1\] = 4"),
    ({"lengths": torch.tensor([-1, 2])}, r"lengths must be within 0..3, got lengths\[0\] = -1"),
    ({"lengths": torch.tensor([[1, 2]])}, "lengths must have one axis"),
    ({"lengths": torch.tensor([1, 2]), "pieces": pieces([0], [0], [3])}, "lengths must be None where pieces"),
    ({"inputs": torch.zeros(2, 3, 4, device="meta")}, "inputs must be on the CPU, got meta"),
    ({"params": {"bias": torch.zeros(8, device="meta")}}, r"params\['bias'\] must be on the CPU, got meta"),
]
DTYPES = [
    (
        {"inputs": torch.zeros(2, 3, 4, dtype=torch.float16)},
        r"must be float32 or float64, got inputs \[2, 3, 4\] float16",
    ),
    ({"params": {"bias": torch.zeros(8).double()}}, r"params\['bias'\] must be torch.float32, as inputs are"),
    ({"state": (torch.zeros(2, 2), torch.zeros(2, 2).int())}, "state.h must be torch.float32"),
    (
        {"lengths": torch.tensor([1, 2], dtype=torch.int32)},
        "lengths must be an int64 tensor on the CPU, got torch.int32",
    ),
    ({"params": {"bias": torch.zeros(8).to_sparse()}}, r"params\['bias'\] must be a strided tensor"),
]


@pytest.mark.parametrize(("wrong", "message"), SHAPES)
def test_wrong_shapes_devices_and_lengths_are_value_errors(wrong, message):
    with pytest.raises(ValueError, match=f"run_layer: {message}"):
        run(**wrong)


@pytest.mark.parametrize(("wrong", "message"), DTYPES)
def test_wrong_dtypes_and_layouts_are_type_errors(wrong, message):
    with pytest.raises(TypeError, match=f"run_layer: .*{message}"):
        run(**wrong)


def test_many_lengths_are_checked_too():
    lengths = torch.ones(1000, dtype=torch.int64)
    state = (torch.zeros(1000, 2), torch.zeros(1000, 2))
    run(inputs=torch.zeros(1000, 3, 4), state=state, lengths=lengths)
    lengths[517] = 9
    with pytest.raises(ValueError, match=r"got lengths\[517\] = 9"):
        run(inputs=torch.zeros(1000, 3, 4), state=state, lengths=lengths)


@pytest.mark.parametrize(
    "wrong",
    [
        pieces([0, 2], [0, 0], [3, 3]),  # a row that is not there
        pieces([-1, 1], [0, 0], [3, 3]),
        pieces([0, 1], [0, 0], [3, 4]),  # beyond the last step
        pieces([0, 1], [0, 0], [3, -1]),
        pieces([0, 1], [0, 2], [3, 2**62]),
        pieces([0, 1], [0, -1], [3, 3]),
        pieces([0, 0, 1], [0, 1, 0], [2, 2, 3]),  # two pieces share a step
        pieces([0, 0, 1], [0, 2, 0], [1, 1, 3]),  # a step is left out
        pieces([0, 1], [1, 0], [2, 3]),
        pieces([1, 0], [0, 0], [3, 3]),
    ],
)
def test_pieces_must_cover_rows_from_their_beginning(wrong):
    state = tuple(torch.zeros(len(wrong.row), 2) for _ in range(2))
    with pytest.raises(ValueError, match="pieces must cover each of 2 rows of 3 steps"):
        run(state=state, pieces=wrong)


def test_pieces_have_one_shape_and_are_integers():
    with pytest.raises(ValueError, match=r"pieces.start must have shape \[2\], got \[1\]"):
        run(pieces=pieces([0, 1], [0], [3, 3]))
    with pytest.raises(TypeError, match=r"pieces\.row must be an int64 tensor"):
        run(pieces=pieces([0.0, 1.0], [0, 0], [3, 3]))


@pytest.mark.parametrize("left", [0, 28])
def test_memory_that_was_given_back_is_refused(left):
    bias, inputs, kernel = torch.zeros(8), torch.zeros(3, 2, 4).transpose(0, 1), torch.zeros(8, 6).t()
    for value in (bias, inputs, kernel):
        value.untyped_storage().resize_(left)
    message = f"reaches beyond its memory of {left} bytes"
    with pytest.raises(ValueError, match=rf"params\['bias'\] \[8\] {message}"):
        run({"bias": bias})
    with pytest.raises(ValueError, match=rf"params\['kernel'\] \[6, 8\] {message}"):
        run({"kernel": kernel})
    with pytest.raises(ValueError, match=rf"inputs \[2, 3, 4\] {message}"):
        run(inputs=inputs)


def test_a_class_with_its_own_dispatch_is_refused():
    with torch._subclasses.fake_tensor.FakeTensorMode() as mode:
        fake = mode.from_tensor(torch.zeros(8))
    with pytest.raises(TypeError, match=r"params\['bias'\] must be a strided tensor, got FakeTensor"):
        run({"bias": fake})


def test_a_subclass_without_its_own_dispatch_is_read():
    class Named(torch.Tensor):
        pass

    assert not run({"bias": torch.zeros(8).as_subclass(Named)})[0].any()


@pytest.mark.parametrize("change", ["weight", "inputs", "outputs"])
def test_a_change_in_place_before_backward_is_noticed(change):
    variant = variants(3)["gru"]
    case = case_of(variant, 2, 4)
    weight, inputs = case.params["gates/kernel"], case.inputs.clone()
    outputs = fused(variant, case._replace(inputs=inputs), Run())[0]
    with torch.no_grad():
        {"weight": weight, "inputs": inputs, "outputs": outputs}[change].mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        outputs.sum().backward()


def test_lengths_may_be_overwritten_after_the_call():
    variant, lengths = variants(3)["lstm"], torch.tensor([2, 4])
    case = case_of(variant, 2, 4)
    expected = torch.autograd.grad(fused(variant, case, Run(lengths.clone()))[0].sum(), case.leaves())
    outputs = fused(variant, case, Run(lengths))[0]
    lengths.numpy()[:] = 1000
    lengths.fill_(-3)
    found = torch.autograd.grad(outputs.sum(), case.leaves())
    assert all(torch.equal(one, other) for one, other in zip(found, expected, strict=True))


def test_weights_of_another_shape_at_backward_are_refused():
    variant = variants(3)["basic_rnn"]
    case = case_of(variant, 2, 4)
    bias = torch.nn.Parameter(case.params["bias"].detach())
    outputs = fused(variant, case._replace(params={**case.params, "bias": bias}), Run())[0]
    bias.data = torch.zeros(1, dtype=torch.float64)
    with pytest.raises(ValueError, match=r"params\['bias'\] must have shape \[3\], got \[1\]"):
        outputs.sum().backward()


def test_a_buffer_or_a_gradient_that_does_not_fit_is_refused():
    setting = call.Setting(layout_of("lstm", OPTIONS))
    inputs, weights = torch.zeros(2, 3, 4), [torch.zeros(6, 8), torch.zeros(8)]
    rows, state, wanted = call.Rows(None, None, None), (None, None), (True, False, False, True, True)
    (outputs, *_), saved = call.forward(setting, rows, inputs, state, weights, keep=True)
    given = (setting, rows, inputs, state, weights)
    grads = [torch.ones_like(outputs), None, None]
    call.backward(*given, outputs, grads, wanted, saved)
    with pytest.raises(ValueError, match=r"saved must hold \d+ numbers, got saved \[1\]"):
        call.backward(*given, outputs, grads, wanted, saved[:1])
    with pytest.raises(TypeError, match=r"saved must be torch.float32"):
        call.backward(*given, outputs, grads, wanted, saved.double())
    with pytest.raises(ValueError, match=r"the gradient of outputs must have shape \[2, 3, 2\], got \[2, 3, 1\]"):
        call.backward(*given, outputs, [torch.ones(2, 3, 1), None, None], wanted, saved)
    with pytest.raises(ValueError, match=r"a gradient must have shape \[2, 2\], got \[2, 3\]"):
        call.backward(*given, outputs, [None, None, torch.ones(2, 3)], wanted, saved)
    with pytest.raises(ValueError, match=r"outputs must have shape \[2, 3, 2\], got \[2, 2, 2\]"):
        call.backward(*given, outputs[:, 1:], grads, wanted, saved)


def test_an_instruction_set_that_is_not_there_is_refused():
    with pytest.raises(IndexError, match="isa is not among"):
        run(isa=9)


def test_a_dispatch_mode_sees_the_operator():
    seen = []

    class Watch(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            seen.append(str(func))
            return func(*args, **(kwargs or {}))

    with Watch():
        run()
    assert "dynrnn.layer.default" in seen
