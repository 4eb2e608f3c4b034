"""How often integers, and pairs of them, occur."""

from __future__ import annotations

from typing import Any

import torch

from ....errors import InvalidArgumentError
from ....graph import rules
from ....graph.dtype import DType, as_dtype, int32, int64
from ....graph.op import Op
from ....graph.shape import Dims, merge_dims
from ...export import export
from ...graph import Tensor, atomic
from ..apply import apply
from ..convert import convert_to_tensor
from .cast import cast


def _bincount(
    arr: torch.Tensor, *weights: torch.Tensor, minlength: int, maxlength: int | None, dtype: DType
) -> torch.Tensor:
    values = arr.reshape(-1)
    if len(values) and int(values.min()) < 0:
        raise InvalidArgumentError(None, None, f"Input arr must be non-negative, got {int(values.min())}")
    size = max(minlength, int(values.max()) + 1 if len(values) else 0)
    size = size if maxlength is None else min(size, maxlength)
    ones = weights[0].reshape(-1) if weights else torch.ones(len(values), dtype=dtype.torch)
    kept = values < size
    return torch.zeros(size, dtype=dtype.torch).index_add(0, values[kept].long(), ones[kept])


BINCOUNT = Op(
    "Bincount", "arr:int32 *weights:T -> @dtype", _bincount, lambda inputs, attrs: (None,), differentiable=False
)


@export("bincount", "math.bincount")
@atomic
def bincount(
    arr: Any,
    weights: Any = None,
    minlength: int | None = None,
    maxlength: int | None = None,
    dtype: Any = "int32",
    name: str | None = None,
) -> Tensor:
    """Return how often each of 0, 1, 2 ... stands in a tensor of integers, up to its largest number.

    weights: what each element adds to its number's count, instead of 1; the result has their dtype, else `dtype`.
    minlength, maxlength: the least and the largest size of the result; larger numbers than it holds are left out.

    Raises:
        tf.errors.InvalidArgumentError, in run: a negative number.
    """
    given = [] if weights is None else [convert_to_tensor(weights, name="weights")]
    attrs = {
        "minlength": int(minlength or 0),
        "maxlength": None if maxlength is None else int(maxlength),
        "dtype": given[0].dtype.base_dtype if given else as_dtype(dtype),
    }
    return apply(BINCOUNT, [cast(arr, int32), given], attrs, name or "bincount")


def _confusion(
    labels: torch.Tensor, predictions: torch.Tensor, *weights: torch.Tensor, num_classes: int | None, dtype: DType
) -> torch.Tensor:
    size = num_classes
    if size is None:
        size = max((int(values.max()) for values in (labels, predictions) if values.numel()), default=-1) + 1
    for name, values in (("labels", labels), ("predictions", predictions)):
        if values.numel() and int(values.min()) < 0:
            raise InvalidArgumentError(None, None, f"`{name}` contains negative values")
        if values.numel() and int(values.max()) >= size:
            raise InvalidArgumentError(None, None, f"`{name}` out of bound: {int(values.max())} for {size} classes")
    added = weights[0].reshape(-1) if weights else torch.ones(labels.numel(), dtype=dtype.torch)
    flat = torch.zeros(size * size, dtype=dtype.torch)
    return flat.index_add(0, labels.reshape(-1) * size + predictions.reshape(-1), added).reshape(size, size)


def _confusion_dims(inputs: rules.Inputs, attrs: rules.Attrs) -> Dims:
    merge_dims(inputs[0].dims, inputs[1].dims)
    return (attrs["num_classes"], attrs["num_classes"])


CONFUSION = Op(
    "ConfusionMatrix",
    "labels:int64 predictions:int64 *weights:T -> @dtype",
    _confusion,
    _confusion_dims,
    differentiable=False,
)


@export("confusion_matrix", "math.confusion_matrix")
@atomic
def confusion_matrix(
    labels: Any,
    predictions: Any,
    num_classes: Any = None,
    dtype: Any = "int32",
    name: str | None = None,
    weights: Any = None,
) -> Tensor:
    """Return a matrix that counts, at row l and column p, how often the label l was predicted as p.

    labels, predictions: integers from 0, of one shape. num_classes: how many there are (default: as many as occur).
    weights: what each pair adds to its count, instead of 1. dtype: the matrix's type.

    Raises:
        ValueError: shapes that differ. tf.errors.InvalidArgumentError, in run: a class that is not there.
    """
    wanted = as_dtype(dtype)
    given = [] if weights is None else [cast(convert_to_tensor(weights, name="weights"), wanted)]
    inputs = [cast(labels, int64), cast(predictions, int64), given]
    attrs = {"num_classes": None if num_classes is None else int(num_classes), "dtype": wanted}
    return apply(CONFUSION, inputs, attrs, name or "confusion_matrix")
