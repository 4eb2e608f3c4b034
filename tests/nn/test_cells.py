"""Cells as modules: parameters by TF1's names, sizes given or inferred, initial values, steps, states, errors."""

import copy
import dataclasses
import math
import pickle

import pytest
import torch
from nn.cell_kinds import assert_close, assert_same_bits
from torch import nn
from torch.nn.parameter import UninitializedParameter

import dynrnn as dr

CELLS = {
    "basic": lambda *size, **more: dr.BasicRNNCell(4, *size, **more),
    "lstm": lambda *size, **more: dr.LSTMCell(4, *size, **more),
    "lstm-peephole": lambda *size, **more: dr.LSTMCell(4, *size, use_peepholes=True, num_proj=2, **more),
    "gru": lambda *size, **more: dr.GRUCell(4, *size, **more),
    "gru-after": lambda *size, **more: dr.GRUCell(4, *size, reset_after=True, **more),
    "layer_norm": lambda *size, **more: dr.LayerNormLSTMCell(4, *size, **more),
}
EVERY = pytest.mark.parametrize("name", CELLS)
INPUTS = torch.randn(2, 5, 3, generator=torch.Generator().manual_seed(0))


def states(value):
    return [value] if isinstance(value, torch.Tensor) else list(value)


def test_parameters_have_tensorflows_names_order_and_shapes():
    found = {name: {k: list(v.shape) for k, v in make(3).state_dict().items()} for name, make in CELLS.items()}
    assert found["basic"] == {"kernel": [7, 4], "bias": [4]}
    assert found["lstm"] == {"kernel": [7, 16], "bias": [16]}
    assert list(found["lstm-peephole"].items()) == [
        ("kernel", [5, 16]), ("bias", [16]), ("w_f_diag", [4]), ("w_i_diag", [4]), ("w_o_diag", [4]),
        ("projection.kernel", [4, 2]),
    ]  # fmt: skip
    assert found["gru"] == {
        "gates.kernel": [7, 8], "gates.bias": [8], "candidate.kernel": [7, 4], "candidate.bias": [4],
    }  # fmt: skip
    assert list(found["layer_norm"])[:3] == ["kernel", "input.gamma", "input.beta"]


@EVERY
def test_initial_values_are_tensorflows(name):
    torch.manual_seed(0)
    cell = CELLS[name](3)
    for key, value in cell.named_parameters():
        if key.endswith(("kernel", "diag")):
            fans = sum(value.shape) if value.ndim == 2 else 2 * value.shape[0]
            limit = math.sqrt(6 / fans)
            assert value.abs().max() <= limit and (value.ndim == 1 or value.abs().max() > limit / 2)
        else:
            start = 1 if key.endswith("gamma") or key == "gates.bias" else 0
            assert (value == start).all()


def test_initializers_by_name_and_by_function():
    kernel = dr.BasicRNNCell(4, 3, initializer="orthogonal").kernel
    torch.testing.assert_close(kernel.T @ kernel, torch.eye(4), rtol=0, atol=1e-6)
    assert (dr.GRUCell(4, 3, initializer=nn.init.ones_).gates.kernel == 1).all()
    deviation = dr.BasicRNNCell(300, 300, initializer="glorot_normal").kernel.std().item()
    assert abs(deviation - math.sqrt(2 / 900)) < 2e-3
    with pytest.raises(ValueError, match=r"initializer must be one of.*'xavier'"):
        dr.GRUCell(4, initializer="xavier")
    with pytest.raises(TypeError, match="initializer must be a name or a callable"):
        dr.GRUCell(4, initializer=3)


@EVERY
def test_an_inferred_input_size_gives_the_same_cell(name):
    given, inferred = CELLS[name](3), CELLS[name]()
    assert (given.input_size, inferred.input_size) == (3, None)
    dr.dynamic_rnn(inferred, INPUTS)
    assert inferred.input_size == 3
    assert [(k, v.shape) for k, v in inferred.state_dict().items()] == [
        (k, v.shape) for k, v in given.state_dict().items()
    ]
    inferred.load_state_dict(given.state_dict())
    assert_same_bits(dr.dynamic_rnn(inferred, INPUTS), dr.dynamic_rnn(given, INPUTS))


