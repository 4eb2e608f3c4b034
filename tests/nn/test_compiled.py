"""torch.compile over a user's cell: one code serves all steps, times and lengths, and gives the numbers of the cell."""

import pytest
import torch
from nn.cell_kinds import NestedCell, assert_close, inputs_of, leaves_of, loss_of, make, state_of
from torch import nn

import dynrnn as dr
from dynrnn import _nest
from dynrnn.nn.compiled import is_compiled, uncompiled

# Dynamo warns about torch's own deprecations while it is imported, and hides the other one where warnings are no errors
pytestmark = pytest.mark.filterwarnings(
    "ignore::DeprecationWarning", "ignore::FutureWarning", "ignore:The .grad attribute of a Tensor:UserWarning"
)

LENGTHS = [3, 0, 5, 1]


class Count:
    """A backend that counts what it is given to compile, and hands it on."""

    def __init__(self, backend):
        self.graphs = 0
        self._compile = torch._dynamo.lookup_backend(backend)

    def __call__(self, graph, example_inputs):
        self.graphs += 1
        return self._compile(graph, example_inputs)


@pytest.fixture
def count():
    torch._dynamo.reset()
    yield Count("aot_eager")
    torch._dynamo.reset()


class GRULike(nn.Module):
    """A user's cell, six lines of it."""

    def __init__(self, input_size, units):
        super().__init__()
        self.gates, self.candidate = nn.Linear(input_size + units, 2 * units), nn.Linear(input_size + units, units)
        self.state_size = units

    def forward(self, inputs, state):
        reset, update = torch.sigmoid(self.gates(torch.cat((inputs, state), 1))).chunk(2, 1)
        candidate = torch.tanh(self.candidate(torch.cat((inputs, reset * state), 1)))
        new = torch.lerp(candidate, state, update)
        return new, new


def test_code_of_the_default_backend_serves_all_times_and_lengths():
    torch._dynamo.reset()
    torch.manual_seed(0)
    cell, counting = GRULike(3, 5), Count("inductor")
    compiled = torch.compile(cell, backend=counting)
    for time, lengths in ((4, None), (4, [4, 0, 2]), (7, [1, 1, 6]), (1, None), (5, [5, 5, 5])):
        inputs = torch.randn(3, time, 3)
        with torch.no_grad():
            wanted = dr.dynamic_rnn(cell, inputs, sequence_length=lengths)
            found = dr.dynamic_rnn(compiled, inputs, sequence_length=lengths)
            assert_close(found, wanted, 1e-6)
        outputs, state = dr.dynamic_rnn(cell, inputs, sequence_length=lengths)
        wanted = torch.autograd.grad(loss_of(outputs, state), list(cell.parameters()))
        outputs, state = dr.dynamic_rnn(compiled, inputs, sequence_length=lengths)
        found = torch.autograd.grad(loss_of(outputs, state), list(cell.parameters()))
        assert_close(list(found), list(wanted), 1e-5)  # the backend adds in another order, and so does backward
    assert counting.graphs == 2  # with gradients and without


@pytest.mark.parametrize(
    ("keywords", "graphs"),
    [
        ({}, 1),
        ({"reverse": True}, 1),
        ({"time_major": True}, 1),
        ({"return_states": True}, 1),
        ({"resets": torch.rand(4, 6, generator=torch.Generator().manual_seed(0)) < 0.3}, 1),
        ({"checkpoint_every": 2}, 2),  # steps are run without gradients first
    ],
    ids=str,
)
@pytest.mark.parametrize("name", ["nested", "product"])
def test_every_argument_works(count, name, keywords, graphs):
    cell = make(name)
    compiled = torch.compile(cell, backend=count, fullgraph=True)
    inputs, state = inputs_of(4, 6), state_of(cell, 4)
    given = inputs.transpose(0, 1) if keywords.get("time_major") else inputs
    results = []
    for one in (cell, compiled):
        found = dr.dynamic_rnn(one, given, sequence_length=LENGTHS, initial_state=state, **keywords)
        results.append((found, list(torch.autograd.grad(loss_of(*found[:2]), leaves_of(cell, inputs, state)))))
    assert_close(results[1], results[0], 1e-12)
    assert count.graphs == graphs


def test_the_first_step_needs_no_code_of_its_own(count):
    cell = NestedCell()
    compiled = torch.compile(cell, backend=count)
    inputs = inputs_of(1, 6).detach()  # a batch of one, whose strides could be anything
    for state in (None, _nest.map_structure(lambda value: value.detach().t().contiguous().t(), state_of(cell, 1))):
        outputs, _ = dr.dynamic_rnn(compiled, inputs, initial_state=state)
        assert outputs[0].requires_grad
    assert count.graphs == 1


