"""torch.compile and torch.export over the kernels: one graph for all batches, times and lengths."""

import io

import pytest
import torch
from torch.export import Dim

import dynrnn as dr
from dynrnn.kernels import missing

SIZE = 4
SHAPES = [  # batch, time, lengths
    (2, 9, [9, 0]),
    (3, 5, [0, 0, 0]),
    (1, 1, [1]),
    (1, 4, [2]),
    (4, 6, [1, 2, 3, 6]),
    (0, 3, []),
    (2, 0, [0, 0]),
]

pytestmark = [
    pytest.mark.skipif(missing() is not None, reason="without kernels the time axis is unrolled into the graph"),
    # Dynamo warns about torch's own deprecations while it is imported
    pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning"),
]


class OfModule(torch.nn.Module):
    def __init__(self, module):
        super().__init__()
        self.module = module

    def forward(self, inputs, lengths):
        return self.module(inputs, lengths=lengths)


class OfCell(torch.nn.Module):
    def __init__(self, cell, **options):
        super().__init__()
        self.cell = cell
        self.options = options

    def forward(self, inputs, lengths):
        return dr.dynamic_rnn(self.cell, inputs, sequence_length=lengths, **self.options)


def stack():
    layers = [dr.LSTMCell(4, 4, num_proj=4), dr.ResidualWrapper(dr.GRUCell(4, 4)), dr.BasicRNNCell(2, 4)]
    return dr.MultiRNNCell([*layers[:2], dr.DropoutWrapper(layers[2], input_dropout=0.5)]).eval()


NETS = {
    "lstm module": lambda: OfModule(dr.LSTM(SIZE, 3, num_layers=2, bidirectional=True, batch_first=True)),
    "projected module": lambda: OfModule(dr.LSTM(SIZE, 3, proj_size=2, batch_first=True)),
    "gru module": lambda: OfModule(dr.GRU(SIZE, 3, batch_first=True)),
    "rnn module": lambda: OfModule(dr.RNN(SIZE, 3, nonlinearity="relu", batch_first=True)),
    "lstm cell": lambda: OfCell(dr.LSTMCell(3, SIZE, use_peepholes=True, cell_clip=1.0), reverse=True),
    "gru cell": lambda: OfCell(dr.GRUCell(3, SIZE), return_states=True, return_gates=True),
    "stack of cells": lambda: OfCell(stack()),
}
EACH_NET = pytest.mark.parametrize("net", NETS)


def assert_agrees(run, net, shapes=SHAPES):
    for batch, time, lengths in shapes:
        inputs, lengths = torch.randn(batch, time, SIZE), torch.tensor(lengths, dtype=torch.int64)
        found, wanted = (torch.utils._pytree.tree_leaves(one(inputs, lengths)) for one in (run, net))
        torch.testing.assert_close(found, wanted, rtol=0, atol=1e-6)


@EACH_NET
@pytest.mark.parametrize("strict", [False, True])
def test_an_exported_program_is_right_for_other_batches_times_and_lengths(net, strict):
    net = NETS[net]()
    batch, time = Dim("batch"), Dim("time")
    example = torch.randn(3, 5, SIZE), torch.tensor([5, 0, 2])
    program = torch.export.export(net, example, dynamic_shapes=({0: batch, 1: time}, {0: batch}), strict=strict)
    assert_agrees(program.module(), net)


@EACH_NET
def test_an_exported_program_can_be_saved(net):
    net, saved = NETS[net](), io.BytesIO()
    batch, time = Dim("batch"), Dim("time")
    example = torch.randn(3, 5, SIZE), torch.tensor([5, 0, 2])
    torch.export.save(torch.export.export(net, example, dynamic_shapes=({0: batch, 1: time}, {0: batch})), saved)
    saved.seek(0)
    assert_agrees(torch.export.load(saved).module(), net)


@pytest.mark.parametrize("net", ["gru module", "lstm cell", "stack of cells"])
def test_one_compiled_graph_serves_all_lengths_and_sizes(net):
    torch._dynamo.reset()
    net, graphs = NETS[net](), []

    def backend(graph, example_inputs):
        graphs.append(graph)
        return graph.forward

    compiled = torch.compile(net, fullgraph=True, backend=backend, dynamic=True)
    assert_agrees(compiled, net, [shape for shape in SHAPES if min(shape[:2]) > 1])
    assert len(graphs) == 1


def test_compiled_code_serves_sizes_of_0_and_1_too():
    torch._dynamo.reset()
    net = NETS["gru module"]()
    assert_agrees(torch.compile(net, fullgraph=True, backend="eager"), net)


@pytest.mark.parametrize("net", ["lstm module", "gru cell"])
def test_compiled_code_trains(net):
    torch._dynamo.reset()
    net = NETS[net]().double()
    compiled = torch.compile(net, fullgraph=True, backend="aot_eager", dynamic=True)
    for batch, time, lengths in ((3, 5, [5, 0, 2]), (2, 9, [9, 0])):
        inputs = torch.randn(batch, time, SIZE, dtype=torch.float64, requires_grad=True)
        found = []
        for one in (compiled, net):
            results = torch.utils._pytree.tree_leaves(one(inputs, torch.tensor(lengths)))
            loss = sum(value.square().sum() for value in results)
            found.append(torch.autograd.grad(loss, [inputs, *net.parameters()]))
        torch.testing.assert_close(found[0], found[1], rtol=0, atol=1e-12)


def whole_lstm(inputs):
    return WHOLE(inputs, (torch.ones(2, 3, 5), torch.ones(2, 3, 5)), lengths=[5, 0, 2], padding_value=2.0)


def cell_with_state(inputs):
    return dr.dynamic_rnn(CELL, inputs, initial_state=dr.LSTMState(torch.ones(3, 5), torch.ones(3, 5)))


def cell_while_frozen(inputs):
    with torch.no_grad():
        return dr.dynamic_rnn(CELL, inputs, sequence_length=torch.tensor([1, 5, 0]))


def cell_by_reference(inputs):
    return dr.dynamic_rnn(CELL, inputs, sequence_length=torch.tensor([1, 5, 0]), implementation="reference")


WHOLE, CELL = dr.LSTM(SIZE, 5, num_layers=2, batch_first=True), dr.LSTMCell(5, SIZE)


@pytest.mark.parametrize("run", [whole_lstm, cell_with_state, cell_while_frozen, cell_by_reference])
def test_no_argument_breaks_the_graph(run):
    torch._dynamo.reset()
    inputs = torch.randn(3, 5, SIZE)
    with dr.frozen(CELL), torch.no_grad():
        compiled = torch.compile(run, fullgraph=True, backend="eager", dynamic=True)
        found, wanted = (torch.utils._pytree.tree_leaves(one(inputs)) for one in (compiled, run))
    torch.testing.assert_close(found, wanted, rtol=0, atol=2e-6)
