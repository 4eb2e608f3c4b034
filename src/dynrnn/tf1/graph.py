"""The TF1 face's Graph, Tensor and Operation: TensorFlow's methods on top of the engine's graph.

A tensor's operators (`x + y`, `x[0]` ...) are installed by the op tables; sessions are in `session.py`.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from ..graph import graph as engine
from ..graph.random import op_seeds
from .devices import GraphWithDevices
from .export import export
from .graph_collections import GraphWithCollections

_stack = threading.local()


class Tensor(engine.Tensor):
    """A symbolic value: the output of an operation, with a dtype and a static shape."""

    __slots__ = ()
    __array_priority__ = 100  # numpy leaves `array + tensor` to the tensor

    def eval(self, feed_dict: Any = None, session: Any = None) -> Any:
        """Run the default session (or `session`) for this tensor and return its value as an array."""
        return _session(session, f"evaluate tensor {self.name} using `eval()`", self.graph).run(self, feed_dict)

    def get_shape(self) -> Any:
        return self.shape

    def __bool__(self) -> bool:
        raise TypeError(
            "Using a `tf.Tensor` as a Python `bool` is not allowed: it has no value while the graph is built. "
            f"Use `if t is not None:` to test whether {self.name} is defined, and tf.cond for a choice that depends "
            "on its value."
        )

    def __iter__(self) -> Iterator[Any]:
        raise TypeError(
            f"Tensor objects are only iterable when eager execution is enabled; to take {self.name} apart, use "
            "tf.unstack"
        )

    def __len__(self) -> int:
        raise TypeError(f"object of type 'Tensor' has no len(): use {self.name!r}'s shape, or tf.shape, instead")

    def __array__(self, *args: object, **kwargs: object) -> Any:
        raise NotImplementedError(
            f"Cannot convert a symbolic Tensor ({self.name}) to a numpy array: run it in a session first"
        )

    def __repr__(self) -> str:
        return f"<tf.Tensor '{self.name}' shape={self.shape} dtype={self.dtype.name}>"

    def __str__(self) -> str:
        return f'Tensor("{self.name}", shape={self.shape}, dtype={self.dtype.name})'

    def __hash__(self) -> int:
        return id(self)

    def __eq__(self, other: object) -> bool:
        return self is other


class Operation(engine.Node):
    """A node of the graph."""

    __slots__ = ()

    def run(self, feed_dict: Any = None, session: Any = None) -> None:
        """Run this operation in the default session (or `session`)."""
        _session(session, f"execute operation {self.name} using `run()`", self.graph).run(self, feed_dict)

    @property
    def node_def(self) -> Operation:
        return self

    @property
    def op_def(self) -> Any:
        return self.row

    @property
    def op(self) -> str:
        return self.type

    def _set_device(self, device: Any) -> None:
        self.device = str(device)

    def _add_control_input(self, op: Operation) -> None:
        self.control_inputs.append(op)

    def colocation_groups(self) -> list[bytes]:
        """The name of the operation beside which this one was placed, itself where there is none."""
        beside = self.graph._beside.get(self, self)  # type: ignore[attr-defined]
        return [f"loc:@{beside.name}".encode()]

    def __repr__(self) -> str:
        return f"<tf.Operation '{self.name}' type={self.type}>"

    def __str__(self) -> str:
        return f"name: {self.name!r}\nop: {self.type!r}\n" + "".join(
            f"input: {tensor.name!r}\n" for tensor in self.inputs
        )


def _session(session: Any, what: str, graph: engine.Graph) -> Any:
    if session is not None:
        return session
    sessions = default_sessions()
    if not sessions:
        raise ValueError(
            f"Cannot {what}: No default session is registered. Use `with sess.as_default()` or pass an explicit "
            "session, `session=sess`"
        )
    if sessions[-1].graph is not graph:
        raise ValueError(
            f"Cannot use the default session to {what}: its graph is different from the session's graph. "
            "Pass an explicit session of this graph, `session=sess`"
        )
    return sessions[-1]


class Graph(GraphWithCollections, GraphWithDevices):
    """A TensorFlow 1 graph: operations, collections and a seed.

    Example:
        >>> import dynrnn.tf1 as tf
        >>> with tf.Graph().as_default() as graph:
        ...     x = tf.constant(1.0, name="x")
        >>> graph.get_tensor_by_name("x:0") is x
        True
    """

    tensor_class = Tensor
    node_class = Operation

    def __init__(self) -> None:
        super().__init__()
        self.seed: int | None = None
        self.variables: Any = None  # the variable scopes' store, made on first need
        self._not_feedable: set[Tensor] = set()
        self._not_fetchable: set[Operation] = set()

    @property
    def building_function(self) -> bool:
        """False: this is a program's graph, not the body of a function."""
        return False

    def switch_to_thread_local(self) -> None:
        """Accepted: scopes, devices and dependencies belong to a thread from the start."""

    @contextmanager
    def as_default(self) -> Iterator[Graph]:
        """Make this graph the one that new operations go to."""
        with innermost(default_graphs(), self):
            yield self

    # Lookup by name

    def get_operations(self) -> list[Operation]:
        return list(self._nodes)  # type: ignore[arg-type]

    def get_operation_by_name(self, name: str) -> Operation:
        """Return the operation of this name; KeyError where there is none, ValueError for a tensor's name."""
        if not isinstance(name, (str, bytes)):
            raise TypeError(f"Operation names are strings (or similar), not {type(name).__name__}.")
        return self.as_graph_element(name, allow_tensor=False)

    def get_tensor_by_name(self, name: str) -> Tensor:
        """Return the tensor of this name, `"<op_name>:<output_index>"`; KeyError where there is none, ValueError for
        an operation's name.
        """
        if not isinstance(name, (str, bytes)):
            raise TypeError(f"Tensor names are strings (or similar), not {type(name).__name__}.")
        return self.as_graph_element(name, allow_operation=False)

    def as_graph_element(self, obj: Any, allow_tensor: bool = True, allow_operation: bool = True) -> Any:
        """Return the tensor or operation of this graph that `obj` is, names or stands for.

        Raises:
            ValueError: it belongs to another graph, or the name is not a name of the kind that is allowed.
            KeyError: no operation or output has this name.
            TypeError: nothing that could be in a graph.
        """
        if not allow_tensor and not allow_operation:
            raise ValueError("allow_tensor and allow_operation can't both be False.")
        if hasattr(obj, "_as_graph_element"):
            obj = obj._as_graph_element()
        if isinstance(obj, bytes):
            obj = obj.decode()
        if isinstance(obj, str):
            return self._by_text(obj, allow_tensor, allow_operation)
        wanted = (Tensor,) * allow_tensor + (Operation,) * allow_operation
        if isinstance(obj, wanted):
            if obj.graph is not self:
                what = f"Tensor {obj}" if isinstance(obj, Tensor) else f"Operation {obj.name!r}"
                raise ValueError(f"{what} is not an element of this graph.")
            return obj
        kinds = " or ".join(kind.__name__ for kind in wanted)
        raise TypeError(f"Can not convert a {type(obj).__name__} into a {kinds}.")

    def _by_text(self, name: str, allow_tensor: bool, allow_operation: bool) -> Any:
        op_name, colon, index = name.partition(":")
        if colon and allow_tensor:
            return self._tensor_by_text(name, op_name, index)
        if colon:
            raise ValueError(f"Name {name!r} appears to refer to a Tensor, not a Operation.")
        node = self._by_name.get(name)
        if not allow_operation:
            what = "refers to an Operation" if node is not None else "looks like an (invalid) Operation name"
            raise ValueError(
                f'The name {name!r} {what}, not a Tensor. Tensor names must be of the form "<op_name>:<output_index>".'
            )
        if node is None:
            raise KeyError(f"The name {name!r} refers to an Operation not in the graph.")
        return node

    def _tensor_by_text(self, name: str, op_name: str, index: str) -> Any:
        if not index.isdigit():
            raise ValueError(
                f"The name {name!r} looks a like a Tensor name, but is not a valid one. "
                'Tensor names must be of the form "<op_name>:<output_index>".'
            )
        node = self._by_name.get(op_name)
        if node is not None and int(index) < len(node.outputs):
            return node.outputs[int(index)]
        reason = "does not exist in the graph" if node is None else f"exists but only has {len(node.outputs)} outputs"
        raise KeyError(
            f"The name {name!r} refers to a Tensor which does not exist. The operation, {op_name!r}, {reason}."
        )

    def prevent_feeding(self, tensor: Tensor) -> None:
        """Refuse to let `tensor` be fed from now on."""
        self._not_feedable.add(tensor)

    def prevent_fetching(self, op: Operation) -> None:
        """Refuse to let `op` and its outputs be fetched from now on."""
        self._not_fetchable.add(op)

    def is_feedable(self, tensor: Tensor) -> bool:
        """Whether a session may be given a value for `tensor`: not where it has values only inside a loop or a
        branch.
        """
        return tensor.op.context is None and tensor not in self._not_feedable

    def is_fetchable(self, element: Any) -> bool:
        """Whether a session may return `element`: not where it runs only inside a loop or a branch."""
        op = element.op if isinstance(element, Tensor) else element
        return op.context is None and op not in self._not_fetchable

    def get_name_scope(self) -> str:
        return self.current_name_scope()

    @contextmanager
    def control_dependencies(self, control_inputs: Iterable[Any] | None) -> Iterator[None]:  # type: ignore[override]
        """Make operations inside run after `control_inputs` (operations, tensors, variables); None lifts all
        dependencies.
        """
        if control_inputs is None:
            with super().control_dependencies(None):
                yield
            return
        elements = [self.as_graph_element(item) for item in control_inputs]
        with super().control_dependencies([item.op if isinstance(item, Tensor) else item for item in elements]):
            yield

    @contextmanager
    def container(self, container_name: str) -> Iterator[str]:
        yield container_name

    def seeds(self, op_seed: int | None) -> tuple[int, int | None] | None:
        """The two seeds of a random operation; (seed, None) where only the graph has one; None where it is to draw
        fresh numbers.
        """
        if op_seed is None and self.seed is not None:
            return op_seeds(self.seed, 0)[0], None  # type: ignore[index]
        return op_seeds(self.seed, op_seed)


