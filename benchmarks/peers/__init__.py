"""Who is measured: a table of peers. Each is prepared in a worker of its environment, by a function of this package.

Such a function takes a problem, a mode and a number of threads, and returns `Prepared`.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any, NamedTuple

import numpy as np


class Prepared(NamedTuple):
    """Work that is ready to be timed, and how to read its result.

    `call` is what is timed. `outputs(result)` is `[time, batch, units]` with rows in the problem's order (padding may
    hold anything), `gradients(result)` those of the weights under torch's names and in its layout; a peer that only
    measures the machine has neither. Bursts of calls run inside `around()`.
    """

    call: Callable[[], Any]
    outputs: Callable[[Any], np.ndarray] | None = None
    gradients: Callable[[Any], dict[str, np.ndarray]] | None = None
    around: Callable[[], AbstractContextManager] = nullcontext


class Peer(NamedTuple):
    """A row of the table: where the peer runs, what prepares it, and what its figures may be compared with.

    `role` is "ours", "peer" (it does the same work from the same inputs: the best of these is what we compare with),
    "apart" (it is shown, but does less or other work), "limit" (what the machine can do at best) or "exact" (expected
    results in float64; never timed).
    """

    environment: str
    function: str
    role: str
    training: bool = True
    reset_before: bool = False  # a GRU whose reset gate acts before the product, as TensorFlow 1's does


PRODUCT_SIDE = 2048  # of the square matrices whose product is the limit
PEERS: dict[str, Peer] = {
    "dynrnn": Peer("torch", "ours:module", "ours"),
    "frozen": Peer("torch", "ours:frozen_module", "ours", training=False),
    "dynamic_rnn": Peer("torch", "ours:native_loop", "ours", reset_before=True),
    "tf1_face": Peer("torch", "tf1_program:on_dynrnn", "ours", reset_before=True),
    "reference": Peer("torch", "ours:reference", "apart"),
    "padded": Peer("torch", "torch_modules:padded", "peer"),
    "packed": Peer("torch", "torch_modules:packed", "peer"),
    "presorted": Peer("torch", "torch_modules:presorted", "apart"),
    "onnxruntime": Peer("onnxruntime", "onnx_node:node", "peer", training=False),
    "jax": Peer("jax", "jax_scan:scan", "peer"),
    "tensorflow": Peer("tensorflow", "tf1_program:on_tensorflow", "peer", reset_before=True),
    "product": Peer("torch", "torch_modules:large_product", "limit"),
    "exact": Peer("torch", "torch_modules:exact", "exact"),
    "exact_reset_before": Peer("torch", "ours:exact_reset_before", "exact"),
}


def expected_of(name: str, cell: str) -> str:
    """The peer with whose results in float64 those of `name` must agree.

    Example:
        >>> expected_of("tensorflow", "gru"), expected_of("tensorflow", "lstm")
        ('exact_reset_before', 'exact')
    """
    return "exact_reset_before" if cell == "gru" and PEERS[name].reset_before else "exact"
