"""Which way the cells of a graph are run, and why: for tensors and operations of `tf.nn.dynamic_rnn` and its kin."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch

from ...rnn.dispatch import choose, describe
from ..graph import Operation, Tensor
from ..rnn_cell.step import SEQUENCE, STEP
from .walk import LOOP


def explain_dispatch(fetch: Any) -> str:
    """Say in one sentence which way the cells that `fetch` depends on are run in a session, and why.

    fetch: a tensor or an operation, such as the outputs of `tf.nn.dynamic_rnn`. Cells of `tf.nn.rnn_cell` run over
    whole sequences, through the fused kernels or the reference loop; a cell of your own, and one in a wrapper that
    changes its state, is called step by step. Nothing is run. The same as `dynrnn.explain_dispatch` for native cells.

    Raises:
        TypeError: not a tensor or operation of a graph. ValueError: it depends on no cell.

    Example:
        >>> import dynrnn.tf1 as tf
        >>> from dynrnn.tf1.rnn.explain import explain_dispatch
        >>> cell = tf.nn.rnn_cell.GRUCell(2, activation=tf.nn.softsign)
        >>> outputs, state = tf.nn.dynamic_rnn(cell, tf.ones([3, 5, 4]), dtype=tf.float32)
        >>> explain_dispatch(outputs)
        'rnn/gru_cell/gru_sequence runs through the reference loop, because ...'
    """
    if not isinstance(fetch, (Tensor, Operation)):
        raise TypeError(f"explain_dispatch: fetch must be a tensor or an operation, got {type(fetch).__name__}")
    root: Any = fetch.op if isinstance(fetch, Tensor) else fetch
    ways = [f"{node.name} runs {way}" for node, way in _ways(root)]
    if not ways:
        raise ValueError(f"explain_dispatch: {root.name} depends on no cell")
    return "; ".join(ways) + "."


def _ways(root: Operation) -> Iterator[tuple[Operation, str]]:
    """The nodes below `root` that run cells, in the order in which they were made, each with its way and why."""
    pending: list[Any] = [root]
    seen, found = {id(root)}, []
    while pending:
        node = pending.pop()
        if node.row in _CELLS:
            found.append(node)
        for other in (*(tensor.op for tensor in node.inputs), *node.control_inputs):
            if id(other) not in seen:
                seen.add(id(other))
                pending.append(other)
    for node in sorted(found, key=lambda node: node.index):
        yield node, _way(node)


def _way(node: Operation) -> str:
    if node.row is LOOP:
        return "step by step, because the cell is one of your own, or a wrapper changes it at every step"
    if node.row is STEP:
        return "as a single step, by torch's operators"
    spec, options, activation = (node.attrs[name] for name in ("spec", "options", "activation"))
    if activation.body is not None:
        return "through the reference loop, because its activation is a function of your own"
    like = torch.empty(0, dtype=node.inputs[0].dtype.base_dtype.torch)
    return describe(choose(spec, options, like), spec, like)


_CELLS = (SEQUENCE, STEP, LOOP)
