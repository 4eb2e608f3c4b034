"""Draws the pictures of the documentation into docs/images: `python docs/make_images.py`."""

from pathlib import Path

import torch

import dynrnn

IMAGES = Path(__file__).parent / "images"


def draw() -> None:
    """Draw a pass over four rows of different lengths, and the gates of one of them."""
    torch.manual_seed(4)
    time = torch.arange(14).view(1, -1, 1)
    inputs = torch.sin(time * torch.tensor([0.4, 0.9, 1.7]) + torch.randn(4, 1, 3)) * 2
    lengths = [14, 9, 5, 0]
    cell = dynrnn.LSTMCell(8, 3, initializer="orthogonal")
    state = dynrnn.LSTMState(c=torch.randn(4, 8) * 0.3, h=torch.randn(4, 8) * 0.3)
    outputs, final, gates = dynrnn.dynamic_rnn(
        cell, inputs, sequence_length=lengths, initial_state=state, return_gates=True
    )
    IMAGES.mkdir(exist_ok=True)
    dynrnn.plot(outputs, final, lengths).savefig(IMAGES / "pass.png")
    dynrnn.plot_gates(gates, lengths, row=1).savefig(IMAGES / "gates.png")


if __name__ == "__main__":
    draw()
