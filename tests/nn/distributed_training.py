"""Trains small models on rows of different lengths: in one process, or as a program that torchrun starts in several.

As a program it takes the name of the file into which the first process saves what every run of `RUNS` left behind.
"""

import os
import sys

import torch
import torch.distributed as dist
from nn.cell_kinds import NestedCell, ProductCell
from torch import nn
from torch.nn.parallel import DistributedDataParallel

import dynrnn

# One list a step of training. With two processes, each has the rows of every other place: first both have rows that
# end at different times and one that is empty, then one process has empty rows only, then the other has.
LENGTHS = [[7, 1, 3, 0, 0, 5], [6, 0, 1, 0, 2, 0], [4, 4, 4, 4, 4, 4], [0, 4, 0, 6, 0, 1], [7, 7, 7, 7, 7, 7]]
TIME, SIZE = 7, 3


class OverModule(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = dynrnn.LSTM(SIZE, 4, num_layers=2, bidirectional=True, batch_first=True)
        self.head = nn.Linear(8, 1)

    def forward(self, inputs, lengths):
        return self.head(self.layers(inputs, lengths=lengths)[0])


class OverCell(nn.Module):
    def __init__(self, cell, width, **keywords):
        super().__init__()
        self.cell, self.head, self.keywords = cell, nn.Linear(width, 1), keywords

    def forward(self, inputs, lengths):
        outputs, _ = dynrnn.dynamic_rnn(self.cell, inputs, sequence_length=lengths, **self.keywords)
        return self.head(outputs[0] if isinstance(outputs, tuple) else outputs)


MODELS = {
    "module": OverModule,
    "gru": lambda: OverCell(dynrnn.GRUCell(4, SIZE), 4),
    "gru-reference": lambda: OverCell(dynrnn.GRUCell(4, SIZE), 4, implementation="reference"),
    "gru-checkpointed": lambda: OverCell(dynrnn.GRUCell(4, SIZE), 4, checkpoint_every=2),
    "own": lambda: OverCell(NestedCell(), 3),
    "own-checkpointed": lambda: OverCell(NestedCell(), 3, checkpoint_every=2),
    "own-product": lambda: OverCell(ProductCell(), 5, reverse=True),
}
RUNS = [(name, dtype) for name in MODELS for dtype in (torch.float32, torch.float64)]


def train(name, dtype, rank=0, processes=1):
    """Return the loss of every step, which is a mean over all valid steps of all processes, and the weights."""
    torch.manual_seed(0)
    model = MODELS[name]().to(dtype)
    inputs, targets = torch.randn(2, 6, TIME, SIZE, dtype=torch.float64).to(dtype)
    parallel = model if processes == 1 else DistributedDataParallel(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.5)
    losses = []
    for lengths in LENGTHS:
        own_lengths = torch.tensor(lengths)[rank::processes]
        valid = torch.arange(TIME) < own_lengths.unsqueeze(1)
        found = parallel(inputs[rank::processes], own_lengths)
        own = (found - targets[rank::processes, :, :1]).square().squeeze(2)[valid].sum()
        total = own.detach().clone()
        if processes > 1:
            dist.all_reduce(total)
        optimizer.zero_grad()
        (own * processes / sum(lengths)).backward()
        optimizer.step()
        losses.append(total / sum(lengths))
    return torch.stack(losses), model.state_dict()


def main(path):
    dist.init_process_group("gloo")
    rank, processes = dist.get_rank(), dist.get_world_size()
    results = [train(name, dtype, rank, processes) for name, dtype in RUNS]
    for _, weights in results:
        for value in weights.values():
            first = value.clone()
            dist.broadcast(first, 0)
            assert torch.equal(value, first)  # the processes have not drifted apart
    if rank == 0:
        torch.save(results, path)
    dist.barrier()
    dist.destroy_process_group()
    os._exit(0)  # a thread of gloo's may still hold a tensor, which aborts an interpreter that is ending


if __name__ == "__main__":
    main(sys.argv[1])
