"""Sessions: they hold the values of variables and run parts of a graph."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any, NamedTuple

import numpy as np

from .. import _nest
from ..graph.dtype import to_bytes, to_numpy, to_torch
from ..graph.executor import Plan, Runtime
from ..graph.gradients import IndexedSlices
from ..graph.shape import TensorShape
from .export import export
from .graph import Graph, Operation, Tensor, default_sessions, get_default_graph


class IndexedSlicesValue(NamedTuple):
    """What a fetched IndexedSlices gives: arrays of values and indices, and the dense shape."""

    values: np.ndarray
    indices: np.ndarray
    dense_shape: np.ndarray | None


class BaseSession:
    """Runs operations of one graph and keeps the values of its variables.

    target, config: accepted for programs that pass them; everything runs in this process, on PyTorch's threads.
    graph: the graph to run (default: the default graph).
    """

    def __init__(self, target: str = "", graph: Graph | None = None, config: Any = None):
        if graph is not None and not isinstance(graph, Graph):
            raise TypeError(f"graph must be a tf.Graph, but got {type(graph)}")
        self._graph = graph if graph is not None else get_default_graph()
        self._runtime = Runtime()
        self._plans: dict[tuple, Plan] = {}
        self._closed = False
        self.sess_str = target
        self._config = config

    @property
    def graph(self) -> Graph:
        return self._graph

    @property
    def graph_def(self) -> Graph:
        return self._graph

    @property
    def runtime(self) -> Runtime:
        """The state that runs of this session share."""
        return self._runtime

    def close(self) -> None:
        """Let go of all values; a closed session refuses to run."""
        self._closed = True
        self._plans.clear()
        self._runtime = Runtime()

    def run(self, fetches: Any, feed_dict: Mapping[Any, Any] | None = None, options: Any = None, run_metadata: Any = None) -> Any:
        """Run what `fetches` need and return their values in the structure of `fetches`.

        fetches: a tensor, an operation (its value is None), a variable, a name, or any nest of them.
        feed_dict: values by tensor (any tensor of the graph), by name, or nests of values by nests of tensors; they are cast with numpy's rules.

        Raises:
            RuntimeError: the session is closed. ValueError: a fed shape does not fit; a name or tensor that is not in the graph.
            TypeError: something that cannot be fetched or fed. tf.errors.OpError: an operation failed.
        """
        if self._closed:
            raise RuntimeError("Attempted to use a closed Session.")
        leaves: list[Any] = []
        rebuild = self._fetch(fetches, leaves)
        keys, values = self._feed(feed_dict) if feed_dict else ((), ())
        signature = (*leaves, None, *keys)
        plan = self._plans.get(signature)
        if plan is None:
            plan = self._plans[signature] = Plan(keys, leaves, self._runtime)
        results = iter(plan.run(values))
        return rebuild(iter([_array(next(results)) if isinstance(leaf, Tensor) else None for leaf in leaves]))

    # Fetches

    def _fetch(self, fetch: Any, leaves: list[Any]) -> Callable[[Iterator[Any]], Any]:
        """Append the graph elements in `fetch` to `leaves`; the returned function packs their values, in order, in its structure."""
        if isinstance(fetch, (Tensor, Operation)):
            leaves.append(self._fetchable(fetch))
            return next
        if fetch is None:
            raise TypeError("Fetch argument None has invalid type <class 'NoneType'>: a fetch must be a tensor, an operation, a variable, a name or a nest of them")
        if isinstance(fetch, Mapping):
            parts = {key: self._fetch(item, leaves) for key, item in fetch.items()}
            return lambda values: _like_mapping(fetch, {key: part(values) for key, part in parts.items()})
        if isinstance(fetch, (list, tuple)):
            items = [self._fetch(item, leaves) for item in fetch]
            make = list if isinstance(fetch, list) else type(fetch)._make if hasattr(fetch, "_fields") else tuple
            return lambda values: make([item(values) for item in items])
        if isinstance(fetch, IndexedSlices):
            parts_of = [fetch.values, fetch.indices, *([fetch.dense_shape] if fetch.dense_shape is not None else [])]
            items = [self._fetch(item, leaves) for item in parts_of]
            return lambda values: IndexedSlicesValue(*[item(values) for item in items], *([None] if len(items) == 2 else []))
        try:
            element = self._graph.as_graph_element(fetch)
        except (TypeError, KeyError, ValueError) as error:
            kind = TypeError if isinstance(error, TypeError) else ValueError
            text = error.args[0] if error.args else error
            raise kind(f"Fetch argument {fetch!r} cannot be interpreted as a Tensor. ({text})") from error
        leaves.append(self._fetchable(element))
        return next

    def _fetchable(self, element: Any) -> Any:
        if element.graph is not self._graph:
            raise ValueError(f"Fetch argument {element} cannot be interpreted as a Tensor. ({element} is not an element of this graph.)")
        if not self._graph.is_fetchable(element):
            raise ValueError(
                f"Operation {(element.op if isinstance(element, Tensor) else element).name!r} has been marked as not fetchable: it has values only "
                "inside a loop or a branch. Return it from there (as an output, a state or a TensorArray) to see it outside"
            )
        return element

    # Feeds

    def _feed(self, feed_dict: Mapping[Any, Any]) -> tuple[tuple[Tensor, ...], list[Any]]:
        fed: dict[Tensor, Any] = {}
        if any(isinstance(key, (tuple, list, dict)) for key in feed_dict):
            feed_dict = _nest.flatten_dict_items(feed_dict)
        for key, value in feed_dict.items():
            fed[self._feedable(key)] = value
        keys = tuple(fed)
        return keys, [_value(tensor, value) for tensor, value in fed.items()]

    def _feedable(self, key: Any) -> Tensor:
        if isinstance(key, Tensor) and key.graph is self._graph:
            tensor = key
        else:
            try:
                tensor = self._graph.as_graph_element(key, allow_operation=False)
            except (TypeError, KeyError, ValueError) as error:
                raise TypeError(f"Cannot interpret feed_dict key as Tensor: {error.args[0] if error.args else error}") from error
        if not self._graph.is_feedable(tensor):
            raise ValueError(f"Tensor {tensor} may not be fed: it has values only inside a loop or a branch.")
        return tensor

    # More ways to run

    def make_callable(self, fetches: Any, feed_list: Any = None, accept_options: bool = False) -> Callable[..., Any]:
        """Return a function that runs `fetches`, fed with its arguments in the order of `feed_list`."""
        feeds = list(feed_list or [])

        def run(*values: Any) -> Any:
            if len(values) != len(feeds):
                raise TypeError(f"the callable takes {len(feeds)} values (one for each tensor of feed_list), got {len(values)}")
            return self.run(fetches, dict(zip(feeds, values, strict=True)))

        return run

    @contextmanager
    def as_default(self) -> Iterator[BaseSession]:
        """Make this the default session, which `Tensor.eval` and `Operation.run` use; the graph is not changed."""
        sessions = default_sessions()
        sessions.append(self)
        try:
            yield self
        finally:
            sessions.remove(self)

    def list_devices(self) -> list[Any]:
        return []


def _like_mapping(like: Mapping[Any, Any], values: dict[Any, Any]) -> Any:
    return values if type(like) is dict else _nest.pack_sequence_as(like, _nest.flatten(values))


def _array(value: Any) -> Any:
    """A fetched value: an array of its own, or a numpy scalar for rank 0."""
    array = to_numpy(value)
    return array if array.ndim else array[()]


def _value(tensor: Tensor, value: Any) -> Any:
    """A fed value, copied and cast to the tensor's dtype, its shape checked."""
    dtype = tensor.dtype.base_dtype
    if isinstance(value, Tensor):
        raise TypeError(
            f"The value of a feed cannot be a tf.Tensor object: {tensor.name} was fed {value.name}. Acceptable are Python scalars, strings, lists and numpy arrays."
        )
    try:
        array = to_bytes(np.array(value, object)) if dtype.kind == "s" else np.array(value, dtype.numpy)
    except (TypeError, ValueError) as error:
        raise type(error)(f"Cannot feed {type(value).__name__} for Tensor {tensor.name!r} of type {dtype.name}: {error}") from error
    if isinstance(value, int) and dtype.is_integer and int(array) != value:
        raise TypeError(f"Type of feed value {value} with type {type(value)} is not compatible with Tensor type {dtype.as_numpy_dtype}.")
    dims = tensor.dims
    if dims is not None and (len(dims) != array.ndim or any(a is not None and a != b for a, b in zip(dims, array.shape, strict=True))):
        raise ValueError(f"Cannot feed value of shape {array.shape!r} for Tensor {tensor.name!r}, which has shape {str(TensorShape(dims))!r}")
    return to_torch(array)


