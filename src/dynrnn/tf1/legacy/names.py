"""The names of TensorFlow 0.x that TensorFlow 1 dropped: a table of those that only changed their name, and the few
functions that changed more.
"""

from __future__ import annotations

from typing import Any

from ... import _nest
from ..export import NAMES, export
from ..graph import Tensor, atomic
from ..initializers import Constant
from ..ops.array import concat, where
from ..ops.convert import convert_to_tensor
from ..ops.math.linalg import matmul
from ..ops.nn.bias import bias_add
from ..rnn.bidirectional import static_bidirectional_rnn
from ..rnn.state_saving import static_state_saving_rnn
from ..rnn.static import static_rnn
from ..rnn_cell.base import zero_states
from ..variable_scope import get_variable, get_variable_scope, variable_scope
from .notice import tell

# Old names whose functions take the same arguments under today's.
TODAY = {
    "_concat_v2": "concat",
    "batch_cholesky": "cholesky",
    "batch_cholesky_solve": "cholesky_solve",
    "batch_matrix_band_part": "matrix_band_part",
    "batch_matrix_determinant": "matrix_determinant",
    "batch_matrix_diag": "matrix_diag",
    "batch_matrix_diag_part": "matrix_diag_part",
    "batch_matrix_inverse": "matrix_inverse",
    "batch_matrix_set_diag": "matrix_set_diag",
    "batch_matrix_solve": "matrix_solve",
    "batch_matrix_transpose": "matrix_transpose",
    "batch_matrix_triangular_solve": "matrix_triangular_solve",
    "batch_self_adjoint_eig": "self_adjoint_eig",
    "batch_self_adjoint_eigvals": "self_adjoint_eigvals",
    "batch_svd": "svd",
    "complex_abs": "abs",
    "concat_v2": "concat",
    "inv": "reciprocal",
    "listdiff": "setdiff1d",
    "mul": "multiply",
    "neg": "negative",
    "pack": "stack",
    "sub": "subtract",
    "unpack": "unstack",
}


def _renamed(old: str, today: str) -> None:
    def function(*args: Any, **kwargs: Any) -> Any:
        tell(f"tf.{old}", f"tf.{today}")
        return NAMES[today](*args, **kwargs)

    function.__name__ = function.__qualname__ = old
    function.__doc__ = f"`tf.{today}` under its name of TensorFlow 0.x."
    export(old)(function)


for _old, _today in TODAY.items():
    _renamed(_old, _today)

# Old names whose functions take other arguments; today's are in their warnings.
CHANGED = {
    "audio_summary": "summary.audio",
    "batch_matmul": "matmul",
    "histogram_summary": "summary.histogram",
    "image_summary": "summary.image",
    "merge_all_summaries": "summary.merge_all",
    "merge_summary": "summary.merge",
    "nn.bidirectional_rnn": "nn.static_bidirectional_rnn",
    "nn.rnn": "nn.static_rnn",
    "nn.state_saving_rnn": "nn.static_state_saving_rnn",
    "scalar_summary": "summary.scalar",
    "select": "where",
    "train.SummaryWriter": "summary.FileWriter",
}


def _tell(old: str) -> None:
    tell(f"tf.{old}", f"tf.{CHANGED[old]}")


@export("batch_matmul")
@atomic
def batch_matmul(x: Any, y: Any, adj_x: bool = False, adj_y: bool = False, name: str | None = None) -> Tensor:
    """`tf.matmul` of batches of matrices under its name of TensorFlow 0.x."""
    _tell("batch_matmul")
    return matmul(x, y, adjoint_a=adj_x, adjoint_b=adj_y, name=name or "BatchMatMul")


@export("select")
@atomic
def select(condition: Any, t: Any, e: Any, name: str | None = None) -> Tensor:
    """`tf.where` of three arguments under its name of TensorFlow 0.x."""
    _tell("select")
    return where(condition, t, e, name)


