"""The cell that is made from a row of the table of cells: parameters, steps, whole sequences; no formula here.

The cells themselves, with their signatures, are in `cells.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Any, ClassVar

import torch
from torch import Tensor, nn
from torch.nn.parameter import is_lazy

from dynrnn.cells.spec import CellSpec
from dynrnn.nn.cell import RNNCell
from dynrnn.nn.gates import GATES
from dynrnn.nn.initializers import Initializer, initializer_of
from dynrnn.nn.parameters import lookup, make, register
from dynrnn.nn.precision import autocast_dtype
from dynrnn.nn.state import LSTMState, checked_state
from dynrnn.nn.walk import Pass, Walk
from dynrnn.rnn import trace_layer


class SpecCell(RNNCell):
    """A cell whose math is a row of `dynrnn.cells`: its parameters are the row's, under TensorFlow 1's names.

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
        self.initializer = initializer_of(initializer)
        if isinstance(getattr(options, "activation", None), nn.Module):
            self.activation = options.activation  # so that its parameters are this module's
        one, two = (self.spec.params(size, options) for size in (1, 2))
        for param, other in zip(one, two, strict=True):
            depends = param.shape != other.shape
            shape = None if depends and input_size is None else param.shape
            if depends and input_size is not None:
                shape = (param.shape[0] + input_size - 1, *param.shape[1:])
            register(self, param.name, shape, device=device, dtype=dtype)
        self.reset_parameters()

    @property
    def input_size(self) -> int | None:
        """Width of the inputs, None until it is known."""
        one, two = (self.spec.params(size, self.options) for size in (1, 2))
        name, base = next((a.name, a.shape[0]) for a, b in zip(one, two, strict=True) if a.shape != b.shape)
        kernel = lookup(self, name)
        return None if is_lazy(kernel) else kernel.shape[0] - base + 1

    @property
    def hidden_size(self) -> int:
        """The number of units."""
        return self.options.num_units

    @property
    def state_size(self) -> Any:
        """Width of each state tensor: an int, or LSTMState(c, h)."""
        return self._structured(self.spec.state_sizes(self.options))

    @property
    def output_size(self) -> int:
        """Width of the output."""
        return self.spec.output_size(self.options)

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
        return {param.name: lookup(self, param.name) for param in self.spec.params(1, self.options)}

    def check_inputs(self, owner: str, inputs: Any, axes: tuple[str, ...]) -> None:
        """Refuse inputs of another dtype, rank, width or device than the weights."""
        weight = next(iter(self.params().values()))
        word = str(weight.dtype).removeprefix("torch.")
        if not isinstance(inputs, Tensor):
            raise TypeError(
                f"{owner}: inputs must be one tensor for {type(self).__name__}, got {type(inputs).__name__}"
            )
        got = str(inputs.dtype).removeprefix("torch.")
        if not inputs.is_floating_point():
            raise TypeError(f"{owner}: inputs are {got}; embed or cast them (cell weights are {word})")
        if inputs.dtype != weight.dtype and autocast_dtype(inputs) is None:
            raise TypeError(f"{owner}: inputs are {got}, but cell weights are {word}; cast the inputs or the cell")
        if inputs.ndim != len(axes) + 1:
            raise ValueError(
                f"{owner}: inputs must have shape [{', '.join(axes)}, input_size], got {list(inputs.shape)}"
            )
        if self.input_size is not None and inputs.shape[-1] != self.input_size:
            raise ValueError(
                f"{owner}: inputs have shape {list(inputs.shape)}, expected a last dimension of {self.input_size}, "
                f"the input_size of {type(self).__name__}"
            )
        if inputs.device != weight.device:
            raise ValueError(f"{owner}: inputs are on {inputs.device}, but cell weights are on {weight.device}")

    def forward(self, inputs: Tensor, state: Any = None) -> tuple[Tensor, Any]:
        """Run one step: `inputs` `[batch, input_size]`, `state` as `state_size` says (None: zeros).

        Returns `(output, new_state)`. Raises TypeError or ValueError, naming the argument, for what does not fit.
        """
        owner = type(self).__name__
        self.check_inputs(owner, inputs, ("batch",))
        dtype = autocast_dtype(inputs) or inputs.dtype
        if state is None:
            state = self.zero_state(inputs.shape[0], dtype=dtype, device=inputs.device)
        elif autocast_dtype(inputs) is None:
            state = checked_state(
                self.state_size, state, inputs.shape[0], dtype=dtype, device=inputs.device, name=f"{owner}: state"
            )
        self._make_parameters(inputs)
        inputs, params, leaves = self._cast(inputs, state)
        with _plain(inputs):
            output, new = self.spec.step(params, inputs, leaves, self._options())
        return output, self._structured(new)

    def sequence(self, inputs: Tensor, state: Any, walk: Walk) -> Pass:
        """Run over a whole sequence; see `dynrnn.dynamic_rnn`, which calls this."""
        self._make_parameters(inputs)
        inputs, params, leaves = self._cast(inputs, state)
        names = self.spec.gate_names(self.options)
        if walk.keep_gates and not names:
            raise ValueError(f"return_gates: {type(self).__name__} has no gates that could be returned")
        fresh = None if walk.reset_state is None else tuple(self._cast(inputs, walk.reset_state)[2])
        with _plain(inputs):
            trace = trace_layer(
                self.spec,
                params,
                inputs,
                leaves,
                lengths=walk.lengths,
                options=self._options(),
                time_major=walk.time_major,
                reverse=walk.reverse,
                parallel_iterations=walk.parallel_iterations,
                resets=walk.resets,
                reset_state=fresh,
                checkpoint_every=walk.checkpoint_every,
                keep_states=walk.keep_states,
                keep_gates=walk.keep_gates,
            )
        states = self._structured(trace.states) if walk.keep_states else None
        gates = GATES[names](*trace.gates) if walk.keep_gates else None
        return Pass(trace.outputs, self._structured(trace.state), states, gates)

    def prepared_step(self, inputs: Tensor) -> Any:
        """Make a step for inputs like these that prepares the weights once for all its calls."""
        self._make_parameters(inputs)
        weights = self.spec.prepare(self._cast(inputs, ())[1], self._options())

        def step(inputs_t: Tensor, state: Any) -> tuple[Tensor, Any]:
            inputs_t, _, leaves = self._cast(inputs_t, state, with_params=False)
            with _plain(inputs_t):
                product = self.spec.product(weights, inputs_t)
                output, new = self.spec.recur(weights, product, leaves, self._options())
            return output, self._structured(new)

        return step

    def _options(self) -> Any:
        """The options of a call; a cell that behaves otherwise in training says so here."""
        return self.options

    def _structured(self, leaves: tuple[Any, ...]) -> Any:
        return LSTMState(*leaves) if len(leaves) == 2 else leaves[0]

    def _make_parameters(self, inputs: Tensor) -> None:
        """Make and fill the parameters that waited for the input size."""
        if not any(is_lazy(value) for value in self.params().values()):
            return
        for param in self.spec.params(inputs.shape[-1], self.options):
            value = lookup(self, param.name)
            if is_lazy(value):
                make(value, param.shape)
                self._initialize(value, param.initial)

    def _cast(
        self, inputs: Tensor, state: Any, *, with_params: bool = True
    ) -> tuple[Tensor, Mapping[str, Tensor], tuple[Tensor, ...]]:
        """Inputs, parameters and the state's tensors in one dtype, which under autocast is the one it asks for."""
        leaves = (state,) if isinstance(state, Tensor) else tuple(state)
        params = self.params() if with_params else {}
        dtype = autocast_dtype(inputs)
        if dtype is None:
            return inputs, params, leaves
        params = {name: value.to(dtype) for name, value in params.items()}
        return inputs.to(dtype), params, tuple(value.to(dtype) for value in leaves)

    def extra_repr(self) -> str:
        """Sizes, and the options that are not the default ones."""
        options = self.options
        shown = [str(options.num_units), f"input_size={self.input_size}"]
        for name, value in vars(options).items():
            default = type(options).__dataclass_fields__[name].default
            if name != "num_units" and value is not default and value != default:
                shown.append(f"{name}={getattr(value, '__name__', value)}")
        return ", ".join(shown)


def _plain(inputs: Tensor) -> AbstractContextManager[Any]:
    """Autocast off: everything has been cast by then."""
    kind = inputs.device.type
    return torch.autocast(kind, enabled=False) if torch.is_autocast_enabled(kind) else nullcontext()