@EVERY
def test_a_cell_without_its_size_moves_saves_copies_and_loads(name, tmp_path):
    cell = CELLS[name]()
    assert any(isinstance(value, UninitializedParameter) for value in cell.parameters())
    for twin in (copy.deepcopy(cell), pickle.loads(pickle.dumps(cell)), CELLS[name]()):
        twin.double()
        dr.dynamic_rnn(twin, INPUTS.double())
        assert {value.dtype for value in twin.parameters()} == {torch.float64}
    assert list(cell.state_dict()) == list(CELLS[name](3).state_dict())
    torch.save(cell.state_dict(), tmp_path / "unmade.pt")
    full = CELLS[name](3)
    cell.load_state_dict(full.state_dict())
    assert cell.input_size == 3
    assert_same_bits(dr.dynamic_rnn(cell, INPUTS), dr.dynamic_rnn(full, INPUTS))
    with pytest.raises(RuntimeError, match="uninitialized"):
        full.load_state_dict(CELLS[name]().state_dict())


def test_using_a_parameter_that_is_not_made_yet_says_so():
    with pytest.raises((ValueError, RuntimeError), match="uninitialized parameter"):
        dr.LSTMCell(4).kernel.sum()


def test_an_optimizer_made_before_the_first_call_trains_the_cell():
    cell = dr.GRUCell(4)
    optimizer = torch.optim.SGD(cell.parameters(), lr=0.1)
    dr.dynamic_rnn(cell, INPUTS)[0].sum().backward()
    before = cell.gates.kernel.detach().clone()
    optimizer.step()
    assert not torch.equal(before, cell.gates.kernel)


@EVERY
def test_a_step_is_a_pass_of_one_step(name):
    cell = CELLS[name](3)
    output, state = cell(INPUTS[:, 0])
    outputs, final = dr.dynamic_rnn(cell, INPUTS[:, :1])
    assert_close(output, outputs[:, 0], 1e-6)
    assert_close(state, final, 1e-6)
    again, _ = cell(INPUTS[:, 1], state)
    assert_close(again, dr.dynamic_rnn(cell, INPUTS[:, :2])[0][:, 1], 1e-6)


@EVERY
def test_sizes_and_zero_states(name):
    cell = CELLS[name](3, dtype=torch.float64)
    zero = cell.zero_state(2)
    assert all(value.shape == (2, size) for value, size in zip(states(zero), _sizes(cell), strict=True))
    assert all(value.dtype == torch.float64 and not value.any() for value in states(zero))
    assert states(cell.zero_state(1, dtype=torch.float32))[0].dtype == torch.float32
    assert dr.dynamic_rnn(cell, INPUTS.double())[0].shape[2] == cell.output_size


def _sizes(cell):
    return [cell.state_size] if isinstance(cell.state_size, int) else list(cell.state_size)


@EVERY
def test_representation_names_sizes_and_options(name):
    assert repr(CELLS[name](3)).startswith(f"{type(CELLS[name](3)).__name__}(")
    assert "input_size=None" in repr(CELLS[name]())
    assert "use_peepholes=True, num_proj=2" in repr(CELLS["lstm-peephole"]())


@EVERY
def test_pickles_and_copies_give_the_same_numbers(name):
    cell = CELLS[name](3)
    for twin in (pickle.loads(pickle.dumps(cell)), copy.deepcopy(cell)):
        assert_same_bits(dr.dynamic_rnn(twin, INPUTS), dr.dynamic_rnn(cell, INPUTS))


@EVERY
def test_weights_are_read_anew_in_every_call(name):
    cell = CELLS[name](3)
    before = dr.dynamic_rnn(cell, INPUTS)[0]
    for parameter in cell.parameters():
        parameter.data.mul_(1.5)
    assert not torch.equal(dr.dynamic_rnn(cell, INPUTS)[0], before)
    swapped = {key: torch.zeros_like(value) for key, value in cell.named_parameters()}
    zeros = torch.func.functional_call(_Loop(cell), {f"cell.{key}": value for key, value in swapped.items()}, INPUTS)
    assert not zeros.any()


