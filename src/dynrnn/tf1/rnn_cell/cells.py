"""The basic cells of `tf.nn.rnn_cell`: arguments and variables as TensorFlow's, formulas from `dynrnn.cells`."""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple

from ...cells import BASIC_RNN, GRU, LSTM, BasicRNNOptions, CellSpec, GRUOptions, LSTMOptions
from ...errors import describe
from ...graph.shape import TensorShape
from ..export import export
from ..graph import Tensor
from ..initializers import Constant
from ..ops.array.joining import concat
from ..ops.array.splitting import split
from ..ops.convert import convert_to_tensor
from ..partitioners import fixed_size_partitioner
from .activation import Activation, as_activation
from .base import RNNCell
from .step import add_sequence, add_step


@export("nn.rnn_cell.LSTMStateTuple")
class LSTMStateTuple(NamedTuple):
    """The state of an LSTM: `c`, the memory, `[batch, units]`, and `h`, the output, `[batch, output]`; in this order.

    Example:
        >>> LSTMStateTuple(c=1, h=2)
        LSTMStateTuple(c=1, h=2)
    """

    c: Any
    h: Any

    @property
    def dtype(self) -> Any:
        """The dtype of both tensors; TypeError where they differ."""
        if self.c.dtype != self.h.dtype:
            raise TypeError(f"Inconsistent internal state: {self.c.dtype} vs {self.h.dtype}")
        return self.c.dtype


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

    def sequence(self, inputs: Tensor, state: Any, walk: Any) -> tuple[Tensor, Any]:
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


@export("nn.rnn_cell.BasicRNNCell")
class BasicRNNCell(SpecCell):
    """The plain recurrent cell; for the formula see `dynrnn.cells.basic_rnn_step`.

    num_units: width of output and state. activation: a function of a tensor (default `tf.tanh`). reuse: whether to take
    existing
    variables of the scope. name: scope of the variables (default `basic_rnn_cell`). dtype: of the variables (default:
    the inputs'). Output and state are `[batch, num_units]`.

    Example:
        >>> import dynrnn.tf1 as tf
        >>> cell = tf.nn.rnn_cell.BasicRNNCell(4)
        >>> output, state = cell(tf.ones([2, 3]), cell.zero_state(2, tf.float32))
        >>> output.shape.as_list()
        [2, 4]
    """

    spec = BASIC_RNN

    def __init__(
        self,
        num_units: int,
        activation: Any = None,
        reuse: Any = None,
        name: str | None = None,
        dtype: Any = None,
        trainable: bool = True,
    ):
        super().__init__(
            BasicRNNOptions(int(num_units)), activation, reuse=reuse, name=name, dtype=dtype, trainable=trainable
        )

    @property
    def state_size(self) -> int:
        return self._options.num_units

    @property
    def output_size(self) -> int:
        return self._options.num_units


@export("nn.rnn_cell.GRUCell")
class GRUCell(SpecCell):
    """The gated recurrent unit with the reset gate before the product; for the formula see `dynrnn.cells.gru_step`.

    num_units: width of output and state. activation: of the candidate (default `tf.tanh`). kernel_initializer,
    bias_initializer: of both kernels and both biases (default: the scope's; biases of the gates start at 1, of the
    candidate at 0). reuse, name, dtype: as for `BasicRNNCell`.
    """

    spec = GRU

    def __init__(
        self,
        num_units: int,
        activation: Any = None,
        reuse: Any = None,
        kernel_initializer: Any = None,
        bias_initializer: Any = None,
        name: str | None = None,
        dtype: Any = None,
        trainable: bool = True,
    ):
        super().__init__(
            GRUOptions(int(num_units)),
            activation,
            initializer=kernel_initializer,
            reuse=reuse,
            name=name,
            dtype=dtype,
            trainable=trainable,
        )
        self._bias_initializer = bias_initializer

    def param_initializer(self, param: Any) -> Any:
        if param.initial is not None and self._bias_initializer is not None:
            return self._bias_initializer
        return super().param_initializer(param)

    @property
    def state_size(self) -> int:
        return self._options.num_units

    @property
    def output_size(self) -> int:
        return self._options.num_units


