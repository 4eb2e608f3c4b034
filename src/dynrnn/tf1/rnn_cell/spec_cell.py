"""What the basic cells share: variables, steps and whole sequences from a `CellSpec` of `dynrnn.cells`."""

from __future__ import annotations

import dataclasses
from typing import Any

from ...cells import CellSpec
from ...errors import describe
from ...graph.shape import TensorShape
from ..graph import Tensor
from ..initializers import Constant
from ..ops.convert import convert_to_tensor
from .activation import Activation, as_activation
from .base import RNNCell
from .config import activation_name, chosen
from .step import add_sequence, add_step


class SpecCell(RNNCell):
    """A cell whose math is a `CellSpec`: it makes the spec's variables and adds one node a step, or one a sequence."""

    spec: CellSpec
    allowed_dtypes = "RNN cell only supports floating point inputs, but saw dtype: {}"

    def __init__(
        self,
        options: Any,
        activation: Any,
        *,
        initializer: Any = None,
        reuse: Any = None,
        name: str | None = None,
        dtype: Any = None,
        trainable: bool = True,
    ):
        super().__init__(trainable=trainable, name=name, dtype=dtype, _reuse=reuse)
        self.input_spec = 2
        self._options = options
        self._activation_argument = activation
        self._activation: Activation | None = None
        self._initializer = initializer
        self._shards: dict[str, int | None] = {}
        self._params: dict[str, Any] = {}

    def stepping(self, shapes: Any, dtype: Any, scope: Any = None) -> Any:
        """Enter the cell's scope; it takes its variables by itself, so there is nothing to note."""
        return self.calling(shapes, dtype, scope)

    # The state as the user sees it, and as the spec's tuple

    def split_state(self, state: Any) -> tuple[Tensor, ...]:
        """The spec's state tensors from the cell's state."""
        return (convert_to_tensor(state),)

    def join_state(self, state: tuple[Tensor, ...]) -> Any:
        """The cell's state from the spec's state tensors."""
        return state[0]

    def get_config(self) -> dict[str, Any]:
        """The arguments that make such a cell: `from_config` takes them."""
        own = {name.lstrip("_"): value for name, value in vars(self).items()}
        values = {**own, **own["shards"], **vars(self._options), "kernel_initializer": self._initializer}
        values["activation"] = activation_name(self._activation_argument)
        return {**super().get_config(), **chosen(type(self).__init__, values)}

    # Variables

    def build(self, inputs_shape: Any) -> None:
        """Make the variables of the spec, under TensorFlow's names."""
        depth = inputs_shape[-1].value if inputs_shape.ndims else None
        if depth is None:
            raise ValueError(f"Expected inputs.shape[-1] to be known, saw shape: {inputs_shape}")
        assert self._dtype is not None
        if not self._dtype.is_floating:
            raise ValueError(self.allowed_dtypes.format(self._dtype.name))
        params = {
            param.name: self.add_weight(
                param.name,
                param.shape,
                initializer=self.param_initializer(param),
                partitioner=self.param_partitioner(param.name),
            )
            for param in self.spec.params(depth, self._options)
        }
        self._remember("_params", params)
        self._remember("_activation", as_activation(self._activation_argument, self._dtype, self._options.num_units))
        self._remember("built", True)

    def param_initializer(self, param: Any) -> Any:
        """Biases start at the spec's constant; the rest as the cell's or the scope's initializer says."""
        return self._initializer if param.initial is None else Constant(param.initial, dtype=self._dtype)

    def param_partitioner(self, name: str) -> Any:
        """How a variable is cut into parts: as the scope says."""
        return None

    @property
    def options(self) -> Any:
        """The options of the spec, with the activation where it is a plain function of torch."""
        assert self._activation is not None
        plain = self._activation.plain
        return self._options if plain is None else dataclasses.replace(self._options, activation=plain)

    def param_tensors(self) -> dict[str, Tensor]:
        return {name: convert_to_tensor(variable) for name, variable in self._params.items()}

    @property
    def activation(self) -> Activation:
        assert self._activation is not None
        return self._activation

    def call(self, inputs: Any, state: Any) -> tuple[Tensor, Any]:
        """Run one step: `inputs` `[batch, input_size]`; returns (output, new state)."""
        output, new_state = add_step(self, inputs, self.checked_state(inputs, state, batch_axis=0))
        return output, self.join_state(new_state)

    def _run_whole(self, inputs: Tensor, state: Any, walk: Any) -> tuple[Tensor, Any]:
        """Run over a whole sequence, `inputs` `[batch, time, input_size]`, as one node; `walk` says in which layout and
        for how long each row.
        """
        with self.stepping(walk.step_shape(inputs), inputs.dtype.base_dtype):
            tensors = self.checked_state(inputs, state, batch_axis=walk.batch_axis)
            outputs, final = add_sequence(
                self,
                inputs,
                walk.lengths,
                tensors,
                time_major=walk.time_major,
                reverse=walk.reverse,
                parallel_iterations=walk.parallel_iterations,
            )
            return outputs, self.join_state(final)

    def checked_state(self, inputs: Tensor, state: Any, batch_axis: int) -> tuple[Tensor, ...]:
        """The spec's state tensors, held against the inputs' dtype and batch and the cell's sizes."""
        tensors = self.split_state(state)
        depth = inputs.dims[-1] if inputs.dims is not None else None
        expected = next(iter(self._params.values())).get_shape()[0].value
        own = self.spec.output_size(self._options)
        if depth is not None and expected is not None and depth + own != expected:
            raise ValueError(
                f"Dimensions must be equal, but are {depth + own} and {expected}: {type(self).__name__} was built "
                f"for inputs of width {expected - own}, "
                f"got {describe('inputs', inputs.dims, inputs.dtype.name)}"
            )
        batch = inputs.dims[batch_axis] if inputs.dims is not None else None
        names, sizes = self.spec.state_names(self._options), self.spec.state_sizes(self._options)
        for name, size, tensor in zip(names, sizes, tensors, strict=True):
            where = f"{type(self).__name__}: state{'.' + name if len(names) > 1 else ''}"
            if tensor.dtype.base_dtype is not inputs.dtype.base_dtype or inputs.dtype.base_dtype is not self._dtype:
                raise TypeError(
                    f"{where} and inputs must have types that match the cell's, but inputs are {inputs.dtype.name}, "
                    f"the state is {tensor.dtype.name} "
                    f"and the variables are {self._dtype.name if self._dtype else None}"
                )
            if tensor.dims is not None and len(tensor.dims) != 2:
                raise ValueError(
                    f"{where}: Shape must be rank 2 but is rank {len(tensor.dims)}: expected [batch, {size}], got "
                    f"{tensor.shape}"
                )
            if not tensor.shape.is_compatible_with([batch, size]):
                raise ValueError(
                    f"{where}: Dimensions must be equal: expected shape {TensorShape([batch, size])}, got "
                    f"{tensor.shape}"
                )
        return tensors
