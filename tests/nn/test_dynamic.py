"""dynamic_rnn's arguments: what each does, and what is refused before anything is computed."""

import re

import numpy as np
import pytest
import torch
from nn.cell_kinds import assert_close, assert_same_bits, inputs_of, make, running_sum, state_of

import dynrnn as dr
from dynrnn import _nest

LENGTHS = [3, 0, 5, 1]


def refused(error, message, cell, inputs, **arguments):
    with pytest.raises(error, match=re.escape(message)):
        dr.dynamic_rnn(cell, inputs, **arguments)


@pytest.mark.parametrize("name", ["lstm", "nested", "multi-mixed"])
@pytest.mark.parametrize("lengths", [None, LENGTHS])
def test_time_major_changes_the_layout_and_no_bit(name, lengths):
    cell, inputs, state = make(name), inputs_of(4, 6), state_of(make(name), 4)
    keep = {"sequence_length": lengths, "initial_state": state, "return_states": True}
    wanted = dr.dynamic_rnn(cell, inputs, **keep)
    found = dr.dynamic_rnn(cell, inputs.transpose(0, 1), time_major=True, **keep)
    turn = lambda nest: _nest.map_structure(lambda value: value.transpose(0, 1), nest)  # noqa: E731
    assert_same_bits((turn(found[0]), found[1], turn(found[2])), wanted)


def test_resets_come_in_the_layout_of_the_inputs():
    cell, inputs = make("gru"), inputs_of(2, 4)
    resets = torch.zeros(2, 4, dtype=torch.bool)
    resets[1, 2] = True
    wanted = dr.dynamic_rnn(cell, inputs, resets=resets)
    found = dr.dynamic_rnn(cell, inputs.transpose(0, 1), resets=resets.t(), time_major=True)
    assert torch.equal(found[0].transpose(0, 1), wanted[0])
    refused(ValueError, "resets must have shape [time, batch] = [4, 2], got [2, 4]", cell,
            inputs.transpose(0, 1), resets=resets, time_major=True)  # fmt: skip
    refused(TypeError, "resets must be bool, got float32", cell, inputs, resets=torch.zeros(2, 4))
    refused(ValueError, "reset_state has no effect without resets", cell, inputs, reset_state=torch.zeros(2, 4))
    refused(TypeError, "dynamic_rnn: resets must be a list, an array or a tensor of bools, got 'a'", cell, inputs,
            resets="a")  # fmt: skip
    refused(TypeError, "dynamic_rnn: resets must be a list, an array or a tensor of bools, got object", cell, inputs,
            resets=object())  # fmt: skip
    outputs, _ = dr.dynamic_rnn(cell, inputs[:, :0], resets=[[], []])
    assert outputs.shape == (2, 0, 4)


def test_messages_name_the_function_and_the_argument():
    cell, inputs = make("lstm"), inputs_of(2, 4)
    refused(ValueError, "dynamic_rnn: initial_state.h has shape [3, 4], expected [2, 4]", cell, inputs,
            initial_state=(torch.zeros(2, 4).double(), torch.zeros(3, 4).double()))  # fmt: skip
    refused(ValueError, "dynamic_rnn: reset_state.c has shape [1, 4]", cell, inputs,
            resets=torch.zeros(2, 4, dtype=torch.bool), reset_state=(torch.zeros(1, 4).double(),) * 2)  # fmt: skip


@pytest.mark.parametrize("iterations", [1, 2, 100])
def test_parallel_iterations_changes_no_number(iterations):
    cell, inputs = make("lstm"), inputs_of(4, 6)
    wanted = dr.dynamic_rnn(cell, inputs, sequence_length=LENGTHS)
    found = dr.dynamic_rnn(cell, inputs, sequence_length=LENGTHS, parallel_iterations=iterations)
    assert_close(found, wanted)


def test_swap_memory_changes_no_bit():
    cell, inputs = make("lstm"), inputs_of(4, 6)
    assert_same_bits(dr.dynamic_rnn(cell, inputs, swap_memory=True), dr.dynamic_rnn(cell, inputs))


@pytest.mark.parametrize("argument", ["parallel_iterations", "checkpoint_every"])
@pytest.mark.parametrize(("value", "error"), [(0, ValueError), (-1, ValueError), (1.5, TypeError), (True, TypeError)])
def test_counts_are_positive_ints(argument, value, error):
    refused(error, f"dynamic_rnn: {argument} must be", make("gru"), inputs_of(2, 3), **{argument: value})