class _LSTM(SpecCell):
    """What both LSTM cells share: the state as a tuple or as one concatenated tensor."""

    spec = LSTM
    _state_is_tuple: bool

    @property
    def state_size(self) -> Any:
        sizes = self.spec.state_sizes(self._options)
        return LSTMStateTuple(*sizes) if self._state_is_tuple else sum(sizes)

    @property
    def output_size(self) -> int:
        return self.spec.output_size(self._options)

    def split_state(self, state: Any) -> tuple[Tensor, ...]:
        if self._state_is_tuple:
            if isinstance(state, Tensor):
                raise TypeError(
                    f"{type(self).__name__}: state must be an LSTMStateTuple(c, h), got one tensor, which is not "
                    f"iterable: {state}"
                )
            if len(state) != 2:
                raise ValueError(
                    f"{type(self).__name__}: state must be an LSTMStateTuple(c, h), got {len(state)} values: {state}"
                )
            return convert_to_tensor(state[0]), convert_to_tensor(state[1])
        sizes = list(self.spec.state_sizes(self._options))
        whole = convert_to_tensor(state)
        if not whole.shape.is_compatible_with([None, sum(sizes)]):
            raise ValueError(
                f"{type(self).__name__}: state must have shape [batch, {sum(sizes)}] (c and h side by side), got "
                f"{whole.shape}"
            )
        return tuple(split(whole, sizes, axis=1))

    def join_state(self, state: tuple[Tensor, ...]) -> Any:
        return LSTMStateTuple(*state) if self._state_is_tuple else concat(list(state), 1)


@export("nn.rnn_cell.BasicLSTMCell")
class BasicLSTMCell(_LSTM):
    """The LSTM without options; for the formula see `dynrnn.cells.lstm_step`.

    num_units: width of output, c and h. forget_bias: added to the forget gate at run time; it is not part of the
    variable. state_is_tuple: whether the state is an `LSTMStateTuple` or c and h side by side in one tensor.
    activation: default `tf.tanh`. reuse, name, dtype: as for `BasicRNNCell`.
    """

    def __init__(
        self,
        num_units: int,
        forget_bias: float = 1.0,
        state_is_tuple: bool = True,
        activation: Any = None,
        reuse: Any = None,
        name: str | None = None,
        dtype: Any = None,
        trainable: bool = True,
    ):
        options = LSTMOptions(int(num_units), forget_bias=forget_bias)
        super().__init__(options, activation, reuse=reuse, name=name, dtype=dtype, trainable=trainable)
        self._state_is_tuple = state_is_tuple


@export("nn.rnn_cell.LSTMCell")
class LSTMCell(_LSTM):
    """The LSTM with peepholes, clipping and projection; for the formula see `dynrnn.cells.lstm_step`.

    num_units: width of c. use_peepholes: let the gates see c. cell_clip: bound on c, before the output gate.
    initializer: of kernel, peepholes
    and projection. num_proj: width of h and output (default: num_units). proj_clip: bound on the projected output.
    num_unit_shards, num_proj_shards: into how many parts the kernels are cut. forget_bias, state_is_tuple, activation,
    reuse, name, dtype: as for `BasicLSTMCell`.
    """

    def __init__(
        self,
        num_units: int,
        use_peepholes: bool = False,
        cell_clip: float | None = None,
        initializer: Any = None,
        num_proj: int | None = None,
        proj_clip: float | None = None,
        num_unit_shards: int | None = None,
        num_proj_shards: int | None = None,
        forget_bias: float = 1.0,
        state_is_tuple: bool = True,
        activation: Any = None,
        reuse: Any = None,
        name: str | None = None,
        dtype: Any = None,
        trainable: bool = True,
    ):
        options = LSTMOptions(
            int(num_units),
            use_peepholes,
            cell_clip,
            None if not num_proj else int(num_proj),
            proj_clip,
            forget_bias=forget_bias,
        )
        super().__init__(
            options, activation, initializer=initializer, reuse=reuse, name=name, dtype=dtype, trainable=trainable
        )
        self._state_is_tuple = state_is_tuple
        self._shards = {"kernel": num_unit_shards, "projection/kernel": num_proj_shards}

    def param_partitioner(self, name: str) -> Any:
        shards = self._shards.get(name)
        return fixed_size_partitioner(shards) if shards is not None else None
