"""Sessions: they hold the values of variables and run parts of a graph."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any, NamedTuple

import numpy as np
import torch

from .. import _nest
from ..graph.dtype import cast_array, to_numpy, to_torch
from ..graph.executor import Plan, Runtime
from ..graph.gradients import IndexedSlices
from ..graph.shape import TensorShape
from .config import ConfigProto, RunMetadata, RunOptions, checked, threads
from .export import export
from .graph import Graph, Operation, Tensor, default_graphs, default_sessions, get_default_graph, innermost, leave
from .program.local_devices import DeviceAttributes
from .sparse_tensor import SparseTensor, SparseTensorValue


class IndexedSlicesValue(NamedTuple):
    """What a fetched IndexedSlices gives: arrays of values and indices, and the dense shape."""

    values: np.ndarray
    indices: np.ndarray
    dense_shape: np.ndarray | None


class BaseSession:
    """Runs operations of one graph and keeps the values of its variables.

    target: accepted for programs that pass it; everything runs in this process.
    graph: the graph to run (default: the default graph).
    config: a tf.ConfigProto; its intra_op_parallelism_threads is the number of PyTorch's threads during runs.
    """

    def __init__(self, target: str = "", graph: Graph | None = None, config: Any = None):
        if graph is not None and not isinstance(graph, Graph):
            raise TypeError(f"graph must be a tf.Graph, but got {type(graph)}")
        self._graph = graph if graph is not None else get_default_graph()
        self._runtime = Runtime()
        self._plans: dict[tuple, Plan] = {}
        self._closed = False
        self.sess_str = target
        self._config = checked("config", ConfigProto, config)

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

    def run(
        self, fetches: Any, feed_dict: Mapping[Any, Any] | None = None, options: Any = None, run_metadata: Any = None
    ) -> Any:
        """Run what `fetches` need and return their values in the structure of `fetches`.

        fetches: a tensor, an operation (its value is None), a variable, a name, or any nest of them.
        feed_dict: values by tensor (any tensor of the graph), by name, or nests of values by nests of tensors; they
        are cast with numpy's rules.
        options, run_metadata: a tf.RunOptions and a tf.RunMetadata; single operations are not traced, and the latter
        stays as it is.

        Raises:
            RuntimeError: the session is closed. ValueError: a fed shape does not fit; a name or tensor that is not in
            the graph.
            TypeError: something that cannot be fetched or fed. tf.errors.OpError: an operation failed.
        """
        if self._closed:
            raise RuntimeError("Attempted to use a closed Session.")
        checked("options", RunOptions, options)
        checked("run_metadata", RunMetadata, run_metadata)
        leaves: list[Any] = []
        rebuild = self._fetch(fetches, leaves)
        feeds = self._feeds(feed_dict) if feed_dict else {}
        signature = (*leaves, None, *feeds)
        plan = self._plans.get(signature)
        if plan is None:
            plan = self._plans[signature] = self._plan(leaves, tuple(feeds))
        values = [fed_value(tensor, value) for tensor, value in feeds.items()]
        with threads(self._config):
            results = iter(plan.run(values))
        return rebuild(iter([fetched(next(results)) if isinstance(leaf, Tensor) else None for leaf in leaves]))

    def _plan(self, leaves: list[Any], feeds: tuple[Tensor, ...]) -> Plan:
        """Check that the graph elements may be fetched and fed, and compile."""
        for element in leaves:
            if element.graph is not self._graph:
                raise ValueError(
                    f"Fetch argument {element!r} cannot be interpreted as a Tensor. ({element} is not an element of "
                    "this graph.)"
                )
            if not self._graph.is_fetchable(element):
                op = element.op if isinstance(element, Tensor) else element
                raise ValueError(f"Operation {op.name!r} has been marked as not fetchable{_enclosed(op)}")
        for tensor in feeds:
            if tensor.graph is not self._graph:
                raise TypeError(f"Cannot interpret feed_dict key as Tensor: {tensor} is not an element of this graph.")
            if not self._graph.is_feedable(tensor):
                raise ValueError(f"Tensor {tensor} may not be fed{_enclosed(tensor.op)}")
        return Plan(feeds, leaves, self._runtime)

    # Fetches

    def _fetch(self, fetch: Any, leaves: list[Any]) -> Callable[[Iterator[Any]], Any]:
        """Append the graph elements in `fetch` to `leaves`; the returned function packs their values, in order, in
        its structure.
        """
        if isinstance(fetch, (Tensor, Operation)):
            leaves.append(fetch)
            return next
        if fetch is None:
            raise TypeError(
                "Fetch argument None has invalid type <class 'NoneType'>: a fetch must be a tensor, an operation, a "
                "variable, a name or a nest of them"
            )
        if isinstance(fetch, Mapping):
            parts = {key: self._fetch(item, leaves) for key, item in fetch.items()}
            return lambda values: _filled(fetch, {key: part(values) for key, part in parts.items()})
        if isinstance(fetch, (list, tuple)):
            items = [self._fetch(item, leaves) for item in fetch]
            cls: Any = type(fetch)
            make = list if isinstance(fetch, list) else cls._make if hasattr(fetch, "_fields") else tuple
            return lambda values: make([item(values) for item in items])
        if isinstance(fetch, IndexedSlices):
            shape = [] if fetch.dense_shape is None else [fetch.dense_shape]
            parts_of = [self._fetch(item, leaves) for item in (fetch.values, fetch.indices, *shape)]
            return lambda values: IndexedSlicesValue(*[part(values) for part in parts_of], *([] if shape else [None]))
        if isinstance(fetch, SparseTensor):
            three = [self._fetch(item, leaves) for item in (fetch.indices, fetch.values, fetch.dense_shape)]
            return lambda values: SparseTensorValue(*[part(values) for part in three])
        leaves.append(self._named(fetch))
        return next

    def _named(self, fetch: Any) -> Any:
        """The graph element that a name or a variable stands for."""
        try:
            return self._graph.as_graph_element(fetch)
        except TypeError as error:
            raise TypeError(
                f"Fetch argument {fetch!r} has invalid type {type(fetch)}, must be a string or Tensor. ({error})"
            ) from error
        except (KeyError, ValueError) as error:
            raise ValueError(
                f"Fetch argument {fetch!r} cannot be interpreted as a Tensor. ({error.args[0]})"
            ) from error

    # Feeds

    def _feeds(self, feed_dict: Mapping[Any, Any]) -> dict[Tensor, Any]:
        """The values to feed by tensor."""
        if not isinstance(feed_dict, Mapping):
            raise TypeError(f"feed_dict must be a dictionary, got {type(feed_dict).__name__}: {feed_dict!r}")
        if any(isinstance(key, (tuple, list)) for key in feed_dict):
            feed_dict = _nest.flatten_dict_items(feed_dict)
        if any(isinstance(key, (SparseTensor, IndexedSlices)) for key in feed_dict):
            feed_dict = dict(part for key, value in feed_dict.items() for part in _fed_parts(key, value))
        return {key if isinstance(key, Tensor) else self._feedable(key): value for key, value in feed_dict.items()}

    def _feedable(self, key: Any) -> Tensor:
        try:
            return self._graph.as_graph_element(key, allow_operation=False)
        except (TypeError, KeyError, ValueError) as error:
            raise TypeError(f"Cannot interpret feed_dict key as Tensor: {error.args[0]}") from error

    # More ways to run

    def make_callable(self, fetches: Any, feed_list: Any = None, accept_options: bool = False) -> Callable[..., Any]:
        """Return a function that runs `fetches`, fed with its arguments in the order of `feed_list`."""
        feeds = list(feed_list or [])

        def run(*values: Any) -> Any:
            if len(values) != len(feeds):
                raise TypeError(
                    f"the callable takes {len(feeds)} values (one for each tensor of feed_list), got {len(values)}"
                )
            return self.run(fetches, dict(zip(feeds, values, strict=True)))

        return run

    @contextmanager
    def as_default(self) -> Iterator[BaseSession]:
        """Make this the default session, which `Tensor.eval` and `Operation.run` use; the graph is not changed."""
        with innermost(default_sessions(), self):
            yield self

    def list_devices(self) -> list[DeviceAttributes]:
        """The devices that this session runs on."""
        return [DeviceAttributes(name="/job:localhost/replica:0/task:0/device:CPU:0", device_type="CPU")]


def _fed_parts(key: Any, value: Any) -> list[tuple[Any, Any]]:
    """The tensors that a key of several stands for, each with its part of the value; another key as it is."""
    if isinstance(key, SparseTensor):
        return list(zip((key.indices, key.values, key.dense_shape), value, strict=False))
    if isinstance(key, IndexedSlices):
        parts = (key.values, key.indices, *([] if key.dense_shape is None else [key.dense_shape]))
        return list(zip(parts, value, strict=False))
    return [(key, value)]


def _enclosed(op: Any) -> str:
    """Why an operation may be out of a session's reach."""
    if op.context is None:
        return ""
    return (
        ": it has values only inside a loop or a branch. Return it from there (as an output, a state or a TensorArray) "
        "to see it outside"
    )