_default = Graph()


def default_graphs() -> list[Graph]:
    """The stack of this thread's default graphs, without the global one below."""
    if not hasattr(_stack, "graphs"):
        _stack.graphs = []
    return _stack.graphs


@contextmanager
def innermost(stack: list[Any], item: Any) -> Iterator[None]:
    """Let `item` be the last of a stack of defaults.

    Raises:
        AssertionError: it is left while another one is the last.
    """
    stack.append(item)
    try:
        yield
    except BaseException:  # also where the context was dropped, not left
        leave(stack, item)
        raise
    nested = bool(stack) and stack[-1] is item
    leave(stack, item)
    if not nested:
        raise AssertionError(f"Nesting violated for default stack of {type(item)} objects")


def leave(stack: list[Any], item: Any) -> None:
    """Take the last `item` from a stack of defaults."""
    for i in reversed(range(len(stack))):
        if stack[i] is item:
            del stack[i]
            return


def default_sessions() -> list[Any]:
    """The stack of this thread's default sessions."""
    if not hasattr(_stack, "sessions"):
        _stack.sessions = []
    return _stack.sessions


@export("get_default_graph")
def get_default_graph() -> Graph:
    """Return the graph that new operations go to in this thread."""
    graphs = default_graphs()
    return graphs[-1] if graphs else _default


