"""Whether the compiled module is there, and whether it serves a cell and its inputs: reasons in one sentence each.

What happens where it does not is decided by the caller; nothing here runs anything.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import torch
from torch import Tensor

from dynrnn.cells.spec import CellSpec
from dynrnn.errors import dtype_name
from dynrnn.kernels.layouts import cell_of

# torch comes first: its libgomp is the one that the compiled module then shares
_MISSING: str | None = None
_kernels: Any = None
try:
    _kernels = import_module("dynrnn._kernels")
except ImportError as error:
    _MISSING = f"the compiled module dynrnn._kernels cannot be imported ({error})"

DTYPES = (torch.float32, torch.float64)


def missing() -> str | None:
    """Say why the compiled module is not there; None where it is.

    Example:
        >>> missing() is None or "dynrnn._kernels" in missing()
        True
    """
    return _MISSING


def isas() -> list[str]:
    """The instruction sets that were built and that this machine has, the best one first; none without the module.

    Example:
        >>> missing() is not None or "plain" in isas() or "neon" in isas()
        True
    """
    return [] if _kernels is None else _kernels.isas()


def why_not(spec: CellSpec, options: Any, *, inputs: Tensor) -> str | None:
    """Say in one sentence why the fused path does not apply to a cell and its inputs; None where it applies.

    `inputs` is looked at for its device, its dtype and its kind; no value is read. Under `torch.compile` and
    `torch.export` the answer is the same.

    Example:
        >>> from dynrnn.cells import LSTM, LSTMOptions
        >>> reason = why_not(LSTM, LSTMOptions(4), inputs=torch.zeros(2, 3, 5, dtype=torch.bfloat16))
        >>> reason == (missing() or "inputs are bfloat16, and the kernels compute in float32 and float64")
        True
    """
    if _MISSING is not None:
        return _MISSING
    if cell_of(spec.name, options) is None:
        activation = getattr(options, "activation", None)
        if spec.name in ("lstm", "gru", "basic_rnn"):
            return f"no kernel of {spec.name} has the activation {getattr(activation, '__name__', activation)}"
        return f"there is no kernel for {spec.name}"
    if not inputs.is_cpu:
        return f"inputs are on {inputs.device}, and the kernels run on the CPU"
    if inputs.dtype not in DTYPES:
        return f"inputs are {dtype_name(inputs.dtype)}, and the kernels compute in float32 and float64"
    if inputs.layout is not torch.strided:
        return f"inputs have the layout {inputs.layout}, and the kernels read strided tensors"
    if not torch.compiler.is_compiling() and has_own_dispatch(inputs):
        return f"inputs are a {type(inputs).__name__}, whose memory the kernels cannot read"
    return None


def has_own_dispatch(value: Tensor) -> bool:
    """Say whether a tensor is of a class that computes in its own way, such as a fake or a distributed one."""
    kind = type(value)
    if kind is Tensor or kind is torch.nn.Parameter:
        return False
    # torch has no public name for what a class without a dispatch of its own holds there
    return getattr(kind, "__torch_dispatch__") is not torch._C._disabled_torch_dispatch_impl  # noqa: B009
