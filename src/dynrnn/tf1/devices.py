"""Device names and `with tf.device(...)`: what is noted on operations. Everything runs where PyTorch's CPU tensors
live.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from ..graph.graph import Graph
from ..graph.node import Node, Tensor
from ..graph.op import Op

_FIELDS = ("job", "replica", "task", "device")

Entry = str | Callable[[Any], Any]  # a device's canonical name, or a function of the operation that returns a name


def canonical(name: str) -> str:
    """Return a device's name in full words: `"/gpu:0"` is `"/device:GPU:0"`.

    Raises:
        ValueError: a part of the name is no job, replica, task or device.
    """
    return _text(_parse(name))


def merged(inner: str, outer: str) -> str:
    """Return `inner` with the parts that it lacks from `outer`, both canonical."""
    return _text({**_parse(outer), **_parse(inner)})


def opened(outer: tuple[Entry, ...], name: Any) -> tuple[Entry, ...]:
    """Return the entries in force inside `with tf.device(name)`, the innermost first; neighbouring names are joined.

    outer: those around it. name: a name, which keeps what it does not say itself, a function, or None, which lifts all.
    """
    if name is None:
        return ()
    if callable(name):
        return (name, *outer)
    inner = canonical(str(name))
    if outer and isinstance(outer[0], str):
        return (merged(inner, outer[0]), *outer[1:])
    return (inner, *outer)


def choose(op: Any, entries: tuple[Entry, ...]) -> None:
    """Note on an operation the device that the entries give, which functions among them may read from it."""
    op.device = ""
    for entry in entries:
        if isinstance(entry, str):
            op.device = merged(op.device, entry)
            continue
        device = entry(op)
        if not isinstance(device, str):
            raise TypeError(
                f"tf.device: the function must return a device's name, a string, got {device!r} for {op.name}"
            )
        op.device = device


def _parse(name: str) -> dict[str, str]:
    fields: dict[str, str] = {}
    for part in filter(None, name.split("/")):
        key, *rest = part.split(":")
        if key in ("job", "replica", "task") and len(rest) == 1:
            fields[key] = rest[0]
            continue
        if key == "device" and len(rest) == 2:
            kind, index = rest
        elif key.lower() in ("cpu", "gpu", "tpu") and len(rest) <= 1:
            kind, index = key, rest[0] if rest else "*"
        else:
            raise ValueError(f"Unknown attribute {key!r} is encountered while parsing the device spec: {name!r}.")
        if "device" in fields:
            raise ValueError(f"Multiple device types are not allowed while parsing the device spec: {name}.")
        fields["device"] = f"{kind.upper()}:{index}"
    return fields


def _text(fields: dict[str, str]) -> str:
    return "".join(f"/{key}:{fields[key]}" for key in _FIELDS if key in fields)


class GraphWithDevices(Graph):
    """A graph that notes on each operation a device, and an operation beside which it belongs."""

    def __init__(self) -> None:
        super().__init__()
        self._beside: dict[Node, Node] = {}

    def add(self, row: Op, inputs: Sequence[Tensor], attrs: Mapping[str, Any], **options: Any) -> Node:
        """Make an operation, and note the device and the neighbour that are in force on it."""
        node = super().add(row, inputs, attrs, **options)
        if type(node.device) is not str:
            choose(node, node.device)  # type: ignore[arg-type]
        beside = getattr(self._local, "beside", None)
        if beside is not None:
            self._beside[node], node.device = beside, beside.device
        return node

    @contextmanager
    def device(self, device: Any) -> Iterator[None]:  # type: ignore[override]
        """Note a device on the operations made inside. Everything runs where PyTorch's CPU tensors live.

        device: a name, whose missing parts the devices around fill; a function of the operation; None lifts all.
        """
        entries = opened(getattr(self._local, "devices", ()), device)
        before, self._local.devices = getattr(self._local, "devices", ()), entries
        joined = entries[0] if len(entries) == 1 and isinstance(entries[0], str) else entries or ""
        try:
            with super().device(joined):  # type: ignore[arg-type]
                yield
        finally:
            self._local.devices = before

    @contextmanager
    def colocate_with(self, op: Any, ignore_existing: bool = False) -> Iterator[None]:
        """Note on the operations made inside that they belong beside `op`, whose device they get; None lifts that.

        ignore_existing: accepted; of several neighbours only the innermost counts.
        """
        element = op._as_graph_element() if hasattr(op, "_as_graph_element") else op
        beside = element.op if isinstance(element, Tensor) else element
        if beside is not None and not isinstance(beside, Node):
            raise TypeError(f"colocate_with: op must be an operation, a tensor or a variable, got {op!r}")
        before = getattr(self._local, "beside", None)
        self._local.beside = beside
        try:
            yield
        finally:
            self._local.beside = before
