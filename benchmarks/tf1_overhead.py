"""What the TF1 face costs beside the arithmetic: a run of a small graph, a step of a user's cell, start-up times.

Usage, from the project's root: `.venv/bin/python benchmarks/tf1_overhead.py`. Every figure is the median (and the
least) of many short bursts; where there is a peer it is timed in the same run, turn about, because the machine may be
busy with other things.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch

import dynrnn.tf1 as tf

ROOT = Path(__file__).resolve().parent.parent


def bursts(functions: dict[str, Callable[[], object]], calls: int, rounds: int = 41) -> dict[str, list[float]]:
    """Seconds a call of each function, one entry a round; the functions take turns."""
    times: dict[str, list[float]] = {name: [] for name in functions}
    for function in functions.values():
        function()
    for _ in range(rounds):
        for name, function in functions.items():
            start = time.perf_counter()
            for _ in range(calls):
                function()
            times[name].append((time.perf_counter() - start) / calls)
    return times


def show(title: str, times: dict[str, list[float]], unit: float = 1e6, label: str = "us") -> None:
    print(title)
    for name, values in times.items():
        print(
            f"  {name:44s} median {statistics.median(values) * unit:9.1f} {label}   least "
            f"{min(values) * unit:9.1f} {label}"
        )


def small_graph() -> None:
    """A ten-op graph on small tensors: one feed, one fetch."""
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [None, 8])
        y = x
        for i in range(10):
            y = tf.tanh(y) if i % 2 else y * 0.9
        session = tf.Session()
        feed = np.ones((4, 8), np.float32)

        def torch_only() -> np.ndarray:
            value = torch.from_numpy(feed.copy())
            with torch.no_grad():
                for i in range(10):
                    value = torch.tanh(value) if i % 2 else value * 0.9
            return value.numpy()

        show(
            "Session.run of ten ops",
            bursts({"dynrnn.tf1": lambda: session.run(y, {x: feed}), "the same calls in torch": torch_only}, 200),
        )


class GRULike(tf.nn.rnn_cell.RNNCell):
    """A user's cell of ten ops."""

    def __init__(self, units: int):
        super().__init__()
        self._units = units

    @property
    def state_size(self) -> int:
        return self._units

    @property
    def output_size(self) -> int:
        return self._units

    def call(self, inputs, state):
        depth = inputs.shape[-1].value
        gate_kernel = tf.get_variable("gate", [depth + self._units, self._units])
        kernel = tf.get_variable("kernel", [depth + self._units, self._units])
        update = tf.sigmoid(tf.matmul(tf.concat([inputs, state], 1), gate_kernel))
        candidate = tf.tanh(tf.matmul(tf.concat([inputs, update * state], 1), kernel))
        new = update * state + (1.0 - update) * candidate
        return new, new


def user_cell(batch: int = 32, units: int = 64, steps: int = 100) -> None:
    """Forward time a step of a user's cell, against the same formula in a Python loop of torch calls."""
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [batch, steps, units])
        outputs, state = tf.nn.dynamic_rnn(GRULike(units), x, dtype=tf.float32)
        session = tf.Session()
        session.run(tf.global_variables_initializer())
        gate, kernel = (torch.from_numpy(value) for value in session.run(tf.trainable_variables()))
        feed = np.random.default_rng(0).standard_normal((batch, steps, units)).astype(np.float32)

        def torch_loop() -> torch.Tensor:
            inputs, h, outs = torch.from_numpy(feed), torch.zeros(batch, units), []
            with torch.no_grad():
                for i in range(steps):
                    inp = inputs[:, i]
                    u = torch.sigmoid(torch.cat([inp, h], 1) @ gate)
                    c = torch.tanh(torch.cat([inp, u * h], 1) @ kernel)
                    h = u * h + (1.0 - u) * c
                    outs.append(h)
            return torch.stack(outs, 1)

        times = bursts(
            {
                "dynrnn.tf1": lambda: session.run([outputs, state], {x: feed}),
                "a torch loop of the same ops": torch_loop,
            },
            3,
        )
        show(
            f"A step of a user's ten-op cell (batch {batch}, units {units})",
            {k: [v / steps for v in vs] for k, vs in times.items()},
        )


def start_up() -> None:
    """Whole processes: importing torch, importing dynrnn after it, running an example."""
    commands = {
        "import torch": [sys.executable, "-c", "import torch"],
        "import dynrnn": [sys.executable, "-c", "import torch, dynrnn"],
        "import dynrnn.tf1": [sys.executable, "-c", "import dynrnn.tf1"],
        "dynrnn run examples/final_state.py": [
            sys.executable,
            "-m",
            "dynrnn",
            "run",
            str(ROOT / "examples" / "final_state.py"),
        ],
    }
    functions = {
        name: (lambda command=command: subprocess.run(command, check=True, capture_output=True))
        for name, command in commands.items()
    }
    show("Start-up", bursts(functions, 1, rounds=7), 1.0, "s ")


if __name__ == "__main__":
    print(f"torch {torch.__version__}, {torch.get_num_threads()} threads")
    small_graph()
    user_cell()
    start_up()
