"""Wrappers around one cell that draw nothing: `ResidualWrapper`, `DeviceWrapper`, and what all wrappers share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ... import _nest
from ..export import export
from ..graph import get_default_graph
from ..scopes import name_scope
from .base import RNNCell, check_cell
from .config import described, made
from .whole import add_residual


class Wrapper(RNNCell):
    """A cell around another cell. It has no scope and no variables of its own; sizes and zero state are the inner
    cell's.
    """

    def __init__(self, cell: Any):
        super().__init__()
        check_cell("cell", cell)
        self.cell = cell

    @property
    def wrapped_cell(self) -> Any:
        return self.cell

    @property
    def state_size(self) -> Any:
        return self.cell.state_size

    @property
    def output_size(self) -> Any:
        return self.cell.output_size

    def _all_variables(self) -> list[Any]:
        return list(getattr(self.cell, "weights", []))

    def get_config(self) -> dict[str, Any]:
        """The arguments that make such a wrapper, with the cell inside described; `from_config` takes them."""
        return {"cell": described(self.cell), **self._settings()}

    def _settings(self) -> dict[str, Any]:
        """The arguments beside the cell."""
        return {}

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: dict[str, Any] | None = None) -> Any:
        """The wrapper that `get_config` described."""
        return cls(**{**config, "cell": made(config["cell"], custom_objects)})

    def zero_state(self, batch_size: Any, dtype: Any) -> Any:
        """Return the inner cell's zero state."""
        with name_scope(type(self).__name__ + "ZeroState", "ZeroState"):
            return self.cell.zero_state(batch_size, dtype)

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> Any:
        """Run one step; the inner cell takes `scope`."""
        with get_default_graph().atomic():
            return self.wrap(
                lambda values, part: self.cell(values, part, scope) if scope is not None else self.cell(values, part),
                inputs,
                state,
            )

    def call(self, inputs: Any, state: Any) -> Any:
        return self.wrap(self.cell, inputs, state)

    def wrap(self, run: Callable[[Any, Any], Any], inputs: Any, state: Any) -> Any:
        """What the wrapper does around `run(inputs, state)`, the inner cell's step; for subclasses to define."""
        raise NotImplementedError(f"{type(self).__name__} must define wrap(run, inputs, state)")


@export("nn.rnn_cell.ResidualWrapper")
class ResidualWrapper(Wrapper):
    """Adds a cell's inputs to its outputs; the state is left alone.

    cell: the cell. residual_fn: a function (inputs, outputs) that is used instead of the sum.

    Raises:
        ValueError: inputs and outputs of different shapes.
    """

    def __init__(self, cell: Any, residual_fn: Callable[[Any, Any], Any] | None = None):
        super().__init__(cell)
        self._residual_fn = residual_fn

    def _settings(self) -> dict[str, Any]:
        return {} if self._residual_fn is None else {"residual_fn": self._residual_fn}

    @property
    def whole(self) -> bool:
        """Whether it can be applied to whole sequences: a user's function is only known to work on a step."""
        return self._residual_fn is None

    def wrap(self, run: Callable[[Any, Any], Any], inputs: Any, state: Any) -> tuple[Any, Any]:
        outputs, new_state = run(inputs, state)
        return (self._residual_fn or self._sum)(inputs, outputs), new_state

    def _run_whole(self, inputs: Any, state: Any, walk: Any) -> tuple[Any, Any]:
        outputs, new_state = walk.run(self.cell, inputs, state)
        _check_shapes(walk.step_shape(inputs), walk.step_shape(outputs))
        return add_residual(inputs, outputs, walk), new_state

    @staticmethod
    def _sum(inputs: Any, outputs: Any) -> Any:
        _nest.assert_same_structure(inputs, outputs)
        _nest.map_structure(lambda x, y: _check_shapes(x.get_shape(), y.get_shape()), inputs, outputs)
        return _nest.map_structure(lambda x, y: x + y, inputs, outputs)


def _check_shapes(inputs: Any, outputs: Any) -> None:
    inputs.assert_is_compatible_with(outputs)


@export("nn.rnn_cell.DeviceWrapper")
class DeviceWrapper(Wrapper):
    """Notes a device on a cell's operations."""

    def __init__(self, cell: Any, device: Any):
        super().__init__(cell)
        self._device = device

    def _settings(self) -> dict[str, Any]:
        return {"device": self._device}

    def zero_state(self, batch_size: Any, dtype: Any) -> Any:
        with get_default_graph().device(self._device):
            return super().zero_state(batch_size, dtype)

    def wrap(self, run: Callable[[Any, Any], Any], inputs: Any, state: Any) -> Any:
        with get_default_graph().device(self._device):
            return run(inputs, state)

    def _run_whole(self, inputs: Any, state: Any, walk: Any) -> Any:
        with get_default_graph().device(self._device):
            return walk.run(self.cell, inputs, state)
