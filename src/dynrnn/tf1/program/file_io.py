"""`tensorflow.python.lib.io.file_io`: the functions of `tf.gfile` under the names that they have inside TensorFlow."""

from __future__ import annotations

from typing import Any

from ..export import export
from . import files
from .file import GFile

_NAMES: dict[str, Any] = {
    "FileIO": GFile,
    "copy": files.copy,
    "create_dir": files.make_dir,
    "delete_file": files.remove,
    "delete_recursively": files.delete_recursively,
    "file_exists": files.exists,
    "get_matching_files": files.match,
    "is_directory": files.is_directory,
    "list_directory": files.list_directory,
    "recursive_create_dir": files.make_dirs,
    "rename": files.rename,
    "stat": files.statistics,
    "walk": files.walk,
}

for _name, _value in _NAMES.items():
    export(f"_inside.file_io.{_name}")(_value)


@export("_inside.file_io.read_file_to_string")
def read_file_to_string(filename: Any, binary_mode: bool = False) -> Any:
    """All of a file, as text or as bytes."""
    with GFile(filename, "rb" if binary_mode else "r") as file:
        return file.read()


@export("_inside.file_io.write_string_to_file")
def write_string_to_file(filename: Any, file_content: str | bytes) -> None:
    """Make a file of a text."""
    with GFile(filename, "w") as file:
        file.write(file_content)
