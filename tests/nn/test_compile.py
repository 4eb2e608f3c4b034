"""torch.compile over the torch-like modules: one graph, whatever the lengths hold. Which backend runs it is torch's."""

import pytest
import torch
from nn.cell_kinds import assert_close, inputs_of
from nn.cell_kinds import make as make_cell
from nn.module_cases import INPUT, close, gradients, make, states

import dynrnn

# Dynamo warns about torch's own deprecations while it is imported
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")


@pytest.mark.parametrize("name", ["lstm-projected", "gru", "rnn"])
def test_one_graph_serves_all_lengths_forward_and_backward(name):
    torch._dynamo.reset()
    module, _ = make(name, num_layers=2, bidirectional=True, batch_first=True)
    graphs = []

    def backend(graph, example_inputs):
        graphs.append(graph)
        return graph.forward

    compiled = torch.compile(module, fullgraph=True, backend=backend)
    inputs = torch.randn(3, 4, INPUT, dtype=torch.float64, requires_grad=True)
    for lengths in (torch.tensor([4, 0, 2]), torch.tensor([1, 1, 4]), torch.tensor([0, 0, 0])):
        output, final = compiled(inputs, lengths=lengths)
        expected, expected_final = module(inputs, lengths=lengths)
        close((output, *states(final)), (expected, *states(expected_final)))
        leaves = [inputs, *module.parameters()]
        close(gradients((output,), leaves), gradients((expected,), leaves))
    assert len(graphs) == 1


def test_without_lengths_there_is_one_graph_too():
    torch._dynamo.reset()
    module, theirs = make("lstm")
    inputs = torch.randn(4, 2, INPUT, dtype=torch.float64)
    close(torch.compile(module, fullgraph=True, backend="eager")(inputs)[0], theirs(inputs)[0])


@pytest.mark.parametrize("name", ["lstm", "layer_norm"])
@pytest.mark.parametrize("implementation", ["auto", "reference"])
def test_states_and_gates_come_out_of_one_graph(name, implementation):
    torch._dynamo.reset()
    cell, inputs, lengths = make_cell(name), inputs_of(3, 4), torch.tensor([4, 0, 2])

    def run(inputs, lengths):
        how = {"return_states": True, "return_gates": True, "implementation": implementation}
        return dynrnn.dynamic_rnn(cell, inputs, sequence_length=lengths, **how)

    assert_close(torch.compile(run, fullgraph=True, backend="eager")(inputs, lengths), run(inputs, lengths))