FLAGS = ["time_major", "reverse", "swap_memory", "return_states", "return_gates"]


@pytest.mark.parametrize("name", ["gru", "nested"])
@pytest.mark.parametrize("flag", FLAGS)
@pytest.mark.parametrize("implementation", ["auto", "reference"])
@pytest.mark.parametrize("value", [1, 0, None, "no", np.int64(1), torch.tensor(True)], ids=repr)
def test_flags_are_bools_whichever_way_is_taken(name, flag, implementation, value):
    if name == "nested" and flag == "return_gates":
        return  # it has none
    refused(TypeError, f"dynamic_rnn: {flag} must be a bool, got {value!r}", make(name), inputs_of(3, 3),
            implementation=implementation, **{flag: value})  # fmt: skip


@pytest.mark.parametrize("flag", FLAGS)
@pytest.mark.parametrize("implementation", ["auto", "reference"])
def test_flags_may_be_bools_of_numpy(flag, implementation):
    cell, inputs = make("gru"), inputs_of(3, 4)
    for value in (True, False):
        wanted = dr.dynamic_rnn(cell, inputs, implementation=implementation, **{flag: value})
        found = dr.dynamic_rnn(cell, inputs, implementation=implementation, **{flag: np.bool_(value)})
        assert_same_bits(found, wanted)


def test_on_step_is_a_function():
    refused(TypeError, "dynamic_rnn: on_step must be a function (t, output, state, mask), got int", make("gru"),
            inputs_of(2, 3), on_step=3)  # fmt: skip


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("name", ["gru", "nested"])
def test_on_step_is_told_every_step_in_the_order_of_the_walk(name, reverse):
    cell, inputs, state, steps = make(name), inputs_of(4, 6), state_of(make(name), 4), []
    result = dr.dynamic_rnn(
        cell, inputs, sequence_length=LENGTHS, initial_state=state, reverse=reverse,
        on_step=lambda t, output, state, mask: steps.append((t, output, state, mask)),
    )  # fmt: skip
    assert len(result) == 2
    assert [step[0] for step in steps] == ([4, 3, 2, 1, 0] if reverse else [0, 1, 2, 3, 4])
    assert_same_bits(steps[-1][2], result[1])
    t, output, _, mask = steps[1]
    assert_same_bits(output, _nest.map_structure(lambda value: value[:, t], result[0]))
    assert mask.tolist() == [t < length for length in LENGTHS]


def test_a_user_cell_is_called_up_to_the_longest_row_and_never_sees_padding():
    seen = []

    def cell(inputs, state):
        seen.append(inputs)
        return inputs, state

    inputs = inputs_of(4, 6).detach().clone()
    for row, length in enumerate(LENGTHS):
        inputs[row, length:] = float("nan")
    dr.dynamic_rnn(cell, inputs, sequence_length=LENGTHS, initial_state=torch.zeros(4, 1))
    assert len(seen) == 5
    assert torch.equal(seen[4][0], inputs[0, 2]) and torch.equal(seen[4][1], inputs[2, 4])


def test_where_no_step_runs_a_user_cell_is_asked_once_what_it_returns():
    calls = []

    def cell(inputs, state):
        calls.append(inputs)
        return {"a": inputs[:, :2], "b": inputs[:, 0].long()}, state

    outputs, _ = dr.dynamic_rnn(cell, torch.ones(2, 3, 4), sequence_length=[0, 0], initial_state=torch.zeros(2))
    assert outputs["a"].shape == (2, 3, 2) and outputs["b"].dtype == torch.int64 and len(calls) == 1
    assert not calls[0].any()