@export("nn.rnn")
@atomic
def rnn(
    cell: Any, inputs: Any, initial_state: Any = None, dtype: Any = None, sequence_length: Any = None, scope: Any = None
) -> tuple[list[Any], Any]:
    """`tf.nn.static_rnn` under its name of TensorFlow 0.x, with its variable scope, "RNN"."""
    _tell("nn.rnn")
    return static_rnn(cell, inputs, initial_state, dtype, sequence_length, scope or "RNN")


@export("nn.bidirectional_rnn")
@atomic
def bidirectional_rnn(
    cell_fw: Any,
    cell_bw: Any,
    inputs: Any,
    initial_state_fw: Any = None,
    initial_state_bw: Any = None,
    dtype: Any = None,
    sequence_length: Any = None,
    scope: Any = None,
) -> tuple[list[Any], Any, Any]:
    """`tf.nn.static_bidirectional_rnn` under its name of TensorFlow 0.x, with its variable scope, "BiRNN"."""
    _tell("nn.bidirectional_rnn")
    states = (initial_state_fw, initial_state_bw)
    return static_bidirectional_rnn(cell_fw, cell_bw, inputs, *states, dtype, sequence_length, scope or "BiRNN")


@export("nn.state_saving_rnn")
@atomic
def state_saving_rnn(
    cell: Any, inputs: Any, state_saver: Any, state_name: Any, sequence_length: Any = None, scope: Any = None
) -> tuple[list[Any], Any]:
    """`tf.nn.static_state_saving_rnn` under its name of TensorFlow 0.x, with its variable scope, "RNN"."""
    _tell("nn.state_saving_rnn")
    return static_state_saving_rnn(cell, inputs, state_saver, state_name, sequence_length, scope or "RNN")


# Private functions that programs' own cells were built on


@export("nn.rnn_cell._linear", "nn.rnn_cell.linear")
@atomic
def linear(
    args: Any,
    output_size: int,
    bias: bool,
    bias_initializer: Any = None,
    kernel_initializer: Any = None,
    *,
    bias_start: float | None = None,
    scope: Any = None,
) -> Tensor:
    """Return the product of tensors `[batch, n]`, joined along axis 1, with a variable "kernel", plus one "bias".

    bias: whether there is one; bias_initializer, or bias_start, a number: where it begins (default 0). scope: of the
    variables; None: the current one. Older versions took bias_start and scope in the places of the initializers.

    Raises:
        ValueError: no args, or one that is not `[batch, n]` with a known n.
    """
    if isinstance(bias_initializer, (int, float)):
        bias_initializer, bias_start = None, bias_initializer
    if isinstance(kernel_initializer, str) or hasattr(kernel_initializer, "reuse_variables"):
        kernel_initializer, scope = None, kernel_initializer
    tensors = [convert_to_tensor(item) for item in (args if _nest.is_nested(args) else [args])]
    if not tensors or args is None:
        raise ValueError("linear: args must be specified: a tensor or a list of tensors")
    sizes = [tensor.shape.with_rank(2)[1].value for tensor in tensors]
    if None in sizes:
        raise ValueError(f"linear expects shape[1] to be provided for shape {tensors[sizes.index(None)].shape}")
    with variable_scope(scope or get_variable_scope()):
        dtype = tensors[0].dtype.base_dtype
        kernel = get_variable("kernel", [sum(sizes), output_size], dtype, kernel_initializer)
        product = matmul(tensors[0] if len(tensors) == 1 else concat(tensors, 1), kernel)
        if not bias:
            return product
        begin = bias_initializer if bias_initializer is not None else Constant(bias_start or 0.0)
        return bias_add(product, get_variable("bias", [output_size], dtype, begin))


@export("nn.rnn_cell._zero_state_tensors")
@atomic
def zero_state_tensors(state_size: Any, batch_size: Any, dtype: Any) -> Any:
    """Return zeros for a nest of sizes, each `[batch_size, size]`."""
    return zero_states(state_size, batch_size, dtype)
