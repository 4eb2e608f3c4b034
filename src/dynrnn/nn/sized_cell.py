"""What a row of the table of cells holds as a module: its parameters, its sizes and its states.

How it is run is in `spec_cell.py`; the cells themselves, with their signatures, are in `cells.py`.
"""

from __future__ import annotations

from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from dynrnn.cells.spec import CellSpec
from dynrnn.nn.cell import RNNCell
from dynrnn.nn.cell_facts import CellFacts, learn
from dynrnn.nn.given_state import ExpectedState, checked_state
from dynrnn.nn.held import check_kept
from dynrnn.nn.initializers import Initializer, initializer_of
from dynrnn.nn.parameters import is_lazy, lookup, make, register
from dynrnn.nn.state import LSTMState
from dynrnn.rnn import pack_layer


class SizedCell(RNNCell):
    """A cell whose parameters are those of a row of `dynrnn.cells`, under TensorFlow 1's names.

    "gates/kernel" is `gates.kernel`, here and in the state_dict. With `input_size` None the parameters that depend on
    it are made at first use, or from a state_dict that is loaded; until then they are uninitialized parameters, which
    can be moved, cast and given to an optimizer.
    """

    spec: ClassVar[CellSpec]

    def __init__(
        self,
        options: Any,
        input_size: int | None,
        *,
        initializer: str | Initializer = "glorot_uniform",
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        if input_size is not None and (isinstance(input_size, bool) or not isinstance(input_size, int)):
            raise TypeError(f"{type(self).__name__}: input_size must be an int or None, got {input_size!r}")
        if input_size is not None and input_size < 0:
            raise ValueError(f"{type(self).__name__}: input_size must be at least 0, got {input_size}")
        self.options = options
        self._known = learn(self.spec, options)
        self.initializer = initializer_of(initializer)
        if isinstance(getattr(options, "activation", None), nn.Module):
            self.activation = options.activation  # so that its parameters are this module's
        waiting = self._known.sized if input_size is None else ()
        for param in self.spec.params(input_size or 0, options):
            shape = None if param.name in waiting else param.shape
            register(self, param.name, shape, device=device, dtype=dtype)
        self.reset_parameters()

    @property
    def input_size(self) -> int | None:
        """Width of the inputs, None until it is known."""
        facts = self._facts()
        kernel = lookup(self, facts.sized[0])
        return None if is_lazy(kernel) else kernel.shape[0] - facts.other_rows

    @property
    def hidden_size(self) -> int:
        """The number of units."""
        return self.options.num_units

    @property
    def state_size(self) -> Any:
        """Width of each state tensor: an int, or LSTMState(c, h)."""
        return self._structured(self._facts().state_sizes)

    @property
    def output_size(self) -> int:
        """Width of the output."""
        return self.spec.output_size(self.options)

    def zero_state(
        self, batch_size: int, *, dtype: torch.dtype | None = None, device: torch.device | str | None = None
    ) -> Any:
        """Make a state of zeros: `[batch_size, size]` each, by default like the weights."""
        facts = self._facts()
        if dtype is None or device is None:
            like = lookup(self, facts.names[0])
            dtype, device = dtype or like.dtype, device or like.device
        zeros = [torch.zeros(batch_size, size, dtype=dtype, device=device) for size in facts.state_sizes]
        return self._structured(tuple(zeros))

    def _checked_state(self, state: Any, expected: ExpectedState) -> Any:
        """The state, which has floating point tensors alone unless a subclass says otherwise."""
        fitting = self._fitting_state(state, expected)
        if fitting is not None:
            return fitting
        own_sizes = type(self).state_size is SizedCell.state_size
        return checked_state(self.state_size, state, expected, floating=own_sizes)

    def _fitting_state(self, state: Any, expected: ExpectedState) -> Any:
        """The state, where it has exactly this cell's tensors in this cell's order."""
        sizes = self._facts().state_sizes
        leaves = state if type(state) is LSTMState or type(state) is tuple else (state,)
        if len(leaves) != len(sizes):
            return None
        for value, size in zip(leaves, sizes, strict=True):
            if type(value) is not Tensor or value.shape != (expected.batch_size, size):
                return None
            if value.dtype != expected.dtype or value.device != expected.device:
                return None
        return self._structured(leaves)

    def _structured(self, leaves: tuple[Any, ...]) -> Any:
        return LSTMState(*leaves) if len(leaves) == 2 else leaves[0]

    def reset_parameters(self) -> None:
        """Draw kernels by the initializer, set biases and gains to their constants; what has no shape yet is left."""
        for param in self.spec.params(1, self.options):
            value = lookup(self, param.name)
            if not is_lazy(value):
                self._initialize(value, param.initial)

    def _initialize(self, value: Tensor, initial: float | None) -> None:
        if initial is None:
            self.initializer(value)
        else:
            nn.init.constant_(value, initial)

    def params(self) -> dict[str, Tensor]:
        """The parameters as they are now, by TensorFlow 1's names and in its order."""
        return {name: lookup(self, name) for name in self._facts().names}

    def named_weights(self) -> dict[str, Tensor]:
        """What `frozen` watches: the parameters. Raises ValueError where one is not there yet, or computed."""
        params = self.params()
        for name, value in params.items():
            if is_lazy(value):
                raise ValueError(
                    f"frozen: {name} of {type(self).__name__} waits for the input size; give input_size, or run the "
                    "cell once before"
                )
            check_kept(self, name, value)
        return params

    def packed_weights(self) -> list[Any]:
        """What `frozen` keeps: the parameters packed for the kernels, or None where these do not apply."""
        assert self.input_size is not None
        return [pack_layer(self.spec, self.params(), self.input_size, self.options)]

    def _facts(self) -> CellFacts:
        if self._known.options is not self.options:
            self._known = learn(self.spec, self.options)
        return self._known

    def _ready_params(self, inputs: Tensor) -> dict[str, Tensor]:
        """The parameters; those that waited for the input size are made and filled now."""
        params = self.params()
        if not any(map(is_lazy, params.values())):
            return params
        for param in self.spec.params(inputs.shape[-1], self.options):
            value = params[param.name]
            if is_lazy(value):
                make(value, param.shape)
                self._initialize(value, param.initial)
        return self.params()

    def extra_repr(self) -> str:
        """Sizes, and the options that are not the default ones."""
        options = self.options
        shown = [str(options.num_units), f"input_size={self.input_size}"]
        for name, value in vars(options).items():
            default = type(options).__dataclass_fields__[name].default
            if name != "num_units" and value is not default and value != default:
                shown.append(f"{name}={getattr(value, '__name__', value)}")
        return ", ".join(shown)
