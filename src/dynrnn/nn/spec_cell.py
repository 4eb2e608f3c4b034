"""The cell that is made from a row of the table of cells: parameters, steps, whole sequences; no formula here.

The cells themselves, with their signatures, are in `cells.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from dynrnn.cells.spec import CellSpec, State
from dynrnn.nn.cell import RNNCell
from dynrnn.nn.cell_facts import CellFacts, learn
from dynrnn.nn.cell_inputs import explain_inputs
from dynrnn.nn.gates import GATES
from dynrnn.nn.held import check_kept, held_by
from dynrnn.nn.initializers import Initializer, initializer_of
from dynrnn.nn.kinds import runs_whole
from dynrnn.nn.parameters import is_lazy, lookup, make, register
from dynrnn.nn.precision import autocast_dtype, device_kind
from dynrnn.nn.state import LSTMState, checked_state
from dynrnn.nn.walk import Pass, Walk
from dynrnn.rnn import LayerTrace, pack_layer, trace_layer


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
        self._known = learn(self.spec, options)
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
        facts = self._facts()
        kernel = lookup(self, facts.sized)
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

    def fitting_state(self, state: Any, batch_size: int, dtype: torch.dtype, device: torch.device) -> Any:
        """The state, where it has exactly this cell's tensors in this cell's order."""
        sizes = self._facts().state_sizes
        leaves = state if type(state) is LSTMState or type(state) is tuple else (state,)
        if len(leaves) != len(sizes):
            return None
        for value, size in zip(leaves, sizes, strict=True):
            if type(value) is not Tensor or value.shape != (batch_size, size):
                return None
            if value.dtype != dtype or value.device != device:
                return None
        return self._structured(leaves)

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

    def check_inputs(self, owner: str, inputs: Any, axes: tuple[str, ...]) -> None:
        """Refuse inputs of another dtype, rank, width or device than the weights."""
        facts = self._facts()
        weight = lookup(self, facts.sized)
        if (
            not isinstance(inputs, Tensor)
            or inputs.dtype != weight.dtype
            or not inputs.is_floating_point()
            or inputs.ndim != len(axes) + 1
            or not (is_lazy(weight) or weight.shape[0] == inputs.shape[-1] + facts.other_rows)
            or inputs.device != weight.device
        ):
            explain_inputs(owner, type(self).__name__, inputs, axes, weight, self.input_size)

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
        inputs, params, leaves = self._cast(inputs, self._ready_params(inputs), _leaves(state))
        with _plain(inputs):
            output, new = self.spec.step(params, inputs, leaves or (), self._options())
        return output, self._structured(new)

    def sequence(self, inputs: Tensor, state: Any, walk: Walk) -> Pass:
        """Run over a whole sequence (state None: from zeros); see `dynrnn.dynamic_rnn`, which calls this."""
        names = self._facts().gate_names
        if walk.keep_gates and not names:
            raise ValueError(f"return_gates: {type(self).__name__} has no gates that could be returned")
        params, kind = self._ready_params(inputs), device_kind(inputs)
        leaves, fresh = _leaves(state), _leaves(walk.reset_state)
        held = held_by(self)
        if held is not None:
            held.check_call(params.values(), (inputs, *(leaves or ()), *(fresh or ())))
        if torch.is_autocast_enabled(kind):
            inputs, params, leaves = self._cast(inputs, params, leaves)
            fresh = self._cast(inputs, {}, fresh)[2]
            with torch.autocast(kind, enabled=False):
                trace = self._trace(inputs, params, leaves, fresh, walk, None)
        else:
            trace = self._trace(inputs, params, leaves, fresh, walk, None if held is None else held.packed[0])
        states = self._structured(trace.states) if walk.keep_states else None
        gates = GATES[names](*trace.gates) if walk.keep_gates else None
        return Pass(trace.outputs, self._structured(trace.state), states, gates)

    def _trace(
        self,
        inputs: Tensor,
        params: Mapping[str, Tensor],
        state: State | None,
        reset_state: State | None,
        walk: Walk,
        packed: Any,
    ) -> LayerTrace:
        return trace_layer(
            self.spec,
            params,
            inputs,
            state,
            lengths=walk.lengths,
            options=self._options(),
            time_major=walk.time_major,
            reverse=walk.reverse,
            parallel_iterations=walk.parallel_iterations,
            resets=walk.resets,
            reset_state=reset_state,
            checkpoint_every=walk.checkpoint_every,
            keep_states=walk.keep_states,
            keep_gates=walk.keep_gates,
            implementation=walk.implementation,
            packed=packed,
        )

    def prepared_step(self, inputs: Tensor) -> tuple[Callable[..., Any], Callable[..., Any]]:
        """Prepare the weights for inputs like these; return the step from input product and state, and the product."""
        weights = self.spec.prepare(self._cast(inputs, self._ready_params(inputs), None)[1], self._options())

        def product(inputs: Tensor) -> Tensor:
            with _plain(inputs):
                return self.spec.product(weights, self._cast(inputs, {}, None)[0])

        def recur(product_t: Tensor, state: Any) -> tuple[Tensor, Any]:
            product_t, _, leaves = self._cast(product_t, {}, _leaves(state))
            with _plain(product_t):
                output, new = self.spec.recur(weights, product_t, leaves or (), self._options())
            return output, self._structured(new)

        return recur, product

    def _options(self) -> Any:
        """The options of a call; a cell that behaves otherwise in training says so here."""
        return self.options

    def _structured(self, leaves: tuple[Any, ...]) -> Any:
        return LSTMState(*leaves) if len(leaves) == 2 else leaves[0]

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

    def _cast(
        self, inputs: Tensor, params: Mapping[str, Tensor], state: State | None
    ) -> tuple[Tensor, Mapping[str, Tensor], State | None]:
        """Inputs, parameters and the state's tensors in one dtype, which under autocast is the one it asks for."""
        dtype = autocast_dtype(inputs)
        if dtype is None:
            return inputs, params, state
        params = {name: value.to(dtype) for name, value in params.items()}
        return inputs.to(dtype), params, None if state is None else tuple(value.to(dtype) for value in state)

    def extra_repr(self) -> str:
        """Sizes, and the options that are not the default ones."""
        options = self.options
        shown = [str(options.num_units), f"input_size={self.input_size}"]
        for name, value in vars(options).items():
            default = type(options).__dataclass_fields__[name].default
            if name != "num_units" and value is not default and value != default:
                shown.append(f"{name}={getattr(value, '__name__', value)}")
        return ", ".join(shown)


def begins_with_zeros(cell: Any) -> bool:
    """Say whether `cell` is a `SpecCell` that runs whole and makes its zero state as all of them do.

    Example:
        >>> from dynrnn import GRUCell
        >>> begins_with_zeros(GRUCell(3))
        True
    """
    if not isinstance(cell, SpecCell) or type(cell).zero_state is not SpecCell.zero_state:
        return False
    return "zero_state" not in cell.__dict__ and runs_whole(cell)


def _leaves(state: Any) -> State | None:
    if state is None or type(state) is tuple:
        return state
    return (state,) if isinstance(state, Tensor) else tuple(state)


def _plain(inputs: Tensor) -> AbstractContextManager[Any]:
    """Autocast off: everything has been cast by then."""
    kind = device_kind(inputs)
    return torch.autocast(kind, enabled=False) if torch.is_autocast_enabled(kind) else nullcontext()