@pytest.mark.parametrize(
    ("cell", "error", "message"),
    [
        (lambda inputs, state: inputs, TypeError, "must return (output, state), got Tensor"),
        (lambda inputs, state: (inputs, state, state), TypeError, "must return (output, state), got a tuple of 3"),
        (lambda inputs, state: (inputs, (state, state)), ValueError, "nested as before"),
        (lambda inputs, state: (inputs, state[:, :1]), ValueError, "state[0] [2, 3]"),
        (lambda inputs, state: (inputs[:1], state), ValueError, "outputs[0]"),
    ],
)  # fmt: skip
def test_a_user_cell_that_returns_something_else_is_told(cell, error, message):
    refused(error, message, cell, torch.ones(2, 4, 3), initial_state=torch.zeros(2, 3))


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        (
            torch.nn.LSTMCell(3, 3),
            "torch.nn.LSTMCell, which returns a state and no (output, state); use dynrnn.LSTMCell",
        ),
        (
            torch.nn.LSTMCell(3, 4),
            "use dynrnn.LSTMCell(hidden_size=4, input_size=3, forget_bias=0.0), whose state is (c, h)",
        ),
        (torch.nn.GRUCell(3, 4), "use dynrnn.GRUCell(hidden_size=4, input_size=3, reset_after=True)"),
        (
            torch.nn.RNNCell(3, 4, nonlinearity="relu"),
            "use dynrnn.BasicRNNCell(hidden_size=4, input_size=3, activation=torch.relu)",
        ),
        (torch.nn.LSTM(3, 3), "cell is a whole LSTM module"),
        (dr.LSTMCell, "got the class LSTMCell"),
        (None, "got NoneType"),
    ],
)
def test_what_is_no_cell_is_refused(cell, message):
    refused(TypeError, message, cell, torch.ones(2, 4, 3))


def test_a_cell_that_knows_no_state_needs_one():
    refused(ValueError, "initial_state must be given, because running_sum has neither zero_state nor state_size",
            running_sum, torch.ones(2, 4, 3))  # fmt: skip


def test_a_state_of_a_function_may_have_any_dtype_and_shape():
    def count(inputs, state):
        number, grid = state["number"], state["grid"]
        return grid.sum((1, 2)), {"number": number + 1, "grid": grid + inputs.sum(1).view(-1, 1, 1)}

    state = {"number": torch.zeros(2, dtype=torch.int16), "grid": torch.zeros(2, 2, 2)}
    _, final, states = dr.dynamic_rnn(
        count, torch.ones(2, 4, 3), sequence_length=[4, 2], initial_state=state, return_states=True
    )
    assert final["number"].tolist() == [4, 2] and states["number"].tolist() == [[1, 2, 3, 4], [1, 2, 2, 2]]


def test_a_count_of_rank_0_has_no_state_per_row():
    def cell(inputs, state):
        return inputs, state + 1

    inputs = torch.ones(2, 4, 3)
    assert dr.dynamic_rnn(cell, inputs, sequence_length=[4, 2], initial_state=torch.tensor(0))[1] == 4
    refused(ValueError, "has a tensor of rank 0", cell, inputs, initial_state=torch.tensor(0), return_states=True)
    refused(ValueError, "a state of rank 0 belongs to no row", cell, inputs, initial_state=torch.tensor(0),
            reset_state=torch.tensor(0), resets=torch.zeros(2, 4, dtype=torch.bool))  # fmt: skip


def test_inputs_of_several_tensors_must_agree():
    cell = lambda inputs, state: (inputs[0], state)  # noqa: E731
    refused(ValueError, "inputs must all have the same [batch, time, ...], got the shapes [[2, 4, 3], [2, 5, 3]]",
            cell, (torch.ones(2, 4, 3), torch.ones(2, 5, 3)), initial_state=torch.zeros(2))  # fmt: skip
    refused(ValueError, "inputs must have shape [batch, time, ...], got [2]", cell, torch.ones(2))
    refused(ValueError, "inputs must hold at least one tensor, got an empty tuple", cell, ())


def test_lengths_that_fit_the_time_axis_ask_for_the_layout():
    refused(ValueError, "it fits the inputs' time axis: is time_major right?", make("gru"), inputs_of(2, 4),
            sequence_length=[1, 2, 2, 1])  # fmt: skip


def test_nothing_is_computed_before_a_mistake_is_found():
    def cell(inputs, state):
        raise AssertionError("must not be called")

    refused(ValueError, "sequence_length[1]=9 exceeds max_time=4", cell, torch.ones(2, 4, 3), sequence_length=[4, 9])


@pytest.mark.parametrize("name", ["lstm", "multi", "residual", "residual-fn", "zoneout", "nested"])
@pytest.mark.parametrize("reverse", [False, True])
def test_vmap_over_rows_and_their_lengths_is_the_batch(name, reverse):
    cell, inputs, lengths = make(name), inputs_of(4, 6), torch.tensor(LENGTHS)
    wanted = dr.dynamic_rnn(cell, inputs, sequence_length=lengths, reverse=reverse)

    def one(row, length):
        found = dr.dynamic_rnn(cell, row[None], sequence_length=length[None], reverse=reverse)
        return _nest.map_structure(lambda value: value[0], found)

    assert_close(torch.func.vmap(one)(inputs, lengths), wanted)


