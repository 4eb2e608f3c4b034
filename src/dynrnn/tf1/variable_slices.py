"""Parts of a variable that can be replaced: `v[1:].assign(value)`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from ..graph.executor import Runtime
from ..graph.node import Node
from ..graph.op import Op
from ..graph.shape import as_shape
from .graph import Tensor, atomic
from .ops.array.indexing import getitem
from .ops.convert import convert_to_tensor


class VariableSlice(Tensor):
    """A part of a variable's value, as `v[...]` returns it."""

    __slots__ = ()

    @atomic
    def assign(self, value: Any, name: str | None = None) -> Tensor:
        """Replace this part of the variable; the result is the variable's whole new value.

        value: a tensor or value of the part's shape, or one that broadcasts to it.

        Raises:
            ValueError: the shapes cannot fit, or the part's place is only known in a run. TypeError: another dtype.

        Example:
            >>> import dynrnn.tf1 as tf
            >>> v = tf.Variable([1.0, 2.0, 3.0])
            >>> with tf.Session() as sess:
            ...     sess.run(v.initializer)
            ...     print(sess.run(v[1:].assign([5.0, 6.0])))
            [1. 5. 6.]
        """
        holder = self.op.inputs[0].op
        while holder.type != "VariableV2":
            holder = holder.inputs[0].op
        target = holder.outputs[0]
        tensor = convert_to_tensor(value, self.dtype.base_dtype)
        _check_fit(self, tensor)
        attrs = {"variable": holder, "index": self.op.attrs["index"]}
        node = self.graph.add(ASSIGN_SLICE, [tensor], attrs, dtypes=[target.dtype], shapes=[target.dims], name=name)
        return node.outputs[0]  # type: ignore[return-value]


def _check_fit(part: Tensor, value: Tensor) -> None:
    if part.dims is None or value.dims is None:
        return
    ends = zip(reversed(part.dims), reversed(value.dims), strict=False)
    fits = len(value.dims) <= len(part.dims) and all(b in (None, 1) or a is None or a == b for a, b in ends)
    if not fits:
        raise ValueError(f"Shapes {part.shape} and {as_shape(value.dims)} are incompatible: assigning to {part.name}")


def _bind_assign(node: Node, runtime: Runtime) -> Callable[[torch.Tensor], torch.Tensor]:
    holder, index = node.attrs["variable"], node.attrs["index"]

    def assign(value: torch.Tensor) -> torch.Tensor:
        with runtime.lock:
            whole = runtime.read(holder)
            places = np.arange(whole.numel()).reshape(tuple(whole.shape))[index]
            new = whole.flatten().clone()
            new[torch.from_numpy(np.array(places).reshape(-1))] = value.expand(np.shape(places)).flatten()
            runtime.write(holder, new.view(whole.shape))
            return runtime.read(holder)

    return assign


ASSIGN_SLICE = Op(
    "StridedSliceAssign", "value:T -> T", None, None, bind=_bind_assign, stateful=True, differentiable=False
)


def part_of(variable: Any, index: Any) -> Tensor:
    """Return a part of a variable's value; one whose place is fixed can be assigned to."""
    part = getitem(variable._as_tensor(), index)
    if part.op.type == "StridedSlice" and len(part.op.inputs) == 1:
        part.__class__ = VariableSlice
    return part
