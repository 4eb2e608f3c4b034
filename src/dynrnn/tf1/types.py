"""Element types and static shapes under their public names: `tf.float32`, `tf.DType`, `tf.TensorShape` and the like."""

from __future__ import annotations

from ..graph.dtype import DTYPES, DType, as_dtype, float16, float64
from ..graph.shape import Dimension, TensorShape
from .export import export

for _name, _dtype in DTYPES.items():
    export(_name, f"dtypes.{_name}")(_dtype)
export("half", "dtypes.half")(float16)
export("double", "dtypes.double")(float64)
export("DType", "dtypes.DType")(DType)
export("as_dtype", "dtypes.as_dtype")(as_dtype)
export("TensorShape")(TensorShape)
export("Dimension")(Dimension)
export("newaxis")(None)


@export("dimension_value", "compat.dimension_value")
def dimension_value(dimension: Dimension | int | None) -> int | None:
    """Return the size that `dimension` stands for, None where it is unknown.

    Example:
        >>> dimension_value(Dimension(3)), dimension_value(None)
        (3, None)
    """
    return dimension.value if isinstance(dimension, Dimension) else dimension


@export("dimension_at_index", "compat.dimension_at_index")
def dimension_at_index(shape: TensorShape, index: int) -> Dimension:
    """Return the size of `shape` on axis `index` as a `Dimension`, an unknown one where the rank is unknown."""
    return Dimension(None) if shape.tuple is None else Dimension(shape.tuple[index])