@pytest.mark.parametrize("name", ["lstm", "layer_norm", "multi", "nested", "product", "multi-mixed"])
@pytest.mark.parametrize("implementation", ["auto", "reference"])
@pytest.mark.parametrize("reverse", [False, True])
def test_mapped_lengths_leave_states_and_gates_to_be_returned(name, implementation, reverse):
    cell, inputs, lengths = make(name), inputs_of(4, 6), torch.tensor(LENGTHS)
    how = {"return_states": True, "return_gates": name in ("lstm", "layer_norm")}
    how |= {"implementation": implementation, "reverse": reverse}
    wanted = dr.dynamic_rnn(cell, inputs, sequence_length=lengths, **how)

    def one(row, length):
        found = dr.dynamic_rnn(cell, row[None], sequence_length=length[None], **how)
        return _nest.map_structure(lambda value: value[0], found)

    assert_close(torch.func.vmap(one)(inputs, lengths), wanted)


@pytest.mark.parametrize("name", ["lstm", "layer_norm", "nested", "product"])
def test_what_transforms_do_not_let_be_done_is_refused_in_words(name):
    cell, inputs, resets = make(name), inputs_of(4, 6), torch.zeros(1, 6, dtype=torch.bool)

    def run(**how):
        one = lambda row, length: dr.dynamic_rnn(cell, row[None], sequence_length=length[None], **how)[0]  # noqa: E731
        return torch.func.vmap(one)(inputs, torch.tensor(LENGTHS))

    with pytest.raises(ValueError, match="dynamic_rnn: resets is not available where"):
        run(resets=resets)
    with pytest.raises(ValueError, match="dynamic_rnn: checkpoint_every is not available in compiled code and inside"):
        run(checkpoint_every=2)
    with torch.no_grad():
        run(checkpoint_every=2)  # there is nothing to keep
    with pytest.raises(TypeError, match="dynamic_rnn: resets must have values that can be read"):
        torch.func.vmap(lambda cuts: dr.dynamic_rnn(cell, inputs[:1], resets=cuts[None])[0])(resets.expand(2, -1))


@pytest.mark.filterwarnings("ignore:.torch.jit.script. is deprecated:DeprecationWarning")  # torch's own forward mode
@pytest.mark.parametrize("name", ["lstm", "gru", "multi"])
def test_per_sample_gradients_and_forward_derivatives_are_those_of_backward(name):
    cell, inputs, lengths = make(name), inputs_of(3, 4), torch.tensor([4, 0, 2])
    params = dict(cell.named_parameters())

    def loss(values, row, length):
        outputs = torch.func.functional_call(
            _Loop(cell), {f"cell.{key}": value for key, value in values.items()}, (row[None], length[None])
        )
        return outputs.square().sum()

    found = torch.func.vmap(torch.func.grad(loss), (None, 0, 0))(params, inputs, lengths)
    for row in range(3):
        one = dr.dynamic_rnn(cell, inputs[row : row + 1], sequence_length=lengths[row : row + 1])[0].square().sum()
        grads = torch.autograd.grad(one, list(params.values()))
        assert_close([value[row] for value in found.values()], list(grads), 1e-11)
    loop = lambda value: dr.dynamic_rnn(cell, value, sequence_length=lengths)[0]  # noqa: E731
    forward, backward = torch.func.jacfwd(loop)(inputs), torch.func.jacrev(loop)(inputs)
    torch.testing.assert_close(forward, backward, rtol=0, atol=1e-11)


class _Loop(torch.nn.Module):
    def __init__(self, cell):
        super().__init__()
        self.cell = cell

    def forward(self, inputs, lengths):
        return dr.dynamic_rnn(self.cell, inputs, sequence_length=lengths)[0]


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs an accelerator")
@pytest.mark.parametrize("name", ["lstm", "multi", "nested"])
def test_an_accelerator_gives_the_same_numbers_with_lengths_anywhere_and_swapped_memory(name):
    cell, inputs = make(name), inputs_of(4, 6)
    wanted = dr.dynamic_rnn(cell, inputs, sequence_length=LENGTHS)
    cell.to("cuda")
    for lengths in (LENGTHS, torch.tensor(LENGTHS), torch.tensor(LENGTHS, device="cuda")):
        found = dr.dynamic_rnn(cell, inputs.to("cuda"), sequence_length=lengths, swap_memory=True)
        assert_close(_nest.map_structure(lambda value: value.cpu(), found), wanted, 1e-10)


