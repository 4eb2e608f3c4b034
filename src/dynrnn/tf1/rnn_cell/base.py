"""What every cell of the TF1 face is: a layer that owns variables under TensorFlow's scope rules, called with inputs
and a state.

The rules for a cell's scope are those of TF 1's layers: the scope is taken at the first call and kept, later calls
reuse its variables.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ... import _nest
from ...graph.constants import constant_value
from ...graph.dtype import DType, as_dtype
from ...graph.shape import TensorShape, as_shape
from ..export import export
from ..graph import Tensor, get_default_graph
from ..ops.array.making import zeros
from ..ops.array.sizing import shape
from ..ops.convert import convert_to_tensor
from ..scopes import name_scope
from ..variable_scope import get_variable, get_variable_scope, variable_scope


def snake_case(name: str) -> str:
    """Return a class name as TensorFlow spells it in scopes: `BasicLSTMCell` gives `basic_lstm_cell`."""
    name = re.sub(r"(.)([A-Z][a-z0-9]+)", r"\1_\2", name)
    name = re.sub(r"([a-z])([A-Z])", r"\1_\2", name).lower()
    return f"private{name}" if name.startswith("_") else name


class Layer:
    """A callable that makes its variables in the scope of its first call and reuses them afterwards."""

    def __init__(
        self, trainable: bool = True, name: str | None = None, dtype: Any = None, _reuse: Any = None, _scope: Any = None
    ):
        self._base_name = name or snake_case(type(self).__name__)
        self._given_name = name
        self._reuse = _reuse
        self._dtype = None if dtype is None else as_dtype(dtype).base_dtype
        self._scope: Any = None
        self._variables: list[Any] = []
        self.trainable = trainable
        self.built = False
        self.input_spec: int | None = None  # the rank that inputs must have
        if _scope is not None:
            with variable_scope(_scope) as captured:
                self._scope = captured

    def _remember(self, name: str, value: Any) -> None:
        """Set an attribute that a failed call takes back."""
        before = dict(vars(self))

        def undo() -> None:
            if name in before:
                object.__setattr__(self, name, before[name])
            else:
                object.__delattr__(self, name)

        get_default_graph().on_undo(undo)
        object.__setattr__(self, name, value)

    @property
    def name(self) -> str:
        return (
            self._scope.name.rsplit("/", 1)[-1]
            if self._scope is not None and self._given_name is None
            else self._base_name
        )

    @property
    def dtype(self) -> DType | None:
        return self._dtype

    @property
    def scope_name(self) -> str:
        if self._scope is None:
            raise ValueError(
                f"No name available for layer scope because the layer {self._base_name!r} has not been used yet."
            )
        return self._scope.name

    @property
    def graph(self) -> Any:
        return get_default_graph()

    @property
    def weights(self) -> list[Any]:
        """The layer's variables, trainable ones first."""
        return self.trainable_weights + self.non_trainable_weights

    variables = weights

    @property
    def trainable_weights(self) -> list[Any]:
        return [variable for variable in self._all_variables() if variable.trainable] if self.trainable else []

    @property
    def non_trainable_weights(self) -> list[Any]:
        return [variable for variable in self._all_variables() if not (variable.trainable and self.trainable)]

    @property
    def trainable_variables(self) -> list[Any]:
        return self.trainable_weights

    @property
    def non_trainable_variables(self) -> list[Any]:
        return self.non_trainable_weights

    def _all_variables(self) -> list[Any]:
        return list(self._variables)

    def count_params(self) -> int:
        return sum(variable.get_shape().num_elements() or 0 for variable in self.weights)

    def get_config(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "trainable": self.trainable,
            "dtype": None if self._dtype is None else self._dtype.name,
        }

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Any:
        return cls(**config)

    def build(self, inputs_shape: Any) -> None:
        """Make the variables; called once, before the first call."""
        self._remember("built", True)

    def call(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        """What a call computes; for subclasses to define."""
        raise NotImplementedError(f"{type(self).__name__} must define call(self, inputs, state)")

    def add_weight(
        self,
        name: str,
        shape: Any = None,
        dtype: Any = None,
        initializer: Any = None,
        regularizer: Any = None,
        trainable: bool = True,
        constraint: Any = None,
        partitioner: Any = None,
        **unknown: Any,
    ) -> Any:
        """Make or reuse a variable under the layer's scope; its dtype is the layer's unless another is given."""
        if unknown:
            raise TypeError(f"add_weight: unknown arguments {sorted(unknown)}")
        variable = get_variable(
            name,
            shape=as_shape([] if shape is None else shape),
            dtype=as_dtype(dtype) if dtype is not None else self._dtype,
            initializer=initializer,
            regularizer=regularizer,
            trainable=trainable and self.trainable,
            constraint=constraint,
            partitioner=partitioner,
        )
        self._note(variable)
        return variable

    add_variable = add_weight

    def _note(self, variable: Any) -> None:
        parts = list(variable) if hasattr(variable, "_get_variable_list") else [variable]
        for part in parts:
            if not any(part is known for known in self._variables):
                self._variables.append(part)
                get_default_graph().on_undo(lambda part=part: self._variables.remove(part))

    def _set_scope(self, scope: Any) -> None:
        if self._scope is not None:
            return
        if self._reuse:
            entered = variable_scope(scope if scope is not None else self._base_name)
        else:
            entered = variable_scope(scope, default_name=self._base_name)
        with entered as captured:
            self._remember("_scope", captured)

    @contextmanager
    def calling(self, shapes: Any, dtype: DType, scope: Any = None) -> Iterator[Any]:
        """Enter the layer's scope as a call on inputs of these static shapes does: take it at the first time, build,
        reuse from then on.
        """
        self._set_scope(scope)
        reuse = True if self.built else self._reuse
        with (
            variable_scope(self._scope, reuse=reuse, auxiliary_name_scope=False) as entered,
            get_default_graph().name_scope(entered.original_name_scope or None),
        ):
            self._check_rank(shapes)
            if not self.built:
                if self._dtype is None:
                    self._remember("_dtype", dtype.base_dtype)
                self._remember("built", False)  # so that a failed call takes back what a user's build sets
                self.build(shapes)
                self._remember("built", True)
            yield entered

    def _check_rank(self, shapes: Any) -> None:
        rank = self.input_spec
        if rank is None:
            return
        if not isinstance(shapes, TensorShape):
            raise ValueError(
                f"Layer {self._base_name} expects one tensor as inputs, got a nest of {len(_nest.flatten(shapes))}"
            )
        if shapes.ndims is not None and shapes.ndims != rank:
            raise ValueError(
                f"Input 0 of layer {self._base_name} is incompatible with the layer: expected ndim={rank}, found "
                f"ndim={shapes.ndims}. "
                f"Full shape received: {shapes}"
            )

    def __call__(self, inputs: Any, *args: Any, scope: Any = None, **kwargs: Any) -> Any:
        with get_default_graph().atomic():
            inputs = _nest.map_structure(convert_to_tensor, inputs)
            with self.calling(*_static(inputs), scope):
                return self.call(inputs, *args, **kwargs)


def _static(inputs: Any) -> tuple[Any, DType]:
    """The static shapes of inputs, as a nest, and the dtype of the first of them."""
    return _nest.map_structure(lambda tensor: tensor.get_shape(), inputs), _nest.flatten(inputs)[0].dtype.base_dtype


@export("nn.rnn_cell.RNNCell")
class RNNCell(Layer):
    """A recurrent cell: `call(inputs, state) -> (output, new_state)`, with `state_size` and `output_size`.

    Subclasses define `state_size` (an int, a TensorShape, or a nest of them), `output_size` likewise, and `call`, which
    may make variables with `tf.get_variable`: they stand under the cell's scope and are reused by later calls. `inputs`
    is `[batch, ...]`, each state tensor `[batch, size...]`.

    Example:
        >>> import dynrnn.tf1 as tf
        >>> class Sum(tf.nn.rnn_cell.RNNCell):
        ...     state_size = output_size = 3
        ...     def call(self, inputs, state):
        ...         return inputs + state, inputs + state
        >>> outputs, state = tf.nn.dynamic_rnn(Sum(), tf.ones([2, 4, 3]), dtype=tf.float32)
        >>> with tf.Session() as sess:
        ...     print(sess.run(state)[0])
        [4. 4. 4.]
    """

    _first_scope: Any  # the variable scope that was the current one at the first call

    @property
    def state_size(self) -> Any:
        """The size, or nest of sizes, of the state; for subclasses to define."""
        raise NotImplementedError(f"{type(self).__name__} must define state_size")

    @property
    def output_size(self) -> Any:
        """The size, or nest of sizes, of the output; for subclasses to define."""
        raise NotImplementedError(f"{type(self).__name__} must define output_size")

    def __call__(self, inputs: Any, state: Any, scope: Any = None, **kwargs: Any) -> Any:
        """Run one step.

        inputs: `[batch, ...]` (or a nest). state: as `state_size` says. scope: a scope for the variables (default: the
        cell's own name).
        Returns (output, new_state).
        """
        with get_default_graph().atomic():
            inputs = _nest.map_structure(convert_to_tensor, inputs)
            with self.stepping(*_static(inputs), scope):
                return self.call(inputs, state, **kwargs)

    @contextmanager
    def stepping(self, shapes: Any, dtype: DType, scope: Any = None) -> Iterator[Any]:
        """Enter the cell's scope as a step on inputs of these static shapes does; its `tf.get_variable` calls are noted
        as the cell's variables.
        """
        if scope is not None:
            with (
                variable_scope(scope, custom_getter=self._noting_getter) as entered,
                self.calling(shapes, dtype, entered),
            ):
                yield entered
            return
        if not hasattr(self, "_first_scope"):
            self._remember("_first_scope", get_variable_scope())
        with (
            variable_scope(self._first_scope, custom_getter=self._noting_getter, auxiliary_name_scope=False),
            self.calling(shapes, dtype) as entered,
        ):
            yield entered

    def _noting_getter(self, getter: Any, *args: Any, **kwargs: Any) -> Any:
        variable = getter(*args, **kwargs)
        self._note(variable)
        return variable

    def zero_state(self, batch_size: Any, dtype: Any) -> Any:
        """Return zeros as a state: `state_size`'s structure, each tensor `[batch_size, size...]`.

        batch_size: an int or an int32 scalar tensor. dtype: one for all tensors, or a nest of dtypes as `state_size` is
        one.
        """
        with name_scope(type(self).__name__ + "ZeroState", "ZeroState"):
            return zero_states(self.state_size, batch_size, dtype)

    def get_initial_state(self, inputs: Any = None, batch_size: Any = None, dtype: Any = None) -> Any:
        """Return `zero_state` for the batch size and dtype of `inputs` (`[batch, ...]`), or for those given.

        Raises:
            ValueError: neither is given, or they disagree with `inputs`.
        """
        if inputs is not None:
            inputs = convert_to_tensor(inputs)
            batch_size = _agreed_batch(inputs, batch_size)
            if dtype is not None and as_dtype(dtype).base_dtype is not inputs.dtype.base_dtype:
                raise ValueError(
                    "dtype from input tensor is different from the input param. Input tensor dtype: "
                    f"{inputs.dtype.name}, dtype: {as_dtype(dtype).name}"
                )
            dtype = inputs.dtype.base_dtype
        if batch_size is None or dtype is None:
            raise ValueError(
                f"batch_size and dtype cannot be None while constructing initial state: batch_size={batch_size}, "
                f"dtype={dtype}"
            )
        return self.zero_state(batch_size, dtype)


def _agreed_batch(inputs: Tensor, batch_size: Any) -> Any:
    static = inputs.get_shape()[0].value if inputs.get_shape().ndims else None
    given = constant_value(batch_size) if isinstance(batch_size, Tensor) else batch_size
    if given is not None and static is not None and int(given) != static:
        raise ValueError(
            f"batch size from input tensor is different from the input param. Input tensor batch: {static}, "
            f"batch_size: {int(given)}"
        )
    if static is not None:
        return static
    return batch_size if batch_size is not None else first_size(inputs)


def first_size(tensor: Tensor) -> Any:
    """The size of the first axis: an int where it is known, else a tensor."""
    dims = tensor.dims
    return dims[0] if dims and dims[0] is not None else shape(tensor)[0]


def zero_states(state_size: Any, batch_size: Any, dtype: Any) -> Any:
    """Zeros for a nest of sizes: an int n gives `[batch, n]`, a TensorShape `[batch, ...]`."""
    dtypes = dtype if _nest.is_nested(dtype) else _nest.map_structure(lambda _: dtype, state_size)
    batch = constant_value(batch_size) if isinstance(batch_size, Tensor) else batch_size
    batch = int(batch) if batch is not None else batch_size

    def make(size: Any, kind: Any) -> Tensor:
        return zeros([batch, *as_shape(size).as_list()], dtype=kind)

    return _nest.map_structure(make, state_size, dtypes)


def full_shape(batch: int | None, size: Any) -> TensorShape:
    """The static shape of a state or output tensor of `size`."""
    return TensorShape([batch]).concatenate(as_shape(size))


@export("nn.rnn_cell._like_rnncell")
def is_cell(cell: Any) -> bool:
    """Whether an object has what the loops need of a cell."""
    return callable(cell) and all(hasattr(cell, name) for name in ("output_size", "state_size", "zero_state"))


def check_cell(argument: str, cell: Any) -> None:
    """TypeError, naming what is missing, where an object is no cell."""
    if isinstance(cell, type):
        raise TypeError(f"The argument {argument!r} is the class {cell.__name__}, not a cell: call it to make one")
    missing = [f"'{name}' property is missing" for name in ("output_size", "state_size") if not hasattr(cell, name)]
    if not hasattr(cell, "zero_state"):
        missing.append("'zero_state' method is missing")
    if not callable(cell):
        missing.append("is not callable")
    if missing:
        raise TypeError(f"The argument {argument!r} ({cell}) is not an RNNCell: {', '.join(missing)}.")
