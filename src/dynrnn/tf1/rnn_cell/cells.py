"""The basic cells of `tf.nn.rnn_cell`: arguments and variables as TensorFlow's, formulas from `dynrnn.cells`."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...cells import BASIC_RNN, GRU, LSTM, BasicRNNOptions, GRUOptions, LSTMOptions
from ..export import export
from ..graph import Tensor
from ..legacy.order import without_input_size
from ..ops.array.joining import concat
from ..ops.array.splitting import split
from ..ops.convert import convert_to_tensor
from ..partitioners import fixed_size_partitioner
from .spec_cell import SpecCell


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


def _as_size(value: Any) -> Any:
    """A width as an int where it is a whole number, such as 3.0; the options refuse anything else."""
    if isinstance(value, (str, bytes)) or (isinstance(value, (float, np.floating)) and not float(value).is_integer()):
        return value
    return int(value) if hasattr(value, "__int__") else value


@export("nn.rnn_cell.BasicRNNCell")
class BasicRNNCell(SpecCell):
    """The plain recurrent cell; for the formula see `dynrnn.cells.basic_rnn_step`.

    num_units: width of output and state. activation: a function of a tensor (default `tf.tanh`). reuse: whether to take
    existing variables of the scope. name: scope of the variables (default `basic_rnn_cell`). dtype: of the variables
    (default: the inputs'). Output and state are `[batch, num_units]`.

    Example:
        >>> import dynrnn.tf1 as tf
        >>> cell = tf.nn.rnn_cell.BasicRNNCell(4)
        >>> output, state = cell(tf.ones([2, 3]), cell.zero_state(2, tf.float32))
        >>> output.shape.as_list()
        [2, 4]
    """

    spec = BASIC_RNN

    @without_input_size(1)
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
            BasicRNNOptions(_as_size(num_units), owner=type(self).__name__),
            activation,
            reuse=reuse,
            name=name,
            dtype=dtype,
            trainable=trainable,
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

    @without_input_size(1)
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
            GRUOptions(_as_size(num_units), owner=type(self).__name__),
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


def _as_number(value: Any) -> Any:
    """A number that TensorFlow takes in another form: a bool, or an array of one value."""
    if isinstance(value, np.ndarray) and value.size == 1:
        return value.item()
    return int(value) if isinstance(value, bool) else value


@export("nn.rnn_cell.BasicLSTMCell")
class BasicLSTMCell(_LSTM):
    """The LSTM without options; for the formula see `dynrnn.cells.lstm_step`.

    num_units: width of output, c and h. forget_bias: added to the forget gate at run time; it is not part of the
    variable. state_is_tuple: whether the state is an `LSTMStateTuple` or c and h side by side in one tensor.
    activation: default `tf.tanh`. reuse, name, dtype: as for `BasicRNNCell`. A forget_bias that is no number, or NaN,
    raises TypeError or ValueError.
    """

    @without_input_size(2)
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
        options = LSTMOptions(_as_size(num_units), forget_bias=_as_number(forget_bias), owner=type(self).__name__)
        super().__init__(options, activation, reuse=reuse, name=name, dtype=dtype, trainable=trainable)
        self._state_is_tuple = state_is_tuple


@export("nn.rnn_cell.LSTMCell")
class LSTMCell(_LSTM):
    """The LSTM with peepholes, clipping and projection; for the formula see `dynrnn.cells.lstm_step`.

    num_units: width of c. use_peepholes: let the gates see c. cell_clip: bound on c, before the output gate.
    initializer: of kernel, peepholes and projection. num_proj: width of h and output (default: num_units). proj_clip:
    bound on the projected output. num_unit_shards, num_proj_shards: into how many parts the kernels are cut.
    forget_bias, state_is_tuple, activation, reuse, name, dtype: as for `BasicLSTMCell`. A negative bound, which
    TensorFlow would make c's only value, raises ValueError, and so does NaN.
    """

    @without_input_size(1)
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
            _as_size(num_units),
            use_peepholes,
            _as_number(cell_clip),
            None if not num_proj else _as_size(num_proj),
            _as_number(proj_clip),
            forget_bias=_as_number(forget_bias),
            owner=type(self).__name__,
        )
        super().__init__(
            options, activation, initializer=initializer, reuse=reuse, name=name, dtype=dtype, trainable=trainable
        )
        self._state_is_tuple = state_is_tuple
        self._shards = {"num_unit_shards": num_unit_shards, "num_proj_shards": num_proj_shards}

    def param_partitioner(self, name: str) -> Any:
        shards = self._shards.get({"kernel": "num_unit_shards", "projection/kernel": "num_proj_shards"}.get(name, ""))
        return fixed_size_partitioner(shards) if shards is not None else None