@export("reset_default_graph")
def reset_default_graph() -> None:
    """Drop the global default graph and start a new one; refused inside `with graph.as_default()`."""
    global _default
    if default_graphs():
        raise AssertionError(
            "Do not use tf.reset_default_graph() to clear nested graphs. If you need a cleared graph, exit the "
            "nesting and create a new graph."
        )
    _default = Graph()


@export("set_random_seed", "random.set_random_seed")
def set_random_seed(seed: int) -> None:
    """Set the graph-level seed of the default graph."""
    graph = get_default_graph()
    before, graph.seed = graph.seed, seed
    graph.on_undo(lambda: setattr(graph, "seed", before))


@export("get_seed", "random.get_seed")
def get_seed(op_seed: int | None) -> tuple[int | None, int | None]:
    """The pair of seeds that a random operation given `op_seed` gets in the default graph; (None, None) for a fresh
    one.
    """
    graph = get_default_graph()
    seed, seed2 = graph.seeds(op_seed) or (None, None)
    return (seed, graph.version) if seed is not None and seed2 is None else (seed, seed2)


def atomic(function: Callable[..., Any]) -> Callable[..., Any]:
    """Let a call of `function` that fails leave the default graph as it was."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        with get_default_graph().atomic():
            return function(*args, **kwargs)

    return call


export("Graph")(Graph)
export("Tensor")(Tensor)
export("Operation")(Operation)