def test_a_parametrized_weight_is_used_as_it_is_given():
    cell = dr.LSTMCell(4, 3)
    nn.utils.parametrize.register_parametrization(cell, "kernel", nn.ReLU())
    plain = dr.LSTMCell(4, 3)
    plain.load_state_dict({"kernel": cell.parametrizations.kernel.original.relu(), "bias": cell.bias})
    assert_same_bits(dr.dynamic_rnn(cell, INPUTS), dr.dynamic_rnn(plain, INPUTS))
    dr.dynamic_rnn(cell, INPUTS)[0].sum().backward()
    assert cell.parametrizations.kernel.original.grad is not None


class _Loop(nn.Module):
    def __init__(self, cell):
        super().__init__()
        self.cell = cell

    def forward(self, inputs):
        return dr.dynamic_rnn(self.cell, inputs)[0]


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@EVERY
def test_autocast_computes_in_its_dtype_with_or_without_lengths(name, dtype):
    cell = CELLS[name](3)
    with torch.autocast("cpu", dtype):
        outputs, state = dr.dynamic_rnn(cell, INPUTS, sequence_length=[5, 2])
        step, _ = cell(INPUTS[:, 0])
        carried, _ = dr.dynamic_rnn(cell, INPUTS, initial_state=state)
    assert {outputs.dtype, step.dtype, carried.dtype, *(value.dtype for value in states(state))} == {dtype}
    assert_close(outputs.float(), dr.dynamic_rnn(cell, INPUTS, sequence_length=[5, 2])[0], 0.05)
    outputs.float().sum().backward()
    assert all(value.grad.dtype == torch.float32 for value in cell.parameters())


def test_an_activation_that_is_a_module_is_trained_too():
    cell = dr.BasicRNNCell(4, 3, activation=nn.PReLU())
    dr.dynamic_rnn(cell, INPUTS)[0].sum().backward()
    assert cell.activation.weight.grad is not None and "activation.weight" in cell.state_dict()


@pytest.mark.parametrize("training", [True, False])
def test_recurrent_dropout_acts_in_training_only(training):
    cell = dr.LayerNormLSTMCell(4, 3, recurrent_dropout=0.5).train(training)
    runs = [dr.dynamic_rnn(cell, INPUTS)[0] for _ in range(2)]
    assert torch.equal(*runs) != training


@pytest.mark.parametrize("name", ["lstm", "gru"])
def test_a_forward_hook_sees_every_step(name):
    cell, steps = CELLS[name](3), []
    wanted = dr.dynamic_rnn(cell, INPUTS, sequence_length=[3, 1])
    cell.register_forward_hook(lambda module, args, result: steps.append(result[0]))
    found = dr.dynamic_rnn(cell, INPUTS, sequence_length=[3, 1])
    assert len(steps) == 3
    assert_close(found, wanted, 1e-6)


