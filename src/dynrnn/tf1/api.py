"""The public namespaces (`tf`, `tf.nn`, `tf.nn.rnn_cell`, `tf.contrib.rnn` ...), built from what the modules register
with `export`.
"""

from __future__ import annotations

import pkgutil
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from .. import errors
from .export import NAMES, export

# Namespaces that hold all names of another one: TensorFlow 1 offers the same things in several places.
INCLUDES = {
    "contrib.rnn": ("nn.rnn_cell",),
    "contrib.rnn.core_rnn_cell": ("nn.rnn_cell",),
    "contrib.rnn.rnn_cell": ("nn.rnn_cell",),
}

# Areas of TensorFlow 1 that are not built yet, so that no name in them is near to the one that was asked for.
NOT_YET = {
    "train": "optimizers and savers",
    "layers": "layers",
    "losses": "losses",
    "metrics": "metrics",
    "keras": "Keras",
    "estimator": "estimators",
    "data": "input pipelines",
    "contrib.seq2seq": "sequence-to-sequence decoders",
    "contrib.legacy_seq2seq": "sequence-to-sequence decoders",
    "contrib.layers": "layers",
}


class Namespace(ModuleType):
    """A module of the TF1 face. A name that it lacks raises AttributeError with the closest names it has."""

    def __init__(self, path: str):
        super().__init__(f"tensorflow.{path}" if path else "tensorflow")
        self.__path__: list[str] = []

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(missing(self.__name__, name, vars(self)))


def missing(module: str, name: str, names: Any) -> str:
    """The text of the error for a name that a namespace lacks."""
    shown = module.replace("tensorflow", "tf", 1)
    path = f"{shown}.{name}".removeprefix("tf.")
    area = NOT_YET.get(path) or NOT_YET.get(path.rpartition(".")[0])
    if area is not None:
        return f"module '{module}' has no attribute '{name}': {area} are not there yet"
    near = errors.nearest(name, [known for known in names if not known.startswith("_")])
    hint = f"; the closest names are {', '.join(f'{shown}.{known}' for known in near)}" if near else ""
    return f"module '{module}' has no attribute '{name}'{hint}"


def build() -> dict[str, Any]:
    """Return the names of the top namespace; those below it are `Namespace`s."""
    for module in pkgutil.walk_packages([str(Path(__file__).parent)], f"{__package__}."):
        import_module(module.name)  # which registers its names
    for path, value in list(NAMES.items()):
        for target, sources in INCLUDES.items():
            for source in sources:
                if path.startswith(source + "."):
                    NAMES.setdefault(target + path.removeprefix(source), value)
    spaces: dict[str, Namespace] = {"": Namespace("")}
    for path in sorted(NAMES):
        *parents, name = path.split(".")
        setattr(_space(spaces, parents), name, NAMES[path])
    return {
        name: value for name, value in vars(spaces[""]).items() if not name.startswith("__") or name == "__version__"
    }


def _space(spaces: dict[str, Namespace], parents: list[str]) -> Namespace:
    path = ".".join(parents)
    if path not in spaces:
        spaces[path] = Namespace(path)
        setattr(_space(spaces, parents[:-1]), parents[-1], spaces[path])
        sys.modules.setdefault(f"dynrnn.tf1.{path}", spaces[path])
    return spaces[path]


for _name in dir(errors):
    _value = getattr(errors, _name)
    if isinstance(_value, int) or getattr(_value, "__module__", "") == errors.__name__ and isinstance(_value, type):
        export(f"errors.{_name}")(_value)
