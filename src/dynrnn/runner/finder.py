"""The import system's side of TensorFlow's paths: `import tensorflow...` asks `modules`.

The first such import of a program loads the face, not before: a program may first set variables that torch reads when
it is loaded.
"""

import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

from dynrnn.errors import nearest
from dynrnn.runner.modules import find_module, hint, known_paths


class _ReadyLoader(Loader):
    """Hands out a module that is there already, and leaves it as it was."""

    def __init__(self, path: str, module: ModuleType):
        self._path = path
        self._module = module
        self._own_spec = module.__spec__

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return self._module

    def exec_module(self, module: ModuleType) -> None:
        # The import system has put the path's spec into a module that may have one of its own.
        if self._own_spec is not None:
            module.__spec__ = self._own_spec
        if self._path == "tensorflow":
            vars(module)["python"] = find_module("tensorflow.python")  # old programs write `tf.python.ops`


class FaceFinder(MetaPathFinder):
    """Answers every import of `tensorflow` and of what is below it."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Find the spec of a TensorFlow path; None for other names.

        Raises ModuleNotFoundError, with the closest names there are, where the face has nothing for the path.
        """
        if fullname.partition(".")[0] != "tensorflow":
            return None
        module = find_module(fullname)
        if module is None:
            # `from a import b` comes here, too, when a has no b. The error has no `name`: the import system drops one
            # that has, and then only says that there is no b.
            parent = fullname.rpartition(".")[0]
            names = {f"{parent}.{name}" for name in dir(sys.modules.get(parent))} | set(known_paths())
            raise ModuleNotFoundError(f"No module or name {fullname!r}{hint(nearest(fullname, sorted(names)))}")
        return ModuleSpec(fullname, _ReadyLoader(fullname, module), is_package=True)


def install_face() -> None:
    """Let `import tensorflow` find the TensorFlow 1 face, also where TensorFlow itself is installed."""
    sys.meta_path.insert(0, FaceFinder())
