"""`DropoutWrapper`: dropout on a cell's inputs, outputs and state."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

from ... import _nest
from ...graph.constants import constant_value
from ...graph.dtype import as_dtype
from ...graph.shape import TensorShape, as_shape
from ..export import export
from ..graph import Tensor
from ..ops.convert import convert_to_tensor
from ..ops.math.elementwise import FUNCTIONS
from ..ops.nn.dropout import dropout
from ..ops.random.distributions import random_uniform
from ..scopes import name_scope
from .cells import LSTMStateTuple
from .whole import add_dropout, without_padding
from .wrappers import Wrapper


def keep_lstm_memory(substate: Any) -> Any:
    """Which parts of a state are dropped by default: all but the c of an LSTM."""
    if isinstance(substate, LSTMStateTuple):
        return LSTMStateTuple(c=False, h=True)
    return True


@export("nn.rnn_cell.DropoutWrapper")
class DropoutWrapper(Wrapper):
    """Drops parts of a cell's inputs, outputs and state: y = x * m / keep_prob, with m 1 with probability keep_prob,
    else 0.

    input_keep_prob, output_keep_prob, state_keep_prob: floats in [0, 1], or scalar tensors; 1.0 adds nothing. The c of
    an `LSTMStateTuple` is never dropped, unless `dropout_state_filter_visitor` (a function of a substate that returns
    bools in its structure) says so.
    variational_recurrent: use one mask, of batch size 1, for all steps of a run; needs `dtype`, and `input_size` (a
    TensorShape, or a nest of them, without the batch) if inputs are dropped. seed: makes the masks TensorFlow's own.

    Raises:
        ValueError: a probability out of range; what `variational_recurrent` needs is missing. TypeError: not a cell; a
        filter that is not callable.
    """

    def __init__(
        self,
        cell: Any,
        input_keep_prob: Any = 1.0,
        output_keep_prob: Any = 1.0,
        state_keep_prob: Any = 1.0,
        variational_recurrent: bool = False,
        input_size: Any = None,
        dtype: Any = None,
        seed: int | None = None,
        dropout_state_filter_visitor: Callable[[Any], Any] | None = None,
    ):
        super().__init__(cell)
        if dropout_state_filter_visitor is not None and not callable(dropout_state_filter_visitor):
            raise TypeError("dropout_state_filter_visitor must be callable")
        self._filter = dropout_state_filter_visitor or keep_lstm_memory
        self._seed = seed
        self._size_and_dtype = input_size, dtype
        with name_scope(type(self).__name__ + "Init", "DropoutWrapperInit"):
            given = {"input": input_keep_prob, "state": state_keep_prob, "output": output_keep_prob}
            self._keep = {name: _probability(f"{name}_keep_prob", value) for name, value in given.items()}
            self._variational = variational_recurrent
            self._noise: dict[str, Any] = {}
            if variational_recurrent:
                self._noise = self._draw(input_size, dtype)

    def _settings(self) -> dict[str, Any]:
        settings = {f"{name}_keep_prob": keep for name, keep in self._keep.items()}
        settings["variational_recurrent"] = self._variational
        settings["input_size"], settings["dtype"] = self._size_and_dtype
        settings["seed"] = self._seed
        if self._filter is not keep_lstm_memory:
            settings["dropout_state_filter_visitor"] = self._filter
        return settings

    def _draw(self, input_size: Any, dtype: Any) -> dict[str, Any]:
        """The noise of variational dropout: one row for all rows and steps."""
        if dtype is None:
            raise ValueError("When variational_recurrent=True, dtype must be provided")
        kind = as_dtype(dtype)
        if self._drops("input") and input_size is None:
            raise ValueError(
                "When variational_recurrent=True and input_keep_prob < 1.0 or is unknown, input_size must be provided"
            )
        sizes = {"input": input_size, "state": self.cell.state_size, "output": self.cell.output_size}
        noise = {}
        for name, size in sizes.items():
            if self._drops(name):
                shapes = [TensorShape([1]).concatenate(as_shape(part)) for part in _nest.flatten(size)]
                noise[name] = [
                    random_uniform(shape.as_list(), dtype=kind, seed=self._gen_seed(name, i))
                    for i, shape in enumerate(shapes)
                ]
        return noise

    def _drops(self, name: str) -> bool:
        keep = self._keep[name]
        return not isinstance(keep, float) or keep < 1.0

    def _gen_seed(self, salt: str, index: int) -> int | None:
        """The seed of one random operation, made from the wrapper's seed, the kind of value and its place, as
        TensorFlow does.
        """
        if self._seed is None:
            return None
        text = f"{self._seed}{salt}_{index}".encode()
        return int(hashlib.md5(text, usedforsecurity=False).hexdigest()[:8], 16) & 0x7FFFFFFF

    def _drop(self, values: Any, name: str, chosen: list[Any] | None = None) -> Any:
        leaves = _nest.flatten(values)
        dropped = [
            value if chosen is not None and chosen[i] is False else self._drop_leaf(convert_to_tensor(value), name, i)
            for i, value in enumerate(leaves)
        ]
        return _nest.pack_sequence_as(values, dropped)

    def _drop_leaf(self, value: Tensor, name: str, index: int) -> Tensor:
        keep = self._keep[name]
        if not self._variational:
            return dropout(value, keep_prob=keep, seed=self._gen_seed(name, index))
        mask = FUNCTIONS["floor"](keep + self._noise[name][index])
        result = (value / keep) * mask
        result.set_shape(value.get_shape())
        return result

    def wrap(self, run: Callable[[Any, Any], Any], inputs: Any, state: Any) -> tuple[Any, Any]:
        if self._drops("input"):
            inputs = self._drop(inputs, "input")
        output, new_state = run(inputs, state)
        if self._drops("state"):
            new_state = self._drop(new_state, "state", self._chosen(new_state))
        if self._drops("output"):
            output = self._drop(output, "output")
        return output, new_state

    def _chosen(self, state: Any) -> list[Any]:
        """For each leaf of a state, whether it is dropped."""
        verdict = self._filter(state)
        if not _nest.is_nested(state):
            return [bool(verdict)]
        parts = _children(state)
        verdicts = [verdict] * len(parts) if isinstance(verdict, bool) else _children(verdict)
        chosen = [
            self._chosen(part) if answer else [False] * len(_nest.flatten(part))
            for part, answer in zip(parts, verdicts, strict=True)
        ]
        return [flag for flags in chosen for flag in flags]

    @property
    def whole(self) -> bool:
        """Whether it can be applied to whole sequences: not where the state is dropped between steps."""
        return not self._drops("state")

    def _run_whole(self, inputs: Tensor, state: Any, walk: Any) -> tuple[Any, Any]:
        if self._drops("input"):
            inputs = self._drop_sequence(inputs, "input", walk)
        outputs, new_state = walk.run(self.cell, inputs, state)
        if self._drops("output"):
            outputs = self._drop_sequence(outputs, "output", walk)
        return outputs, new_state

    def _drop_sequence(self, values: Any, name: str, walk: Any) -> Any:
        if isinstance(self._keep[name], Tensor):  # its gradient is a sum over all that it scales
            values = _nest.map_structure(lambda value: without_padding(value, walk), values)
        leaves = enumerate(_nest.flatten(values))
        if self._variational:
            dropped = [self._drop_leaf(value, name, i) for i, value in leaves]
        else:
            dropped = [add_dropout(value, self._keep[name], self._gen_seed(name, i), walk) for i, value in leaves]
        return _nest.pack_sequence_as(values, dropped)


def _children(nest: Any) -> list[Any]:
    return [nest[key] for key in sorted(nest)] if isinstance(nest, dict) else list(nest)


def _probability(name: str, value: Any) -> Any:
    """A float where the probability is known while the graph is built, else the tensor."""
    tensor = convert_to_tensor(value)
    known = constant_value(tensor)
    if known is None:
        return tensor
    if not 0 <= known.item() <= 1:
        raise ValueError(f"Parameter {name} must be between 0 and 1: {known.item()}")
    return float(value) if isinstance(value, (int, float)) else float(known.item())