def test_a_user_cell_computed_again_keeps_little_and_finds_what_it_captured():
    memory = torch.randn(2, 3, dtype=torch.float64, requires_grad=True)
    made, cell = memory * 2, make("gru")

    def attending(source):
        def step(inputs, state):
            output, state = cell(inputs + source, state)
            return output, state

        return step

    inputs, kept = inputs_of(2, 400), []
    for source in (memory, made):
        grads = []
        for every in (None, 20):
            count = 0

            def add(value):
                nonlocal count
                count += value.numel()
                return value

            with torch.autograd.graph.saved_tensors_hooks(add, lambda value: value):
                outputs, _ = dr.dynamic_rnn(
                    attending(source), inputs, initial_state=torch.zeros(2, 4).double(), checkpoint_every=every
                )
            kept.append(count)
            leaves = [inputs, memory, *cell.parameters()]
            grads.append(torch.autograd.grad(outputs.square().sum(), leaves, retain_graph=True))
        assert_close(list(grads[1]), list(grads[0]), 1e-10)
    assert kept[1] < kept[0] / 5


def test_a_parameter_that_only_a_later_step_uses_is_no_silent_loss():
    late = torch.ones(3, dtype=torch.float64, requires_grad=True)

    def cell(inputs, state):
        count = state + 1
        return (inputs * late if count.max() > 2 else inputs), count

    outputs, _ = dr.dynamic_rnn(cell, inputs_of(2, 6), initial_state=torch.zeros(2), checkpoint_every=2)
    with pytest.raises(RuntimeError, match="checkpoint_every: a step takes gradients for a tensor"):
        outputs.sum().backward()


def test_a_state_of_unknown_sizes_needs_a_row_for_each_of_the_batch():
    def cell(inputs, state):
        return inputs, state

    inputs, right = torch.ones(2, 4, 3), torch.zeros(2, 5)
    refused(ValueError, "dynamic_rnn: initial_state['b'][1] has shape [4, 5], expected [2, ...], a row for each of the "
            "batch; inputs have batch = 2 and time = 4: if they are time-major, pass time_major=True", cell, inputs,
            sequence_length=[4, 1], initial_state={"b": [right, torch.zeros(4, 5)], "a": torch.tensor(0)})  # fmt: skip
    refused(ValueError, "dynamic_rnn: reset_state has shape [3, 5], expected [2, ...]", cell, inputs,
            initial_state=right, reset_state=torch.zeros(3, 5), resets=torch.zeros(2, 4, dtype=torch.bool))  # fmt: skip
    free = torch.zeros(7)  # without lengths nothing is known of it
    assert dr.dynamic_rnn(cell, inputs, initial_state=free)[1].shape == (7,)


def test_a_structure_that_changes_is_told_by_place_and_kind():
    calls = []

    def cell(inputs, state):
        calls.append(state)
        return inputs, (state[0], [state[1]] if len(calls) > 1 else state[1])

    state = torch.zeros(2, 100), torch.zeros(2, 3)
    with pytest.raises(ValueError) as caught:
        dr.dynamic_rnn(cell, torch.ones(2, 4, 3), initial_state=state)
    assert str(caught.value) == (
        "cell must return a state nested as before: state[1] is a list of 1, expected one tensor [2, 3]"
    )


@pytest.mark.parametrize(
    "name", ["sequence", "parts", "check_inputs", "fitting_state", "why_by_steps", "prepared_step", "given_or_zero"]
)
def test_any_name_of_a_method_is_free_in_a_cell_of_yours(name):
    class Mine(dr.RNNCell):
        state_size = output_size = 3

        def forward(self, inputs, state=None):
            return inputs + state, state + 1

    def refuse(self, *arguments):
        raise AssertionError("must not be called")

    setattr(Mine, name, refuse)
    cell, inputs = Mine(), torch.ones(2, 4, 3)
    state = torch.zeros(2, 3)
    for one in (cell, dr.ResidualWrapper(cell), dr.DropoutWrapper(cell, state_dropout=0.1), dr.ZoneoutWrapper(cell)):
        outputs, _ = dr.dynamic_rnn(one, inputs, sequence_length=[4, 2], initial_state=state)
        assert outputs.shape == (2, 4, 3)
    dr.dynamic_rnn(dr.MultiRNNCell([cell, dr.GRUCell(2)]), inputs)
    assert "a cell of your own" in dr.explain_dispatch(cell, inputs)