def test_a_subclass_that_changes_its_steps_is_run_by_them():
    class Doubling(dr.GRUCell):
        def forward(self, inputs, state=None):
            output, state = super().forward(inputs, state)
            return 2 * output, state

    torch.manual_seed(0)
    cell = Doubling(4, 3)
    plain = dr.GRUCell(4, 3)
    plain.load_state_dict(cell.state_dict())
    assert_close(dr.dynamic_rnn(cell, INPUTS)[0], 2 * dr.dynamic_rnn(plain, INPUTS)[0], 1e-6)


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: dr.LSTMCell(0), ValueError, "LSTMCell: hidden_size must be at least 1, got 0"),
        (lambda: dr.LSTMCell(2.5), TypeError, "LSTMCell: hidden_size must be an int"),
        (lambda: dr.LSTMCell(2, num_proj=0), ValueError, "LSTMCell: num_proj must be at least 1, got 0"),
        (lambda: dr.LSTMCell(2, cell_clip=math.nan), ValueError, "LSTMCell: cell_clip must be at least 0, got nan"),
        (lambda: dr.LSTMCell(2, forget_bias="1"), TypeError, "LSTMCell: forget_bias must be a number, got '1'"),
        (lambda: dr.GRUCell(2, activation=None), TypeError, "GRUCell: activation must be a function of a tensor"),
        (lambda: dr.BasicRNNCell(2, activation="tanh"), TypeError, "BasicRNNCell: activation .* got 'tanh'"),
        (lambda: dr.LayerNormLSTMCell(2, epsilon=-1.0), ValueError, "LayerNormLSTMCell: epsilon must be at least 0"),
        (lambda: dr.LSTMCell(2, 3.0), TypeError, "input_size must be an int or None"),
        (lambda: dr.LSTMCell(2, -1), ValueError, "input_size must be at least 0"),
        (lambda: dr.LayerNormLSTMCell(2, recurrent_dropout=1.5), ValueError, "recurrent_dropout must be within 0..1"),
        (lambda: dr.GRUCell(2, 3)(torch.zeros(2, 4, 3)), ValueError, r"inputs must have shape \[batch, input_size\]"),
        (lambda: dr.GRUCell(2, 3)(torch.zeros(2, 3), torch.zeros(3, 2)), ValueError, "GRUCell: state has shape"),
        (
            lambda: dr.GRUCell(2, 3)(torch.zeros(1, 3), torch.zeros(1, 2).long()),
            TypeError,
            "GRUCell: state is int64, expected float32",
        ),
        (lambda: dr.GRUCell(2, 3)([torch.zeros(2, 3)]), TypeError, "inputs must be one tensor for GRUCell, got list"),
    ],
)
def test_mistakes_are_named(make, error, message):
    with pytest.raises(error, match=message):
        make()


@pytest.mark.parametrize("kind", ["BasicRNNCell", "LSTMCell", "GRUCell", "LayerNormLSTMCell"])
def test_swapped_sizes_are_guessed(kind):
    cell = getattr(dr, kind)(3, 4)  # as torch's cells would have it
    with pytest.raises(ValueError) as caught:
        dr.dynamic_rnn(cell, torch.zeros(2, 5, 3))
    assert f"expected a last dimension of 4, the input_size of {kind}; its hidden_size would fit" in str(caught.value)
    assert f"make {kind}(4, 3)" in str(caught.value)
    with pytest.raises(ValueError, match=f"the input_size of {kind}$"):
        dr.dynamic_rnn(cell, torch.zeros(2, 5, 6))


@pytest.mark.parametrize("dtype", [torch.int64, torch.bool])
def test_a_state_of_integers_is_refused(dtype):
    cell, inputs, state = dr.GRUCell(4, 4), torch.ones(2, 3, 4), torch.zeros(2, 4, dtype=dtype)
    with pytest.raises(TypeError, match=r"dynamic_rnn: initial_state is .*, expected float32, as inputs"):
        dr.dynamic_rnn(cell, inputs, initial_state=state)
    with torch.autocast("cpu", torch.bfloat16), pytest.raises(TypeError, match="expected a floating point dtype"):
        dr.dynamic_rnn(cell, inputs, initial_state=state)


def test_a_subclass_may_count_in_a_state_of_its_own():
    class Counting(dr.GRUCell):
        @property
        def state_size(self):
            return (self.hidden_size, 1)

        def forward(self, inputs, state=None):
            output, new = super().forward(inputs, state[0])
            return output, (new, state[1] + 1)

    state = torch.zeros(2, 4), torch.zeros(2, 1, dtype=torch.int64)
    _, (_, count) = dr.dynamic_rnn(Counting(4, 4), torch.ones(2, 3, 4), sequence_length=[3, 1], initial_state=state)
    assert count.tolist() == [[3], [1]]


@pytest.mark.parametrize("training", [True, False])
def test_options_outside_training_follow_the_options(training):
    cell = dr.LayerNormLSTMCell(4, 3, recurrent_dropout=0.5).train(training)
    twin = copy.deepcopy(cell)
    for one in (cell, twin):
        assert one._options().dropout == (0.5 if training else 0.0)
        assert one._options() is one._options()
    cell.options = dataclasses.replace(cell.options, epsilon=0.5)
    assert cell._options().epsilon == 0.5 and twin._options().epsilon == 1e-12
