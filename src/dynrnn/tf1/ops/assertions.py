"""`tf.Assert` and `tf.Print`: operations that look at values while a graph runs. Ready-made checks are in
`checks.py`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

from ...errors import InvalidArgumentError
from ...graph.dtype import bool_, to_numpy
from ...graph.op import Op
from ..export import export
from ..graph import Operation, Tensor, atomic, get_default_graph
from ..scopes import name_scope
from .convert import convert_to_tensor
from .value_text import value_text


def _bind_assert(node: Operation, runtime: Any) -> Callable[..., None]:
    limit = node.attrs["summarize"]

    def check(condition: Any, *data: Any) -> None:
        if condition.ndim:
            raise InvalidArgumentError(None, node, f"In[0] should be a scalar: condition has {list(condition.shape)}")
        if not condition:
            shown = " ".join(value_text(to_numpy(value), limit) for value in data)
            raise InvalidArgumentError(None, node, f"assertion failed: {shown}")

    return check


def _bind_print(node: Operation, runtime: Any) -> Callable[..., tuple[Any]]:
    attrs = node.attrs

    def show(value: Any, *data: Any) -> tuple[Any]:
        count = runtime.states.get(node, 0)
        if attrs["first_n"] < 0 or count < attrs["first_n"]:
            runtime.states[node] = count + 1
            shown = "".join(value_text(to_numpy(item), attrs["summarize"]) for item in data)
            sys.stderr.write(f"{attrs['message']}{shown}\n")
            sys.stderr.flush()
        return (value.view_as(value) if hasattr(value, "view_as") else value.view(),)

    return show


def _through_first(node: Operation, position: int, differentiable: bool) -> range:
    return range(1 if differentiable else len(node.inputs))


ASSERT = Op("Assert", None, None, None, bind=_bind_assert, differentiable=False, stateful=True)
PRINT = Op("Print", None, None, None, bind=_bind_print, depends=_through_first, stateful=True)


@export("Assert", "debugging.Assert")
@atomic
def Assert(condition: Any, data: Sequence[Any], summarize: int | None = None, name: str | None = None) -> Operation:  # noqa: N802
    """Return an operation that fails where `condition` is false; make others depend on it to have it run.

    condition: a bool scalar. data: tensors and values that the error shows. summarize: how many elements of each
    (default: 3; negative: all).

    Raises:
        TypeError: `condition` is no bool, or `data` no list. tf.errors.InvalidArgumentError: in a run, `condition` is
        false.

    Example:
        >>> import dynrnn.tf1 as tf
        >>> x = tf.constant(2.0)
        >>> with tf.control_dependencies([tf.Assert(x > 1.0, [x])]):
        ...     y = tf.identity(x)
        >>> with tf.Session() as sess:
        ...     print(sess.run(y))
        2.0
    """
    if not isinstance(data, (list, tuple)):
        raise TypeError(f"Expected list for 'data' argument to 'Assert' Op, not {data!r}.")
    with name_scope(name, "Assert"):
        tensor = convert_to_tensor(condition, name="condition")
        if tensor.dtype.base_dtype is not bool_:
            raise TypeError(
                f"Input 'condition' of 'Assert' Op has type {tensor.dtype.base_dtype.name} that does not match "
                "expected type of bool."
            )
        values = [convert_to_tensor(item, name="data") for item in data]
        attrs = {"summarize": summarize}
        return get_default_graph().add(ASSERT, [tensor, *values], attrs, dtypes=[], shapes=[])  # type: ignore[return-value]


@export("Print")
@atomic
def Print(  # noqa: N802
    input_: Any,
    data: Sequence[Any],
    message: str | None = None,
    first_n: int | None = None,
    summarize: int | None = None,
    name: str | None = None,
) -> Tensor:
    """Return `input_`; each time it is computed, print `data` to the standard error.

    data: tensors and values. message: what stands before them. first_n: print only so many times in a session (default:
    always). summarize: how many elements of each are shown (default: 3; negative: all). Gradients pass unchanged.

    Raises:
        TypeError: `data` is no list.
    """
    if not isinstance(data, (list, tuple)):
        raise TypeError(f"Expected list for 'data' argument to 'Print' Op, not {data!r}.")
    tensor = convert_to_tensor(input_, name="input")
    values = [convert_to_tensor(item, name="data") for item in data]
    attrs = {"message": message or "", "first_n": -1 if first_n is None else first_n, "summarize": summarize}
    graph = get_default_graph()
    node = graph.add(PRINT, [tensor, *values], attrs, dtypes=[tensor.dtype.base_dtype], shapes=[tensor.dims], name=name)
    return node.outputs[0]  # type: ignore[return-value]
