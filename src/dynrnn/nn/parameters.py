"""Parameters that may be made before the input size is known, in modules nested as TensorFlow 1 nests their names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.parameter import UninitializedParameter


class ParameterScope(nn.Module):
    """Holds parameters and further scopes, nothing else: what TensorFlow 1 calls a variable scope.

    A parameter of unknown shape is an `UninitializedParameter`. It may be moved, cast, saved and given to an
    optimizer; a saved one that has a shape gives it that shape when it is loaded.
    """

    def extra_repr(self) -> str:
        """The parameters' shapes."""
        shapes = {name: "?" if is_lazy(value) else list(value.shape) for name, value in self._own()}
        return ", ".join(f"{name}: {shape}" for name, shape in shapes.items())

    def _own(self) -> list[tuple[str, nn.Parameter]]:
        return [(name, value) for name, value in self._parameters.items() if value is not None]

    def _save_to_state_dict(self, destination: Any, prefix: str, keep_vars: bool) -> None:
        unmade = any(is_lazy(value) for _, value in self._own())  # such a one cannot be detached
        super()._save_to_state_dict(destination, prefix, keep_vars or unmade)
        for name, value in self._own():
            if unmade and not keep_vars and not is_lazy(value):
                destination[prefix + name] = value.detach()

    def _load_from_state_dict(self, state_dict: Mapping[str, Any], prefix: str, *args: Any) -> None:
        for name, parameter in self._own():
            value = state_dict.get(prefix + name)
            if is_lazy(parameter) and isinstance(value, Tensor) and not is_lazy(value):
                make(parameter, value.shape)
        super()._load_from_state_dict(state_dict, prefix, *args)


def register(
    root: nn.Module,
    name: str,
    shape: tuple[int, ...] | None,
    *,
    device: torch.device | str | None,
    dtype: torch.dtype | None,
) -> None:
    """Register a parameter under a TensorFlow 1 name: "gates/kernel" becomes `root.gates.kernel`.

    Without a shape it stays uninitialized; with one it holds whatever the memory held.
    """
    *scopes, leaf = name.split("/")
    for scope in scopes:
        if not hasattr(root, scope):
            root.add_module(scope, ParameterScope())
        root = getattr(root, scope)
    if shape is None:
        uninitialized: Any = UninitializedParameter  # whose arguments the type checker does not know
        parameter = uninitialized(device=device, dtype=dtype)
    else:
        parameter = nn.Parameter(torch.empty(shape, device=device, dtype=dtype))
    root.register_parameter(leaf, parameter)


def is_lazy(value: Any) -> bool:
    """Say whether a parameter waits for its shape; torch's own function of this name cannot be compiled."""
    return type(value) is UninitializedParameter  # a parameter's class answers slowly to isinstance


def lookup(root: nn.Module, name: str) -> Tensor:
    """Return the parameter that `register` put under a TensorFlow 1 name, or what has been put in its place."""
    value = root._parameters.get(name)  # where most of them are
    if value is not None:
        return value
    *scopes, leaf = name.split("/")
    for scope in scopes:
        root = getattr(root, scope)
    value = root._parameters.get(leaf)
    return getattr(root, leaf) if value is None else value


def make(parameter: Any, shape: tuple[int, ...]) -> None:
    """Give an uninitialized parameter its shape, in place: optimizers that hold it go on holding it."""
    with torch.no_grad():
        parameter.materialize(shape)