def _filled(like: Mapping[Any, Any], values: dict[Any, Any]) -> Any:
    """A mapping of the class of `like` that holds `values`."""
    if type(like) is dict:
        return values
    filled: Any = defaultdict(like.default_factory) if isinstance(like, defaultdict) else type(like)()
    for key, value in values.items():
        filled[key] = value
    return filled


def fetched(value: Any) -> Any:
    """What a fetch returns for a value: an array of its own, or a numpy scalar (bytes for a string) for rank 0."""
    array = to_numpy(value)
    return array if array.ndim else array[()]


def fed_value(tensor: Tensor, value: Any) -> Any:
    """Return a fed value, copied and cast to the tensor's dtype with numpy's rules.

    Raises:
        TypeError: a tensor, an int that the dtype cannot hold. ValueError: a shape that does not fit; text that is no
        number.
    """
    dtype = tensor.dtype.base_dtype
    if isinstance(value, Tensor):
        raise TypeError(
            f"The value of a feed cannot be a tf.Tensor object: {tensor.name} was fed {value.name}. "
            "Acceptable feed values include Python scalars, strings, lists and numpy arrays."
        )
    try:
        array = cast_array(to_numpy(value) if isinstance(value, torch.Tensor) else np.asarray(value), dtype)
    except (TypeError, ValueError) as error:
        raise type(error)(
            f"Cannot feed {type(value).__name__} for Tensor {tensor.name!r} of type {dtype.name}: {error}"
        ) from error
    if isinstance(value, int) and (dtype.kind == "s" or dtype.kind in "iub" and array.item() != value):
        raise TypeError(
            f"Type of feed value {value} with type {type(value)} is not compatible with Tensor type "
            f"{dtype.as_numpy_dtype} ({tensor.name}). "
            "Try explicitly setting the type of the feed tensor to a larger type (e.g. int64)."
        )
    dims = tensor.dims
    if dims is not None and array.shape != dims and not TensorShape(dims).is_compatible_with(array.shape):
        raise ValueError(
            f"Cannot feed value of shape {array.shape!r} for Tensor {tensor.name}, which has shape {TensorShape(dims)}"
        )
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

    _entered: ExitStack | None = None

    def __enter__(self) -> Session:
        if self._entered is not None:
            raise RuntimeError(
                "Session context managers are not re-entrant. Use `Session.as_default()` if you want to enter a "
                "session multiple times."
            )
        self._entered = ExitStack()
        self._entered.enter_context(self._graph.as_default())
        self._entered.enter_context(self.as_default())
        return self

    def __exit__(self, *error: object) -> None:
        assert self._entered is not None
        try:
            self._entered.close()
        finally:
            self._entered = None
            self.close()

    @staticmethod
    def reset(target: str, containers: Any = None, config: Any = None) -> None:
        """Accepted for programs that call it; there are no values outside of sessions to clear."""


@export("InteractiveSession")
class InteractiveSession(BaseSession):
    """A session that is the default one from its making until it is closed."""

    def __init__(self, target: str = "", graph: Graph | None = None, config: Any = None):
        super().__init__(target, graph, config)
        self._stacks: list[tuple[list[Any], Any]] = [(default_sessions(), self)]
        if graph is not None:
            self._stacks.append((default_graphs(), graph))
        for stack, item in self._stacks:
            stack.append(item)

    def close(self) -> None:
        """Let go of all values, and no longer be the default session, whichever others were made since."""
        super().close()
        for stack, item in self._stacks:
            leave(stack, item)
        self._stacks.clear()


@export("get_default_session")
def get_default_session() -> Any:
    """Return the innermost default session of this thread, or None."""
    sessions = default_sessions()
    return sessions[-1] if sessions else None