def test_sizes_and_zero_states_are_found_through_the_compiled_module(count):
    class Cell(GRULike):
        def zero_state(self, batch_size):
            return torch.full((batch_size, 5), 0.5)

    compiled = torch.compile(Cell(3, 5), backend=count)
    _, state = dr.dynamic_rnn(compiled, torch.zeros(2, 4, 3), sequence_length=[4, 0])
    assert compiled.state_size == 5 and torch.equal(state[1], torch.full((5,), 0.5))
    layers = dr.MultiRNNCell([compiled, dr.LSTMCell(4)])
    assert layers.state_size == (5, dr.LSTMState(4, 4))
    assert dr.dynamic_rnn(layers, torch.zeros(2, 4, 3))[0].shape == (2, 4, 4)
    stream = dr.Stream(compiled)
    assert stream(torch.zeros(2, 4, 3)).shape == (2, 4, 5)
    with pytest.raises(ValueError, match="because GRULike has neither zero_state nor state_size"):
        cell = GRULike(3, 5)
        del cell.state_size
        dr.dynamic_rnn(torch.compile(cell, backend=count), torch.zeros(2, 4, 3))


def test_a_compiled_function_is_a_cell(count):
    kernel = torch.randn(3, 3, dtype=torch.float64, requires_grad=True)

    def step(inputs, state):
        new = torch.tanh(inputs @ kernel + state["h"])
        return new, {"h": new, "count": state["count"] + 1}

    state = {"h": torch.zeros(4, 3).double(), "count": torch.zeros(4).long()}
    inputs = inputs_of(4, 6)
    wanted = dr.dynamic_rnn(step, inputs, sequence_length=LENGTHS, initial_state=state)
    compiled = torch.compile(step, backend=count)
    for _ in range(2):
        found = dr.dynamic_rnn(compiled, inputs, sequence_length=LENGTHS, initial_state=state)
        assert_close(found, wanted)
    assert found[1]["count"].tolist() == LENGTHS
    assert count.graphs == 1


def test_a_compiled_recur_keeps_the_product_apart(count):
    cell = make("product")
    inputs = inputs_of(4, 6)
    wanted = dr.dynamic_rnn(cell, inputs, sequence_length=LENGTHS)
    rows = []
    cell.inward.register_forward_hook(lambda module, args, output: rows.append(len(args[0])))
    cell.recur = torch.compile(cell.recur, backend=count)
    for lengths in (LENGTHS, [1, 2, 3, 4]):
        found = dr.dynamic_rnn(cell, inputs, sequence_length=lengths)
        wanted = found if lengths != LENGTHS else wanted
        assert_close(found, wanted)
    assert rows == [9, 10] and count.graphs == 1


def test_a_module_compiled_in_place_runs_its_code(count):
    cell = make("product")
    wanted = dr.dynamic_rnn(cell, inputs_of(2, 3))
    cell.compile(backend=count)
    assert_close(dr.dynamic_rnn(cell, inputs_of(2, 3)), wanted)
    assert count.graphs == 1


def test_cells_of_ours_run_over_whole_sequences_compiled_or_not(count):
    kinds = (dr.LSTMCell(4, 3), dr.MultiRNNCell([torch.compile(dr.GRUCell(4, 3), backend=count), dr.GRUCell(2, 4)]))
    for cell in kinds:
        inputs = torch.randn(2, 3, 3)
        wanted = dr.dynamic_rnn(cell, inputs)
        found = dr.dynamic_rnn(torch.compile(cell, backend=count), inputs)
        assert _nest.map_structure(torch.equal, found, wanted) and count.graphs == 0
    with pytest.raises(TypeError, match="inputs are int64; embed or cast them"):
        dr.dynamic_rnn(torch.compile(dr.LSTMCell(4, 3)), torch.zeros(2, 3, 3).long())
    layers = dr.MultiRNNCell([GRULike(3, 5), GRULike(5, 4)])  # here, code of the whole step gains something
    dr.dynamic_rnn(torch.compile(layers, backend=count), torch.randn(2, 3, 3))
    assert count.graphs == 1


@pytest.mark.parametrize("module", [nn.LSTMCell(3, 3), nn.LSTM(3, 3)], ids=["cell", "module"])
def test_what_is_no_cell_is_refused_compiled_too(module):
    with pytest.raises(TypeError, match=r"use dynrnn\.LSTMCell|such as dynrnn\.LSTMCell"):
        dr.dynamic_rnn(torch.compile(module), torch.ones(2, 4, 3))


def test_vmap_over_rows_and_lengths_is_the_batch(count):
    cell, inputs = make("product"), inputs_of(4, 6)
    wanted = dr.dynamic_rnn(cell, inputs, sequence_length=LENGTHS)
    compiled = torch.compile(cell, backend=count)

    def one(row, length):
        found = dr.dynamic_rnn(compiled, row[None], sequence_length=length[None])
        return _nest.map_structure(lambda value: value[0], found)

    assert_close(torch.func.vmap(one)(inputs, torch.tensor(LENGTHS)), wanted)


def test_what_is_compiled_is_known():
    module = nn.Linear(2, 2)
    compiled = torch.compile(module)
    assert is_compiled(compiled) and uncompiled(compiled) is module and uncompiled(len) is len
    assert is_compiled(torch.compile(lambda value: value)) and not is_compiled(len) and not is_compiled(module)
    module.compile()
    assert is_compiled(module)
