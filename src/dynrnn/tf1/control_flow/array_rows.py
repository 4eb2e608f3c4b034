"""The op rows by which nodes make, write and read TensorArrays. What happens to the elements is in `array_values.py`.

The flow is the array: it stands for a float32 scalar in the graph, and its value in a run is the `ArrayValue`. So
gradients take the path of the flow, and loops and branches hand an array on as they hand on a tensor.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch

from ...errors import InvalidArgumentError
from ...graph.node import Node, Tensor
from ...graph.op import INDICES, Op
from ...graph.shape import Dims, merge_dims
from .array_values import ArrayValue


def _array(flow: Any) -> ArrayValue:
    if isinstance(flow, ArrayValue):
        return flow
    raise InvalidArgumentError(
        None, None, "a flow must come from a TensorArray's own flow, unchanged: its value is that array"
    )


def _bind_new(node: Node, runtime: Any) -> Callable[..., ArrayValue]:
    attrs, name = node.attrs, node.attrs["array_name"] or node.name

    def new(size: torch.Tensor) -> ArrayValue:
        return ArrayValue(
            int(size),
            attrs["dtype"],
            dims=attrs["dims"],
            identical=attrs["identical"],
            dynamic=attrs["dynamic"],
            clear=attrs["clear"],
            name=name,
        )

    return new


def _write(flow: ArrayValue, index: torch.Tensor, value: Any) -> ArrayValue:
    _array(flow).write(int(index), value)
    return flow


def _read(flow: ArrayValue, index: torch.Tensor, dtype: Any, dims: Dims) -> Any:
    value = _array(flow).read(int(index), dims)
    return value.view_as(value) if isinstance(value, torch.Tensor) else value


def _gather(flow: ArrayValue, indices: torch.Tensor, dtype: Any, dims: Dims) -> Any:
    return _array(flow).gather(indices.tolist(), dims)


def _concat(flow: ArrayValue, dtype: Any, dims: Dims, size: int | None) -> Any:
    return _array(flow).concat(dims)


def _scatter(flow: ArrayValue, indices: torch.Tensor, value: Any) -> ArrayValue:
    _array(flow).scatter(indices.tolist(), value)
    return flow


def _split(flow: ArrayValue, value: Any, lengths: torch.Tensor) -> ArrayValue:
    _array(flow).split(value, lengths.tolist())
    return flow


def _size(flow: ArrayValue) -> torch.Tensor:
    return torch.tensor(len(_array(flow).elements), dtype=torch.int32)


def _close(flow: ArrayValue) -> None:
    _array(flow).close()


def _like(flow: ArrayValue, element: Any) -> ArrayValue:
    _array(flow).expect(tuple(element.shape))
    return flow


def _gradient(flow: ArrayValue, source: str) -> ArrayValue:
    return _array(flow).gradient(source)


# Static shapes


def _has_rank(tensor: Tensor, rank: int) -> Dims:
    if tensor.dims is not None and len(tensor.dims) != rank:
        raise ValueError(f"Shape must be rank {rank} but is rank {len(tensor.dims)}: {tensor.name} is {tensor.shape}")
    return tensor.dims


def _new_dims(inputs: Sequence[Tensor], attrs: Mapping[str, Any]) -> Dims:
    _has_rank(inputs[0], 0)
    return ()


def _write_dims(inputs: Sequence[Tensor], attrs: Mapping[str, Any]) -> Dims:
    _has_rank(inputs[1], 0)
    return ()


def _read_dims(inputs: Sequence[Tensor], attrs: Mapping[str, Any]) -> Dims:
    _has_rank(inputs[1], 0)
    return attrs["dims"]


def _gather_dims(inputs: Sequence[Tensor], attrs: Mapping[str, Any]) -> Dims:
    indices, dims = _has_rank(inputs[1], 1), attrs["dims"]
    return None if dims is None else (indices[0] if indices else None, *dims)


def _concat_dims(inputs: Sequence[Tensor], attrs: Mapping[str, Any]) -> Dims:
    dims, size = attrs["dims"], attrs["size"]
    if dims is None:
        return None
    rows = dims[0] * size if dims and dims[0] is not None and size is not None else None
    return (rows, *dims[1:])


def _scatter_dims(inputs: Sequence[Tensor], attrs: Mapping[str, Any]) -> Dims:
    indices, value = _has_rank(inputs[1], 1), inputs[2]
    if value.dims is not None:
        if not value.dims:
            raise ValueError(f"Shape must be at least rank 1 but is rank 0: {value.name} is scattered by its rows")
        try:
            merge_dims(indices, value.dims[:1])
        except ValueError:
            raise ValueError(
                f"Dimensions must be equal, but are {value.dims[0]} and {inputs[1].shape[0]}: {value.name} must have "
                f"one row for each index, got {value.shape} and {inputs[1].shape}"
            ) from None
    return ()


def _split_dims(inputs: Sequence[Tensor], attrs: Mapping[str, Any]) -> Dims:
    _has_rank(inputs[2], 1)
    return ()


def _no_dims(inputs: Sequence[Tensor], attrs: Mapping[str, Any]) -> Dims:
    return ()


NEW = Op("TensorArrayV3", "size:int32 -> float32", None, _new_dims, bind=_bind_new, stateful=True)
WRITE = Op("TensorArrayWriteV3", "flow:float32 index:int32 value:T -> float32", _write, _write_dims, stateful=True)
READ = Op("TensorArrayReadV3", "flow:float32 index:int32 -> @dtype", _read, _read_dims, stateful=True)
GATHER = Op(
    "TensorArrayGatherV3", "flow:float32 indices:I -> @dtype", _gather, _gather_dims, {"I": INDICES}, stateful=True
)
CONCAT = Op("TensorArrayConcatV3", "flow:float32 -> @dtype", _concat, _concat_dims, stateful=True)
SCATTER = Op(
    "TensorArrayScatterV3",
    "flow:float32 indices:I value:T -> float32",
    _scatter,
    _scatter_dims,
    {"I": INDICES},
    stateful=True,
)
SPLIT = Op(
    "TensorArraySplitV3",
    "flow:float32 value:T lengths:I -> float32",
    _split,
    _split_dims,
    {"I": INDICES},
    stateful=True,
)
SIZE = Op("TensorArraySizeV3", "flow:float32 -> int32", _size, _no_dims, differentiable=False, stateful=True)
CLOSE = Op("TensorArrayCloseV3", "flow:float32 ->", _close, None, differentiable=False, stateful=True)
GRADIENT = Op("TensorArrayGradV3", "flow:float32 -> float32", _gradient, _no_dims, differentiable=False, stateful=True)
LIKE = Op("TensorArrayLike", "flow:float32 element:T -> float32", _like, _no_dims, differentiable=False, stateful=True)
