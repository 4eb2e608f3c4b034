"""Activations of cells: a function of TF's becomes a torch function; any other function of tensors is traced."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from ...graph.control_flow import Body
from ...graph.dtype import DType
from ..export import NAMES
from ..graph import get_default_graph
from ..ops.convert import convert_to_tensor


@dataclass(frozen=True)
class Activation:
    """A cell's activation: `plain`, a torch function, or `body`, a traced function with captured tensors."""

    plain: Callable[[torch.Tensor], torch.Tensor] | None
    body: Body | None = None

    @property
    def captures(self) -> list[Any]:
        return self.body.captures if self.body is not None else []

    def bind(
        self, runtime: Any, recorded: bool
    ) -> Callable[[Sequence[torch.Tensor]], Callable[[torch.Tensor], torch.Tensor]]:
        """A function that takes the captures' values and gives the activation for one run."""
        if self.body is None:
            plain = self.plain
            assert plain is not None
            return lambda captured: plain
        function = self.body.function(runtime, recorded)
        return lambda captured: lambda value: function(value, *captured)[0]


def as_activation(value: Any, dtype: DType, width: int) -> Activation:
    """Return the activation that `value` stands for: None (tanh), a name of `tf.nn`, an op of the tables, any function
    of a tensor.

    Raises:
        ValueError: an unknown name, or a function whose result has another shape. TypeError: not callable, or another
        dtype.
    """
    if value is None:
        return Activation(torch.tanh)
    if isinstance(value, str):
        found = NAMES.get(f"nn.{value}") or NAMES.get(value)
        if found is None:
            raise ValueError(f"Unknown activation function: {value!r}")
        value = found
    if not callable(value):
        raise TypeError(f"activation must be a function of a tensor, a name or None, got {value!r}")
    row = getattr(value, "row", None)
    if row is not None and row.bind is None and len(row.inputs) == 1:
        return Activation(row.compute)
    body = _trace(value, dtype, width)
    plain = _plain(body)
    return Activation(None, body) if plain is None else Activation(plain)


def _plain(body: Body) -> Callable[[torch.Tensor], torch.Tensor] | None:
    """The torch function of a body that is one op of the tables on its input: `lambda x: tf.tanh(x)` is tanh."""
    (param,), (result,) = body.params, body.results
    node = result.op
    alone = set(map(id, body.nodes)) <= {id(param.op), id(node)} and not body.captures and not body.controls
    if not alone or tuple(node.inputs) != (param,) or node.attrs or node.row.bind is not None:
        return None
    return node.row.compute


def _trace(function: Callable[[Any], Any], dtype: DType, width: int) -> Body:
    body = Body(get_default_graph())
    with body.trace():
        x = body.param(dtype, (None, width), "activation_input")
        result = convert_to_tensor(function(x))
        if result.dtype.base_dtype is not dtype:
            raise TypeError(f"activation must return {dtype.name}, as its input is, got {result.dtype.name}")
        if not result.shape.is_compatible_with(x.shape):
            raise ValueError(f"activation must return the shape of its input, {x.shape}, got {result.shape}")
        body.close([result])
    return body
