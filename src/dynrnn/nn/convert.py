"""`convert`: turns the recurrent modules of torch inside a model into ours, in place."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import torch
from torch import nn
from torch.nn.utils import parametrize

from dynrnn.nn.modules import GRU, LSTM, RNN
from dynrnn.nn.recurrent import Recurrent

_OURS: dict[type[nn.RNNBase], type[Recurrent]] = {nn.LSTM: LSTM, nn.GRU: GRU, nn.RNN: RNN}
_NAMES = [theirs.__name__ for theirs in _OURS]
_CALLED = ("forward", "__call__", "permute_hidden", "check_forward_args")  # what a call of torch's modules goes through
_SLOTS = ("__dict__", "__weakref__")  # what each class has of its own


class Conversion(NamedTuple):
    """What `convert` did: the names of the modules that it swapped, and of those that it left, each with the reason.

    A name is the module's path in the model, "" for the model itself; of a module that stands in several places, the
    first. `str()` says it in sentences.
    """

    swapped: tuple[str, ...]
    left: dict[str, str]

    def __str__(self) -> str:
        count = len(self.swapped)
        lines = [f"swapped {count} module{'' if count == 1 else 's'}" + "".join(f"\n  {_say(n)}" for n in self.swapped)]
        lines += [f"left {_say(name)}: {reason}" for name, reason in self.left.items()]
        return "\n".join(lines)


def convert(model: nn.Module, *, strict: bool = True) -> Conversion:
    """Swap every `nn.LSTM`, `nn.GRU` and `nn.RNN` inside `model`, and the model itself if it is one, for ours.

    It happens in place, by the module's class alone: parameters, buffers, hooks, parametrizations, training mode and
    the module's identity stay, so that optimizers and whoever else holds them notice nothing; a module that stands in
    several places is one module still. Results stay the same up to rounding; calls may now have `lengths=`.

    Subclasses are swapped too (for a class with the same methods over ours) unless they have a `forward` of their own.
    What cannot be swapped raises TypeError, which names each such module and the reason, and changes nothing; with
    `strict=False` it is left alone and reported.

    Example:
        >>> model = nn.Sequential(nn.Linear(4, 4), nn.LSTM(4, 3))
        >>> print(convert(model))
        swapped 1 module
          1
        >>> type(model[1]) is LSTM
        True
    """
    if not isinstance(model, nn.Module):
        raise TypeError(f"convert: model must be an nn.Module, got {type(model).__name__}")
    planned: dict[str, tuple[nn.RNNBase, type]] = {}
    left: dict[str, str] = {}
    for name, module in model.named_modules():
        if isinstance(module, Recurrent):
            continue
        if isinstance(module, torch.jit.ScriptModule) and getattr(module, "original_name", "") in _NAMES:
            left[name] = "it is compiled by torch.jit; convert the model before scripting or tracing it"
        for theirs, ours in _OURS.items():
            if isinstance(module, theirs):
                reason = _reason_to_leave(module, theirs)
                if reason:
                    left[name] = reason
                else:
                    planned[name] = module, _class_over(type(module), theirs, ours, parametrize.is_parametrized(module))
    if left and strict:
        reasons = "; ".join(f"{_say(name)}: {reason}" for name, reason in left.items())
        raise TypeError(f"convert: cannot swap {reasons}. Nothing was changed; strict=False leaves these as they are")
    for module, new in planned.values():
        module.__class__ = new
        module._init_flat_weights()
    return Conversion(tuple(planned), left)


def _say(name: str) -> str:
    return name or "the model itself"


def _reason_to_leave(module: nn.Module, theirs: type[nn.RNNBase]) -> str:
    cls, advice = type(module), f"derive it from dynrnn.{theirs.__name__} instead"
    for name in _CALLED:
        if name in vars(module):
            return f"the {name} of this {cls.__name__} was replaced on the instance"
        if getattr(cls, name) is not getattr(theirs, name):
            return f"{cls.__name__} has a {name} of its own; {advice}"
    return ""


@cache
def _class_over(cls: type, theirs: type[nn.RNNBase], ours: type[Recurrent], parametrized: bool) -> type:
    """The class that does what `cls` does, over ours where it was over torch's; one for each `cls`."""
    if cls is theirs:
        return ours
    if parametrized:  # torch made this class for one module, with a property for each parametrized weight
        base = _class_over(cls.__bases__[0], theirs, ours, False)
        return type(cls.__name__, (base,), {name: value for name, value in vars(cls).items() if name not in _SLOTS})
    body = {"__module__": cls.__module__, "__qualname__": cls.__qualname__, "__reduce_ex__": _reduce}
    return type(cls.__name__, (ours, cls), body)


def _reduce(self: Any, protocol: int) -> tuple[Any, ...]:
    """Pickle a module whose class was made here: nobody can import that class, but anybody can make it again."""
    cls = type(self).__bases__[1]
    theirs = next(theirs for theirs in _OURS if issubclass(cls, theirs))
    return _make_again, (cls, theirs), self.__getstate__()


def _make_again(cls: type, theirs: type[nn.RNNBase]) -> Any:
    new = _class_over(cls, theirs, _OURS[theirs], False)
    return object.__new__(new)
