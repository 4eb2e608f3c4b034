"""Loops over the first axis that are written as functions: `tf.map_fn`, `tf.scan`, `tf.foldl`, `tf.foldr`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ... import _nest
from ...graph.dtype import as_dtype
from ...graph.shape import TensorShape
from ..export import export
from ..graph import Tensor, atomic
from ..ops.array.sizing import shape
from ..ops.convert import convert_to_tensor
from ..scopes import name_scope
from ..variable_scope import get_variable_scope, variable_scope
from .loops import while_loop
from .tensor_array import TensorArray


def _elements(function: str, elems: Any) -> tuple[list[Tensor], int | None, Any]:
    """The tensors to walk over, their common first size as far as it is known, and that size as an int or a tensor."""
    flat = [convert_to_tensor(elem, name="elem") for elem in _nest.flatten(elems)]
    known = None
    for tensor in flat:
        if tensor.dims is not None and not tensor.dims:
            raise ValueError(
                f"{function}: elems must have at least one axis to walk over, got the scalar {tensor.name}"
            )
        size = tensor.dims[0] if tensor.dims is not None else None
        if known is not None and size is not None and size != known:
            raise ValueError(f"{function}: elems must have the same first size, got {known} and {size} ({tensor.name})")
        known = size if known is None else known
    return flat, known, shape(flat[0])[0] if known is None else known


def _arrays(flat: list[Tensor], count: Any) -> list[TensorArray]:
    return [
        TensorArray(
            tensor.dtype,
            size=count,
            infer_shape=False,
            element_shape=None if tensor.dims is None else tensor.dims[1:],
            clear_after_read=False,
        ).unstack(tensor)
        for tensor in flat
    ]


def _finish(arrays: list[TensorArray], known: int | None) -> list[Tensor]:
    results = []
    for array in arrays:
        stacked = array.stack()
        if stacked.dims is not None:
            stacked.set_shape(TensorShape([known]).concatenate(stacked.dims[1:]))
        results.append(stacked)
    return results


def _check(function: str, fn: Any) -> None:
    if not callable(fn):
        raise TypeError(f"{function}: fn must be callable, got {fn!r}")


@export("map_fn")
@atomic
def map_fn(
    fn: Callable[[Any], Any],
    elems: Any,
    dtype: Any = None,
    parallel_iterations: int | None = None,
    back_prop: bool = True,
    swap_memory: bool = False,
    infer_shape: bool = True,
    name: str | None = None,
) -> Any:
    """Apply `fn` to each row of `elems` and return the results on top of each other.

    elems: a tensor `[n, ...]`, or a nest of them, of which `fn` gets the rows in the same nest. dtype: of what `fn`
    returns, as a nest where it returns one (default: that of `elems`). infer_shape: require results of one shape.
    back_prop, parallel_iterations, swap_memory: as for `tf.while_loop`.

    Raises:
        TypeError: `fn` cannot be called, or returns another structure. ValueError: scalars, or unequal first sizes.

    Example:
        >>> import dynrnn.tf1 as tf
        >>> with tf.Session() as sess:
        ...     print(sess.run(tf.map_fn(lambda x: x * x, tf.constant([1, 2, 3]))))
        [1 4 9]
    """
    _check("map_fn", fn)
    with name_scope(name, "map"), _shared_variables():
        flat, known, count = _elements("map_fn", elems)
        inputs = _arrays(flat, count)
        structure = elems if dtype is None else dtype
        dtypes = [t.dtype for t in flat] if dtype is None else [as_dtype(kind) for kind in _nest.flatten(dtype)]
        outputs = [TensorArray(kind, size=count, infer_shape=infer_shape) for kind in dtypes]

        def step(i: Any, written: list[TensorArray]) -> tuple[Any, list[TensorArray]]:
            values = fn(_nest.pack_sequence_as(elems, [array.read(i) for array in inputs]))
            _nest.assert_same_structure(structure, values)
            return i + 1, [array.write(i, value) for array, value in zip(written, _nest.flatten(values), strict=True)]

        _, outputs = while_loop(
            lambda i, _: i < count,
            step,
            (0, outputs),
            parallel_iterations=parallel_iterations or 10,
            back_prop=back_prop,
            swap_memory=swap_memory,
        )
        return _nest.pack_sequence_as(structure, _finish(outputs, known))


@export("scan")
@atomic
def scan(
    fn: Callable[[Any, Any], Any],
    elems: Any,
    initializer: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    infer_shape: bool = True,
    reverse: bool = False,
    name: str | None = None,
) -> Any:
    """Fold `fn(accumulated, row)` over the rows of `elems` and return all values on the way, on top of each other.

    initializer: the first accumulated value, a tensor or a nest (default: the first row, which is then the first
    result). reverse: walk from the last row to the first; results stay at their rows' places. The other arguments are
    those of `map_fn`.
    """
    _check("scan", fn)
    with name_scope(name, "scan"), _shared_variables():
        flat, known, count = _elements("scan", elems)
        inputs = _arrays(flat, count)
        start, first = _start(elems, inputs, initializer, count if reverse else None)
        structure = elems if initializer is None else initializer
        outputs = [
            TensorArray(
                value.dtype,
                size=count,
                dynamic_size=False,
                infer_shape=infer_shape,
                element_shape=value.shape if infer_shape else None,
            )
            for value in first
        ]
        begin: Any = start
        if reverse:
            begin = (count - 1) - start
        if initializer is None:
            place = count - 1 if reverse else 0
            outputs = [array.write(place, value) for array, value in zip(outputs, first, strict=True)]

        def step(i: Any, values: list[Tensor], written: list[TensorArray]) -> tuple[Any, list[Any], list[TensorArray]]:
            rows = _nest.pack_sequence_as(elems, [array.read(i) for array in inputs])
            new = fn(_nest.pack_sequence_as(structure, values), rows)
            _nest.assert_same_structure(structure, new)
            leaves = [convert_to_tensor(value) for value in _nest.flatten(new)]
            return (
                i - 1 if reverse else i + 1,
                leaves,
                [array.write(i, value) for array, value in zip(written, leaves, strict=True)],
            )

        def more(i: Any, values: list[Tensor], written: list[TensorArray]) -> Tensor:
            return i >= 0 if reverse else i < count

        _, _, outputs = while_loop(
            more,
            step,
            (begin, first, outputs),
            parallel_iterations=parallel_iterations,
            back_prop=back_prop,
            swap_memory=swap_memory,
        )
        return _nest.pack_sequence_as(structure, _finish(outputs, known))


def _start(elems: Any, inputs: list[TensorArray], initializer: Any, count_if_reversed: Any) -> tuple[int, list[Tensor]]:
    """How many rows are taken before the loop, and the first accumulated values."""
    if initializer is not None:
        return 0, [convert_to_tensor(value) for value in _nest.flatten(initializer)]
    place = 0 if count_if_reversed is None else count_if_reversed - 1
    return 1, [array.read(place) for array in inputs]


def _fold(
    function: str,
    fn: Callable[[Any, Any], Any],
    elems: Any,
    initializer: Any,
    parallel_iterations: int,
    back_prop: bool,
    swap_memory: bool,
    reverse: bool,
) -> Any:
    flat, _, count = _elements(function, elems)
    inputs = _arrays(flat, count)
    start, first = _start(elems, inputs, initializer, count if reverse else None)
    structure = elems if initializer is None else initializer

    def step(i: Any, values: list[Tensor]) -> tuple[Any, list[Tensor]]:
        place = count - 1 - i if reverse else i
        new = fn(
            _nest.pack_sequence_as(structure, values),
            _nest.pack_sequence_as(elems, [array.read(place) for array in inputs]),
        )
        _nest.assert_same_structure(structure, new)
        return i + 1, [convert_to_tensor(value) for value in _nest.flatten(new)]

    _, result = while_loop(
        lambda i, _: i < count,
        step,
        (start, first),
        parallel_iterations=parallel_iterations,
        back_prop=back_prop,
        swap_memory=swap_memory,
    )
    return _nest.pack_sequence_as(structure, result)


@export("foldl")
@atomic
def foldl(
    fn: Callable[[Any, Any], Any],
    elems: Any,
    initializer: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    name: str | None = None,
) -> Any:
    """Return `fn(... fn(fn(initializer, row 0), row 1) ..., row n - 1)`; without `initializer` row 0 takes its
    place.
    """
    _check("foldl", fn)
    with name_scope(name, "foldl"), _shared_variables():
        return _fold("foldl", fn, elems, initializer, parallel_iterations, back_prop, swap_memory, reverse=False)


@export("foldr")
@atomic
def foldr(
    fn: Callable[[Any, Any], Any],
    elems: Any,
    initializer: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    name: str | None = None,
) -> Any:
    """Return `fn(... fn(initializer, row n - 1) ..., row 0)`; without `initializer` the last row takes its place."""
    _check("foldr", fn)
    with name_scope(name, "foldr"), _shared_variables():
        return _fold("foldr", fn, elems, initializer, parallel_iterations, back_prop, swap_memory, reverse=True)


def _shared_variables() -> Any:
    """The current variable scope, entered as TensorFlow's functions enter it: its name scope stays."""
    return variable_scope(get_variable_scope(), auxiliary_name_scope=False)
