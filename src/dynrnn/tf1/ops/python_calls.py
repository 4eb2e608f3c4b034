"""`tf.py_func`: a Python function of arrays as an operation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...errors import InvalidArgumentError
from ...graph.dtype import DType, as_dtype, string, to_numpy, to_torch
from ...graph.op import Op
from ..export import export
from ..graph import Operation, atomic, get_default_graph
from .convert import convert_to_tensor


def _bind(node: Operation, runtime: Any) -> Callable[..., tuple[Any, ...]]:
    function, dtypes, name = node.attrs["function"], node.attrs["dtypes"], node.name

    def call(*values: Any) -> tuple[Any, ...]:
        arrays = [to_numpy(value) for value in values]
        results = function(*[array if array.ndim else array[()] for array in arrays])
        if results is None:
            results = []
        elif not isinstance(results, (list, tuple)):
            results = [results]
        if len(results) != len(dtypes):
            raise InvalidArgumentError(
                None, node, f"{name} returns {len(results)} values, but expects to see {len(dtypes)} values."
            )
        return tuple(_value(node, i, item, dtype) for i, (item, dtype) in enumerate(zip(results, dtypes, strict=True)))

    return call


def _value(node: Operation, position: int, item: Any, dtype: DType) -> Any:
    """The value of one output: a copy of what the function returned, which must be of the declared dtype."""
    array = np.array(item)
    if dtype is string and array.dtype.kind in "OSU":
        flat = [text if isinstance(text, bytes) else str(text).encode() for text in array.reshape(-1).tolist()]
        strings = np.empty(len(flat), object)
        strings[:] = flat
        return strings.reshape(array.shape)
    if dtype is string or array.dtype != dtype.numpy:
        raise InvalidArgumentError(
            None,
            node,
            f"{position}-th value returned by {node.name} is {array.dtype}, but expects {dtype.name}: return an array "
            f"of that type, as np.{'array(..., object)' if dtype is string else dtype.name + '(...)'} makes it",
        )
    return to_torch(array)


PY_FUNC = Op("PyFunc", None, None, None, bind=_bind, differentiable=False, stateful=True, foreign=True)
PY_FUNC_STATELESS = Op("PyFuncStateless", None, None, None, bind=_bind, differentiable=False, foreign=True)


@export("py_func")
@atomic
def py_func(
    func: Callable[..., Any],
    inp: Sequence[Any],
    Tout: Any,  # noqa: N803
    stateful: bool = True,
    name: str | None = None,
) -> Any:
    """Return what `func` returns for the values of `inp`, each time it is computed.

    func: a function of numpy arrays (of numpy scalars or bytes for rank 0) that returns arrays, or None for no output.
    inp: a list of tensors. Tout: a dtype, or a list of them: what `func` returns must be of these dtypes; Python floats
    are float64, ints int64. stateful: whether the result may differ from call to call. What `func` raises comes out of
    `Session.run` as it is. No gradient passes. The results' shapes are unknown.

    Returns:
        A tensor; a list of them where `Tout` is a list; the operation where that is empty.

    Raises:
        ValueError: `func` cannot be called. tf.errors.InvalidArgumentError: in a run, results of another number or
        dtype.

    Example:
        >>> import dynrnn.tf1 as tf
        >>> y = tf.py_func(lambda x: x[::-1], [tf.constant([1, 2, 3])], tf.int32)
        >>> with tf.Session() as sess:
        ...     print(sess.run(y))
        [3 2 1]
    """
    if not callable(func):
        raise ValueError(f"Expected func to be callable. Received func={func!r} of type {type(func)}.")
    several = isinstance(Tout, (list, tuple))
    dtypes = [as_dtype(item).base_dtype for item in (Tout if several else [Tout])]
    inputs = [convert_to_tensor(item, name="input") for item in inp]
    node = get_default_graph().add(
        PY_FUNC if stateful else PY_FUNC_STATELESS,
        inputs,
        {"function": func, "dtypes": tuple(dtypes)},
        dtypes=dtypes,
        shapes=[None] * len(dtypes),
        name=name,
    )
    if not dtypes:
        return node
    return list(node.outputs) if several else node.outputs[0]


@export("numpy_function")
def numpy_function(func: Callable[..., Any], inp: Sequence[Any], Tout: Any, name: str | None = None) -> Any:  # noqa: N803
    """`tf.py_func` by its later name."""
    return py_func(func, inp, Tout, True, name)