@export("Session")
class Session(BaseSession):
    """A session that is a context manager: inside, it and its graph are the defaults; leaving closes it.

    Example:
        >>> import dynrnn.tf1 as tf
        >>> with tf.Graph().as_default(), tf.Session() as sess:
        ...     print(sess.run(tf.constant(2.0) * 3.0))
        6.0
    """

    def __enter__(self) -> Session:
        self._entered = ExitStack()
        self._entered.enter_context(self._graph.as_default())
        self._entered.enter_context(self.as_default())
        return self

    def __exit__(self, *error: object) -> None:
        self._entered.close()
        self.close()

    @staticmethod
    def reset(target: str, containers: Any = None, config: Any = None) -> None:
        """Accepted for programs that call it; there are no values outside of sessions to clear."""


@export("InteractiveSession")
class InteractiveSession(BaseSession):
    """A session that is the default one from its making until it is closed."""

    def __init__(self, target: str = "", graph: Graph | None = None, config: Any = None):
        super().__init__(target, graph, config)
        self._entered = ExitStack()
        if graph is not None:
            self._entered.enter_context(graph.as_default())
        self._entered.enter_context(self.as_default())

    def close(self) -> None:
        super().close()
        self._entered.close()


@export("get_default_session")
def get_default_session() -> Any:
    """Return the innermost default session of this thread, or None."""
    sessions = default_sessions()
    return sessions[-1] if sessions else None
